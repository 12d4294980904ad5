//! Models by name, file or run folder.

use crate::out::{note, program};
use anyhow::{Result, bail};
use cinoc::Registry;
use cinoc::internal::library::bytes;
use cinoc::internal::shown;
use cinoc::run::Model;
use std::path::Path;

pub use cinoc::internal::library::{facts, names};

/// Finds a model: the name of a shipped one, a file, or a run folder.
pub fn find(registry: &Registry, name: impl AsRef<Path>) -> Result<Model> {
    let path = name.as_ref();
    if let Some(name) = path.to_str().filter(|name| bytes(name).is_some() && path.exists()) {
        note!("{}: this is the shipped model; for the one in your folder write ./{name}", program());
    }
    if path.extension().is_some_and(|end| end == "toml") {
        let file = shown(path);
        bail!("{file} is a problem file and has no policy yet; train one with: {} train {file} --out runs/mine", program());
    }
    Ok(cinoc::internal::library::find(registry, path)?)
}
