//! `ρ_t + ∇·(ρ q) = ν ∇²ρ` on a rectangle, no flux through the walls.

use super::Stepper;
use crate::calculus::{Diffuse, Displacement, Transport, TransportScheme};
use crate::{Grid, Real};
use cinoc_tape::Var;
use std::sync::Arc;

/// Advection–diffusion of a density, one time unit per step. The input is the flow, not a force.
///
/// Displacements are limited to half a cell, so that every step is stable. Typical values: diffusion 0.01 per step in
/// grid units, 64×80 nodes.
#[derive(Debug)]
pub struct Transport2d {
    grid: Grid,
    displacement: Arc<Displacement>,
    transport: Arc<Transport>,
    diffuse: Arc<Diffuse>,
}

impl Transport2d {
    /// Creates the equation with a constant background `drift` (domain units per step) and `diffusion` per step in grid
    /// units.
    pub fn new(grid: Grid, drift: [f64; 2], diffusion: f64, scheme: TransportScheme) -> Self {
        let displacement = Arc::new(Displacement::new(&grid, drift));
        let transport = Arc::new(Transport::new(&grid, scheme));
        let diffuse = Arc::new(Diffuse::new(&grid, diffusion));
        Self { grid, displacement, transport, diffuse }
    }
}

impl Stepper for Transport2d {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn dt(&self) -> Real {
        1.0
    }

    /// # Shapes
    /// `z` is `[batch, Nx, Ny]`; `force` is the flow `[batch, 2, Nx, Ny]`, one plane per component, in domain units per
    /// step.
    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
        let shift = force.apply(&self.displacement);
        z.tape().record(&self.transport, [z, shift]).apply(&self.diffuse)
    }
}
