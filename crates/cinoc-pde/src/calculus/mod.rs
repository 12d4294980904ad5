//! Operations of the solvers.

mod diffuse;
mod displacement;
mod fourier;
mod frame;
mod lines;
mod moments;
mod packed;
mod peaceman_rachford;
mod plane;
mod real_fft;
mod spectrum;
mod symbol;
mod theta_step;
mod transform;
mod transport;
mod tridiagonal;

pub use diffuse::Diffuse;
pub use displacement::Displacement;
pub use fourier::Fourier;
pub use lines::Lines;
pub use moments::Moments;
pub use packed::{Layout, MAX_TERMS, OddSymbol, add, coefficients, combine, rows_are_modes, scale};
pub use peaceman_rachford::PeacemanRachford;
pub use plane::Plane;
pub use real_fft::RealFft;
pub use spectrum::{ToSpectrum, ToValues};
pub use symbol::Symbol;
pub use theta_step::ThetaStep;
pub use transform::Transform;
pub use transport::{Transport, TransportScheme};
pub use tridiagonal::Tridiagonal;
