//! x
use pyo3::prelude::*;
pub use cinoc_f64 as _x;
pub use cinoc as _y;
use numpy as _;

#[pymodule]
fn _native(_m: &Bound<'_, PyModule>) -> PyResult<()> { Ok(()) }
