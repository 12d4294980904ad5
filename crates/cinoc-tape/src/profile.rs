//! Where the time goes, operation by operation: off unless asked for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    static TABLE: RefCell<BTreeMap<&'static str, Spent>> = const { RefCell::new(BTreeMap::new()) };
}

/// Time spent in all operations of one name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// How often it was computed.
    pub calls: u64,
    /// Computing it.
    pub forward: Duration,
    /// Its derivative.
    pub backward: Duration,
}

/// Starts or stops the clocks of all threads.
pub fn enable(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// What this thread has spent since the last call.
pub fn take() -> BTreeMap<&'static str, Spent> {
    TABLE.take()
}

/// The time now, if the clocks run.
#[inline(always)]
pub(crate) fn start() -> Option<Instant> {
    ON.load(Ordering::Relaxed).then(Instant::now)
}

/// Books the time since `start`.
#[inline(always)]
pub(crate) fn book(start: Option<Instant>, name: &'static str, forward: bool) {
    if let Some(start) = start {
        let time = start.elapsed();
        TABLE.with_borrow_mut(|table| {
            let spent = table.entry(name).or_default();
            if forward {
                (spent.calls, spent.forward) = (spent.calls + 1, spent.forward + time);
            } else {
                spent.backward += time;
            }
        });
    }
}
