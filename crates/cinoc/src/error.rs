//! What can go wrong for a user. Each text ends in what to do.

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
    /// A file that is no model of ours.
    #[error("{path} is not a CINOC model: {reason}; give a .safetensors file written by `cinoc train`, or a run folder")]
    Model {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The folder already holds a run.
    #[error("{path} already holds a run; add --resume to continue it, or choose another --out")]
    RunExists {
        /// Which folder.
        path: PathBuf,
    },
    /// There is nothing to continue.
    #[error("{path} holds no checkpoint to resume; leave out --resume to start anew")]
    NothingToResume {
        /// Which folder.
        path: PathBuf,
    },
    /// Numbers left the finite range.
    #[error(
        "update {update}: {what} became infinite or NaN{place}; the last good checkpoint is kept. Lower train.rate, raise physics \
         resolution, or lower the actuator limits, then --resume"
    )]
    NotFinite {
        /// Number of the update.
        update: usize,
        /// Cost or gradient.
        what: &'static str,
        /// At which tick, where known.
        place: String,
    },
}

impl Error {
    /// A value that is not allowed.
    pub fn bad(key: &str, value: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::BadValue { key: key.into(), value: value.into(), expected: expected.into() }
    }

    /// Wraps an error of the file system.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, reason: error.to_string() }
    }
}
