//! How agents push.

mod bumps1d;
mod flow2d;
mod force1d;
mod force2d;

pub use bumps1d::{Bumps1d, StillForce1d, SumBumps};
pub use flow2d::Flow2d;
pub use force1d::Force1d;
pub use force2d::Force2d;

use crate::{Real, words};
use cinoc_pde::Grid;
use cinoc_tape::{Op, Var};
use std::f64::consts::PI;
use std::sync::Arc;

/// `exp(−REACH)` is a quarter of the relative resolution of a number: beyond, a bump is zero.
const REACH: Real = if cfg!(feature = "f64") { 38.0 } else { 18.0 };

/// How agents act on a field.
pub trait Actuate: Send + Sync {
    /// What agents at `xi` (`[batch, agents, d]`) do together with actions `[batch, agents, k]`: the force, or whatever drives the equation.
    fn force<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t>;
}

/// An operation on actions and positions.
impl<O: Op + 'static> Actuate for Arc<O> {
    fn force<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        action.tape().record(self, [action, xi])
    }
}

words! {
    /// What the intensity `u` of a push means.
    pub enum Kernel {
        /// the push is u where the agent is
        Peak = "peak",
        /// the integral of the push is u
        UnitMass = "unit-mass",
    }
}

/// The shape of an agent's push: a Gaussian bump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// Its width σ.
    pub sigma: f64,
    /// Its height.
    pub kernel: Kernel,
}

impl Push {
    /// What a bump of height 1 is multiplied by: 1, or `(2πσ²)^(−d/2)`.
    pub fn scale(&self, dimensions: usize) -> f64 {
        match self.kernel {
            Kernel::Peak => 1.0,
            Kernel::UnitMass => 1.0 / (2.0 * PI * self.sigma * self.sigma).powf(0.5 * dimensions as f64),
        }
    }

    /// The force of agents on a line or in the plane that push so. Agents that never move have the shapes of their pushes computed once.
    ///
    /// # Panics
    /// In more than two dimensions, and where [`Force1d::new`] or [`Force2d::new`] does.
    pub fn on(&self, grid: &Grid, moving: bool) -> Box<dyn Actuate> {
        match (grid.dimensions(), moving) {
            (1, true) => Box::new(Arc::new(Force1d::new(grid, self))),
            (1, false) => Box::new(StillForce1d::new(grid, self)),
            (2, _) => Box::new(Arc::new(Force2d::new(grid, self))),
            (d, _) => panic!("agents push on a line or in the plane; a push in {d} dimensions is yet to be written"),
        }
    }
}

/// Constructors of forces fail where no arithmetic could make sense.
fn check(grid: &Grid, dimensions: usize, sigma: f64) {
    let axes = grid.dimensions();
    assert!(axes == dimensions, "this push is for {dimensions} dimensions, not {axes}");
    assert!((0..axes).all(|axis| grid.spacing(axis) > 0.0), "an axis needs a length above 0 and two nodes: {grid:?}");
    assert!(sigma > 0.0, "a push needs a width above 0, not {sigma}");
}
