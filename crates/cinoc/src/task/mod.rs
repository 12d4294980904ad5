//! Tasks: instances, cost and score.

mod collision;
mod cost;
mod final_error;
mod moments;
mod obstacle;
mod stabilise;
mod tracking;

#[doc(hidden)]
pub use collision::Collision;
#[doc(hidden)]
pub use cost::{Acceleration, Effort, Margin, SquaredError};
#[doc(hidden)]
pub use final_error::FinalError;
#[doc(hidden)]
pub use moments::{BlobData, MomentCost, MomentDistance, MomentMatching};
#[doc(hidden)]
pub use obstacle::Obstacle;
#[doc(hidden)]
pub use stabilise::{RestCost, Square, Stabilise};
pub use tracking::mean_square;
#[doc(hidden)]
pub use tracking::{Profile, Tracking, TrackingCost, TrackingData};

use crate::Real;
use crate::attractor::Attractor;
use crate::geometry::Disc;
use crate::random::{Rng, Split};
use cinoc_tape::Var;

/// An instance: initial field and target.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Initial field.
    pub start: Vec<Real>,
    /// Target field.
    pub target: Vec<Real>,
}

/// The state after a tick and the action that led to it.
#[derive(Clone, Copy)]
pub struct Transition<'t> {
    /// Field.
    pub z: Var<'t>,
    /// Target field.
    pub target: Var<'t>,
    /// Initial field of the episode.
    pub start: Var<'t>,
    /// Positions of the agents.
    pub xi: Var<'t>,
    /// Action of this tick.
    pub action: Var<'t>,
    /// Action of the previous tick.
    pub previous: Var<'t>,
    /// Time in ticks: the number of ticks made, including this one, and the time of tick 0, `[batch]`, if the task is
    /// [`timed`](Task::timed).
    pub now: Option<Var<'t>>,
}

/// The state of one instance after a tick, as numbers.
pub struct Status<'a> {
    /// Tick, from 1 to `ticks`.
    pub tick: usize,
    /// Number of ticks of the episode.
    pub ticks: usize,
    /// Initial field.
    pub start: &'a [Real],
    /// Field.
    pub z: &'a [Real],
    /// Target field.
    pub target: &'a [Real],
    /// Positions of the agents.
    pub xi: &'a [Real],
    /// Time of tick 0, in ticks.
    pub begins: f64,
    /// True if expensive measures are requested: for reports, not in training.
    pub thorough: bool,
}

/// Labels of the mean square of `z − target` in plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlotLabels {
    /// Title of the curve.
    pub title: &'static str,
    /// Label of the axis.
    pub axis: &'static str,
    /// True if there is a target to plot; false if the target is zero.
    pub has_target: bool,
    /// Name of the field with its unit; empty: the field is called z.
    pub field: &'static str,
    /// Name of the mean magnitude of the actions with its unit; empty: it is called mean |u|.
    pub action: &'static str,
    /// Unit of length; empty without one.
    pub length: &'static str,
    /// Unit of time; empty without one.
    pub time: &'static str,
}

/// A name with its unit in parentheses, if it has one.
#[doc(hidden)]
pub fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.into() } else { format!("{name} ({unit})") }
}

/// Names and units of quantities; units are empty where there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
pub struct Units {
    /// Unit of length.
    pub length: String,
    /// Unit of time.
    pub time: String,
    /// Names of the fields with their units; empty if the task has no names.
    pub fields: Vec<[String; 2]>,
    /// Names of the channels with their units.
    pub channels: Vec<[String; 2]>,
}

impl PlotLabels {
    /// Labels of a tracking error.
    pub const ERROR: Self = Self {
        title: "error to the target",
        axis: "mean-square error",
        has_target: true,
        field: "",
        action: "",
        length: "",
        time: "",
    };

    /// Labels of the energy of a field that is to be stabilised.
    pub const ENERGY: Self = Self { title: "energy", axis: "mean z²", has_target: false, ..Self::ERROR };

    /// Labels of the enstrophy of a flow that is to be stabilised.
    pub const ENSTROPHY: Self = Self { title: "enstrophy", axis: "mean ω²", has_target: false, ..Self::ERROR };
}

