//! Random fields, from standard normal numbers that the caller provides.

mod chaos;
mod gaussian_process;
mod refine;

pub use chaos::{random_vorticity, settle, waves_with_noise, white_noise};
pub use gaussian_process::GaussianProcess;
pub use refine::refine;
