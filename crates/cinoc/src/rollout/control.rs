//! Controllers of a rollout, its observers, losses and gradients.

use crate::Real;
use crate::policy::{Policy, PolicyInputs};
use cinoc_tape::Params;

/// The controller of a rollout.
#[derive(Clone, Copy)]
pub enum Control<'a> {
    /// A policy with its parameters.
    Policy(&'a dyn Policy, &'a Params),
    /// Given actions in the units of the actuators, `[ticks, batch, agents, k]`. Limits and safety apply to them too.
    Actions(&'a [Real]),
}

impl<'a> Control<'a> {
    /// Returns the parameters that its tape reads.
    pub(crate) fn shared(self) -> &'a [Real] {
        if let Self::Policy(_, params) = self { params.shared() } else { &[] }
    }

    /// Returns the inputs that it needs besides observations.
    pub(crate) fn declared(self) -> PolicyInputs {
        if let Self::Policy(policy, _) = self { policy.declared() } else { PolicyInputs::default() }
    }
}

/// The variables to differentiate with respect to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GradientTargets {
    /// Parameters of the policy.
    pub params: bool,
    /// Given actions.
    pub actions: bool,
    /// Initial field.
    pub start: bool,
    /// Initial positions. For agents that do not move, position-dependent values are then recomputed in every tick.
    pub positions: bool,
}

impl GradientTargets {
    /// Parameters only, as in training.
    pub const PARAMS: Self = Self { params: true, actions: false, start: false, positions: false };

    /// All variables.
    pub const ALL: Self = Self { params: true, actions: true, start: true, positions: true };

    /// Returns true if there is any, so that a backward sweep is possible.
    #[doc(hidden)]
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

/// The end of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All ticks were made.
    Finished,
    /// A value was not finite.
    Diverged {
        /// Tick (from 1) after which it was found.
        tick: usize,
    },
}

/// The state after a tick, for observers; tick 0 is the initial state, without action.
pub struct Scene<'a> {
    /// Tick, from 0 to `ticks`.
    pub tick: usize,
    /// Fields, `[batch, nodes…]`.
    pub z: &'a [Real],
    /// Positions, `[batch, agents, d]`.
    pub xi: &'a [Real],
    /// Actions, `[batch, agents, k]`; empty at tick 0.
    pub action: &'a [Real],
}

/// Cotangents of a custom loss after one tick, to be filled in; initially zero.
pub struct TickCotangents<'a> {
    /// Tick, from 1 to `ticks`.
    pub tick: usize,
    /// Cotangents of the fields, `[batch, nodes…]`.
    pub z: &'a mut [Real],
    /// Cotangents of the positions, `[batch, agents, d]`.
    pub xi: &'a mut [Real],
    /// Cotangents of the executed actions, `[batch, agents, k]`.
    pub action: &'a mut [Real],
}

/// Weights of the instances in the loss.
#[derive(Clone, Copy, Debug)]
pub enum Share<'a> {
    /// One weight for all.
    Same(f64),
    /// One weight per instance.
    Each(&'a [f64]),
}

impl Share<'_> {
    /// Returns the weight of instance `i`.
    pub(super) fn of(self, i: usize) -> f64 {
        match self {
            Self::Same(share) => share,
            Self::Each(shares) => shares[i],
        }
    }
}

impl Default for Share<'_> {
    /// Zero.
    fn default() -> Self {
        Self::Same(0.0)
    }
}

/// The loss to differentiate.
#[derive(Default)]
pub struct Loss<'a> {
    /// Weight of the cost of each instance.
    pub cost: Share<'a>,
    /// A custom loss on the trajectory: called for every tick, from the last to the first, to fill in cotangents. Needs
    /// segments of one tick.
    pub own: Option<&'a mut dyn FnMut(&mut TickCotangents)>,
}

impl Loss<'_> {
    /// Returns `share` times the sum of the costs of all instances.
    pub fn cost(share: f64) -> Self {
        Self { cost: Share::Same(share), own: None }
    }
}

/// Gradients of a backward sweep; each is valid only if it was requested.
pub struct Gradients<'r> {
    /// Gradient with respect to the parameters.
    pub params: &'r [Real],
    /// Gradient with respect to given actions, `[ticks, batch, agents, k]`.
    pub actions: &'r [Real],
    /// Gradient with respect to the initial fields, `[batch, nodes…]`.
    pub start: &'r [Real],
    /// Gradient with respect to the initial positions, `[batch, agents, d]`.
    pub positions: &'r [Real],
    /// Gradient with respect to the action before the first tick, `[batch, agents, k]`.
    #[doc(hidden)]
    pub previous: &'r [Real],
    /// Gradient with respect to the initially pending actions, `[batch, agents, decisions·k]`.
    #[doc(hidden)]
    pub pending: &'r [Real],
    /// Gradient with respect to the initial memory, `[batch, agents, h]`.
    #[doc(hidden)]
    pub memory: &'r [Real],
}
