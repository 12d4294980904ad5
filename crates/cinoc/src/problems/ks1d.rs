//! `ks1d`: the Kuramoto–Sivashinsky equation on a ring, stabilised by fixed agents.

use super::common::{Rest, States, Static, Variation, calm, harden, nodes_fit, rest_needs_no_view, states_fit, window_fits};
use crate::policy::DeepONet;
use crate::problem::{Definition, Explanation, Preset, Problem, Published, Sweeps};
use crate::random::Rng;
use crate::recipe::{Recipe, Train};
use crate::sense::Window;
use crate::task::{RestCost, Square};
use crate::{Error, settings};
use cinoc_pde::equation::KuramotoSivashinsky1d;
use cinoc_pde::sampler::white_noise;
use cinoc_pde::{Grid, Real};

/// Amplitude of the initial noise of uncontrolled runs.
const AMPLITUDE: f64 = 0.01;

settings! {
    /// The Kuramoto–Sivashinsky equation on a ring.
    pub struct Ks1dPhysics {
        /// Nodes of the grid, a multiple of 16.
        nodes: usize = 16..=65_536,
        /// Length of the ring.
        length: f64 = 1e-3..=1e5,
        /// Duration of a tick.
        dt: f64 = 1e-6..=10.0,
        /// Decisions per episode.
        ticks: usize = 2..=1_000_000,
    }
}

settings! {
    /// All settings of the problem.
    pub struct Ks1d {
        /// The Kuramoto–Sivashinsky equation on a ring.
        physics: Ks1dPhysics = (),
        /// Agents that push and do not move.
        swarm: Static = (),
        /// Observation of an agent.
        observe: Window = (),
        /// States that instances start from.
        data: States = (),
        /// Weights of the cost.
        cost: RestCost = (),
    }
}

impl Definition for Ks1d {
    const NAME: &'static str = "ks1d";
    const ABOUT: &'static str = "Kuramoto–Sivashinsky chaos on a ring: 8 fixed agents stabilise it.";
    const EXPLANATION: Explanation = Explanation {
        equation: "z_t = −z z_x − z_xx − z_xxxx + f on a ring of length L; spectral, Crank–Nicolson and Euler.",
        sees: "the field z and its slope at 20 points of a window around the agent; with observe.gaps the gaps to active neighbours, with observe.position the position of the agent.",
        acts: "a push u·exp(−d²/2σ²), |u| ≤ u_limit, added to the force f, d the distance on the ring.",
        score: "mean over space and all ticks of z²; also after the last tick.",
    };

    fn sweeps() -> Sweeps {
        Sweeps {
            size: 1.3,
            rests_at_zero: true,
            resolution: &[
                (64, &["physics.nodes=64"]),
                (128, &["physics.nodes=128"]),
                (256, &["physics.nodes=256"]),
                (512, &["physics.nodes=512"]),
            ],
            // On a ring of length 32.
            published: Some(Published { trained: 30, percent: &[(15, 99.8), (30, 100.0), (90, 114.4), (100, 13908.0)] }),
            ..Sweeps::default()
        }
    }

    const SHIPPED: Preset = Preset::Robust;

    fn preset(preset: Preset) -> (Self, Recipe) {
        let mut settings = Self {
            physics: Ks1dPhysics { nodes: 128, length: 22.0, dt: 0.05, ticks: 200 },
            swarm: Static::new(8, 1.0, 1.0),
            // Four grid spacings.
            observe: Rest::view(20, 0.6875),
            data: States { settle: 1000.0, apart: 100.0, per_run: 8, train_states: 512, validation_states: 32, test_states: 64 },
            cost: RestCost { track: 10.0, effort: 1e-3, last: 0.0, last_log: 0.0 },
        };
        let mut train = Train { validate_instances: 32, shard: 16, ..Train::default() };
        if preset == Preset::Paper {
            return (settings, Recipe::new(DeepONet::default(), train));
        }
        // See docs/guide/training.md for the reasons.
        let policy = calm(&mut settings.swarm, &mut settings.observe, &mut train);
        settings.observe.gaps = 2.75;
        (settings.cost.last, settings.cost.last_log) = (10.0, 0.1);
        train.agents = vec![7, 7, 7, 8, 8, 8, 8, 12, 16, 32];
        (train.updates, train.warmup, train.average, train.deaths) = (300, 20, 0.95, 0.2);
        train.validate_agents = vec![7, 8, 16];
        if preset == Preset::Robust {
            let variation = Variation { size: 1.3, push: 1.0, coefficients: &[], ticks: &[200, 200, 400] };
            harden(&mut settings.observe, &mut train, &variation);
            // Pushes divided among neighbours cost a factor of three with four times the agents.
            settings.swarm.crowd = 0.0;
            train.updates = 600;
        }
        (settings, Recipe::new(policy, train))
    }

    fn check(&self) -> Result<(), Error> {
        window_fits(self.observe.window, self.physics.length)?;
        rest_needs_no_view(&self.observe)?;
        nodes_fit("physics.nodes", self.physics.nodes, 16)?;
        states_fit(&self.data, self.physics.dt)
    }

    fn bytes(&self) -> f64 {
        let states = self.data.train_states.max(self.data.validation_states).max(self.data.test_states);
        // Besides the states: tables and workspace of the transforms, sixteen fields at a time.
        size_of::<Real>() as f64 * (states as f64 + 350.0) * self.physics.nodes as f64
    }

    fn build(&self) -> Problem {
        let Ks1dPhysics { nodes, length, dt, ticks } = self.physics;
        let grid = Grid::periodic(nodes, length as Real);
        let stepper = || KuramotoSivashinsky1d::stepper(grid.clone(), dt);
        let swarm = self.swarm.swarm(&grid, &self.observe);
        let begin = move |rng: &mut Rng| white_noise(&rng.normals(nodes), AMPLITUDE);
        let rest = Rest { data: &self.data, cost: &self.cost, square: Square::EnergyMean, agents: self.swarm.agents, ticks };
        // The mirror image of −z satisfies the equation.
        rest.problem(Self::NAME, stepper(), swarm, format!("ks1d from noise of {AMPLITUDE}"), stepper(), begin, -1.0)
    }

    fn shrink(&mut self) {
        self.data.shrink();
    }

    fn enlarge(&mut self, times: usize) -> bool {
        let Ks1dPhysics { nodes, length, .. } = &mut self.physics;
        (*nodes, *length) = (nodes.saturating_mul(times), *length * times as f64);
        self.swarm.agents = self.swarm.agents.saturating_mul(times).min(i64::MAX as usize);
        true
    }
}
