//! What agents feel, how they push, how they move.

mod advance;
mod blowers;
mod line;
mod plane;
mod still;

pub use advance::Advance;
pub use blowers::{BlowingPlane, Rectangle};
pub use line::MobileLine;
pub use plane::MobilePlane;
pub use still::{Push, StillLine, StillPlane};

use crate::Real;
use crate::sense::LinearView;
use cinoc_tape::op::Activation;
use cinoc_tape::{Layer, Var};

/// What agents see of the field.
#[derive(Clone, Copy)]
pub enum Seen<'t> {
    /// The field around each agent, `[batch, agents, features]`.
    Patches(Var<'t>),
    /// The same, not yet computed.
    Linear(LinearView<'t>),
    /// One view that all agents of an instance share, `[batch, features]`.
    Shared(Var<'t>),
}

/// What the policy is shown.
#[derive(Clone, Copy)]
pub struct Observation<'t> {
    /// What agents see of the field.
    pub view: Seen<'t>,
    /// Features of each agent's position, `[batch, agents, features]`.
    pub position: Var<'t>,
}

impl<'t> Observation<'t> {
    /// What is seen, as numbers.
    pub fn patch(&self) -> Var<'t> {
        match self.view {
            Seen::Patches(patch) | Seen::Shared(patch) => patch,
            Seen::Linear(view) => view.patch(),
        }
    }

    /// A layer on what is seen.
    pub fn dense(&self, layer: Layer<'t>, activation: Activation) -> Var<'t> {
        match self.view {
            Seen::Patches(patch) | Seen::Shared(patch) => patch.dense(layer, activation),
            Seen::Linear(view) => view.dense(layer, activation),
        }
    }

    /// What was computed from the view, for each agent: repeated where all of an instance share one, so that a network looks at it once per
    /// instance, not once per agent.
    pub fn each_agent(&self, seen: Var<'t>) -> Var<'t> {
        match self.view {
            Seen::Shared(_) => seen.repeat_rows(self.position.shape().sizes()[1]),
            _ => seen,
        }
    }
}

/// What the numbers of a patch are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patch {
    /// So many of them, in no particular order.
    Line(usize),
    /// An image `[height, width, channels]`.
    Image {
        /// Along x.
        height: usize,
        /// Along y.
        width: usize,
        /// Numbers per pixel.
        channels: usize,
    },
}

impl Patch {
    /// How many numbers there are.
    pub fn count(self) -> usize {
        match self {
            Self::Line(count) => count,
            Self::Image { height, width, channels } => height * width * channels,
        }
    }
}

/// What each agent is shown: the kind and the sizes of an [`Observation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Of [`Observation::patch`].
    pub patch: Patch,
    /// Whether all agents of an instance share one patch.
    pub shared: bool,
    /// Numbers in [`Observation::position`].
    pub position: usize,
}

/// A kind of agents. Their number is a property of the state, never of the swarm.
pub trait Swarm: Send + Sync {
    /// Space dimensions of a position.
    fn dimensions(&self) -> usize;

    /// Numbers per action: the push, if there is one, then the velocity.
    fn action_width(&self) -> usize;

    /// What each agent is shown.
    fn features(&self) -> Features;

    /// Where `agents` agents start, `[agents, dimensions]`.
    fn start(&self, agents: usize) -> Vec<Real>;

    /// What each agent sees.
    fn observe<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Observation<'t>;

    /// Each agent's strength given where all of them are; by default that does not matter.
    fn share<'t>(&self, strength: Var<'t>, _xi: Var<'t>) -> Var<'t> {
        strength
    }

    /// Raw outputs of a policy held inside the actuators' limits; each push times the
    /// agent's strength (1 in good health). A dead agent (strength 0) does nothing.
    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t>;

    /// Actions after a safety layer, which changes what must not happen; by default there is none.
    fn filter<'t>(&self, action: Var<'t>, _xi: Var<'t>) -> Var<'t> {
        action
    }

    /// Moves starting places that a safety layer does not allow; by default all are.
    fn settle(&self, _xi: &mut [Real]) {}

    /// What all agents together do to the field: the force, or whatever else drives the equation.
    fn actuate<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t>;

    /// Whether agents can move; if not, nothing asks for the derivative by their positions.
    fn moves(&self) -> bool {
        true
    }

    /// The positions one tick later.
    fn advance<'t>(&self, xi: Var<'t>, action: Var<'t>) -> Var<'t>;
}
