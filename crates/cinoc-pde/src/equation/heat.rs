//! `z_t = ν z_xx + f`, `z = 0` at both walls.

use super::Stepper;
use crate::calculus::ThetaStep;
use crate::{Grid, Real};
use cinoc_tape::Var;
use std::sync::Arc;

/// The heat equation on an interval by Crank–Nicolson: second order in time and space. Good values: ν = 0.2, dt = 1e-3 with 100 nodes.
pub struct Heat1d {
    grid: Grid,
    dt: Real,
    step: Arc<ThetaStep>,
}

impl Heat1d {
    /// Diffusivity `nu`, time step `dt`.
    pub fn new(grid: Grid, nu: f64, dt: f64) -> Self {
        let step = Arc::new(ThetaStep::new(&grid, nu, dt, 0.5));
        Self { grid, dt: dt as Real, step }
    }
}

impl Stepper for Heat1d {
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
