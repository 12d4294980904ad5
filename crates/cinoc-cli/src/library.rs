//! Models by name, file or run folder.

use crate::out::{note, program};
use anyhow::Result;
use cinoc::Registry;
use cinoc::internal::library::bytes;
use cinoc::run::Model;
use std::path::Path;

pub use cinoc::internal::library::{facts, names};

/// Finds a model: the name of a shipped one, a file, or a run folder.
pub fn find(registry: &Registry, name: impl AsRef<Path>) -> Result<Model> {
    let path = name.as_ref();
    if let Some(name) = path.to_str().filter(|name| bytes(name).is_some() && path.exists()) {
        note!("{}: this is the shipped model; for the one in your folder write ./{name}", program());
    }
    Ok(cinoc::internal::library::find(registry, path)?)
}
