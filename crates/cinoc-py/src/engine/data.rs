//! States that instances of chaotic problems are drawn from: made once, which takes a while, and a user may stop that.

use super::cinoc;
use crate::fault::engine;
use cinoc::internal::random::Split;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Between two looks at what the user did.
const PATIENCE: Duration = Duration::from_millis(50);

/// Makes the states of some uses and seeds, if there are any to be made.
pub fn prepare(py: Python<'_>, problem: &cinoc::Problem, uses: &[Split], seeds: &[u64]) -> PyResult<()> {
    let Some(attractor) = problem.task.attractor() else { return Ok(()) };
    let stop = AtomicBool::new(false);
    // Signals are for the thread that called, so another one works.
    let unless_stopped = |_| {
        if stop.load(Ordering::Relaxed) {
            resume_unwind(Box::new("stopped"));
        }
    };
    let make =
        || seeds.iter().for_each(|&seed| uses.iter().for_each(|&purpose| drop(attractor.make(purpose, seed, &unless_stopped))));
    std::thread::scope(|scope| {
        let (done, mut wait) = channel::<()>();
        let worker = scope.spawn(move || {
            make();
            drop(done);
        });
        let mut asked = Ok(());
        // The channel closes when the work is done, or is given up.
        while asked.is_ok() {
            let wait = &mut wait;
            if engine(py, move || wait.recv_timeout(PATIENCE))? != Err(RecvTimeoutError::Timeout) {
                break;
            }
            asked = py.check_signals();
        }
        stop.store(asked.is_err(), Ordering::Relaxed);
        let ended = engine(py, || worker.join())?;
        asked.and(ended.or_else(|panic| engine(py, || resume_unwind(panic))))
    })
}
