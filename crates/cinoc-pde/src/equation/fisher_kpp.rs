//! `z_t = ν z_xx + ρ z(1−z) + f`, `z = 0` at both walls, clamped to [0, 1].

use super::Stepper;
use crate::calculus::ThetaStep;
use crate::{Grid, Real};
use cinoc_tape::Var;
use std::sync::Arc;

/// Fisher–KPP equation: explicit reaction and force, implicit Euler for diffusion, then a clamp to [0, 1].
///
/// Fronts travel at the speed 2√(νρ). Typical values: ν = 0.005, ρ = 3, dt = 1e-3 with 100 nodes.
#[derive(Debug)]
pub struct FisherKpp {
    grid: Grid,
    rho: Real,
    dt: Real,
    step: Arc<ThetaStep>,
}

impl FisherKpp {
    /// Creates the equation with diffusivity `nu`, reaction rate `rho` and time step `dt`.
    pub fn new(grid: Grid, nu: f64, rho: f64, dt: f64) -> Self {
        let step = Arc::new(ThetaStep::new(&grid, nu, dt, 1.0));
        Self { grid, rho: rho as Real, dt: dt as Real, step }
    }
}

impl Stepper for FisherKpp {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn dt(&self) -> Real {
        self.dt
    }

    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
        let source = z * z.affine(-self.rho, self.rho) + force;
        z.tape().record(&self.step, [z, source]).clamp(0.0, 1.0)
    }
}
