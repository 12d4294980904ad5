//! The Python module `cinoc._native`: the engine in single and in double precision, side by side.

mod arrays;
mod double;
mod fault;
mod single;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Name and one line about each problem.
#[pyfunction]
fn problems() -> Vec<(&'static str, &'static str)> {
    let registry = cinoc::Registry::builtin();
    registry.problems().map(|name| (name, registry.about(name).unwrap_or_default())).collect()
}

/// Names of the trained policies that come with the package.
#[pyfunction]
fn models() -> Vec<&'static str> {
    cinoc::internal::library::names(&cinoc::Registry::builtin()).collect()
}

/// The engine. `f32` and `f64` hold the same classes, in single and in double precision.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fault::listen();
    let py = module.py();
    module.add("CinocError", py.get_type::<fault::CinocError>())?;
    module.add_function(wrap_pyfunction!(problems, module)?)?;
    module.add_function(wrap_pyfunction!(models, module)?)?;
    let loaded = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    for (name, fill) in [("f32", single::engine::fill as fn(&Bound<PyModule>) -> PyResult<()>), ("f64", double::engine::fill)] {
        let whole = format!("cinoc._native.{name}");
        let inner = PyModule::new(py, &whole)?;
        fill(&inner)?;
        // One file holds both sources: each class says where it is.
        for (_, member) in inner.dict().iter().filter(|(_, member)| member.hasattr("__module__").unwrap_or(false)) {
            member.setattr("__module__", &whole)?;
        }
        module.add(name, &inner)?;
        loaded.set_item(&whole, &inner)?;
    }
    Ok(())
}
