//! Random fields. Randomness comes in as standard normal numbers, so this crate has no generator of its own.

mod gaussian_process;

pub use gaussian_process::GaussianProcess;
