//! `z_t = ν z_xx + f`, `z = 0` at both walls.

use super::Stepper;
use crate::calculus::ThetaStep;
use crate::{Grid, Real};
use cinoc_tape::Var;
use std::sync::Arc;

/// Heat equation on an interval by Crank–Nicolson: second order in time and space. Typical values: ν = 0.2, dt = 1e-3
/// with 100 nodes.
///
/// ```
/// use cinoc_pde::equation::Heat1d;
/// use cinoc_pde::{Grid, sampler};
///
/// // The first mode decays by exp(−νπ²t).
/// let heat = Heat1d::new(Grid::walls(101, 1.0), 0.2, 1e-3);
/// let start: Vec<_> = (0..101).map(|i| (std::f64::consts::PI * i as f64 / 100.0).sin() as _).collect();
/// let end = sampler::settle(&heat, &start, 100);
/// assert!((end[50] as f64 - (-0.02 * std::f64::consts::PI.powi(2)).exp()).abs() < 1e-4);
/// ```
#[derive(Debug)]
pub struct Heat1d {
    grid: Grid,
    dt: Real,
    step: Arc<ThetaStep>,
}

impl Heat1d {
    /// Creates the equation with diffusivity `nu` and time step `dt`.
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
