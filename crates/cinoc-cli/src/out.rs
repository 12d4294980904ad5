//! Printing that never panics: a pipe may close, a disk may be full. A silenced process prints nothing: of several ranks one speaks.

use anyhow::{Result, anyhow, bail};
use cinoc::internal::shown;
use std::fmt;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints a line to standard output; an error if it cannot be written.
macro_rules! say {
    ($($text:tt)*) => { $crate::out::line(format_args!($($text)*)) };
}

/// Prints a line to standard error, if it is open.
macro_rules! note {
    ($($text:tt)*) => { $crate::out::error_line(format_args!($($text)*)) };
}

pub(crate) use {note, say};

/// True in a process whose lines are printed by another one.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Makes this process silent, or lets it speak.
pub fn silence(enabled: bool) {
    SILENT.store(enabled, Ordering::Relaxed);
}

fn speaks() -> bool {
    !SILENT.load(Ordering::Relaxed)
}

/// The name this program was called by, for commands in advice; a crate with further problems has another.
pub fn program() -> &'static str {
    static NAME: LazyLock<String> = LazyLock::new(|| {
        let called = std::env::args_os().next().unwrap_or_default();
        Path::new(&called).file_stem().map_or_else(|| "cinoc".into(), |name| name.to_string_lossy().into_owned())
    });
    &NAME
}

/// Error of a closed standard output: its reader has read enough, as in `cinoc eval heat1d | head -1`.
#[derive(Debug)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("standard output was closed")
    }
}

impl std::error::Error for Closed {}

/// Prints a line to standard output; implementation of `say!`.
pub fn line(text: fmt::Arguments) -> Result<()> {
    if !speaks() {
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Closed.into(),
        _ => anyhow!("the output could not be written: {error}; check where it goes to"),
    })
}

/// That a file cannot be written, and what to do; the cause follows.
pub fn unwritten(path: &Path) -> String {
    format!("{} cannot be written; make room, or check that its folder exists and can be written", shown(path))
}

/// Refuses a file that cannot be written because its folder does not exist; asked before anything is computed.
pub fn has_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.is_dir() {
        true => Ok(()),
        false => {
            bail!("{} cannot be written: there is no folder {}; make it, or choose another name", shown(path), shown(folder))
        }
    }
}

/// Prints a line to standard error; implementation of `note!`.
pub fn error_line(text: fmt::Arguments) {
    if speaks() {
        write_error(text);
    }
}

/// The same on whichever rank.
pub fn write_error(text: fmt::Arguments) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// True if there is a terminal to show progress on.
pub fn terminal() -> bool {
    speaks() && std::io::stderr().is_terminal()
}
