//! Ctrl-C, and SIGTERM, which Slurm and machines that are taken away send.

use anyhow::Result;
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

/// When somebody first asked for an end.
static ASKED: OnceLock<Instant> = OnceLock::new();

/// A second signal is for the impatient. One that comes sooner is the first once more: a launcher and whoever stopped it may both send theirs.
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

/// Whether somebody asked for an end.
pub fn asked() -> bool {
    ASKED.get().is_some()
}

/// Asks for an end.
pub fn ask() {
    ASKED.get_or_init(Instant::now);
}
