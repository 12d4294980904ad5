//! `heat1d`: the heat equation on an interval, tracked by mobile agents.

use super::common::{DIFFUSIVITIES, LineDomain, Mobile, Variation, harden, tune_line, window_fits};
use crate::policy::{DeepONet, Recurrent};
use crate::problem::{Definition, Explanation, Preset, Problem, Published, Sweeps};
use crate::recipe::{Recipe, Train};
use crate::sense::{Holding, Window};
use crate::task::{Profile, TrackingCost, TrackingData};
use crate::{Error, settings};
use cinoc_pde::equation::Heat1d as Equation;
use cinoc_pde::{Grid, Real};

settings! {
    /// The heat equation on an interval.
    pub struct Heat1dPhysics {
        /// Nodes of the grid, including both walls.
        nodes: usize = 4..=2048,
        /// Length of the interval.
        length: f64 = 1e-3..=1e3,
        /// Diffusivity ν.
        nu: f64 = 1e-9..=1e6,
        /// Duration of a tick.
        dt: f64 = 1e-9..=1e3,
        /// Decisions per episode.
        ticks: usize = 2..=1_000_000,
    }
}

settings! {
    /// All settings of the problem.
    pub struct Heat1d {
        /// The heat equation on an interval.
        physics: Heat1dPhysics = (),
        /// Agents that push and move.
        swarm: Mobile = (),
        /// Observation of an agent.
        observe: Window = (),
        /// Distribution of initial fields and targets.
        data: TrackingData = (),
        /// Weights of the cost.
        cost: TrackingCost = (),
    }
}

impl Definition for Heat1d {
    const NAME: &'static str = "heat1d";
    const ABOUT: &'static str = "Heat equation on an interval: 8 mobile agents drive the temperature to a random target.";
    const EXPLANATION: Explanation = Explanation {
        equation: "z_t = ν z_xx + f on [0, L], z = 0 at both walls; Crank–Nicolson.",
        sees: "the error z − z* and its slope at 12 points (the paper: 20) of a window around the agent, and its position; with observe.target the target and the force that would hold it there, with observe.gaps the gaps to active neighbours.",
        acts: "a push u·exp(−(x−ξ)²/2σ²), |u| ≤ u_limit, added to the force f, and a velocity |v| ≤ v_limit.",
        score: "mean over x of (z − z*)² after the last tick.",
    };

    fn sweeps() -> Sweeps {
        Sweeps {
            size: 1.0,
            rests_at_zero: true,
            physics: DIFFUSIVITIES,
            resolution: &[
                (50, &["physics.nodes=50"]),
                (100, &["physics.nodes=100"]),
                (200, &["physics.nodes=200"]),
                (400, &["physics.nodes=400"]),
            ],
            published: Some(Published {
                trained: 30,
                percent: &[(15, 145.7), (30, 100.0), (100, 117.2), (120, 207.9), (140, 330.0), (160, 997.0), (180, 336.0)],
            }),
        }
    }

    const SHIPPED: Preset = Preset::Robust;

    fn preset(preset: Preset) -> (Self, Recipe) {
        let mut settings = Self {
            physics: Heat1dPhysics { nodes: 100, length: 1.0, nu: 0.2, dt: 1e-3, ticks: 300 },
            swarm: LineDomain::agents(8, 0.1),
            observe: LineDomain::view(),
            data: TrackingData { start_length: 0.2, target_length: 0.4, nearer: 0.0 },
            cost: TrackingCost::default(),
        };
        if preset == Preset::Paper {
            return (settings, Recipe::new(DeepONet::default(), Train::default()));
        }
        // See docs/guide/training.md for the reasons.
        let mut train = Train::default();
        tune_line(&mut settings.swarm, &mut settings.observe, &mut settings.cost, &mut train);
        settings.observe.gaps = 0.25;
        // Crowding does not affect eight evenly spaced agents; it keeps large swarms from pushing harder and from
        // chattering.
        (settings.swarm.crowd, train.strength_many) = (2.5, 1.2);
        // Small swarms are harder to learn.
        train.agents = vec![4, 4, 4, 4, 4, 5, 6, 6, 8, 8, 8, 8, 12, 16, 16, 32];
        (train.updates, train.validate_agents) = (1600, vec![4, 8, 16, 32]);
        if preset == Preset::Robust {
            let Self { physics, observe, .. } = &mut settings;
            // Agents do not know the true diffusivity.
            observe.believed_nu = physics.nu;
            let coefficients = [("physics.nu", physics.nu)];
            let variation = Variation { size: 1.0, push: 40.0, coefficients: &coefficients, ticks: &[300, 300, 300, 600, 900] };
            harden(observe, &mut train, &variation);
            (train.rate_start, train.rate, train.rate_end, train.updates) = (4e-4, 4e-3, 3e-5, 3000);
        }
        (settings, Recipe::new(Recurrent::default(), train))
    }

    fn check(&self) -> Result<(), Error> {
        window_fits(self.observe.window, self.physics.length)?;
        self.data.check(self.physics.nodes, self.physics.length)
    }

    fn build(&self) -> Problem {
        let Heat1dPhysics { nodes, length, nu, dt, ticks } = self.physics;
        let Self { swarm, observe, data, cost, .. } = self;
        LineDomain {
            swarm,
            observe,
            data,
            cost,
            profile: Profile::Bridge,
            holding: Holding { nu, rho: 0.0 },
            ticks,
            tick_time: dt,
        }
        .problem(Self::NAME, Equation::new(Grid::walls(nodes, length as Real), nu, dt))
    }
}
