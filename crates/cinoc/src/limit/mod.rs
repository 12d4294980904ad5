//! Constraints on actions: actuator limits, reduced pushes in crowds, the safety layer.

#[cfg(feature = "files")]
mod actuator;
#[cfg(feature = "files")]
mod actuators;
mod clamp;
mod crowd;
#[cfg(feature = "files")]
mod range;
mod safety;
mod saturate;
mod saturate_length;

#[cfg(feature = "files")]
pub use actuator::{Actuator, Tank};
#[cfg(feature = "files")]
pub use actuators::Actuators;
pub use clamp::{Clamp, ClampLength};
pub use crowd::{Crowd, CrowdSettings};
#[cfg(feature = "files")]
pub use range::RangeLimit;
pub use safety::{Safety, SafetySettings};
pub use saturate::Saturate;
pub use saturate_length::SaturateLength;

use crate::Real;
use cinoc_tape::Var;
use std::sync::Arc;

/// Actuator limits. Actions are `[batch, agents, width]`, strengths `[batch, agents]`: 1 in normal operation, 0 for a
/// failed agent, whose action is zero.
///
/// ```
/// use cinoc::swarm::{EachLimit, Limit};
///
/// let limit = EachLimit::new(&[4.0, 2.0]); // push and velocity
/// assert_eq!((limit.width(), limit.largest()), (2, vec![4.0, 2.0]));
/// ```
pub trait Limit: Send + Sync {
    /// Number of action components.
    fn width(&self) -> usize;

    /// Largest magnitude of each component.
    fn largest(&self) -> Vec<Real>;

    /// Maps raw policy outputs smoothly to actions; the strength of an active agent multiplies its push.
    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t>;

    /// Clamps given actions to the limits. Actions within the limits are unchanged, whatever the strength of an active
    /// agent.
    fn clamp<'t>(&self, action: Var<'t>, strength: Var<'t>) -> Var<'t>;
}

/// Limits of actuators beyond those of each action: depending on the action before, on what is left in tanks,
/// and on the actions of other agents.
#[doc(hidden)]
pub trait Constrain: Send + Sync {
    /// Number of tanks of an agent.
    fn tanks(&self) -> usize;

    /// Returns true if the actions of agents depend on each other, so that no agent knows its own.
    fn is_shared(&self) -> bool;

    /// Returns possible actions next to wanted ones; `stock`: levels of tanks between 0 and 1, `[batch, agents, tanks]`.
    fn constrain<'t>(&self, wanted: Var<'t>, previous: Var<'t>, strength: Var<'t>, stock: Option<Var<'t>>) -> Var<'t>;

    /// Returns the levels of tanks after a tick with these actions.
    fn drained<'t>(&self, stock: Var<'t>, action: Var<'t>) -> Var<'t>;
}

/// A separate limit for each action component; the first is the push.
pub struct EachLimit {
    limits: Vec<Real>,
    saturate: Arc<Saturate>,
    clamp: Arc<Clamp>,
}

impl EachLimit {
    /// Creates the limits from the largest magnitude of each component.
    ///
    /// # Panics
    /// If `limits` is empty.
    pub fn new(limits: &[Real]) -> Self {
        Self::pushing(limits, 1)
    }

    /// Creates the limits of several pushes and other components.
    fn pushing(limits: &[Real], pushes: usize) -> Self {
        assert!(!limits.is_empty(), "an action needs at least one component");
        let (saturate, clamp) = (Saturate::pushing(limits.to_vec(), pushes), Clamp::new(limits.to_vec()));
        Self { limits: limits.to_vec(), saturate: Arc::new(saturate), clamp: Arc::new(clamp) }
    }
}

impl Limit for EachLimit {
    fn width(&self) -> usize {
        self.limits.len()
    }

    fn largest(&self) -> Vec<Real> {
        self.limits.clone()
    }

    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t> {
        raw.tape().record(&self.saturate, [raw, strength])
    }

    fn clamp<'t>(&self, action: Var<'t>, strength: Var<'t>) -> Var<'t> {
        action.tape().record(&self.clamp, [action, strength])
    }
}

/// A limit on the length of a velocity in the plane, which is the whole action.
pub struct LengthLimit {
    limit: Real,
    saturate: Arc<SaturateLength>,
    clamp: Arc<ClampLength>,
}

impl LengthLimit {
    /// Creates the limit from the largest length.
    pub fn new(limit: f64) -> Self {
        Self { limit: limit as Real, saturate: Arc::new(SaturateLength::new(limit)), clamp: Arc::new(ClampLength::new(limit)) }
    }
}

impl Limit for LengthLimit {
    fn width(&self) -> usize {
        2
    }

    fn largest(&self) -> Vec<Real> {
        vec![self.limit; 2]
    }

    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t> {
        raw.tape().record(&self.saturate, [raw, strength])
    }

    fn clamp<'t>(&self, action: Var<'t>, strength: Var<'t>) -> Var<'t> {
        action.tape().record(&self.clamp, [action, strength])
    }
}
