//! What is wanted of the field: instances, cost and score.

mod collision;
mod cost;
mod moments;
mod obstacle;
mod stabilise;
mod tracking;

pub use collision::Collision;
pub use cost::{Acceleration, Effort, Margin, SquaredError};
pub use moments::{MomentDistance, MomentMatching};
pub use obstacle::Obstacle;
pub use stabilise::{Square, Stabilise};
pub use tracking::{Profile, Tracking};

use crate::Real;
use crate::pool::Pool;
use crate::random::{Rng, Stream};
use cinoc_tape::Var;

/// The most terms a cost can have.
pub const MAX_TERMS: usize = 8;

/// One episode's givens.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The field at the start.
    pub start: Vec<Real>,
    /// The field to be reached.
    pub target: Vec<Real>,
}

/// What instances are for: training may draw them differently, scores never do, and no two uses share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// To learn from.
    Training,
    /// To choose the best parameters by.
    Validation,
    /// To be scored on.
    Test,
}

impl Use {
    /// What the instances of a stream are for.
    pub fn of(stream: Stream) -> Self {
        match stream {
            Stream::Train => Self::Training,
            Stream::Validate => Self::Validation,
            _ => Self::Test,
        }
    }
}

/// The state after a tick and the action that led to it.
#[derive(Clone, Copy)]
pub struct After<'t> {
    /// The field.
    pub z: Var<'t>,
    /// What it should be.
    pub target: Var<'t>,
    /// Sum over the nodes of the field at the start, `[batch]`.
    pub mass: Var<'t>,
    /// The agents' positions.
    pub xi: Var<'t>,
    /// The action of this tick.
    pub action: Var<'t>,
    /// The action of the tick before.
    pub previous: Var<'t>,
}

/// One instance at one tick, as numbers.
pub struct Moment<'a> {
    /// From 1 to `ticks`.
    pub tick: usize,
    /// Length of the episode.
    pub ticks: usize,
    /// The field at the start.
    pub start: &'a [Real],
    /// The field.
    pub z: &'a [Real],
    /// What it should be.
    pub target: &'a [Real],
    /// The agents' positions.
    pub xi: &'a [Real],
    /// Whether measures that take long are wanted: for reports, not while training.
    pub thorough: bool,
}

/// How a measure of many instances becomes one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their mean.
    Mean,
    /// The smallest of them: the worst case of a distance to be kept.
    Smallest,
}

/// A control task.
pub trait Task: Send + Sync {
    /// Draws an instance.
    fn sample(&self, rng: &mut Rng, purpose: Use) -> Instance;

    /// Stored states that instances are drawn from, where there are any. They are made when first needed, which takes a while.
    fn pool(&self) -> Option<&Pool> {
        None
    }

    /// How many held-out instances a report takes unless told otherwise.
    fn instances(&self) -> usize {
        200
    }

    /// Names of the cost terms, at most [`MAX_TERMS`].
    fn terms(&self) -> &[&'static str];

    /// Weight of a term at a tick (from 1 to `ticks`): the cost of an episode is the sum of weight·term over ticks and terms.
    fn weight(&self, term: usize, tick: usize, ticks: usize) -> f64;

    /// Each term of the stage cost, `[batch]`.
    fn cost<'t>(&self, after: &After<'t>, add: &mut dyn FnMut(Var<'t>));

    /// Names of what is measured for reports; the first is the score.
    fn measures(&self) -> &[&'static str];

    /// The tick after which the score of an episode of `ticks` is known. Agents that fail do so halfway to it.
    fn scored_at(&self, ticks: usize) -> usize {
        ticks
    }

    /// What a measure of many instances comes to.
    fn reduction(&self, _measure: usize) -> Reduction {
        Reduction::Mean
    }

    /// Updates the measures of one instance, which start at zero, after a tick.
    fn measure(&self, moment: &Moment, measures: &mut [f64]);
}
