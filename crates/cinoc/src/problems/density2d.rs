//! `density2d`: a density on a rectangle, transported to its target by the wind of mobile agents.

use super::common::{RANGE, crowd, window_fits};
use crate::actuate::Flow2d;
use crate::agents::{Advance, Disturbance, Losses, Swarm};
use crate::geometry::Rectangle;
use crate::limit::LengthLimit;
use crate::place::{EvenInside, Inside};
use crate::policy::{DeepONet, Recurrent};
use crate::problem::{Definition, Explanation, Preset, Problem, Published, Sweep, Sweeps};
use crate::recipe::{Recipe, Schedule, Train};
use crate::sense::{READING_BOUND, Sight, Window};
use crate::task::{BlobData, MomentCost, MomentMatching};
use crate::{Error, settings, words};
use cinoc_pde::calculus::TransportScheme;
use cinoc_pde::equation::Transport2d;
use cinoc_pde::{Grid, Real};
use std::sync::Arc;

/// Additional distance between the initial lattice and the upper wall.
const HEADROOM: f64 = 0.1;

words! {
    /// Numerical scheme of the transport.
    pub enum Scheme {
        /// The mass of each node is moved and distributed to its new neighbours: mass is exact to round-off.
        Conservative = "conservative",
        /// Semi-Lagrangian, traced back from each node, as published: gains or loses mass.
        Backward = "backward",
    }
}

words! {
    /// Part of the field that an agent observes.
    pub enum See {
        /// The whole field; all agents of an instance share one observation.
        Field = "field",
        /// A window around the agent. As published: also set policy.stride=1 and policy.branch=[32].
        Patch = "patch",
    }
}

settings! {
    /// Transport of a density on a rectangle. One tick is one unit of time.
    pub struct Density2dPhysics {
        /// Numerical scheme of the transport.
        scheme: Scheme = (),
        /// Nodes along x, including the walls.
        nodes_x: usize = 4..=8192,
        /// Nodes along y, including the walls.
        nodes_y: usize = 4..=8192,
        /// Length along x.
        length_x: f64 = 1e-3..=1e3,
        /// Length along y.
        length_y: f64 = 1e-3..=1e3,
        /// Upward drift per tick.
        drift: f64 = -1e3..=1e3,
        /// Wind per unit of an agent's velocity.
        gain: f64 = 0.0..=1e6,
        /// Diffusion per tick, in squared cells; unstable above 0.25.
        diffusion: f64 = 0.0..=0.25,
        /// Displacement of an agent per tick and unit of velocity.
        motion: f64 = 0.0..=1e6,
        /// Distance that agents keep from the walls.
        margin: f64 = 0.0..=1e3,
        /// Decisions per episode.
        ticks: usize = 2..=1_000_000,
    }
}

settings! {
    /// Agents that produce wind in their direction of motion.
    pub struct Blowers {
        /// Number of agents in training.
        agents: usize = 1..=10_000_000,
        /// Width of an agent's wind, a Gaussian.
        sigma: f64 = 1e-6..=1e6,
        /// Largest velocity, in each component and in magnitude.
        v_limit: f64 = 1e-9..=1e9,
        /// Distance of the initial lattice of agents from the walls (a little more at the upper one).
        start_margin: f64 = 0.0..=1e3,
        /// Agents start in columns with nearly equal numbers, instead of filling a square lattice row by row.
        #[absent = false]
        start_even: bool = (),
        /// Local density (1 for a single agent, up to 1 more per neighbour) above which agents act less; 0: off. Needs
        /// positions of active neighbours.
        crowd: f64 = 0.0..=1e6,
        /// Range of crowding, in widths of the wind: neighbours within √6 times it count.
        crowd_width: f64 = 1e-3..=1e3,
        /// Standard deviation of sensor noise on every observed value, in every tick.
        #[absent = 0.0]
        sensor_noise: f64 = 0.0..=1e6,
        /// Sensor noise is drawn for every sample of every agent, instead of every node of the grid.
        #[absent = false]
        sensor_noise_each: bool = (),
        /// Standard deviation of the bias of each agent's sensors, constant over an episode.
        #[absent = 0.0]
        sensor_bias: f64 = 0.0..=1e6,
        /// Samples of the field that do not reach an agent, which holds the last ones in their place.
        #[absent = Losses::default()]
        lost: Losses = (),
        /// Standard deviation of actuator noise on each component of the velocity, in every tick; it acts on the wind.
        #[absent = 0.0]
        actuator_noise: f64 = 0.0..=1e6,
        /// Standard deviation of the bias of each agent's push, constant over an episode: a lasting disturbance.
        #[absent = 0.0]
        actuator_bias: f64 = 0.0..=1e6,
        /// Actuation delay, in ticks.
        #[absent = 0]
        delay: usize = 0..=50,
    }
}

