//! Random fields. Randomness comes in as standard normal numbers, so this crate has no generator of its own.

mod chaos;
mod gaussian_process;
mod refine;

pub use chaos::{random_vorticity, settle, waves_with_noise, white_noise};
pub use gaussian_process::GaussianProcess;
pub use refine::refine;
