//! `fkpp1d`: the Fisher–KPP equation on an interval, tracked by mobile agents.

use super::common::{LineDomain, Mobile, Variation, harden, tune_line, window_fits};
use crate::policy::{DeepONet, Recurrent};
use crate::problem::{Definition, Explanation, Preset, Problem, Published, Sweep, Sweeps};
use crate::recipe::{Recipe, Train};
use crate::sense::{Holding, Window};
use crate::task::{Profile, TrackingCost, TrackingData};
use crate::{Error, settings};
use cinoc_pde::equation::FisherKpp;
use cinoc_pde::{Grid, Real};

settings! {
    /// The Fisher–KPP equation on an interval.
    pub struct Fkpp1dPhysics {
        /// Nodes of the grid, including both walls.
        nodes: usize = 4..=2048,
        /// Length of the interval.
        length: f64 = 1e-3..=1e3,
        /// Diffusivity ν.
        nu: f64 = 1e-9..=1e6,
        /// Growth rate ρ.
        rho: f64 = 1e-9..=1e6,
        /// Duration of a tick.
        dt: f64 = 1e-9..=1e3,
        /// Decisions per episode.
        ticks: usize = 2..=1_000_000,
    }
}

settings! {
    /// All settings of the problem.
    pub struct Fkpp1d {
        /// The Fisher–KPP equation on an interval.
        physics: Fkpp1dPhysics = (),
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

impl Definition for Fkpp1d {
    const NAME: &'static str = "fkpp1d";
    const ABOUT: &'static str = "Fisher–KPP reaction front: 20 mobile agents shape a growing population.";
    const EXPLANATION: Explanation = Explanation {
        equation: "z_t = ν z_xx + ρ z(1−z) + f on [0, L], z = 0 at both walls, z held to [0, 1]; reaction explicit, diffusion implicit Euler.",
        sees: "the error z − z* and its slope at 12 points (the paper: 20) of a window around the agent, and its position; with observe.target the target and the force that would hold it there, with observe.gaps the gaps to active neighbours.",
        acts: "a push u·exp(−(x−ξ)²/2σ²), |u| ≤ u_limit, added to the force f, and a velocity |v| ≤ v_limit.",
        score: "mean over x of (z − z*)² after the last tick.",
    };

    fn sweeps() -> Sweeps {
        Sweeps {
            size: 1.0,
            rests_at_zero: false,
            // The paper decreases ν and increases ρ; here both are varied in both directions.
            physics: &[
                Sweep {
                    key: "physics.nu",
                    symbol: "ν",
                    believed: Some("observe.believed_nu"),
                    values: &[1e-6, 0.001, 0.0025, 0.005, 0.01, 0.02],
                },
                Sweep { key: "physics.rho", symbol: "ρ", believed: Some("observe.believed_rho"), values: &[1.0, 3.0, 5.0, 8.0] },
            ],
            resolution: &[
                (50, &["physics.nodes=50"]),
                (100, &["physics.nodes=100"]),
                (200, &["physics.nodes=200"]),
                (400, &["physics.nodes=400"]),
            ],
            published: Some(Published { trained: 30, percent: &[(20, 115.0), (30, 100.0), (150, 128.7)] }),
        }
    }

    const SHIPPED: Preset = Preset::Robust;

    fn preset(preset: Preset) -> (Self, Recipe) {
        let mut settings = Self {
            physics: Fkpp1dPhysics { nodes: 100, length: 1.0, nu: 0.005, rho: 3.0, dt: 1e-3, ticks: 300 },
            swarm: LineDomain::agents(20, 0.05),
            observe: LineDomain::view(),
            data: TrackingData { start_length: 0.2, target_length: 0.4, nearer: 0.0 },
            cost: TrackingCost { radius: 0.02, ..TrackingCost::default() },
        };
        if preset == Preset::Paper {
            return (settings, Recipe::new(DeepONet::default(), Train::default()));
        }
        // See docs/guide/training.md for the reasons.
        let mut train = Train::default();
        tune_line(&mut settings.swarm, &mut settings.observe, &mut settings.cost, &mut train);
        settings.observe.gaps = 0.1;
        // There is little diffusion to damp excitation: large swarms must not push more than twenty agents, and initial
        // actions are small.
        (settings.swarm.crowd, train.strength_many, train.rate) = (3.0, 1.2, 1.5e-3);
        settings.cost.final_floor = 5e-7;
        (train.blocks, train.clustered) = (0.4, 0.2);
        train.agents = vec![10, 10, 10, 12, 14, 20, 20, 20, 20, 28, 40];
        (train.updates, train.validate_instances, train.validate_agents) = (800, 48, vec![10, 20, 100]);
        if preset == Preset::Robust {
            let Self { physics, observe, .. } = &mut settings;
            (observe.believed_nu, observe.believed_rho) = (physics.nu, physics.rho);
            let coefficients = [("physics.nu", physics.nu), ("physics.rho", physics.rho)];
            let variation = Variation { size: 1.0, push: 40.0, coefficients: &coefficients, ticks: &[300, 300, 300, 600, 900] };
            harden(observe, &mut train, &variation);
            (train.rate_start, train.rate, train.rate_end, train.updates) = (3e-4, 3e-3, 3e-5, 1400);
        }
        (settings, Recipe::new(Recurrent { output_scale: 0.2, ..Recurrent::default() }, train))
    }

    fn check(&self) -> Result<(), Error> {
        window_fits(self.observe.window, self.physics.length)?;
        self.data.check(self.physics.nodes, self.physics.length)
    }

    fn build(&self) -> Problem {
        let Fkpp1dPhysics { nodes, length, nu, rho, dt, ticks } = self.physics;
        let Self { swarm, observe, data, cost, .. } = self;
        LineDomain { swarm, observe, data, cost, profile: Profile::Density, holding: Holding { nu, rho }, ticks, tick_time: dt }
            .problem(Self::NAME, FisherKpp::new(Grid::walls(nodes, length as Real), nu, rho, dt))
    }
}
