//! The Allen–Cahn equation on a ring, `z_t = ε z_xx + z − z³ + f`: two phases, −1 and 1, and fronts between them.

use cinoc::prelude::*;

pub const NODES: usize = 64;

pub struct AllenCahn {
    pub grid: Grid,
    pub epsilon: f64,
}

impl Spectral for AllenCahn {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn linear(&self, k: &[f64]) -> f64 {
        1.0 - self.epsilon * k[0] * k[0]
    }

    fn nonlinear<'t>(&self, fourier: &Fourier, z_hat: Var<'t>) -> Var<'t> {
        -fourier.product(fourier.product(z_hat, z_hat), z_hat)
    }
}
