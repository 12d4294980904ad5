//! The engine in one precision; `super::cinoc` says which.

mod advice;
mod data;
mod env;
mod evaluate;
mod policy;
mod problem;
mod rollout;
mod training;

use super::cinoc;
use crate::fault::{explained, wrong};
use cinoc::internal::random::Stream;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

/// Adds all classes and functions to a module.
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<problem::Problem>()?;
    module.add_class::<policy::Policy>()?;
    module.add_class::<env::Env>()?;
    module.add_class::<env::Snapshot>()?;
    module.add_class::<rollout::Rollout>()?;
    module.add_class::<training::Training>()?;
    module.add_function(wrap_pyfunction!(evaluate::evaluate, module)?)
}

/// An error of the engine as an exception.
fn told(error: cinoc::Error) -> PyErr {
    explained(advice::sentence(&error))
}

/// Changes of settings, as `key=value`.
fn pairs(set: Option<&Bound<'_, PyMapping>>) -> PyResult<Vec<String>> {
    let Some(set) = set else { return Ok(Vec::new()) };
    let each = set.items()?;
    each.iter().map(|item| item.extract::<(String, String)>().map(|(key, value)| format!("{key}={value}"))).collect()
}

fn stream(name: &str) -> PyResult<Stream> {
    match name {
        "train" => Ok(Stream::Train),
        "validation" => Ok(Stream::Validate),
        "test" => Ok(Stream::Test),
        _ => Err(wrong(format!("there is no stream {name:?}; choose one of: train, validation, test"))),
    }
}
