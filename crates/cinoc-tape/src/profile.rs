//! Where the time goes, operation by operation: off unless asked for.

use crate::Real;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    static TABLE: RefCell<BTreeMap<&'static str, Spent>> = const { RefCell::new(BTreeMap::new()) };
}

/// What all operations of one name took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Computing them.
    pub forward: Pass,
    /// Their derivatives.
    pub backward: Pass,
}

/// One direction of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass {
    /// The time.
    pub time: Duration,
    /// Multiplications and additions of layers and convolutions, each counted once however often it is computed, twice as many for their derivatives; no others.
    pub flops: u64,
    /// Bytes of inputs, results, what is saved and, for derivatives, cotangents, wherever they lie.
    pub bytes: u64,
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

/// Books the time since `start`, and what was done in it: flops, and numbers read and written.
#[inline(always)]
pub(crate) fn book(start: Option<Instant>, name: &'static str, forward: bool, done: impl FnOnce() -> [usize; 2]) {
    if let Some(start) = start {
        let (time, [flops, numbers]) = (start.elapsed(), done());
        TABLE.with_borrow_mut(|table| {
            let spent = table.entry(name).or_default();
            let pass = if forward { &mut spent.forward } else { &mut spent.backward };
            pass.time += time;
            pass.flops += flops as u64;
            pass.bytes += (numbers * size_of::<Real>()) as u64;
        });
    }
}
