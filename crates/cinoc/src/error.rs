//! Errors a user can act on.
//!
//! An [`Error`] carries its kind (the variant), the setting or file it is about ([`Error::key`], [`Error::path`]) and
//! its source. Its text has two parts: [`Error::statement`] says what is wrong and [`Error::remedy`] what to do,
//! independent of the interface. A command line or a binding replaces the remedy by one that names its flag or
//! argument.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error a user can act on. Its text ends with what to do.
///
/// ```
/// let error = cinoc::problem("heat1d")?.with(&["train.updates=-1"]).unwrap_err();
/// assert_eq!(error.key(), Some("train.updates"));
/// assert!(error.to_string().starts_with("train.updates cannot be -1; it must be"));
/// # Ok::<(), cinoc::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Unknown problem.
    UnknownProblem {
        /// The name that was given.
        #[doc(hidden)]
        name: String,
        /// Similar names.
        #[doc(hidden)]
        nearest: Vec<String>,
        /// All names.
        #[doc(hidden)]
        known: Vec<String>,
    },
    /// Unknown model, and no such file.
    UnknownModel {
        /// The name that was given.
        #[doc(hidden)]
        name: String,
        /// Similar names.
        #[doc(hidden)]
        nearest: Vec<String>,
        /// All names of models that come with the crate.
        #[doc(hidden)]
        known: Vec<String>,
    },
    /// A model of a problem that this program does not define.
    ForeignModel {
        /// The file.
        #[doc(hidden)]
        path: PathBuf,
        /// The problem it was trained for.
        #[doc(hidden)]
        problem: String,
        /// The problems this program defines.
        #[doc(hidden)]
        known: Vec<String>,
    },
    /// Unknown setting.
    UnknownKey {
        /// The key that was given.
        #[doc(hidden)]
        key: String,
        /// Similar keys.
        #[doc(hidden)]
        nearest: Vec<String>,
        /// Keys of the same section, or all sections if there is no such section.
        #[doc(hidden)]
        known: Vec<String>,
    },
    /// A value of the wrong type or out of range.
    BadValue {
        /// The setting or argument.
        #[doc(hidden)]
        key: String,
        /// The value that was given.
        #[doc(hidden)]
        value: String,
        /// The values that are allowed: the end of "it must be …".
        #[doc(hidden)]
        expected: String,
    },
    /// A computation that needs more memory than allowed.
    TooLarge {
        /// The computation.
        #[doc(hidden)]
        what: String,
        /// Memory it needs.
        #[doc(hidden)]
        need: String,
        /// Memory that may be used.
        #[doc(hidden)]
        limit: String,
    },
    /// Text that is not valid TOML, or not a description of settings.
    Toml {
        /// The file, or a name for the text.
        #[doc(hidden)]
        place: String,
        /// Line number, if known.
        #[doc(hidden)]
        line: Option<usize>,
        /// Message of the parser.
        #[doc(hidden)]
        reason: String,
        /// Error of the parser, if any.
        #[doc(hidden)]
        source: Option<Box<toml::de::Error>>,
    },
    /// A mistake in a problem file.
    ProblemFile {
        /// The file, or a name for the text.
        #[doc(hidden)]
        place: String,
        /// The section and the key.
        #[doc(hidden)]
        key: String,
        /// The reason, with the place in a text and what to do.
        #[doc(hidden)]
        reason: String,
    },
    /// A file that cannot be read or written.
    File {
        /// The file.
        #[doc(hidden)]
        path: PathBuf,
        /// Error of the operating system.
        #[doc(hidden)]
        source: io::Error,
    },
    /// A full disk.
    Full {
        /// The file.
        #[doc(hidden)]
        path: PathBuf,
        /// Error of the operating system.
        #[doc(hidden)]
        source: io::Error,
    },
    /// A file that is not a model.
    Model {
        /// The file.
        #[doc(hidden)]
        path: PathBuf,
        /// The reason.
        #[doc(hidden)]
        reason: String,
    },
    /// A file with a wrong checksum.
    Damaged {
        /// The file.
        #[doc(hidden)]
        path: PathBuf,
    },
    /// A file of another format version.
    Format {
        /// The file.
        #[doc(hidden)]
        path: PathBuf,
        /// Its format.
        #[doc(hidden)]
        found: String,
        /// The format this version reads.
        #[doc(hidden)]
        known: &'static str,
    },
    /// A checkpoint that cannot be resumed.
    Checkpoint {
        /// The file.
        #[doc(hidden)]
        path: PathBuf,
        /// The reason.
        #[doc(hidden)]
        reason: String,
    },
    /// A run without a model.
    NoModel {
        /// The folder.
        #[doc(hidden)]
        path: PathBuf,
    },
    /// A folder that already holds a run.
    RunExists {
        /// The folder.
        #[doc(hidden)]
        path: PathBuf,
    },
    /// A folder that holds something else.
    NoRun {
        /// The folder.
        #[doc(hidden)]
        path: PathBuf,
    },
    /// A run in use by another process.
    Busy {
        /// The folder.
        #[doc(hidden)]
        path: PathBuf,
    },
    /// A folder without a checkpoint.
    NothingToResume {
        /// The folder.
        #[doc(hidden)]
        path: PathBuf,
    },
    /// A setting that cannot change when a run is resumed.
    ResumeOther {
        /// The folder.
        #[doc(hidden)]
        path: PathBuf,
        /// The first setting that differs.
        #[doc(hidden)]
        key: String,
        /// Its value in the run.
        #[doc(hidden)]
        was: String,
        /// Requested value.
        #[doc(hidden)]
        asked: String,
    },
    /// A setting that may change in one direction only when a run is resumed.
    ResumeWay {
        /// The folder.
        #[doc(hidden)]
        path: PathBuf,
        /// The setting.
        #[doc(hidden)]
        key: String,
        /// Its value in the run.
        #[doc(hidden)]
        was: String,
        /// Requested value.
        #[doc(hidden)]
        asked: String,
        /// "raised" or "lowered".
        #[doc(hidden)]
        way: &'static str,
    },
    /// A cost or gradient that is not finite.
    NotFinite {
        /// Number of the update.
        #[doc(hidden)]
        update: usize,
        /// Cost or gradient.
        #[doc(hidden)]
        what: &'static str,
        /// The tick, where known.
        #[doc(hidden)]
        place: String,
    },
    /// A policy that cannot be exported.
    Export {
        /// The reason, and what to do.
        #[doc(hidden)]
        reason: String,
    },
    /// A failure of another rank of the same job.
    Elsewhere {
        /// The rank.
        #[doc(hidden)]
        rank: usize,
        /// Its message.
        #[doc(hidden)]
        reason: String,
    },
}

