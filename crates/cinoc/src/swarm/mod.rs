//! What agents feel, how they push, how they move.

mod advance;
mod blowers;
mod compress;
mod directions;
mod flow2d;
mod force1d;
mod fourier;
mod line;
mod observe1d;
mod observe_field;
mod saturate;
mod saturate_length;

pub use advance::Advance;
pub use blowers::{BlowingPlane, Rectangle};
pub use compress::Compress;
pub use directions::Directions;
pub use flow2d::Flow2d;
pub use force1d::Force1d;
pub use fourier::Fourier;
pub use line::MobileLine;
pub use observe_field::ObserveField;
pub use observe1d::Observe1d;
pub use saturate::Saturate;
pub use saturate_length::SaturateLength;

use crate::Real;
use cinoc_tape::Var;

/// What the policy is shown.
#[derive(Clone, Copy)]
pub struct Observation<'t> {
    /// The field around each agent, `[batch, agents, features]`, or one view that all agents of an instance share, `[batch, features]`.
    pub patch: Var<'t>,
    /// Features of each agent's position, `[batch, agents, features]`.
    pub position: Var<'t>,
}

impl<'t> Observation<'t> {
    /// What was computed from [`patch`](Self::patch), for each agent: repeated where all of an instance share one view, so that a network
    /// looks at it once per instance, not once per agent.
    pub fn each_agent(&self, seen: Var<'t>) -> Var<'t> {
        let shared = self.patch.shape().sizes().len() < self.position.shape().sizes().len();
        if shared { seen.repeat_rows(self.position.shape().sizes()[1]) } else { seen }
    }
}

/// A kind of agents. Their number is a property of the state, never of the swarm.
pub trait Swarm: Send + Sync {
    /// Space dimensions of a position.
    fn dimensions(&self) -> usize;

    /// Numbers per action: the push, if there is one, then the velocity.
    fn action_width(&self) -> usize;

    /// Features per agent (or per instance, where all share one view) in [`Observation::patch`], and per agent in [`Observation::position`].
    fn features(&self) -> (usize, usize);

    /// Where `agents` agents start, `[agents, dimensions]`.
    fn start(&self, agents: usize) -> Vec<Real>;

    /// What each agent sees.
    fn observe<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Observation<'t>;

    /// Raw outputs of a policy held inside the actuators' limits; each push times the
    /// agent's strength (1 in good health). A dead agent (strength 0) does nothing.
    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t>;

    /// What all agents together do to the field: the force, or whatever else drives the equation.
    fn actuate<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t>;

    /// The positions one tick later.
    fn advance<'t>(&self, xi: Var<'t>, action: Var<'t>) -> Var<'t>;
}