settings! {
    /// Observation of an agent, besides its position and the vectors to the centroids of density and target.
    pub struct Look {
        /// Part of the field that an agent observes.
        view: See = (),
        /// Samples of a patch along each axis.
        points: usize = 2..=64,
        /// Width of a patch.
        window: f64 = 1e-6..=1e6,
        /// Factor on the error before the network; the physics does not change.
        gain: f64 = 1e-6..=1e6,
        /// Exact derivative with respect to the positions of a patch's samples; false: omitted, as published.
        through_position: bool = (),
        /// Unit of length of the gaps to active neighbours, which an agent then observes; 0: not observed.
        #[absent = 0.0]
        gaps: f64 = 0.0..=1e6,
        /// Sense the age of each sample: lost ones are held and fade, and one more number per sample tells how far.
        #[absent = false]
        ages: bool = (),
        /// Sense the roughness of the samples, from which an agent can tell its sensor noise.
        #[absent = false]
        roughness: bool = (),
        /// Obtain slopes from a quadratic fitted to all samples of a patch, instead of differences over one cell,
        /// which amplify sensor noise.
        #[absent = false]
        fitted_slopes: bool = (),
        /// Range of the instruments, in the units of what they read: larger readings count as missing.
        #[absent = READING_BOUND as f64]
        range: f64 = 1e-6..=1e6,
    }
}

settings! {
    /// All settings of the problem.
    pub struct Density2d {
        /// Transport of a density on a rectangle.
        physics: Density2dPhysics = (),
        /// Agents that produce wind in their direction of motion.
        swarm: Blowers = (),
        /// Observation of an agent.
        observe: Look = (),
        /// Positions and sizes of blobs.
        data: BlobData = (),
        /// Weights of the cost.
        cost: MomentCost = (),
    }
}

impl Definition for Density2d {
    const NAME: &'static str = "density2d";
    const ABOUT: &'static str = "Density on a rectangle: 9 mobile agents transport it to a target by wind.";
    const EXPLANATION: Explanation = Explanation {
        equation: "ρ_t + ∇·(ρq) = ν∇²ρ on a rectangle without flux through its walls; q is a drift and the wind of all agents.",
        sees: "the error ρ − ρ* and its slopes on a patch of 8 × 8 points around it (the paper: the whole field, observe.view), its position, the vectors to both centroids, and with observe.gaps the gaps to active neighbours.",
        acts: "a velocity |v| ≤ v_limit: it moves the agent and produces the wind gain·v·exp(−|x−ξ|²/2σ²).",
        score: "mean over the rectangle of (ρ − ρ*)² after the last tick; also the distance of centroids and spreads, the mass drift and the 2-Wasserstein distance.",
    };

    fn sweeps() -> Sweeps {
        let published = Published { trained: 16, percent: &[(4, 141.5), (16, 100.0), (25, 67.6), (100, 86.3), (1024, 83.7)] };
        // No other grids: a density moves by at most half a cell per tick, so each grid is another problem.
        Sweeps {
            physics: &[
                Sweep { key: "physics.drift", symbol: "drift", believed: None, values: &[0.0, 0.0015, 0.003, 0.006] },
                Sweep { key: "physics.diffusion", symbol: "ν", believed: None, values: &[0.0, 0.01, 0.04, 0.16] },
            ],
            published: Some(published),
            ..Sweeps::default()
        }
    }

