//! Profile of time, flops and bytes per operation; disabled by default.

use crate::Real;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    static TABLE: RefCell<BTreeMap<&'static str, Spent>> = const { RefCell::new(BTreeMap::new()) };
}

/// Cost of all operations of one name.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Spent {
    /// Forward pass.
    pub forward: Pass,
    /// Backward pass.
    pub backward: Pass,
}

/// Cost of one direction.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Pass {
    /// Elapsed time.
    pub time: Duration,
    /// Multiplications and additions of layers and convolutions, counted once each (recomputation excluded);
    /// derivatives count double.
    pub flops: u64,
    /// Bytes of inputs, results, saved intermediate results and, for derivatives, cotangents.
    pub bytes: u64,
}

/// Enables or disables profiling on all threads.
pub fn enable(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// Returns the cost on this thread since the last call.
pub fn take() -> BTreeMap<&'static str, Spent> {
    TABLE.take()
}

/// The current time, if profiling is enabled.
#[inline(always)]
pub(crate) fn start() -> Option<Instant> {
    ON.load(Ordering::Relaxed).then(Instant::now)
}

/// Records the time since `start` with flops and numbers moved.
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
