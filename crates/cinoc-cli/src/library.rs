//! Trained models that come with the program, and models from files and runs.

use anyhow::{Result, anyhow};
use cinoc::run::Model;
use std::path::Path;

/// A model inside the program.
struct BuiltIn {
    name: &'static str,
    bytes: &'static [u8],
    /// Says how it was made and what it scores.
    card: &'static str,
}

/// The model of that name and its card.
macro_rules! built_in {
    ($name:literal) => {
        BuiltIn {
            name: $name,
            bytes: include_bytes!(concat!("../../../models/", $name, ".safetensors")),
            card: include_str!(concat!("../../../models/", $name, ".md")),
        }
    };
}

/// Models inside the program.
const BUILT_IN: &[BuiltIn] = &[
    built_in!("heat1d"),
    built_in!("fkpp1d"),
    built_in!("heat2d"),
    built_in!("heat2d_obstacles"),
    built_in!("ks1d"),
    built_in!("ks2d"),
    built_in!("turbulence2d"),
    built_in!("density2d"),
];

/// Names of the models inside the program.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|model| model.name)
}

/// Score over uncontrolled that the card of a model inside the program promises.
pub fn promised(name: &str) -> Option<f64> {
    let card = BUILT_IN.iter().find(|model| model.name == name)?.card;
    let (_, rest) = card.split_once("held-out instances")?.1.split_once("ratio ")?;
    rest.lines().next()?.trim_end_matches('.').parse().ok()
}

/// The model a user means: a file, a run folder, or the name of one that comes with the program.
pub fn find(name: &str) -> Result<Model> {
    let path = Path::new(name);
    if path.exists() {
        return Ok(Model::read(path)?);
    }
    if let Some(model) = BUILT_IN.iter().find(|model| model.name == name) {
        return Ok(Model::from_bytes(model.bytes, Path::new(name))?);
    }
    let known: Vec<&str> = names().collect();
    Err(anyhow!("there is no model {name:?}; give a .safetensors file, a run folder, or one of: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_promises_a_ratio() {
        for name in names() {
            assert!(promised(name).is_some_and(|ratio| ratio > 0.0 && ratio < 0.1), "{name}: {:?}", promised(name));
        }
    }
}
