//! Trained models that come with the program, and models from files and runs.

use crate::out::{note, program};
use anyhow::{Result, anyhow};
use cinoc::Registry;
use cinoc::run::Model;
use serde::Deserialize;
use std::path::Path;

/// A model inside the program.
struct BuiltIn {
    name: &'static str,
    bytes: &'static [u8],
    /// What it scores, as JSON.
    facts: &'static str,
}

/// The model of that name and what is known of it.
macro_rules! built_in {
    ($name:literal) => {
        BuiltIn {
            name: $name,
            bytes: include_bytes!(concat!("../../../models/", $name, ".safetensors")),
            facts: include_str!(concat!("../../../models/", $name, ".json")),
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

/// What is known of a model inside the program; its card says the same in words.
#[derive(Clone, Debug, Deserialize)]
pub struct Facts {
    /// Median over instances of score over uncontrolled score, at the trained number of agents.
    pub ratio_median: f64,
    /// Numbers of agents, smallest and largest, with which mean score over mean uncontrolled score was at most 2.5 times as large.
    pub agents: [usize; 2],
}

/// Names of the models inside the program; a registry without the problem of one cannot use it.
pub fn names(registry: &Registry) -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|model| model.name).filter(|name| registry.problems().any(|known| known == *name))
}

/// What is known of a model inside the program.
pub fn facts(name: &str) -> Option<Facts> {
    let model = BUILT_IN.iter().find(|model| model.name == name)?;
    Some(serde_json::from_str(model.facts).expect("the facts of a model inside the program are sound"))
}

/// The model a user means: the name of one that comes with the program, a file, or a run folder.
pub fn find(registry: &Registry, name: &str) -> Result<Model> {
    let path = Path::new(name);
    if let Some(model) = BUILT_IN.iter().find(|model| model.name == name) {
        if path.exists() {
            note!("{}: this is the model that comes with the program; for the one in your folder write ./{name}", program());
        }
        return Ok(Model::from_bytes(registry, model.bytes, path)?);
    }
    if path.exists() {
        return Ok(Model::read(registry, path)?);
    }
    let known: Vec<&str> = names(registry).collect();
    Err(anyhow!("there is no model {name:?}; give a .safetensors file, a run folder, or one of: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_loads_and_says_what_it_is_worth() {
        let registry = Registry::builtin();
        assert_eq!((names(&registry).count(), names(&Registry::empty()).count()), (BUILT_IN.len(), 0));
        for name in names(&registry) {
            let (facts, model) = (facts(name).expect("facts"), find(&registry, name).expect("a model"));
            let agents = model.build(&registry).expect("a problem").0.agents;
            assert!(facts.ratio_median > 0.0 && facts.ratio_median < 0.1, "{name}: {facts:?}");
            assert!(facts.agents[0] <= agents && agents <= facts.agents[1], "{name}: {facts:?}");
        }
    }
}
