//! `turbulence2d`: decaying turbulence on a torus, suppressed by fixed agents.

use super::common::{PlaneStates, Rest, Static, Variation, calm, harden, rest_needs_no_view, tori, window_fits};
use crate::policy::{DeepONet, Recurrent};
use crate::problem::{Definition, Explanation, Preset, Problem, Published, Sweep, Sweeps};
use crate::random::Rng;
use crate::recipe::{Recipe, Schedule, Train};
use crate::sense::Window;
use crate::task::{RestCost, Square};
use crate::{Error, settings};
use cinoc_pde::Grid;
use cinoc_pde::equation::Vorticity2d;
use cinoc_pde::sampler::random_vorticity;
use cinoc_pde::stepper::Substeps;
use std::f64::consts::TAU;

/// Peak wavenumber and energy of random initial flows.
const PEAK: f64 = 10.0 * TAU;
const ENERGY: f64 = 0.8;

settings! {
    /// The vorticity equation on a torus.
    pub struct Turbulence2dPhysics {
        /// Nodes of the grid along each axis, a multiple of 32.
        nodes: usize = 32..=8192,
        /// Length of an edge.
        length: f64 = 1e-3..=1e3,
        /// Viscosity ν.
        nu: f64 = 1e-9..=1e3,
        /// Duration of a tick.
        dt: f64 = 1e-6..=10.0,
        /// Solver steps per tick; 0: chosen by the CFL condition.
        substeps: usize = 0..=10_000,
        /// Decisions per episode.
        ticks: usize = 2..=1_000_000,
    }
}

settings! {
    /// All settings of the problem.
    pub struct Turbulence2d {
        /// The vorticity equation on a torus.
        physics: Turbulence2dPhysics = (),
        /// Agents that push and do not move.
        swarm: Static = (),
        /// Observation of an agent.
        observe: Window = (),
        /// States that instances start from.
        data: PlaneStates = (),
        /// Weights of the cost.
        cost: RestCost = (),
    }
}

impl Definition for Turbulence2d {
    const NAME: &'static str = "turbulence2d";
    const ABOUT: &'static str = "Decaying turbulence on a torus: 64 fixed agents suppress it.";
    const EXPLANATION: Explanation = Explanation {
        equation: "ω_t + q·∇ω = ν∇²ω + f, ∇²ψ = −ω, q = (ψ_y, −ψ_x), on a torus; pseudo-spectral with the 3/2 rule, RK4.",
        sees: "the vorticity ω and its two slopes on 10 × 10 points (the paper: 20 × 20) around the agent; with observe.gaps the gaps to active neighbours in eight directions, with observe.position the position of the agent.",
        acts: "a push u·exp(−d²/2σ²), |u| ≤ u_limit, added to the force f, d the distance on the torus.",
        score: "mean over the torus of ω² (enstrophy) after the last tick; also the mean over all ticks.",
    };

    fn sweeps() -> Sweeps {
        Sweeps {
            size: 7.0,
            rests_at_zero: false,
            physics: &[Sweep { key: "physics.nu", symbol: "ν", believed: None, values: &[2e-4, 3e-4, 4e-4, 5e-4, 1e-3] }],
            // All grids use the same states.
            resolution: &[(64, &["data.nodes=64"]), (128, &["data.nodes=64", "physics.nodes=128"])],
            published: Some(Published { trained: 64, percent: &[(36, 199.8), (64, 100.0), (144, 21.6), (1024, 75.9)] }),
        }
    }

    const SHIPPED: Preset = Preset::Robust;

    fn preset(preset: Preset) -> (Self, Recipe) {
        let mut settings = Self {
            physics: Turbulence2dPhysics { nodes: 64, length: 1.0, nu: 5e-4, dt: 0.01, substeps: 8, ticks: 150 },
            swarm: Static::new(64, 0.05, 75.0),
            // Twenty samples along each axis, one cell apart.
            observe: Rest::view(20, 19.0 / 64.0),
            // Turbulence decays, so every state needs a separate run.
            data: PlaneStates {
                settle: 2.0,
                apart: 0.0,
                per_run: 1,
                nodes: 0,
                train_states: 96,
                validation_states: 16,
                test_states: 64,
            },
            cost: RestCost { track: 1.0, effort: 1e-5, last: 0.0, last_log: 0.0 },
        };
        let mut train =
            Train { batch: 4, shard: 2, validate_instances: 16, schedule: Schedule::WarmupCosine, ..Train::default() };
        if preset == Preset::Paper {
            (train.rate_start, train.rate, train.rate_end, train.warmup) = (1e-4, 5e-4, 1e-6, 20);
            let policy = DeepONet { convolutions: vec![32, 64], branch: vec![32], head: 64, ..DeepONet::default() };
            return (settings, Recipe::new(policy, train));
        }
        // See docs/guide/training.md for the reasons.
        let policy = calm(&mut settings.swarm, &mut settings.observe, &mut train);
        settings.physics.substeps = 0;
        settings.swarm.staggered = true;
        // Every second sample; the gain is small because vorticity is large, and so would be a linear response to it.
        (settings.observe.points, settings.observe.gain, settings.observe.gaps) = (10, 0.1, 0.125);
        settings.cost.last = 20.0;
        train.agents = vec![36, 36, 39, 39, 49, 64, 64, 64, 100];
        (train.hold, train.rate, train.average, train.deaths, train.blocks) = (2, 1.5e-3, 0.9, 0.3, 0.2);
        (train.batch, train.updates, train.validate_instances, train.validate_agents) = (8, 120, 8, vec![39, 64]);
        if preset == Preset::Robust {
            // Another viscosity would need other uncontrolled runs for every variant.
            let variation = Variation { size: 7.0, push: 75.0, coefficients: &[], ticks: &[150, 150, 300] };
            harden(&mut settings.observe, &mut train, &variation);
            train.shard = 2;
            // Slopes of vorticity are hundreds of times as large as vorticity.
            settings.observe.range = 1e4;
        }
        (settings, Recipe::new(Recurrent { head: 64, ..policy }, train))
    }

    fn check(&self) -> Result<(), Error> {
        window_fits(self.observe.window, self.physics.length)?;
        rest_needs_no_view(&self.observe)?;
        self.data.check(self.physics.nodes, self.physics.dt)
    }

    fn bytes(&self) -> f64 {
        self.data.bytes(self.physics.nodes)
    }

    fn build(&self) -> Problem {
        let Turbulence2dPhysics { nodes, length, nu, dt, substeps, ticks } = self.physics;
        let [grid, coarser] = tori(nodes, self.data.nodes, length);
        let by_flow = Substeps::Courant(Vorticity2d::COURANT);
        let stepper = |grid: &Grid, substeps| Vorticity2d::stepper(grid.clone(), nu, dt, substeps);
        let free = stepper(&coarser, by_flow);
        let begin = move |rng: &mut Rng| random_vorticity(&coarser, PEAK, ENERGY, &rng.normals(coarser.count()));
        let runs = format!("turbulence2d, nu {nu}, peak {PEAK}, energy {ENERGY}, courant {}", Vorticity2d::COURANT);
        let swarm = self.swarm.swarm(&grid, &self.observe);
        let held = stepper(&grid, if substeps == 0 { by_flow } else { Substeps::Fixed(substeps) });
        let data = &self.data.states();
        let rest = Rest { data, cost: &self.cost, square: Square::EnstrophyLast, agents: self.swarm.agents, ticks };
        // A reflection changes the sign of the vorticity.
        rest.problem(Self::NAME, held, swarm, runs, free, begin, -1.0)
    }

    fn shrink(&mut self) {
        self.data.shrink();
    }
}
