//! Names that last as long as the program.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Returns a name that lasts as long as the program; equal names are kept once. For names in problem files, which stand
/// where those of the crate are.
pub fn lasting(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.into());
    names.insert(kept);
    kept
}