/// Content of plots of a problem file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
pub struct PlotFields {
    /// Names of the fields.
    pub names: Vec<String>,
    /// True for each solid cell; empty if no cell is solid.
    pub solid: Vec<bool>,
    /// True if agents see the target, so that they follow another one.
    pub sees_target: bool,
}

/// Reduction of a measure over instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Reduction {
    /// Mean.
    Mean,
    /// Minimum: the worst case of a distance to be kept.
    Smallest,
}

/// A control task: samples instances, computes the cost and measures the score.
///
/// ```
/// let scenario = cinoc::problem("heat1d")?;
/// let task = &scenario.problem().task;
/// assert_eq!(task.measures(), ["mse"]);
/// assert!(task.terms().contains(&"effort"));
/// # Ok::<(), cinoc::Error>(())
/// ```
pub trait Task: Send + Sync {
    /// Samples an instance.
    fn sample(&self, rng: &mut Rng, purpose: Split) -> Instance;

    /// Returns the cached states that instances are sampled from, if any. They are computed when first needed, which
    /// takes a while.
    #[doc(hidden)]
    fn attractor(&self) -> Option<&Attractor> {
        None
    }

    /// Returns the labels of the mean square of `z − target` in plots.
    fn plot_labels(&self) -> PlotLabels {
        PlotLabels::ERROR
    }

    /// Returns the names of the fields, solid cells and the use of the target, if the problem is a file; for plots.
    #[doc(hidden)]
    fn plot_fields(&self) -> Option<&PlotFields> {
        None
    }

    /// Returns the number that pages plot against time: the mean square of `z − target`, or the text of another score.
    #[doc(hidden)]
    fn plotted(&self, status: &Status) -> f64 {
        mean_square(status.z, status.target)
    }

    /// Returns the names and units of quantities.
    #[doc(hidden)]
    fn units(&self) -> Units {
        Units::default()
    }

    /// Returns the discs that agents keep out of after `tick` ticks; for plots.
    #[doc(hidden)]
    fn obstacles(&self, _tick: usize) -> Vec<Disc> {
        Vec::new()
    }

    /// Returns true if observation or cost depend on the tick, for example with moving discs.
    fn timed(&self) -> bool {
        false
    }

    /// Returns the time at which the episode with this noise seed begins, in ticks.
    #[doc(hidden)]
    fn begins(&self, _noise: u64) -> f64 {
        0.0
    }

    /// Returns the default number of held-out instances in a report.
    #[doc(hidden)]
    fn instances(&self) -> usize {
        200
    }

    /// Returns the names of the cost terms.
    fn terms(&self) -> &[&'static str];

    /// Returns the weight of a term at a tick (from 1 to `ticks`). The cost of an episode is the sum of weight·term
    /// over ticks and terms. By default every term contributes its mean over the ticks.
    fn weight(&self, _term: usize, _tick: usize, ticks: usize) -> f64 {
        1.0 / ticks as f64
    }

    /// Adds each term of the stage cost, `[batch]`, in the order of [`terms`](Self::terms).
    fn cost<'t>(&self, after: &Transition<'t>, add: &mut dyn FnMut(Var<'t>));

    /// Returns the names of the measures in reports; the first is the score.
    fn measures(&self) -> &[&'static str];

    /// Returns the tick after which the score of an episode of `ticks` ticks is known. Evaluated failures happen
    /// halfway to it.
    fn scored_at(&self, ticks: usize) -> usize {
        ticks
    }

    /// Returns the weight of the mean square of `z − target` after `tick` (from 1 to `ticks`) if the score is a
    /// weighted sum of it. `None` for any other score: then only the cost can be optimised directly.
    #[doc(hidden)]
    fn square_in_score(&self, _tick: usize, _ticks: usize) -> Option<f64> {
        None
    }

    /// Returns the reduction of a measure over instances.
    #[doc(hidden)]
    fn reduction(&self, _measure: usize) -> Reduction {
        Reduction::Mean
    }

    /// Updates the measures of one instance, initially zero, after a tick.
    fn measure(&self, status: &Status, measures: &mut [f64]);
}
