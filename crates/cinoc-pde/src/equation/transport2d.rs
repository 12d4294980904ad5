//! `ρ_t + ∇·(ρ q) = ν ∇²ρ` on a rectangle, no flux through the walls.

use super::Stepper;
use crate::calculus::{Diffuse, Displacement, Transport, TransportScheme};
use crate::{Grid, Real};
use cinoc_tape::Var;
use std::sync::Arc;

/// A density carried by a flow and spread by diffusion, one time unit per step. What drives it is not a force but the flow itself.
///
/// Displacements are shortened to half a cell, so that every step is stable. Good values: diffusion 0.01 per step in grid units, 64×80 nodes.
pub struct Transport2d {
    grid: Grid,
    displacement: Arc<Displacement>,
    transport: Arc<Transport>,
    diffuse: Arc<Diffuse>,
}

impl Transport2d {
    /// A `drift` (domain units per step) that blows without anybody's doing, `diffusion` per step in grid units.
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
    /// `z` is `[batch, Nx, Ny]`; `force` is the flow `[batch, 2, Nx, Ny]`, one plane per component, in domain units per step.
    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
        let shift = force.apply(&self.displacement);
        z.tape().record(&self.transport, [z, shift]).apply(&self.diffuse)
    }
}
