//! Shipped models, and models from files and runs.

use crate::error::shortened;
use crate::run::Model;
use crate::settings::nearest;
use crate::{Error, Registry};
use serde::Deserialize;
use std::path::Path;

/// A shipped model.
struct BuiltIn {
    name: &'static str,
    bytes: &'static [u8],
    /// Scores, as JSON.
    facts: &'static str,
}

/// Includes the model in this file and its measured scores, under this name.
macro_rules! built_in {
    ($name:expr, $file:expr) => {
        BuiltIn {
            name: $name,
            bytes: include_bytes!(concat!("../models/", $file, ".safetensors")),
            facts: include_str!(concat!("../models/", $file, ".json")),
        }
    };
}

/// Includes the robust models of these problems, and the sharp ones, trained without disturbances, under the name
/// `PROBLEM:sharp`.
macro_rules! models {
    ($($problem:literal),*) => {
        &[
            $(built_in!($problem, $problem),)*
            $(built_in!(concat!($problem, ":sharp"), concat!($problem, "-sharp")),)*
        ]
    };
}

/// All shipped models.
const BUILT_IN: &[BuiltIn] =
    models!["heat1d", "fkpp1d", "heat2d", "heat2d_obstacles", "ks1d", "ks2d", "turbulence2d", "density2d"];

/// Returns a shipped model. `PROBLEM:robust`, an earlier name, is that of the problem.
fn built_in(name: &str) -> Option<&'static BuiltIn> {
    let name = name.strip_suffix(":robust").unwrap_or(name);
    BUILT_IN.iter().find(|model| model.name == name)
}

/// Measured scores of a shipped model.
#[derive(Clone, Debug, Deserialize)]
pub struct Facts {
    /// Median over instances of the relative error, at the trained number of agents.
    pub ratio_median: f64,
    /// Smallest and largest number of agents at which the ratio of mean score to mean uncontrolled score was at most
    /// 2.5 times that at the trained number.
    pub agents: [usize; 2],
}

/// Returns the names of the shipped models whose problem the registry has.
pub fn names(registry: &Registry) -> impl Iterator<Item = &'static str> {
    let problem = |name: &'static str| name.split(':').next();
    BUILT_IN.iter().map(|model| model.name).filter(move |name| registry.problems().any(|known| problem(name) == Some(known)))
}

/// Returns the file of a shipped model.
pub fn bytes(name: &str) -> Option<&'static [u8]> {
    built_in(name).map(|model| model.bytes)
}

/// Returns the measured scores of a shipped model.
pub fn facts(name: &str) -> Option<Facts> {
    let model = built_in(name)?;
    Some(serde_json::from_str(model.facts).expect("the scores of a shipped model are valid"))
}

/// Finds a model by the name of a shipped one, by file, or by run folder.
pub fn find(registry: &Registry, name: impl AsRef<Path>) -> Result<Model, Error> {
    let path = name.as_ref();
    let name = path.to_string_lossy();
    if let Some(bytes) = bytes(&name) {
        return Model::from_bytes(registry, bytes, path);
    }
    if path.exists() {
        return Model::read(registry, path).map_err(|error| match error {
            // Another program may define more problems.
            Error::UnknownProblem { name, known, .. } => Error::ForeignModel { path: path.to_owned(), problem: name, known },
            other => other,
        });
    }
    let known = names(registry).map(str::to_owned).collect();
    Err(Error::UnknownModel { name: shortened(&name), nearest: nearest(&name, names(registry)), known })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: a model of another crate used to be answered with a list of other problems.
    #[test]
    fn a_model_of_another_program_says_so() {
        let folder = std::env::temp_dir().join(format!("cinoc-foreign-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("room.safetensors");
        std::fs::write(&path, bytes("heat2d").expect("a model")).expect("written");
        let registry = Registry::empty().problem::<crate::problems::Heat1d>();
        let text = find(&registry, &path).expect_err("it is not known").to_string();
        std::fs::remove_dir_all(&folder).expect("removed");
        assert!(
            text.contains("the problem \"heat2d\"") && text.ends_with("open it with the program that defines this problem"),
            "{text}"
        );
    }

    #[test]
    fn every_model_loads_and_says_what_it_is_worth() {
        let registry = Registry::builtin();
        assert_eq!((names(&registry).count(), names(&Registry::empty()).count()), (BUILT_IN.len(), 0));
        assert!(bytes("heat1d:robust") == bytes("heat1d") && bytes("heat1d:sharp") != bytes("heat1d"));
        for name in names(&registry) {
            let (facts, model) = (facts(name).expect("facts"), find(&registry, name).expect("a model"));
            let agents = model.build(&registry).expect("a problem").0.agents;
            assert!(facts.ratio_median > 0.0 && facts.ratio_median < 0.1, "{name}: {facts:?}");
            assert!(facts.agents[0] <= agents && agents <= facts.agents[1], "{name}: {facts:?}");
        }
    }
}
