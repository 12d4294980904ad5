//! `ks2d`: the Kuramoto–Sivashinsky equation on a torus, stabilised by fixed agents.

use super::common::{PlaneStates, Rest, Static, Variation, calm, harden, rest_needs_no_view, tori, window_fits};
use crate::policy::{DeepONet, Recurrent};
use crate::problem::{Definition, Explanation, Preset, Problem, Published, Sweeps};
use crate::random::Rng;
use crate::recipe::{Recipe, Schedule, Train};
use crate::sense::Window;
use crate::task::{RestCost, Square};
use crate::{Error, settings};
use cinoc_pde::equation::KuramotoSivashinsky2d;
use cinoc_pde::sampler::waves_with_noise;
use std::f64::consts::TAU;

/// Substeps of a tick in uncontrolled runs. The scheme is of fourth order: states are as accurate as with the twenty
/// substeps that strong forces need.
const FREE_SUBSTEPS: usize = 4;

settings! {
    /// The Kuramoto–Sivashinsky equation on a torus.
    pub struct Ks2dPhysics {
        /// Nodes of the grid along each axis, a multiple of 32.
        nodes: usize = 32..=8192,
        /// Length of an edge.
        length: f64 = 1e-3..=1e5,
        /// Duration of a tick.
        dt: f64 = 1e-6..=10.0,
        /// Solver steps per tick.
        substeps: usize = 1..=10_000,
        /// Decisions per episode.
        ticks: usize = 2..=1_000_000,
    }
}

settings! {
    /// All settings of the problem.
    pub struct Ks2d {
        /// The Kuramoto–Sivashinsky equation on a torus.
        physics: Ks2dPhysics = (),
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

impl Definition for Ks2d {
    const NAME: &'static str = "ks2d";
    const ABOUT: &'static str = "Kuramoto–Sivashinsky chaos on a torus: 100 fixed agents stabilise it.";
    const EXPLANATION: Explanation = Explanation {
        equation: "z_t = −∇²z − ∇⁴z − ½|∇z|² + f on a torus, the mean of the nonlinear term removed; spectral, ETDRK4.",
        sees: "the field z and its two slopes on 8 × 8 points (the paper: 12 × 12) around the agent; with observe.gaps the gaps to active neighbours, with observe.position the position of the agent.",
        acts: "a push u·exp(−d²/2σ²), |u| ≤ u_limit, added to the force f, d the distance on the torus.",
        score: "mean over the torus of z² after the last tick; also the mean over all ticks.",
    };

    fn sweeps() -> Sweeps {
        Sweeps {
            size: 3.5,
            rests_at_zero: true,
            // All grids use the same states.
            resolution: &[
                (64, &["data.nodes=64"]),
                (128, &["data.nodes=64", "physics.nodes=128"]),
                (256, &["data.nodes=64", "physics.nodes=256"]),
            ],
            published: Some(Published {
                trained: 196,
                percent: &[(144, 45.0), (196, 100.0), (256, 230.1), (324, 270.0), (784, 2285.0)],
            }),
            ..Sweeps::default()
        }
    }

    const SHIPPED: Preset = Preset::Robust;

    fn preset(preset: Preset) -> (Self, Recipe) {
        let mut settings = Self {
            physics: Ks2dPhysics { nodes: 64, length: 32.0, dt: 0.1, substeps: 20, ticks: 50 },
            swarm: Static::new(100, 1.2, 10.0),
            // Twelve samples along each axis, half a unit of length apart.
            observe: Rest::view(12, 5.5),
            data: PlaneStates {
                settle: 200.0,
                apart: 20.0,
                per_run: 6,
                nodes: 0,
                train_states: 96,
                validation_states: 32,
                test_states: 64,
            },
            cost: RestCost { track: 100.0, effort: 1e-4, last: 0.0, last_log: 0.0 },
        };
        let mut train =
            Train { batch: 4, shard: 2, validate_instances: 32, schedule: Schedule::WarmupCosine, ..Train::default() };
        if preset == Preset::Paper {
            (train.rate_start, train.rate, train.rate_end, train.warmup) = (5e-4, 1e-3, 1e-5, 50);
            let policy = DeepONet { convolutions: vec![16, 32], branch: vec![32], head: 64, ..DeepONet::default() };
            return (settings, Recipe::new(policy, train));
        }
        // See docs/guide/training.md for the reasons.
        let policy = calm(&mut settings.swarm, &mut settings.observe, &mut train);
        // A square lattice of a hundred agents cannot control one of the unstable modes; the most even lattice can.
        settings.swarm.staggered = true;
        // With a window wider than one wavelength, agents learn the wrong sign for some shorter waves, which denser
        // swarms then excite.
        (settings.observe.window, settings.observe.points, settings.observe.gain) = (4.0, 8, 0.3);
        settings.observe.gaps = 3.2;
        // A hundred agents are too far apart for their pushes to overlap much.
        (settings.swarm.crowd_width, settings.swarm.crowd) = (2.0, 3.0);
        // The score is the final energy, whereas the mean is dominated by the beginning.
        settings.cost.last = 1000.0;
        train.agents = vec![81, 90, 90, 100, 100, 100, 144, 196];
        (train.batch, train.updates, train.average, train.deaths, train.blocks) = (8, 150, 0.9, 0.4, 0.1);
        (train.validate_instances, train.validate_agents, train.validate_fail) = (16, vec![90, 100], 0.3);
        if preset == Preset::Robust {
            let variation = Variation { size: 3.5, push: 10.0, coefficients: &[], ticks: &[50, 50, 100] };
            harden(&mut settings.observe, &mut train, &variation);
            // Four substeps give the scores of twenty to five digits, in a third of the time.
            train.vary.push("physics.substeps = 4".into());
            (train.shard, train.updates, train.validate_every, train.deaths) = (2, 420, 50, 0.5);
        }
        (settings, Recipe::new(Recurrent { head: 64, memory_ticks: [1.0, 50.0], ..policy }, train))
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
        let Ks2dPhysics { nodes, length, dt, substeps, ticks } = self.physics;
        let [grid, coarser] = tori(nodes, self.data.nodes, length);
        let free = KuramotoSivashinsky2d::stepper(coarser.clone(), dt, FREE_SUBSTEPS);
        let begin = move |rng: &mut Rng| {
            let phases = std::array::from_fn(|_| rng.uniform(0.0, TAU));
            waves_with_noise(&coarser, phases, &rng.normals(coarser.count()))
        };
        let swarm = self.swarm.swarm(&grid, &self.observe);
        let stepper = KuramotoSivashinsky2d::stepper(grid, dt, substeps);
        let data = &self.data.states();
        let rest = Rest { data, cost: &self.cost, square: Square::EnergyLast, agents: self.swarm.agents, ticks };
        rest.problem(Self::NAME, stepper, swarm, format!("ks2d, {FREE_SUBSTEPS} substeps"), free, begin, 1.0)
    }

    fn shrink(&mut self) {
        self.data.shrink();
    }

    fn enlarge(&mut self, times: usize) -> bool {
        let Ks2dPhysics { nodes, length, .. } = &mut self.physics;
        (*nodes, *length) = (nodes.saturating_mul(times), *length * times as f64);
        self.data.nodes = self.data.nodes.saturating_mul(times);
        self.swarm.agents = self.swarm.agents.saturating_mul(times * times).min(i64::MAX as usize);
        true
    }
}
