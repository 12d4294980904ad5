//! `phases`: the Allen–Cahn equation on a ring, `z_t = ε z_xx + z − z³ + f`, with two phases, −1 and 1.

use crate::policy::LinearIntegral;
use crate::task::{Hold, NODES};
use cinoc::prelude::*;

struct AllenCahn {
    grid: Grid,
    epsilon: f64,
}

impl Spectral for AllenCahn {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn linear(&self, k: &[f64]) -> f64 {
        1.0 - self.epsilon * k[0] * k[0]
    }

    fn nonlinear<'t>(&self, fourier: &Fourier, z_hat: Var<'t>) -> Var<'t> {
        -fourier.product(fourier.product(z_hat, z_hat), z_hat)
    }
}

settings! {
    /// The Allen–Cahn equation on a ring of length 1.
    pub struct Physics {
        /// Diffusivity ε: fronts are about √ε wide.
        epsilon: f64 = 1e-9..=1.0,
        /// Duration of a tick.
        dt: f64 = 1e-6..=1.0,
        /// Decisions per episode.
        ticks: usize = 2..=100_000,
    }

    /// All settings of the problem.
    pub struct Phases {
        /// The Allen–Cahn equation on a ring of length 1.
        physics: Physics = (),
        /// Agents that push and do not move.
        swarm: Static = (),
        /// Observation of an agent.
        observe: Window = (),
        /// Initial and target patterns, and the cost of pushes.
        task: Hold = (),
    }
}

impl Definition for Phases {
    const NAME: &'static str = "phases";
    const ABOUT: &'static str = "Allen–Cahn equation on a ring: 16 agents turn one pattern of phases into another and hold it.";
    const EXPLANATION: Explanation = Explanation {
        equation: "z_t = ε z_xx + z − z³ + f on a ring of length 1; Crank–Nicolson for the linear part, Euler for the rest.",
        sees: "the error z − z* and its slope in a window around the agent.",
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
        // `Recipe::new(cinoc::policy::Recurrent::default(), …)` makes the shipped network the default policy.
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
