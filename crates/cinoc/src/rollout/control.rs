//! Who decides in a rollout, what is watched, and what the gradient is of and by.

use crate::Real;
use crate::policy::{Declared, Policy};
use cinoc_tape::Params;

/// Who decides in a rollout.
#[derive(Clone, Copy)]
pub enum Control<'a> {
    /// A policy with its parameters.
    Policy(&'a dyn Policy, &'a Params),
    /// Given actions in the units of the actuators, `[ticks, batch, agents, k]`. Limits and safety hold for them too.
    Actions(&'a [Real]),
}

impl<'a> Control<'a> {
    pub(super) fn shared(self) -> &'a [Real] {
        if let Self::Policy(_, params) = self { params.shared() } else { &[] }
    }

    pub(super) fn declared(self) -> Declared {
        if let Self::Policy(policy, _) = self { policy.declared() } else { Declared::default() }
    }
}

/// By what the derivative is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The parameters of the policy.
    pub params: bool,
    /// Given actions.
    pub actions: bool,
    /// The field at the start.
    pub start: bool,
    /// The positions at the start. For agents that stay in place this gives up what is computed once for all ticks.
    pub places: bool,
}

impl Wanted {
    /// By the parameters alone: what training asks for.
    pub const PARAMS: Self = Self { params: true, actions: false, start: false, places: false };

    /// By everything.
    pub const ALL: Self = Self { params: true, actions: true, start: true, places: true };

    /// Whether there will be a backward sweep.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

/// How an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All ticks were made.
    Finished,
    /// A number was no longer finite after this tick (from 1).
    Diverged {
        /// Which one.
        tick: usize,
    },
}

/// What an observer of an episode is shown after each tick; tick 0 is the start, without action.
pub struct Scene<'a> {
    /// From 0 to `ticks`.
    pub tick: usize,
    /// Fields, `[batch, nodes…]`.
    pub z: &'a [Real],
    /// Positions, `[batch, agents, d]`.
    pub xi: &'a [Real],
    /// Actions, `[batch, agents, k]`; empty at tick 0.
    pub action: &'a [Real],
}

/// Cotangents of an own loss after one tick, to be filled in; all zero at first.
pub struct TickCotangents<'a> {
    /// From 1 to `ticks`.
    pub tick: usize,
    /// Of the fields, `[batch, nodes…]`.
    pub z: &'a mut [Real],
    /// Of the positions, `[batch, agents, d]`.
    pub xi: &'a mut [Real],
    /// Of the actions as they were carried out, `[batch, agents, k]`.
    pub action: &'a mut [Real],
}

/// How much the cost of each instance counts.
#[derive(Clone, Copy, Debug)]
pub enum Share<'a> {
    /// All the same.
    Same(f64),
    /// Each its own.
    Each(&'a [f64]),
}

impl Share<'_> {
    /// That of instance `i`.
    pub(super) fn of(self, i: usize) -> f64 {
        match self {
            Self::Same(share) => share,
            Self::Each(shares) => shares[i],
        }
    }
}

impl Default for Share<'_> {
    /// Nothing.
    fn default() -> Self {
        Self::Same(0.0)
    }
}

/// What the gradient is of.
#[derive(Default)]
pub struct Loss<'a> {
    /// Weight of the cost of each instance.
    pub cost: Share<'a>,
    /// An own loss on the trajectory beside it: called for every tick, from the last to the first, for its cotangents. Needs segments of one tick.
    pub own: Option<&'a mut dyn FnMut(&mut TickCotangents)>,
}

impl Loss<'_> {
    /// `share` times the sum over instances of the cost.
    pub fn cost(share: f64) -> Self {
        Self { cost: Share::Same(share), own: None }
    }
}

/// What a backward sweep gives; each is meaningful only where it was wanted.
pub struct Gradients<'r> {
    /// By the parameters.
    pub params: &'r [Real],
    /// By given actions, `[ticks, batch, agents, k]`.
    pub actions: &'r [Real],
    /// By the fields at the start, `[batch, nodes…]`.
    pub start: &'r [Real],
    /// By the positions at the start, `[batch, agents, d]`.
    pub places: &'r [Real],
    /// By the action before the first, `[batch, agents, k]`.
    pub previous: &'r [Real],
    /// By what was pending at the start, `[batch, agents, decisions·k]`.
    pub pending: &'r [Real],
    /// By what agents remember at the start, `[batch, agents, h]`.
    pub memory: &'r [Real],
}
