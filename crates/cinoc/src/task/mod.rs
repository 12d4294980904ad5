//! What is wanted of the field: instances, cost and score.

mod collision;
mod cost;
mod final_error;
mod moments;
mod obstacle;
mod stabilise;
mod tracking;

pub use collision::Collision;
pub use cost::{Acceleration, Effort, Margin, SquaredError};
pub use final_error::FinalError;
pub use moments::{BlobData, MomentCost, MomentDistance, MomentMatching};
pub use obstacle::Obstacle;
pub use stabilise::{RestCost, Square, Stabilise};
pub use tracking::{Profile, Tracking, TrackingCost, TrackingData, mean_square};

use crate::Real;
use crate::attractor::Attractor;
use crate::geometry::Disc;
use crate::random::{Rng, Use};
use cinoc_tape::Var;

/// One episode's givens.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The field at the start.
    pub start: Vec<Real>,
    /// The field to be reached.
    pub target: Vec<Real>,
}

/// The state after a tick and the action that led to it.
#[derive(Clone, Copy)]
pub struct After<'t> {
    /// The field.
    pub z: Var<'t>,
    /// What it should be.
    pub target: Var<'t>,
    /// The field that the episode started from.
    pub start: Var<'t>,
    /// The agents' positions.
    pub xi: Var<'t>,
    /// The action of this tick.
    pub action: Var<'t>,
    /// The action of the tick before.
    pub previous: Var<'t>,
    /// Ticks made, this one included, `[batch]`, where the task is [`timed`](Task::timed).
    pub now: Option<Var<'t>>,
}

/// One instance after a tick, as numbers.
pub struct Status<'a> {
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

/// What the mean square of a field's distance from its target stands for, in drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Title of its curve.
    pub title: &'static str,
    /// Name of its axis.
    pub axis: &'static str,
    /// Whether there is a target worth drawing; without one a field is to come to rest.
    pub has_target: bool,
}

impl Reading {
    /// The error to a target.
    pub const ERROR: Self = Self { title: "error to the target", axis: "mean-square error", has_target: true };

    /// Energy of a field that is to come to rest.
    pub const ENERGY: Self = Self { title: "energy", axis: "mean z²", has_target: false };

    /// Enstrophy of a flow that is to come to rest.
    pub const ENSTROPHY: Self = Self { title: "enstrophy", axis: "mean ω²", has_target: false };
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
    fn attractor(&self) -> Option<&Attractor> {
        None
    }

    /// What curves of the mean square show.
    fn reading(&self) -> Reading {
        Reading::ERROR
    }

    /// Discs that agents keep out of, after so many ticks; for drawing.
    fn obstacles(&self, _tick: usize) -> Vec<Disc> {
        Vec::new()
    }

    /// Whether something moves by itself, so that agents and costs have to know what time it is.
    fn timed(&self) -> bool {
        false
    }

    /// How many held-out instances a report takes unless told otherwise.
    fn instances(&self) -> usize {
        200
    }

    /// Names of the cost terms.
    fn terms(&self) -> &[&'static str];

    /// Weight of a term at a tick (from 1 to `ticks`): the cost of an episode is the sum of weight·term over ticks and terms. Unless told
    /// otherwise every term counts by its mean over the ticks.
    fn weight(&self, _term: usize, _tick: usize, ticks: usize) -> f64 {
        1.0 / ticks as f64
    }

    /// Each term of the stage cost, `[batch]`.
    fn cost<'t>(&self, after: &After<'t>, add: &mut dyn FnMut(Var<'t>));

    /// Names of what is measured for reports; the first is the score.
    fn measures(&self) -> &[&'static str];

    /// The tick after which the score of an episode of `ticks` is known. Agents that fail do so halfway to it.
    fn scored_at(&self, ticks: usize) -> usize {
        ticks
    }

    /// Where the score is a weighted sum over ticks of the mean square of `z − target`: the weight of that after `tick` (from 1 to `ticks`). None
    /// for any other score; then only the cost can be minimised directly.
    fn square_in_score(&self, _tick: usize, _ticks: usize) -> Option<f64> {
        None
    }

    /// What a measure of many instances comes to.
    fn reduction(&self, _measure: usize) -> Reduction {
        Reduction::Mean
    }

    /// Updates the measures of one instance, which start at zero, after a tick.
    fn measure(&self, status: &Status, measures: &mut [f64]);
}