    const SHIPPED: Preset = Preset::Robust;

    fn preset(preset: Preset) -> (Self, Recipe) {
        let mut settings = Self {
            physics: Density2dPhysics {
                scheme: Scheme::Conservative,
                nodes_x: 64,
                nodes_y: 80,
                length_x: 1.0,
                length_y: 1.25,
                drift: 0.003,
                gain: 0.3,
                diffusion: 0.01,
                motion: 0.01,
                margin: 0.1,
                ticks: 150,
            },
            swarm: Blowers {
                agents: 9,
                sigma: 0.2,
                v_limit: 0.8,
                start_margin: 0.15,
                start_even: false,
                crowd: 0.0,
                crowd_width: 1.0,
                sensor_noise: 0.0,
                sensor_noise_each: false,
                sensor_bias: 0.0,
                lost: Losses::default(),
                actuator_noise: 0.0,
                actuator_bias: 0.0,
                delay: 0,
            },
            // Patches: twelve samples along each axis, one cell of the x axis apart.
            observe: Look {
                view: See::Field,
                points: 12,
                window: 11.0 / 63.0,
                gain: 1.0,
                through_position: true,
                gaps: 0.0,
                ages: false,
                roughness: false,
                fitted_slopes: false,
                range: READING_BOUND as f64,
            },
            data: BlobData::default(),
            cost: MomentCost::default(),
        };
        let mut train = Train { batch: 4, shard: 2, updates: 1000, ..Train::default() };
        if preset == Preset::Paper {
            let policy = DeepONet { convolutions: vec![16, 32], stride: 2, branch: vec![64], head: 64, ..DeepONet::default() };
            return (settings, Recipe::new(policy, train));
        }
        // See docs/guide/training.md for the reasons.
        settings.observe = Look { view: See::Patch, points: 8, window: 0.5, gain: 0.1, gaps: 0.25, ..settings.observe };
        // Two separate piles can have the moments of one blob.
        (settings.cost.track, settings.cost.final_log) = (100.0, 0.5);
        // With crowding, the policy works in large swarms.
        settings.swarm.crowd = 1.5;
        train.schedule = Schedule::WarmupCosine;
        (train.rate_start, train.rate, train.rate_end, train.warmup) = (2e-4, 2e-3, 1e-4, 20);
        (train.batch, train.shard, train.updates, train.average) = (16, 8, 500, 0.95);
        train.agents = vec![4, 6, 9, 9, 9, 9, 16, 25];
        (train.strength, train.strength_each, train.start_jitter) = ([0.8, 1.25], 0.1, 0.1);
        (train.deaths, train.blocks) = (0.3, 0.3);
        (train.validate_every, train.validate_instances) = (50, 32);
        (train.validate_agents, train.validate_fail) = (vec![4, 9, 36], 0.3);
        // A wind of 0.03 moves the density by half a cell per tick, the limit: initial actions are far below the
        // largest velocity, 0.8.
        let mut policy =
            Recurrent { head: 64, memory_ticks: [2.0, 100.0], output_scale: 0.07, output_gain: 0.25, ..Recurrent::default() };
        if preset == Preset::Robust {
            // Where agents heap it up, the density is steep.
            settings.observe.range = 3.0 * RANGE;
            settings.swarm.start_even = true;
            // Both components of the wind that is on its way must be known to undo a delay.
            policy.own_push = true;
            train.vary = ["swarm.delay = 0..5", "swarm.sensor_noise = 0 | 0 | 0.001..0.03"].map(String::from).into();
            train.validate_variants = ["swarm.delay=5", "swarm.delay=5 swarm.sensor_noise=0.01"].map(String::from).into();
            (train.updates, train.agents) = (800, vec![4, 4, 6, 9, 9, 9, 9, 9, 16, 18, 25]);
            // Gradients of holding the density are larger than those of other problems.
            (train.rate, train.average, train.shard, train.clip_shard) = (1.2e-3, 0.98, 4, 100.0);
        }
        (settings, Recipe::new(policy, train))
    }

