//! Sensing: observations of agents.

mod channels2d;
mod directions;
mod fitted_slopes;
mod gaps;
mod hear;
mod instrument;
mod lens;
mod linear_view;
mod nearest;
mod observation;
mod observe1d;
mod observe2d;
mod observe_field;
mod position_features;
#[cfg(feature = "files")]
mod probe;
mod readout;
mod roughness;
mod samples;
mod sight;
mod target_view;

pub use directions::Directions;
pub use gaps::Gaps;
pub use hear::Hear;
pub use instrument::{Domain, Instrument, Lens, Source};
pub use linear_view::{LinearView, RingView};
pub use nearest::Nearest;
pub use observation::Observation;
pub use observe_field::ObserveField;
pub use observe1d::Observe1d;
pub use observe2d::Observe2d;
pub use position_features::PositionFeatures;
#[cfg(feature = "files")]
pub use probe::Probe;
pub use readout::{Readout, SelfSensing};
pub use sight::Sight;
pub use target_view::{Holding, TargetView};

use crate::{Real, settings};
use cinoc_pde::Grid;
use cinoc_tape::Var;

/// Sensors of agents.
pub trait Sense: Send + Sync {
    /// Kind and sizes of an observation.
    fn features(&self) -> Features;

    /// Returns the observation of each agent.
    fn observe<'t>(&self, visible: &Visible<'t>) -> Observation<'t>;

    /// Standard deviations of noise and bias of each value of [`Observation::patch`], in units of those of a sensor of
    /// the field. By default every value is a reading of the field itself.
    #[doc(hidden)]
    fn sensor_scales(&self) -> Vec<[Real; 2]> {
        vec![[1.0, 1.0]; self.features().patch.count()]
    }

    /// Number of samples in a patch, of which each can be lost. By default every value is a sample of its own, and every
    /// pixel of an image.
    #[doc(hidden)]
    fn points(&self) -> usize {
        match self.features().patch {
            Patch::Line(count) => count,
            Patch::Image { height, width, .. } => height * width,
        }
    }

    /// Measurements that a single agent needs for its observation. By default: the values of the observation.
    #[doc(hidden)]
    fn instruments(&self) -> Vec<Instrument> {
        Instrument::bare(&self.features())
    }

    /// Readings of the instruments of all agents, `[batch, agents, count]` each.
    #[doc(hidden)]
    fn readings<'t>(&self, visible: &Visible<'t>) -> Vec<Var<'t>> {
        let seen = self.observe(visible);
        vec![seen.each_agent(seen.patch()), seen.position()]
    }

    /// Observations of agents with these instrument readings: equal to [`observe`](Self::observe) up to rounding.
    #[doc(hidden)]
    fn shown<'t>(&self, readings: &[Var<'t>]) -> Observation<'t> {
        Observation::bare(&self.features(), readings)
    }
}

/// Quantities that sensors may use.
#[derive(Clone, Copy)]
pub struct Visible<'t> {
    /// The field, `[batch, nodes…]`.
    pub z: Var<'t>,
    /// The target field, `[batch, nodes…]`.
    pub target: Var<'t>,
    /// Positions of the agents, `[batch, agents, d]`.
    pub xi: Var<'t>,
    /// Strength of each agent, 1 in normal operation, 0 for a failed one, `[batch, agents]`.
    pub strength: Var<'t>,
    /// Ticks elapsed, `[batch]`, if the task is explicitly time-dependent ([`Task::timed`](crate::task::Task::timed)).
    pub now: Option<Var<'t>>,
    /// Action of the previous tick, `[batch, agents, k]`; zero where it is not given.
    #[doc(hidden)]
    pub previous: Option<Var<'t>>,
    /// Levels of the agents' tanks between 0 and 1, `[batch, agents, tanks]`; full where they are not given.
    #[doc(hidden)]
    pub stock: Option<Var<'t>>,
}

impl<'t> Visible<'t> {
    /// Creates the quantities of a task without explicit time dependence.
    pub fn new(z: Var<'t>, target: Var<'t>, xi: Var<'t>, strength: Var<'t>) -> Self {
        Self { z, target, xi, strength, now: None, previous: None, stock: None }
    }
}

/// Kind and sizes of an [`Observation`].
///
/// ```
/// let problem = cinoc::problem("heat1d")?;
/// let features = problem.problem().swarm.features();
/// assert!(features.patch.count() > 0 && !features.shared);
/// # Ok::<(), cinoc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Layout of [`Observation::patch`].
    pub patch: Patch,
    /// True if all agents of an instance share one patch.
    pub shared: bool,
    /// Number of values in [`Observation::position`].
    pub position: usize,
    /// Number of values in [`Observation::signal`].
    #[doc(hidden)]
    pub signal: usize,
    /// Index of the first signal value among the position features, which contain the signal contiguously.
    #[doc(hidden)]
    pub signal_from: usize,
    /// Number of values in a patch that are ages of readings.
    #[doc(hidden)]
    pub ages: usize,
    /// True if the last position feature is the roughness of the samples.
    #[doc(hidden)]
    pub roughness: bool,
}

