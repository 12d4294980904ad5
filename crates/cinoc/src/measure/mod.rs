//! Distances that are too dear to train with, for reports.

mod wasserstein;

pub use wasserstein::Wasserstein2;
