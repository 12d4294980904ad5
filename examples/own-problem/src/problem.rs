//! `phases`: equation, agents and task put together.

use crate::equation::{AllenCahn, NODES};
use crate::policy::LinearIntegral;
use crate::task::Hold;
use cinoc::prelude::*;

settings! {
    /// The Allen–Cahn equation on a ring of length 1.
    pub struct Physics {
        /// Diffusivity ε: fronts are about √ε wide.
        epsilon: f64 = 1e-9..=1.0,
        /// Time of a tick.
        dt: f64 = 1e-6..=1.0,
        /// Decisions per episode.
        ticks: usize = 2..=100_000,
    }

    /// All settings of the problem.
    pub struct Phases {
        /// The Allen–Cahn equation on a ring of length 1.
        physics: Physics = (),
        /// Agents that push and stay where they are.
        swarm: Static = (),
        /// What an agent sees.
        observe: Window = (),
        /// Patterns to start from and to hold, and what pushes cost.
        task: Hold = (),
    }
}

impl Definition for Phases {
    const NAME: &'static str = "phases";
    const ABOUT: &'static str = "Allen–Cahn equation on a ring: 16 agents turn one pattern of phases into another and hold it.";
    const EXPLANATION: Explanation = Explanation {
        equation: "z_t = ε z_xx + z − z³ + f on a ring of length 1; Crank–Nicolson for the linear part, Euler for the rest.",
        sees: "the error z − z* and its slope in a window around it.",
        acts: "a push u·exp(−(x−ξ)²/2σ²), |u| ≤ u_limit, added to the force f.",
        score: "mean of (z − z*)² over x and the second half of the episode.",
    };

    fn preset(_: Preset) -> (Self, Recipe) {
        let settings = Self {
            physics: Physics { epsilon: 1e-3, dt: 0.05, ticks: 80 },
            swarm: Static { crowd: 1.5, ..Static::new(16, 0.04, 4.0) },
            observe: Window { position: false, ..Window::new(8, 0.12) },
            task: Hold { waves: 3, effort: 1e-4 },
        };
        (settings, Recipe::new(LinearIntegral::preset(), Train { updates: 80, rate: 2e-2, half_life: 20.0, ..Train::default() }))
    }

    fn check(&self) -> Result<(), Error> {
        window_fits(self.observe.window, 1.0)
    }

    fn build(&self) -> Problem {
        let Physics { epsilon, dt, ticks } = self.physics;
        let grid = Grid::periodic(NODES, 1.0);
        Problem {
            name: Self::NAME.into(),
            swarm: self.swarm.swarm(&grid, &self.observe),
            stepper: Box::new(SpectralStepper::new(AllenCahn { grid, epsilon }, CrankNicolsonEuler, dt, Substeps::Fixed(1))),
            task: Box::new(self.task.clone()),
            agents: self.swarm.agents,
            ticks,
        }
    }
}