    fn check(&self) -> Result<(), Error> {
        let Density2dPhysics { length_x, length_y, margin, .. } = self.physics;
        let shortest = length_x.min(length_y);
        window_fits(self.observe.window, shortest)?;
        for (key, value, most) in [
            ("physics.margin", margin, 0.5 * shortest),
            ("swarm.start_margin", self.swarm.start_margin, 0.5 * (shortest - HEADROOM).max(0.0)),
        ] {
            if value > most {
                return Err(Error::bad(key, value.to_string(), format!("at most {most} in a domain of {length_x} × {length_y}")));
            }
        }
        Ok(())
    }

    fn bytes(&self) -> f64 {
        400.0 * (self.physics.nodes_x * self.physics.nodes_y) as f64
    }

    fn build(&self) -> Problem {
        let Density2dPhysics { scheme, nodes_x, nodes_y, length_x, length_y, drift, gain, diffusion, motion, margin, ticks } =
            self.physics;
        let lengths = [length_x, length_y];
        let grid = Grid::plane([nodes_x, nodes_y], lengths.map(|length| length as Real), false);
        let scheme = match scheme {
            Scheme::Conservative => TransportScheme::Conservative,
            Scheme::Backward => TransportScheme::Backward,
        };
        let inside = |margin: f64, headroom: f64| Rectangle {
            low: [margin, margin],
            high: [lengths[0] - margin, lengths[1] - margin - headroom],
        };
        let (start, home) = (inside(self.swarm.start_margin, HEADROOM), inside(margin, 0.0));
        let Look { view, points, window, gain: sharper, through_position, gaps, ages, roughness, fitted_slopes, range } =
            self.observe;
        // The whole field is no window that a quadratic could fit.
        let fitted_slopes = fitted_slopes && view == See::Patch;
        let window = Window {
            gain: sharper,
            through_position,
            gaps,
            ages,
            roughness,
            fitted_slopes,
            range,
            ..Window::new(points, window)
        };
        let sight = match view {
            See::Patch => Sight::around(&grid, &window),
            See::Field => Sight::whole(&grid, sharper, true).with_gaps(&grid, gaps),
        };
        let Blowers { sigma, v_limit, crowd: alone, crowd_width, sensor_noise: sensor, actuator_noise: actuator, delay, .. } =
            self.swarm;
        let (each_sensor, bias, lost) = (self.swarm.sensor_noise_each, self.swarm.sensor_bias, self.swarm.lost);
        let actuator_bias = self.swarm.actuator_bias;
        let real = |corner: [f64; 2]| corner.map(|x| x as Real).to_vec();
        // The action is the velocity, which is also the wind. Agents add nothing to the field.
        let swarm = Swarm::new(
            2,
            if self.swarm.start_even { Box::new(EvenInside(start)) } else { Box::new(Inside(start)) },
            Box::new(sight.with_centroids(&grid)),
            Box::new(LengthLimit::new(v_limit)),
            Box::new(Arc::new(Flow2d::new(&grid, sigma, gain))),
        )
        .with_motion(Advance::new(motion as Real, real(home.low), real(home.high)))
        .with_crowding(crowd(&grid, sigma, alone, crowd_width))
        .with_self_sensing(window.self_sensing())
        .with_hearing(&grid)
        .with_disturbance(Disturbance { sensor, each_sensor, bias, lost, actuator, actuator_bias, delay });
        Problem {
            name: Self::NAME.into(),
            task: Box::new(MomentMatching::new(&grid, &self.data, &self.cost)),
            stepper: Box::new(Transport2d::new(grid, [0.0, drift], diffusion, scheme)),
            swarm,
            agents: self.swarm.agents,
            ticks,
        }
    }
}