impl Error {
    /// A value that is not allowed.
    pub fn bad(key: &str, value: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::BadValue { key: shortened(key), value: shortened(&value.into()), expected: expected.into() }
    }

    /// Wraps an error of the file system.
    #[doc(hidden)]
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::Full { path, source }
            }
            _ => Self::File { path, source },
        }
    }

    /// Returns the setting or argument the error is about.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { key, .. }
            | Self::ProblemFile { key, .. }
            | Self::BadValue { key, .. }
            | Self::ResumeOther { key, .. }
            | Self::ResumeWay { key, .. } => Some(key),
            _ => None,
        }
    }

    /// Returns the file or folder the error is about.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::ForeignModel { path, .. }
            | Self::File { path, .. }
            | Self::Full { path, .. }
            | Self::Model { path, .. }
            | Self::Damaged { path }
            | Self::Format { path, .. }
            | Self::Checkpoint { path, .. }
            | Self::NoModel { path }
            | Self::RunExists { path }
            | Self::NoRun { path }
            | Self::Busy { path }
            | Self::NothingToResume { path }
            | Self::ResumeOther { path, .. }
            | Self::ResumeWay { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns what is wrong, without what to do about it.
    #[doc(hidden)]
    pub fn statement(&self) -> String {
        let path = self.path().map(shown).unwrap_or_default();
        match self {
            Self::UnknownProblem { name, .. } => format!("there is no problem {name:?}"),
            Self::UnknownModel { name, .. } => format!("there is no model {name:?}"),
            Self::ForeignModel { problem, .. } => {
                format!("{path} is a model of the problem {problem:?}, which this program does not define")
            }
            Self::UnknownKey { key, .. } => format!("there is no setting {key:?}"),
            Self::BadValue { key, value, .. } => format!("{key} cannot be {value}"),
            Self::TooLarge { what, need, limit } => format!("{what} would take {need} of memory, and {limit} may be used"),
            Self::Toml { place, line: Some(line), reason, .. } => format!("{place}, line {line}, is not valid: {reason}"),
            Self::Toml { place, line: None, reason, .. } => format!("{place} is not valid: {reason}"),
            Self::ProblemFile { place, key, reason } => format!("{place}, {key}: {reason}"),
            Self::File { source, .. } => format!("{path}: {source}"),
            Self::Full { source, .. } => format!("{path} could not be written: {source}"),
            Self::Model { reason, .. } => format!("{path} is not a CINOC model: {reason}"),
            Self::Damaged { .. } => format!("{path} is damaged: its checksum does not fit its content"),
            Self::Format { found, known, .. } => {
                format!("{path} was written by another version of cinoc (file format {found}, this version reads {known})")
            }
            Self::Checkpoint { reason, .. } => format!("{path} cannot be resumed: {reason}"),
            Self::NoModel { .. } => {
                format!("{path} holds no model yet: a run writes its first after train.validate_every updates")
            }
            Self::RunExists { .. } => format!("{path} already holds a run"),
            Self::NoRun { .. } => format!("{path} is not empty and holds no run"),
            Self::Busy { .. } => format!("{path} is in use by another cinoc process"),
            Self::NothingToResume { .. } => format!("{path} holds no checkpoint to resume"),
            Self::ResumeOther { key, was, asked, .. } => format!("the run in {path} has {key} = {was}, not {asked}"),
            Self::ResumeWay { key, was, asked, way, .. } => {
                format!("{key} may only be {way} when a run is resumed: the run in {path} has {was}, not {asked}")
            }
            Self::NotFinite { update, what, place } => {
                format!("update {update}: {what} became infinite or NaN{place}; the last good checkpoint is kept")
            }
            Self::Export { reason } => format!("this policy cannot be exported: {reason}"),
            Self::Elsewhere { rank, reason } => format!("rank {rank}: {reason}"),
        }
    }

    /// Returns what to do about it; empty where the statement already says so.
    #[doc(hidden)]
    pub fn remedy(&self) -> String {
        match self {
            Self::UnknownProblem { nearest, known, .. } => choice(nearest, &format!("choose one of: {}", known.join(", "))),
            Self::UnknownModel { nearest, known, .. } => {
                choice(nearest, &format!("give a .safetensors file, a run folder, or one of: {}", known.join(", ")))
            }
            Self::ForeignModel { .. } => "open it with the program that defines this problem".into(),
            Self::UnknownKey { nearest, known, .. } => choice(nearest, &format!("choose one of: {}", known.join(", "))),
            Self::BadValue { expected, .. } => format!("it must be {expected}"),
            Self::TooLarge { .. } => "choose smaller sizes, or raise CINOC_MEMORY_MB".into(),
            Self::Toml { .. } => "correct it and try again".into(),
            Self::File { .. } => "check that it exists and can be read and written".into(),
            Self::Full { .. } => "make room and try again; what was saved before is complete".into(),
            Self::Model { .. } => "give a .safetensors file that training wrote, or a run folder".into(),
            Self::Damaged { .. } => "use an intact copy, or train again".into(),
            Self::Format { .. } => "train again, or use the version that wrote it".into(),
            Self::Checkpoint { .. } => "start a new run in another folder".into(),
            Self::NoModel { .. } => "resume the run until then, or give its last.safetensors".into(),
            Self::RunExists { .. } => "resume it, or choose another folder".into(),
            Self::NoRun { .. } => "choose another folder".into(),
            Self::Busy { .. } => "wait until it ends, or choose another folder".into(),
            Self::NothingToResume { .. } => "start a new run there".into(),
            Self::ResumeOther { .. } => "resume the run as it is, or start a new one in another folder".into(),
            Self::ResumeWay { .. } => "resume the run as it is".into(),
            Self::NotFinite { .. } => {
                "resume from it with a lower train.rate or train.clip, or start a new run with finer physics or lower actuator limits"
                    .into()
            }
            Self::ProblemFile { .. } | Self::Export { .. } | Self::Elsewhere { .. } => String::new(),
        }
    }

    /// Returns the statement followed by advice, which may be empty.
    #[doc(hidden)]
    pub fn advised(&self, advice: &str) -> String {
        if advice.is_empty() { self.statement() } else { format!("{}; {advice}", self.statement()) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.advised(&self.remedy()))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } | Self::Full { source, .. } => Some(source),
            Self::Toml { source: Some(source), .. } => Some(&**source),
            _ => None,
        }
    }
}

