//! Trained models that come with the crate, and models from files and runs.

use crate::run::Model;
use crate::{Error, Registry};
use serde::Deserialize;
use std::path::Path;

/// A model that comes with the crate.
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
            bytes: include_bytes!(concat!("../models/", $name, ".safetensors")),
            facts: include_str!(concat!("../models/", $name, ".json")),
        }
    };
}

/// Models that come with the crate.
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

/// What is known of such a model; its card says the same in words.
#[derive(Clone, Debug, Deserialize)]
pub struct Facts {
    /// Median over instances of score over uncontrolled score, at the trained number of agents.
    pub ratio_median: f64,
    /// Numbers of agents, smallest and largest, with which mean score over mean uncontrolled score was at most 2.5 times as large.
    pub agents: [usize; 2],
}

/// Names of the models that come with the crate; a registry without the problem of one cannot use it.
pub fn names(registry: &Registry) -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|model| model.name).filter(|name| registry.problems().any(|known| known == *name))
}

/// The file of a model that comes with the crate.
pub fn bytes(name: &str) -> Option<&'static [u8]> {
    BUILT_IN.iter().find(|model| model.name == name).map(|model| model.bytes)
}

/// What is known of a model that comes with the crate.
pub fn facts(name: &str) -> Option<Facts> {
    let model = BUILT_IN.iter().find(|model| model.name == name)?;
    Some(serde_json::from_str(model.facts).expect("the facts of a model that comes with the crate are sound"))
}

/// The model a user means: the name of one that comes with the crate, a file, or a run folder.
pub fn find(registry: &Registry, name: &str) -> Result<Model, Error> {
    let path = Path::new(name);
    if let Some(bytes) = bytes(name) {
        return Model::from_bytes(registry, bytes, path);
    }
    if path.exists() {
        return Model::read(registry, path);
    }
    let known: Vec<&str> = names(registry).collect();
    Err(Error::UnknownModel { name: crate::error::shortened(name), known: known.join(", ") })
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
