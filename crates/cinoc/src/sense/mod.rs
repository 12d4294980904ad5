//! What agents see.

mod channels2d;
mod directions;
mod gaps;
mod instrument;
mod lens;
mod linear_view;
mod nearest;
mod observation;
mod observe1d;
mod observe2d;
mod observe_field;
mod position_features;
mod samples;
mod sight;
mod target_view;

pub use directions::Directions;
pub use gaps::Gaps;
pub use instrument::{Domain, Instrument, Lens, Source};
pub use linear_view::{LinearView, RingView};
pub use nearest::Nearest;
pub use observation::Observation;
pub use observe_field::ObserveField;
pub use observe1d::Observe1d;
pub use observe2d::Observe2d;
pub use position_features::PositionFeatures;
pub use sight::Sight;
pub use target_view::{Holding, TargetView};

use crate::settings;
use cinoc_pde::Grid;
use cinoc_tape::Var;

/// What agents see.
pub trait Sense: Send + Sync {
    /// The kind and the sizes of what is seen.
    fn features(&self) -> Features;

    /// What each agent sees of it.
    fn observe<'t>(&self, visible: &Visible<'t>) -> Observation<'t>;

    /// What an agent by itself has to measure in order to see this. Unless told otherwise: the numbers of an observation as they are.
    fn instruments(&self) -> Vec<Instrument> {
        Instrument::bare(&self.features())
    }

    /// What the instruments of all agents read, `[batch, agents, count]` each.
    fn readings<'t>(&self, visible: &Visible<'t>) -> Vec<Var<'t>> {
        let seen = self.observe(visible);
        vec![seen.each_agent(seen.patch()), seen.position()]
    }

    /// What agents are shown whose instruments read this: what [`observe`](Self::observe) gives, but for rounding.
    fn shown<'t>(&self, readings: &[Var<'t>]) -> Observation<'t> {
        Observation::bare(&self.features(), readings)
    }
}

/// What there is to see.
#[derive(Clone, Copy)]
pub struct Visible<'t> {
    /// The field, `[batch, nodes…]`.
    pub z: Var<'t>,
    /// The field to be reached, `[batch, nodes…]`.
    pub target: Var<'t>,
    /// Where the agents are, `[batch, agents, d]`.
    pub xi: Var<'t>,
    /// 1 for each healthy agent, 0 for a dead one, `[batch, agents]`.
    pub strength: Var<'t>,
    /// Ticks made, `[batch]`, where something moves by itself ([`Task::timed`](crate::task::Task::timed)).
    pub now: Option<Var<'t>>,
}

impl<'t> Visible<'t> {
    /// What there is to see where nothing moves but the field and the agents.
    pub fn new(z: Var<'t>, target: Var<'t>, xi: Var<'t>, strength: Var<'t>) -> Self {
        Self { z, target, xi, strength, now: None }
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
    /// Numbers in [`Observation::signal`].
    pub signal: usize,
    /// Where among the numbers of the position these are: they are part of it, one after the other.
    pub signal_from: usize,
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

settings! {
    /// The window through which an agent sees the field around it: samples of the error z − z* and of its slopes.
    pub struct Window {
        /// Samples of the window, along each axis.
        points: usize = 2..=Window::MOST_POINTS,
        /// Width of the window.
        window: f64 = 1e-6..=1e6,
        /// Factor on the error before the network sees it; the physics does not change.
        gain: f64 = 1e-6..=1e6,
        /// Whether the derivative flows through the places of the samples (exact), or not (as published).
        through_position: bool = (),
        /// Whether an agent knows where in the domain it is. If not, a policy can be used on domains of any size.
        position: bool = (),
        /// Whether an agent also sees the target, and the force that would hold it there.
        #[absent = false]
        target: bool = (),
        /// Unit of length in which an agent is told the gaps to its living neighbours; 0: it is not told.
        #[absent = 0.0]
        gaps: f64 = 0.0..=1e6,
        /// The diffusivity that an agent believes in when it works out the force that would hold the target; 0: the true one.
        #[absent = 0.0]
        believed_nu: f64 = 0.0..=1e6,
        /// The growth rate that it believes in, likewise.
        #[absent = 0.0]
        believed_rho: f64 = 0.0..=1e6,
    }
}

impl Window {
    /// So many samples over so wide a window, of agents that know where they are and nothing else.
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
        }
    }

    /// What an agent believes of the physics that holds a target.
    fn believed(&self, truth: Holding) -> Holding {
        let either = |believed: f64, truth: f64| if believed > 0.0 { believed } else { truth };
        Holding { nu: either(self.believed_nu, truth.nu), rho: either(self.believed_rho, truth.rho) }
    }

    /// The most samples along an axis: their places live on the stack.
    pub const MOST_POINTS: usize = 64;

    /// The widest window, in lengths of the domain: what it shows is copied around the grid.
    pub const WIDEST: f64 = 16.0;

    /// The fewest nodes along an axis that differences can be taken of.
    const FEWEST_NODES: usize = 4;

    /// Views are built of windows that pass this.
    fn check(&self, grid: &Grid, dimensions: usize) {
        let (axes, &Self { points, window, .. }) = (grid.dimensions(), self);
        assert!(axes == dimensions, "this view is for {dimensions} dimensions, not {axes}");
        assert!((2..=Self::MOST_POINTS).contains(&points), "an agent sees from 2 to {} samples, not {points}", Self::MOST_POINTS);
        let fewest = Self::FEWEST_NODES;
        assert!(grid.nodes.iter().all(|&n| n >= fewest), "seeing needs {fewest} nodes along each axis: {grid:?}");
        for &length in &grid.lengths {
            assert!(length > 0.0 && length.is_finite(), "an axis needs a length above 0: {grid:?}");
            let widest = Self::WIDEST * length as f64;
            assert!(window > 0.0 && window <= widest, "a window is wider than 0 and at most {widest} wide, not {window}");
        }
    }
}