/// Layout of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patch {
    /// A vector of this length.
    Line(usize),
    /// An image `[height, width, channels]`.
    Image {
        /// Size along x.
        height: usize,
        /// Size along y.
        width: usize,
        /// Values per pixel.
        channels: usize,
    },
}

impl Patch {
    /// Number of values.
    pub fn count(self) -> usize {
        match self {
            Self::Line(count) => count,
            Self::Image { height, width, channels } => height * width * channels,
        }
    }
}

settings! {
    /// Window through which an agent observes the field around it: samples of the error z − z* and of its slopes.
    pub struct Window {
        /// Samples of the window along each axis.
        points: usize = 2..=Window::MOST_POINTS,
        /// Width of the window.
        window: f64 = 1e-6..=1e6,
        /// Gain on the error in the observation; the physics does not change.
        gain: f64 = 1e-6..=1e6,
        /// Propagate derivatives through the sample positions (exact), or not (as published).
        through_position: bool = (),
        /// Include the agent's position. Without it a policy can be used on domains of any size.
        position: bool = (),
        /// Include the target and the feedforward force that would hold it.
        #[absent = false]
        target: bool = (),
        /// Unit of length of the gaps to active neighbours; 0: not observed.
        #[absent = 0.0]
        gaps: f64 = 0.0..=1e6,
        /// Diffusivity that agents assume for the feedforward force; 0: the true one.
        #[absent = 0.0]
        believed_nu: f64 = 0.0..=1e6,
        /// Growth rate that agents assume for the feedforward force; 0: the true one.
        #[absent = 0.0]
        believed_rho: f64 = 0.0..=1e6,
        /// Sense the age of each sample: lost ones are held and fade, and one more number per sample tells how far.
        #[absent = false]
        ages: bool = (),
        /// Sense the roughness of the samples, from which an agent can tell its sensor noise.
        #[absent = false]
        roughness: bool = (),
        /// Obtain slopes from a quadratic fitted to all samples of the window, instead of differences over one cell,
        /// which amplify sensor noise.
        #[absent = false]
        fitted_slopes: bool = (),
        /// Range of the instruments, in the units of what they read: larger readings count as missing.
        #[absent = READING_BOUND as f64]
        range: f64 = 1e-6..=1e6,
    }
}

/// Largest magnitude of a valid reading and of a valid number in an agent's memory, in the units of the problem, unless
/// the range of the instruments is smaller.
///
/// A thousand times what any shipped problem's sensors read, and small enough that no product in a policy overflows
/// single precision: squares of readings stay below 1e12, and their products with steep gains (1e30, see
/// [`Var::step`](cinoc_tape::Var::step)) below 1e37.
pub const READING_BOUND: Real = 1e6;

impl Window {
    /// Creates a window of `points` samples per axis over a width of `window`, with the agent's position and nothing
    /// else.
    ///
    /// ```
    /// use cinoc::swarm::Window;
    ///
    /// let window = Window { gain: 2.0, ..Window::new(8, 0.1) };
    /// assert_eq!((window.points, window.window), (8, 0.1));
    /// ```
    pub fn new(points: usize, window: f64) -> Self {
        Self {
            points,
            window,
            gain: 1.0,
            through_position: true,
            position: true,
            target: false,
            gaps: 0.0,
            believed_nu: 0.0,
            believed_rho: 0.0,
            ages: false,
            roughness: false,
            fitted_slopes: false,
            range: READING_BOUND as f64,
        }
    }

    /// Returns what agents sense of their own readings.
    pub(crate) fn self_sensing(&self) -> SelfSensing {
        SelfSensing { ages: self.ages, roughness: self.roughness, fitted_slopes: self.fitted_slopes, range: self.range as Real }
    }

    /// Returns the physics that agents assume for the feedforward force.
    fn believed(&self, truth: Holding) -> Holding {
        let either = |believed: f64, truth: f64| if believed > 0.0 { believed } else { truth };
        Holding { nu: either(self.believed_nu, truth.nu), rho: either(self.believed_rho, truth.rho) }
    }

    /// Largest number of samples along an axis; their positions are kept on the stack.
    pub const MOST_POINTS: usize = 64;

    /// Largest width of a window, in lengths of the domain; the frame around the grid grows with it.
    pub const WIDEST: f64 = 16.0;

    /// Smallest number of nodes along an axis for differences.
    const FEWEST_NODES: usize = 4;

    /// Checks the window; required by all views.
    fn check(&self, grid: &Grid, dimensions: usize) {
        let (axes, &Self { points, window, .. }) = (grid.dimensions(), self);
        assert!(axes == dimensions, "this view needs a grid of {dimensions} dimensions, not {axes}");
        assert!((2..=Self::MOST_POINTS).contains(&points), "a window has from 2 to {} samples, not {points}", Self::MOST_POINTS);
        let fewest = Self::FEWEST_NODES;
        assert!(grid.nodes.iter().all(|&n| n >= fewest), "a view needs {fewest} nodes along each axis: {grid:?}");
        for &length in &grid.lengths {
            assert!(length > 0.0 && length.is_finite(), "an axis needs a length above 0: {grid:?}");
            let widest = Self::WIDEST * length as f64;
            assert!(window > 0.0 && window <= widest, "the width of a window is above 0 and at most {widest}, not {window}");
        }
    }
}
