//! The model a user means.

use crate::out::{note, program};
use anyhow::Result;
use cinoc::Registry;
use cinoc::library::bytes;
use cinoc::run::Model;
use std::path::Path;

pub use cinoc::library::{facts, names};

/// The model a user means: the name of one that comes with the program, a file, or a run folder.
pub fn find(registry: &Registry, name: &str) -> Result<Model> {
    if bytes(name).is_some() && Path::new(name).exists() {
        note!("{}: this is the model that comes with the program; for the one in your folder write ./{name}", program());
    }
    Ok(cinoc::library::find(registry, name)?)
}
