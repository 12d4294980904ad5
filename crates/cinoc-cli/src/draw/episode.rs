//! Episodes to be drawn, alone or several side by side.

use super::axis::{Axis, number};
use cinoc::task::{PlotLabels, with_unit};

/// The times of ticks.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Time between two ticks.
    pub tick: f32,
    /// Ticks before control is switched on.
    pub before: usize,
    /// The tick whose field is scored, counted from the first; none if that is the last one or the score is a mean.
    pub scored: Option<usize>,
    /// Unit of time; empty without one.
    pub unit: &'static str,
    /// Time at which control is switched on.
    pub begins: f32,
}

impl Clock {
    /// The time of a tick, or of a moment between two.
    pub fn time(self, tick: f32) -> f32 {
        self.begins + (tick - self.before as f32) * self.tick
    }

    /// An axis from the first tick to the `last`.
    pub fn axis(self, last: usize) -> Axis {
        Axis::linear(self.time(0.0), self.time(last as f32))
    }

    /// The time of a tick in words, of an episode that ends at tick `last`.
    pub fn words(self, tick: usize, last: usize) -> String {
        let time = number(self.time(tick as f32), last as f32 * self.tick / 100.0);
        if self.unit.is_empty() { format!("t = {time}") } else { format!("t = {time} {}", self.unit) }
    }

    /// Name of an axis of time.
    pub fn name(self) -> String {
        with_unit("time t", self.unit)
    }
}

/// One controlled episode in one space dimension, ready to be drawn.
///
/// The values of a field lie at x = i·length/N on a periodic domain,
/// and evenly from 0 to length (both included) on any other.
#[derive(Clone, Debug)]
pub struct Episode1d {
    /// Headline of the figure.
    pub title: String,
    /// The labels of the error.
    pub measure: PlotLabels,
    /// The domain is [0, length].
    pub length: f32,
    /// Time between two ticks, and which tick is at time 0.
    pub clock: Clock,
    /// True if the two ends of the domain are the same point.
    pub periodic: bool,
    /// Target field, `[N]`.
    pub target: Vec<f32>,
    /// Field without control, `[T+1][N]`.
    pub uncontrolled: Vec<Vec<f32>>,
    /// Field under control, `[T+1][N]`.
    pub controlled: Vec<Vec<f32>>,
    /// Positions of the agents, `[T+1][M]`.
    pub xi: Vec<Vec<f32>>,
    /// True for active agents, `[T+1][M]`.
    pub alive: Vec<Vec<bool>>,
    /// Controls, `[T][M]`.
    pub u: Vec<Vec<f32>>,
    /// Velocities, `[T][M]`; rows are empty when agents do not move.
    pub v: Vec<Vec<f32>>,
}

/// One controlled episode in the plane, ready to be drawn; or in a box, of which cuts across the last axis are drawn.
///
/// The values of a field lie at i·length/N along a periodic axis,
/// and evenly from 0 to the length (both included) along any other.
#[derive(Clone, Debug)]
pub struct Episode2d {
    /// Headline of the figure.
    pub title: String,
    /// The labels of the error.
    pub measure: PlotLabels,
    /// The domain is [0, lengths\[0\]] × [0, lengths\[1\]].
    pub lengths: [f32; 2],
    /// Values of a field along x and along y; fields are row-major, `[x][y]`, or `[x][y][z]` in a box.
    pub shape: [usize; 2],
    /// Values along z and the position of those in the middle, in a box.
    pub depth: Option<(usize, f32)>,
    /// True for x, and for y, if the edges at both ends of the axis are the same.
    pub periodic: [bool; 2],
    /// Time between two ticks, and which tick is at time 0.
    pub clock: Clock,
    /// Target field, `[X*Y]` or `[X*Y*Z]`.
    pub target: Vec<f32>,
    /// Field without control, `[T+1]` of them.
    pub uncontrolled: Vec<Vec<f32>>,
    /// Field under control, `[T+1]` of them.
    pub controlled: Vec<Vec<f32>>,
    /// Positions of the agents along x and y, `[T+1][M]`.
    pub xi: Vec<Vec<[f32; 2]>>,
    /// True for active agents, `[T+1][M]`.
    pub alive: Vec<Vec<bool>>,
    /// Controls, `[T][M]`.
    pub u: Vec<Vec<f32>>,
    /// Velocities, `[T][M]`; rows are empty when agents do not move.
    pub v: Vec<Vec<[f32; 2]>>,
    /// Discs (x, y, radius) that agents cannot enter, `[T+1][discs]`.
    pub obstacles: Vec<Vec<[f32; 3]>>,
}

/// A controlled episode on a line, or in the plane or a box.
#[derive(Clone, Debug)]
pub enum Episode {
    /// One space dimension.
    Line(Episode1d),
    /// Two space dimensions, or cuts of three.
    Plane(Episode2d),
}

/// One swarm of several in the same instance.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The swarm.
    pub name: String,
    /// Its score in words.
    pub result: String,
    /// Its episode.
    pub episode: Episode,
}

impl Episode {
    /// Returns true for active agents, `[T+1][M]`.
    pub fn alive(&self) -> &[Vec<bool>] {
        match self {
            Self::Line(line) => &line.alive,
            Self::Plane(plane) => &plane.alive,
        }
    }
}
