//! Distances too expensive for training, for reports only.

mod wasserstein;

pub use wasserstein::Wasserstein2;
