//! Problems as files: a TOML text that becomes a [`Problem`].
//!
//! Numbers of a file that users change become sections of settings like those of any problem; the text itself is one of
//! them, so a configuration and a model hold the whole problem.
//! Texts are compiled by `cinoc-text`, operators on fields are finite volumes of `cinoc_pde::volume`.

#[cfg(feature = "files")]
mod content;
#[cfg(not(feature = "files"))]
mod refused;

#[cfg(feature = "files")]
pub use content::{build, check, describe, open, table};
#[cfg(not(feature = "files"))]
pub use refused::{build, check, describe, open, table};

use crate::recipe::Train;
use crate::settings::Overlay;
use toml::Table;

/// A problem file, opened.
pub struct Opened {
    /// Name of the problem: that of the file.
    pub name: String,
    /// The sections of the problem.
    pub tree: Table,
    pub policy: Table,
    pub train: Train,
    /// Settings that the file changes.
    pub changes: Overlay,
}

/// Returns true if the content of a TOML file is a problem, not settings of one.
pub fn is_problem(tree: &Table) -> bool {
    tree.contains_key("equations")
}

/// Returns true if settings are those of a problem file.
pub fn is_written(tree: &Table) -> bool {
    tree.contains_key("file")
}