/// Puts "did you mean …?" before the other choices.
fn choice(nearest: &[String], others: &str) -> String {
    match nearest {
        [] => others.into(),
        some => format!("did you mean {}? Otherwise {others}", some.join(" or ")),
    }
}

/// Quotes text given by a user or a file: at most 300 characters, without terminal control characters.
pub fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    let mut short: String = text.chars().take(MOST).map(|c| if controls(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

/// Formats a path for a message; terminal control characters are escaped, as `\u{1b}`.
pub fn shown(path: impl AsRef<Path>) -> String {
    let text = path.as_ref().to_string_lossy();
    text.chars().flat_map(|c| if controls(c) { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}

/// Returns true for control characters and those that change the writing direction.
fn controls(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    /// Regression test: the metadata of a forged model used to break its error into two lines.
    #[test]
    fn a_sentence_stays_one_line() {
        assert_eq!(shortened("a\0\n\x1b[31mb"), "a\u{fffd}\u{fffd}\u{fffd}[31mb");
        assert_eq!(shortened(&"é".repeat(300)), "é".repeat(300));
        assert_eq!(shortened(&"é".repeat(301)), "é".repeat(300) + "…");
    }

    /// Regression test: file names used to reach the terminal with their escape sequences.
    #[test]
    fn paths_are_shown_without_escape_sequences() {
        assert_eq!(shown("dam\x1b[31m\n.safetensors"), r"dam\u{1b}[31m\n.safetensors");
        assert_eq!(shown("runs/ä b'c"), "runs/ä b'c");
        let text = Error::Busy { path: "a\x1b]0;x\x07".into() }.to_string();
        assert!(!text.contains(|c: char| c.is_control()), "{text:?}");
    }

    #[test]
    fn an_error_has_its_key_its_path_and_its_source() {
        let error = Error::file("x")(io::Error::new(io::ErrorKind::NotFound, "gone"));
        assert_eq!((error.path(), error.key()), (Some(Path::new("x")), None));
        assert_eq!(error.source().expect("the system's").to_string(), "gone");
        assert_eq!(error.to_string(), "x: gone; check that it exists and can be read and written");
        let error = Error::bad("train.updates", "many", "a whole number");
        assert_eq!((error.key(), error.source().is_none()), (Some("train.updates"), true));
        assert_eq!(error.advised("count them"), "train.updates cannot be many; count them");
    }
}
