//! What can go wrong for a user. Each text ends in what to do.

use std::io::ErrorKind;
use std::path::PathBuf;

/// An error a user can do something about.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such problem.
    #[error("there is no problem called {name:?}; choose one of: {known}")]
    UnknownProblem {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// No such model.
    #[error("there is no model {name:?}; give a .safetensors file, a run folder, or one of: {known}")]
    UnknownModel {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// No such key in the configuration.
    #[error("there is no setting {key:?}; {hint}")]
    UnknownKey {
        /// What was given.
        key: String,
        /// What would have been right.
        hint: String,
    },
    /// A value of the wrong kind or size.
    #[error("{key} cannot be {value}; it must be {expected}")]
    BadValue {
        /// Which setting.
        key: String,
        /// What was given.
        value: String,
        /// What would have been right.
        expected: String,
    },
    /// More memory than there is.
    #[error("{what} would take {need} of memory, and {limit} may be used; choose smaller sizes, or raise CINOC_MEMORY_MB")]
    TooLarge {
        /// What was asked for.
        what: String,
        /// How much it takes.
        need: String,
        /// How much may be used.
        limit: String,
    },
    /// A file that is not TOML.
    #[error("{place} is not valid: {reason}; correct it and try again")]
    Toml {
        /// File name or flag.
        place: String,
        /// What the parser said.
        reason: String,
    },
    /// The disk said no.
    #[error("{path}: {reason}; check that it exists and can be read and written")]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The disk is full.
    #[error("{path} could not be written: {reason}; make room and try again, what was saved before is whole")]
    Full {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A file that is no model of ours.
    #[error("{path} is not a CINOC model: {reason}; give a .safetensors file written by `cinoc train`, or a run folder")]
    Model {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file whose content is not what was written.
    #[error("{path} is damaged: its checksum does not fit its content; take a sound copy of it, or train again")]
    Damaged {
        /// Which file.
        path: PathBuf,
    },
    /// A file of another format.
    #[error(
        "{path} was written by another version of cinoc (file format {found}, this version reads {known}); train again, or use the version \
         that wrote it"
    )]
    Format {
        /// Which file.
        path: PathBuf,
        /// Its format.
        found: String,
        /// Ours.
        known: &'static str,
    },
    /// A checkpoint that no run can go on from.
    #[error("{path} cannot be resumed: {reason}; start anew in another --out")]
    Checkpoint {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A run without a model.
    #[error(
        "{path} holds no model yet: a run writes its first after train.validate_every updates; let it go on with --resume, or give its \
         last.safetensors"
    )]
    NoModel {
        /// Which folder.
        path: PathBuf,
    },
    /// The folder already holds a run.
    #[error("{path} already holds a run; add --resume to continue it, or choose another --out")]
    RunExists {
        /// Which folder.
        path: PathBuf,
    },
    /// The folder holds something else.
    #[error("{path} is not empty and holds no run; choose another --out")]
    NoRun {
        /// Which folder.
        path: PathBuf,
    },
    /// Another process works on this run.
    #[error("{path} is in use by another cinoc process; wait until it ends, or choose another --out")]
    Busy {
        /// Which folder.
        path: PathBuf,
    },
    /// There is nothing to continue.
    #[error("{path} holds no checkpoint to resume; leave out --resume to start anew")]
    NothingToResume {
        /// Which folder.
        path: PathBuf,
    },
    /// A run cannot go on as another one.
    #[error(
        "the run in {path} has {key} = {was}, not {asked}; leave that out to continue the run as it is, or start anew in another --out"
    )]
    ResumeOther {
        /// Which folder.
        path: PathBuf,
        /// The first setting that differs.
        key: String,
        /// What the run has.
        was: String,
        /// What was asked for.
        asked: String,
    },
    /// A setting may change on resuming, but not that way.
    #[error(
        "{key} may only be {way} when a run is resumed: the run in {path} has {was}, not {asked}; leave that out to continue it as it is"
    )]
    ResumeWay {
        /// Which folder.
        path: PathBuf,
        /// Which setting.
        key: String,
        /// What the run has.
        was: String,
        /// What was asked for.
        asked: String,
        /// Raised or lowered.
        way: &'static str,
    },
    /// Numbers left the finite range.
    #[error(
        "update {update}: {what} became infinite or NaN{place}; the last good checkpoint is kept. Go on from it with smaller steps \
         (--resume with a lower train.rate or train.clip), or start anew with finer physics or lower actuator limits"
    )]
    NotFinite {
        /// Number of the update.
        update: usize,
        /// Cost or gradient.
        what: &'static str,
        /// At which tick, where known.
        place: String,
    },
    /// A policy that does not leave the house.
    #[error("this policy cannot be exported: {reason}")]
    Export {
        /// Why, and what to do.
        reason: String,
    },
    /// Another rank of the same job failed.
    #[error("rank {rank}: {reason}")]
    Elsewhere {
        /// Which.
        rank: usize,
        /// What it said.
        reason: String,
    },
}

impl Error {
    /// A value that is not allowed.
    pub fn bad(key: &str, value: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::BadValue { key: shortened(key), value: shortened(&value.into()), expected: expected.into() }
    }

    /// Wraps an error of the file system.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |error| {
            let reason = error.to_string();
            match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Self::Full { path, reason },
                _ => Self::File { path, reason },
            }
        }
    }
}

/// What a user or a file gave, in a sentence: its beginning will do, without line ends and other characters that control a terminal.
pub fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    let mut short: String = text.chars().take(MOST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The facts of a forged model once broke its error into two lines.
    #[test]
    fn a_sentence_stays_one_line() {
        assert_eq!(shortened("a\0\n\x1b[31mb"), "a\u{fffd}\u{fffd}\u{fffd}[31mb");
        assert_eq!(shortened(&"é".repeat(300)), "é".repeat(300));
        assert_eq!(shortened(&"é".repeat(301)), "é".repeat(300) + "…");
    }
}
