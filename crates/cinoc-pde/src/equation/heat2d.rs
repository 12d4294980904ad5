//! `z_t = ν(z_xx + z_yy) + f`, `z = 0` on all four walls.

use super::Stepper;
use crate::calculus::PeacemanRachford;
use crate::{Grid, Real};
use cinoc_tape::Var;
use std::sync::Arc;

/// Heat equation on a rectangle by Peaceman–Rachford: second order in time and space. Typical values: ν = 0.2, dt =
/// 1e-3 with 32 × 32 nodes.
#[derive(Debug)]
pub struct Heat2d {
    grid: Grid,
    dt: Real,
    step: Arc<PeacemanRachford>,
}

impl Heat2d {
    /// Creates the equation with diffusivity `nu` and time step `dt`.
    pub fn new(grid: Grid, nu: f64, dt: f64) -> Self {
        let step = Arc::new(PeacemanRachford::new(&grid, nu, dt));
        Self { grid, dt: dt as Real, step }
    }
}

impl Stepper for Heat2d {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn dt(&self) -> Real {
        self.dt
    }

    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
        z.tape().record(&self.step, [z, force])
    }
}
