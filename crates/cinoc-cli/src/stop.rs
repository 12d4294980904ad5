//! Ctrl-C, and SIGTERM, which Slurm and machines that are taken away send.

use anyhow::Result;
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

/// The time of the first signal.
static ASKED: OnceLock<Instant> = OnceLock::new();

/// A second signal ends the process. One that comes sooner counts as the first: a launcher may repeat it.
const AGAIN: Duration = Duration::from_secs(1);

/// From now on a signal asks for an end instead of being one.
pub fn listen() -> Result<()> {
    // There can be one handler only.
    static HANDLER: Once = Once::new();
    let mut set = Ok(());
    HANDLER.call_once(|| {
        set = ctrlc::set_handler(|| {
            if ASKED.get_or_init(Instant::now).elapsed() > AGAIN {
                std::process::exit(130);
            }
        });
    });
    Ok(set?)
}

/// True if a signal asked the program to end.
pub fn asked() -> bool {
    ASKED.get().is_some()
}

/// Asks for an end.
pub fn ask() {
    ASKED.get_or_init(Instant::now);
}
