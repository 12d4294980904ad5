//! Agents as settings describe them.

use crate::actuate::{Kernel, Push};
use crate::agents::{Advance, Disturbance, Swarm};
use crate::limit::{Crowd, CrowdSettings, EachLimit};
use crate::place::{BetweenMargins, CellCentres, EvenLattice, Margins, Place};
use crate::sense::{Sense, Sight, Window};
use crate::{Real, settings};
use cinoc_pde::Grid;

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
        /// Standard deviation of noise on every value of the field that agents see, in every tick.
        #[absent = 0.0]
        sensor_noise: f64 = 0.0..=1e6,
        /// Standard deviation of noise on every push, in every tick and in the unit of u.
        #[absent = 0.0]
        actuator_noise: f64 = 0.0..=1e6,
        /// Ticks from a decision of an agent, push and velocity, to what it does.
        #[absent = 0]
        delay: usize = 0..=50,
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
        /// Standard deviation of noise on every value of the field that agents see, in every tick.
        #[absent = 0.0]
        sensor_noise: f64 = 0.0..=1e6,
        /// Standard deviation of noise on every push, in every tick and in the unit of u.
        #[absent = 0.0]
        actuator_noise: f64 = 0.0..=1e6,
        /// Ticks from a decision of an agent to what it does.
        #[absent = 0]
        delay: usize = 0..=50,
    }
}

impl Mobile {
    /// Agents on `grid` that act every `tick_time` by what `sense` shows them.
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
            .moving(Advance::new(tick_time as Real, vec![0.0; d], lengths.clone()))
            .crowding(crowd(grid, self.sigma, self.crowd, self.crowd_width))
            .disturbed(Disturbance { sensor: self.sensor_noise, actuator: self.actuator_noise, delay: self.delay })
    }
}

impl Static {
    /// So many agents whose pushes have this width and largest intensity at their peak; nothing else is asked for.
    pub fn new(agents: usize, sigma: f64, u_limit: f64) -> Self {
        let (kernel, staggered, crowd, crowd_width) = (Kernel::Peak, false, 0.0, 1.0);
        let (sensor_noise, actuator_noise, delay) = Default::default();
        Self { agents, sigma, kernel, u_limit, staggered, crowd, crowd_width, sensor_noise, actuator_noise, delay }
    }

    /// Agents on `grid` that see through `window`.
    pub fn swarm(&self, grid: &Grid, window: &Window) -> Swarm {
        let place: Box<dyn Place> = match self.staggered {
            true => Box::new(EvenLattice::new(&grid.lengths)),
            false => Box::new(CellCentres::new(&grid.lengths)),
        };
        let (limit, push) = (EachLimit::new(&[self.u_limit as Real]), Push { sigma: self.sigma, kernel: self.kernel });
        Swarm::new(grid.dimensions(), place, Box::new(Sight::around(grid, window)), Box::new(limit), push.on(grid, false))
            .crowding(crowd(grid, self.sigma, self.crowd, self.crowd_width))
            .disturbed(Disturbance { sensor: self.sensor_noise, actuator: self.actuator_noise, delay: self.delay })
    }
}

/// What settings ask for, if anything.
pub fn crowd(grid: &Grid, sigma: f64, crowd: f64, crowd_width: f64) -> Option<Crowd> {
    Crowd::of(grid, sigma, CrowdSettings { crowd, crowd_width })
}
