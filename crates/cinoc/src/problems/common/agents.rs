//! Settings of agents and of what they see.

use crate::settings;
use crate::swarm::{Kernel, ObserveConfig, SwarmConfig};

settings! {
    /// Agents that push and move.
    pub struct Mobile {
        /// How many there are in training.
        agents: usize = 1..=10_000_000,
        /// Width of an agent's push, a Gaussian bump.
        sigma: f64 = 1e-6..=1e6,
        /// What the intensity of a push means.
        kernel: Kernel = (),
        /// Largest intensity |u| of a push.
        u_limit: f64 = 1e-9..=1e9,
        /// Largest velocity, in each component.
        v_limit: f64 = 1e-9..=1e9,
        /// Agents start in the middles of equal cells, one each, instead of on a lattice that the next two describe.
        start_in_cells: bool = (),
        /// Agents start on an even lattice this far from the walls, as a share of the domain.
        start_margin: f64 = 0.0..=0.5,
        /// The same for any other number of agents than the trained one.
        start_margin_other: f64 = 0.0..=0.5,
        /// How crowded a place may be (an agent by itself counts 1, others nearby up to 1 each) before agents there push less; 0: they never do. Needs the places of living neighbours.
        crowd: f64 = 0.0..=1e6,
        /// How far others count in that, in widths of a push: up to √6 of them.
        crowd_width: f64 = 1e-3..=1e3,
    }
}

settings! {
    /// Agents that push and stay where they are.
    pub struct Static {
        /// How many there are in training.
        agents: usize = 1..=10_000_000,
        /// Width of an agent's push, a Gaussian bump.
        sigma: f64 = 1e-6..=1e6,
        /// What the intensity of a push means.
        kernel: Kernel = (),
        /// Largest intensity |u| of a push.
        u_limit: f64 = 1e-9..=1e9,
        /// In the plane: agents stand on the most even lattice there is for their number, instead of in the middles of square cells.
        staggered: bool = (),
        /// How crowded a place may be (an agent by itself counts 1, others nearby up to 1 each) before agents there push less; 0: they never do. Needs the places of living neighbours.
        crowd: f64 = 0.0..=1e6,
        /// How far others count in that, in widths of a push: up to √6 of them.
        crowd_width: f64 = 1e-3..=1e3,
    }
}

settings! {
    /// What an agent sees: samples of the error z − z* and of its slopes around it.
    pub struct View {
        /// Samples of the window, along each axis.
        points: usize = 2..=64,
        /// Width of the window.
        window: f64 = 1e-6..=1e6,
        /// Factor on the error before the network sees it; the physics does not change.
        gain: f64 = 1e-6..=1e6,
        /// Whether the derivative flows through the places of the samples (exact), or not (as published).
        through_position: bool = (),
        /// Whether an agent knows where in the domain it is. If not, a policy can be used on domains of any size.
        position: bool = (),
    }
}

impl Mobile {
    pub fn parts(&self) -> SwarmConfig {
        SwarmConfig {
            agents: self.agents,
            sigma: self.sigma,
            kernel: self.kernel,
            u_limit: self.u_limit,
            v_limit: self.v_limit,
            start_in_cells: self.start_in_cells,
            staggered: false,
            start_margin: self.start_margin,
            start_margin_other: self.start_margin_other,
            safety: false,
            clearance: 0.005,
            crowd: self.crowd,
            crowd_width: self.crowd_width,
        }
    }
}

impl Static {
    pub fn parts(&self) -> SwarmConfig {
        SwarmConfig {
            agents: self.agents,
            sigma: self.sigma,
            kernel: self.kernel,
            u_limit: self.u_limit,
            v_limit: 1.0,
            start_in_cells: false,
            staggered: self.staggered,
            start_margin: 0.0,
            start_margin_other: 0.0,
            safety: false,
            clearance: 0.005,
            crowd: self.crowd,
            crowd_width: self.crowd_width,
        }
    }
}

impl View {
    pub fn parts(&self) -> ObserveConfig {
        ObserveConfig {
            points: self.points,
            window: self.window,
            through_position: self.through_position,
            gain: self.gain,
            obstacles: false,
            position: self.position,
        }
    }
}
