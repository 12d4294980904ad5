//! Settings of agents.

use crate::actuate::{Kernel, Push};
use crate::agents::{Advance, Disturbance, Losses, Swarm};
use crate::limit::{Crowd, CrowdSettings, EachLimit};
use crate::place::{BetweenMargins, CellCentres, EvenLattice, Margins, Place};
use crate::sense::{Sense, Sight, Window};
use crate::{Real, settings};
use cinoc_pde::Grid;

settings! {
    /// Agents that push and move.
    pub struct Mobile {
        /// Number of agents in training.
        agents: usize = 1..=10_000_000,
        /// Width of an agent's push, a Gaussian.
        sigma: f64 = 1e-6..=1e6,
        /// Normalisation of the intensity of a push.
        kernel: Kernel = (),
        /// Largest intensity |u| of a push.
        u_limit: f64 = 1e-9..=1e9,
        /// Largest velocity, in each component.
        v_limit: f64 = 1e-9..=1e9,
        /// Agents start at the centres of equal cells, instead of on the lattice of the next two settings.
        start_in_cells: bool = (),
        /// Distance of the initial lattice from the walls, as a fraction of the domain.
        start_margin: f64 = 0.0..=0.5,
        /// The same distance for any other number of agents than the trained one.
        start_margin_other: f64 = 0.0..=0.5,
        /// Local density (1 for a single agent, up to 1 more per neighbour) above which agents push less; 0: off. Needs
        /// positions of active neighbours.
        crowd: f64 = 0.0..=1e6,
        /// Range of crowding, in widths of a push: neighbours within √6 times it count.
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
        /// Standard deviation of actuator noise on every push, in every tick, in the unit of u.
        #[absent = 0.0]
        actuator_noise: f64 = 0.0..=1e6,
        /// Standard deviation of the bias of each agent's push, constant over an episode: a lasting disturbance.
        #[absent = 0.0]
        actuator_bias: f64 = 0.0..=1e6,
        /// Actuation delay of push and velocity, in ticks.
        #[absent = 0]
        delay: usize = 0..=50,
    }
}

settings! {
    /// Agents that push and do not move.
    pub struct Static {
        /// Number of agents in training.
        agents: usize = 1..=10_000_000,
        /// Width of an agent's push, a Gaussian.
        sigma: f64 = 1e-6..=1e6,
        /// Normalisation of the intensity of a push.
        kernel: Kernel = (),
        /// Largest intensity |u| of a push.
        u_limit: f64 = 1e-9..=1e9,
        /// In the plane: agents form the most even lattice for their number, instead of a square one.
        staggered: bool = (),
        /// Local density (1 for a single agent, up to 1 more per neighbour) above which agents push less; 0: off. Needs
        /// positions of active neighbours.
        crowd: f64 = 0.0..=1e6,
        /// Range of crowding, in widths of a push: neighbours within √6 times it count.
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
        /// Standard deviation of actuator noise on every push, in every tick, in the unit of u.
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

impl Mobile {
    /// Creates settings for `agents` agents with a width and a largest peak intensity of pushes and a largest velocity,
    /// a tenth of the domain from the walls; everything else is off.
    pub fn new(agents: usize, sigma: f64, u_limit: f64, v_limit: f64) -> Self {
        let (kernel, start_in_cells, crowd, crowd_width) = (Kernel::Peak, false, 0.0, 1.0);
        let (sensor_noise, sensor_noise_each, sensor_bias, lost, actuator_noise, actuator_bias, delay) = Default::default();
        Self {
            agents,
            sigma,
            kernel,
            u_limit,
            v_limit,
            start_in_cells,
            start_margin: 0.1,
            start_margin_other: 0.1,
            crowd,
            crowd_width,
            sensor_noise,
            sensor_noise_each,
            sensor_bias,
            lost,
            actuator_noise,
            actuator_bias,
            delay,
        }
    }

    /// Builds a swarm on `grid` that acts every `tick_time` on the observations of `sense`.
    pub fn swarm(&self, grid: &Grid, sense: impl Sense + 'static, tick_time: f64) -> Swarm {
        let (d, lengths) = (grid.dimensions(), &grid.lengths);
        let margins = Margins { agents: self.agents, trained: self.start_margin, other: self.start_margin_other };
        let place: Box<dyn Place> = match self.start_in_cells {
            true => Box::new(CellCentres::new(lengths)),
            false => Box::new(BetweenMargins::new(lengths, margins)),
        };
        let mut limits = vec![self.v_limit as Real; 1 + d];
        limits[0] = self.u_limit as Real;
        let push = Push { sigma: self.sigma, kernel: self.kernel };
        Swarm::new(d, place, Box::new(sense), Box::new(EachLimit::new(&limits)), push.on(grid, true))
            .with_motion(Advance::new(tick_time as Real, vec![0.0; d], lengths.clone()).around(&grid.periodic))
            .with_hearing(grid)
            .with_crowding(crowd(grid, self.sigma, self.crowd, self.crowd_width))
            .with_disturbance(Disturbance {
                sensor: self.sensor_noise,
                each_sensor: self.sensor_noise_each,
                bias: self.sensor_bias,
                lost: self.lost,
                actuator: self.actuator_noise,
                actuator_bias: self.actuator_bias,
                delay: self.delay,
            })
    }
}

impl Static {
    /// Creates settings for `agents` agents with a width and a largest peak intensity of pushes; everything else is
    /// off.
    pub fn new(agents: usize, sigma: f64, u_limit: f64) -> Self {
        let (kernel, staggered, crowd, crowd_width) = (Kernel::Peak, false, 0.0, 1.0);
        let (sensor_noise, sensor_noise_each, sensor_bias, lost, actuator_noise, actuator_bias, delay) = Default::default();
        Self {
            agents,
            sigma,
            kernel,
            u_limit,
            staggered,
            crowd,
            crowd_width,
            sensor_noise,
            sensor_noise_each,
            sensor_bias,
            lost,
            actuator_noise,
            actuator_bias,
            delay,
        }
    }

    /// Builds a swarm on `grid` that observes through `window`.
    pub fn swarm(&self, grid: &Grid, window: &Window) -> Swarm {
        self.seeing(grid, Sight::around(grid, window)).with_self_sensing(window.self_sensing())
    }

    /// Builds a swarm on `grid` that acts on the observations of `sense`.
    pub fn seeing(&self, grid: &Grid, sense: impl Sense + 'static) -> Swarm {
        let place: Box<dyn Place> = match self.staggered {
            true => Box::new(EvenLattice::new(&grid.lengths)),
            false => Box::new(CellCentres::new(&grid.lengths)),
        };
        let (limit, push) = (EachLimit::new(&[self.u_limit as Real]), Push { sigma: self.sigma, kernel: self.kernel });
        Swarm::new(grid.dimensions(), place, Box::new(sense), Box::new(limit), push.on(grid, false))
            .with_crowding(crowd(grid, self.sigma, self.crowd, self.crowd_width))
            .with_hearing(grid)
            .with_disturbance(Disturbance {
                sensor: self.sensor_noise,
                each_sensor: self.sensor_noise_each,
                bias: self.sensor_bias,
                lost: self.lost,
                actuator: self.actuator_noise,
                actuator_bias: self.actuator_bias,
                delay: self.delay,
            })
    }
}

/// Returns the crowding model of the settings, if any.
pub fn crowd(grid: &Grid, sigma: f64, crowd: f64, crowd_width: f64) -> Option<Crowd> {
    Crowd::of(grid, sigma, CrowdSettings { crowd, crowd_width })
}
