//! Parameters of agents and of what they see.

use crate::words;

words! {
    /// What the intensity of a push means.
    pub enum Kernel {
        /// its value at the centre
        Peak = "peak",
        /// its integral
        UnitMass = "unit-mass",
    }
}

/// The agents.
#[derive(Clone, Debug)]
pub struct SwarmConfig {
    /// How many there are in training.
    pub agents: usize,
    /// Width of an agent's push.
    pub sigma: f64,
    /// What the intensity of a push means.
    pub kernel: Kernel,
    /// Largest intensity |u|.
    pub u_limit: f64,
    /// Largest velocity.
    pub v_limit: f64,
    /// Whether agents start in the middles of equal cells.
    pub start_in_cells: bool,
    /// Whether agents stand on the most even lattice of a torus.
    pub staggered: bool,
    /// Agents start on an even lattice this far from the walls.
    pub start_margin: f64,
    /// The same for any other number of agents than the trained one.
    pub start_margin_other: f64,
    /// Whether a safety layer keeps agents out of the obstacles.
    pub safety: bool,
    /// Distance from an obstacle that the safety layer keeps.
    pub clearance: f64,
    /// How crowded a place may be before agents push less.
    pub crowd: f64,
    /// How far others count, in widths of a push.
    pub crowd_width: f64,
}

/// What an agent sees.
#[derive(Clone, Debug)]
pub struct ObserveConfig {
    /// Samples (along each axis) of the patch.
    pub points: usize,
    /// Width of the patch.
    pub window: f64,
    /// Whether the derivative flows through the position of the samples.
    pub through_position: bool,
    /// Factor on the error before the network sees it.
    pub gain: f64,
    /// Whether an agent sees the nearest obstacle.
    pub obstacles: bool,
    /// Whether an agent knows where in the domain it is.
    pub position: bool,
}
