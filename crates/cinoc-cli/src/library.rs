//! Trained models that come with the program, and models from files and runs.

use anyhow::{Result, anyhow};
use cinoc::run::Model;
use std::path::Path;

/// Models inside the program, by name.
const BUILT_IN: &[(&str, &[u8])] = &[
    ("heat1d", include_bytes!("../../../models/heat1d.safetensors")),
    ("fkpp1d", include_bytes!("../../../models/fkpp1d.safetensors")),
    ("heat2d", include_bytes!("../../../models/heat2d.safetensors")),
    ("heat2d_obstacles", include_bytes!("../../../models/heat2d_obstacles.safetensors")),
    ("ks1d", include_bytes!("../../../models/ks1d.safetensors")),
    ("ks2d", include_bytes!("../../../models/ks2d.safetensors")),
    ("turbulence2d", include_bytes!("../../../models/turbulence2d.safetensors")),
    ("density2d", include_bytes!("../../../models/density2d.safetensors")),
];

/// Names of the models inside the program.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The model a user means: a file, a run folder, or the name of one that comes with the program.
pub fn find(name: &str) -> Result<Model> {
    let path = Path::new(name);
    if path.exists() {
        return Ok(Model::read(path)?);
    }
    if let Some((_, bytes)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
        return Ok(Model::from_bytes(bytes, Path::new(name))?);
    }
    let known: Vec<&str> = names().collect();
    Err(anyhow!("there is no model {name:?}; give a .safetensors file, a run folder, or one of: {}", known.join(", ")))
}
