//! Printing that never panics: a pipe may close, a disk may be full. Of several ranks one prints.

use crate::ranks;
use anyhow::{Result, anyhow};
use std::fmt;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::LazyLock;

/// Prints a line to standard output; an error if it cannot be written.
macro_rules! say {
    ($($text:tt)*) => { $crate::out::line(format_args!($($text)*)) };
}

/// Prints a line to standard error, if anybody reads it.
macro_rules! note {
    ($($text:tt)*) => { $crate::out::error_line(format_args!($($text)*)) };
}

pub(crate) use {note, say};

/// The name this program was called by, for commands that a user is advised to type: a crate with problems of its own has another.
pub fn program() -> &'static str {
    static NAME: LazyLock<String> = LazyLock::new(|| {
        let called = std::env::args_os().next().unwrap_or_default();
        Path::new(&called).file_stem().map_or_else(|| "cinoc".into(), |name| name.to_string_lossy().into_owned())
    });
    &NAME
}

/// Whoever read standard output has read enough, as in `cinoc eval heat1d | head -1`.
#[derive(Debug)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("standard output was closed")
    }
}

impl std::error::Error for Closed {}

/// What `say!` does.
pub fn line(text: fmt::Arguments) -> Result<()> {
    if !ranks::first() {
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
    format!("{} cannot be written; make room, or check that its folder exists and can be written", path.display())
}

/// What `note!` does.
pub fn error_line(text: fmt::Arguments) {
    if ranks::first() {
        write_error(text);
    }
}

/// The same on whichever rank.
pub fn write_error(text: fmt::Arguments) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Whether there is a terminal to show progress on.
pub fn terminal() -> bool {
    ranks::first() && std::io::stderr().is_terminal()
}
