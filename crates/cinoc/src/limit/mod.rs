//! What actions are held to: limits of the actuators, weaker pushes in a crowd, safety.

mod crowd;
mod hold;
mod safety;
mod saturate;
mod saturate_length;

pub use crowd::{Crowd, CrowdSettings};
pub use hold::{Hold, HoldLength};
pub use safety::{Safety, SafetySettings};
pub use saturate::Saturate;
pub use saturate_length::SaturateLength;

use crate::Real;
use cinoc_tape::Var;
use std::sync::Arc;

/// Limits of the actuators. Actions are `[batch, agents, width]`, strengths `[batch, agents]`: 1 for an agent in good health, 0 for a dead one,
/// which does nothing.
pub trait Limit: Send + Sync {
    /// Numbers per action.
    fn width(&self) -> usize;

    /// The largest magnitude of each number of an action.
    fn largest(&self) -> Vec<Real>;

    /// Raw outputs of a policy made actions, smoothly; the strength of a living agent multiplies its push.
    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t>;

    /// Actions that were decided elsewhere held to the limits; those that are within stay as they are, whatever a living agent's strength.
    fn hold<'t>(&self, action: Var<'t>, strength: Var<'t>) -> Var<'t>;
}

/// A limit for each number of an action by itself; the first is the push.
pub struct EachLimit {
    limits: Vec<Real>,
    saturate: Arc<Saturate>,
    hold: Arc<Hold>,
}

impl EachLimit {
    /// The largest magnitude of each number.
    ///
    /// # Panics
    /// Without numbers.
    pub fn new(limits: &[Real]) -> Self {
        assert!(!limits.is_empty(), "an action has at least one number");
        let (saturate, hold) = (Saturate::new(limits.to_vec()), Hold::new(limits.to_vec()));
        Self { limits: limits.to_vec(), saturate: Arc::new(saturate), hold: Arc::new(hold) }
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

    fn hold<'t>(&self, action: Var<'t>, strength: Var<'t>) -> Var<'t> {
        action.tape().record(&self.hold, [action, strength])
    }
}

/// A limit for the length of a velocity in the plane, which is the whole action.
pub struct LengthLimit {
    limit: Real,
    saturate: Arc<SaturateLength>,
    hold: Arc<HoldLength>,
}

impl LengthLimit {
    /// The greatest length.
    pub fn new(limit: f64) -> Self {
        Self { limit: limit as Real, saturate: Arc::new(SaturateLength::new(limit)), hold: Arc::new(HoldLength::new(limit)) }
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

    fn hold<'t>(&self, action: Var<'t>, strength: Var<'t>) -> Var<'t> {
        action.tape().record(&self.hold, [action, strength])
    }
}
