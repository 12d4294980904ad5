//! From settings to the parts of a swarm.

use crate::Real;
use crate::actuate::{Kernel, Push};
use crate::agents::{Advance, Swarm};
use crate::config::{ObserveConfig, SwarmConfig};
use crate::limit::{Crowd, CrowdSettings, EachLimit};
use crate::place::{BetweenMargins, CellCentres, EvenLattice, Margins, Place};
use crate::sense::{Sense, Window};
use cinoc_pde::Grid;

/// What an agent sees around it.
pub(super) fn window(config: &ObserveConfig) -> Window {
    let &ObserveConfig { points, window, gain, through_position, position, .. } = config;
    Window { points, window, gain, through_position, position }
}

fn push(config: &SwarmConfig) -> Push {
    Push { sigma: config.sigma, kernel: if config.kernel == "unit-mass" { Kernel::UnitMass } else { Kernel::Peak } }
}

/// Whether agents push less where they are many.
pub(super) fn crowd(grid: &Grid, config: &SwarmConfig) -> Option<Crowd> {
    Crowd::of(grid, config.sigma, CrowdSettings { crowd: config.crowd, crowd_width: config.crowd_width })
}

/// Agents that push and move, on a line or in the plane.
pub(super) fn mobile(grid: &Grid, config: &SwarmConfig, sense: impl Sense + 'static, tick_time: f64) -> Swarm {
    let (d, lengths) = (grid.dimensions(), &grid.lengths);
    let margins = Margins { agents: config.agents, trained: config.start_margin, other: config.start_margin_other };
    let place: Box<dyn Place> = match config.start_in_cells {
        true => Box::new(CellCentres::new(lengths)),
        false => Box::new(BetweenMargins::new(lengths, margins)),
    };
    let mut limits = vec![config.v_limit as Real; 1 + d];
    limits[0] = config.u_limit as Real;
    let advance = Advance::new(tick_time as Real, vec![0.0; d], lengths.clone());
    Swarm::new(d, place, Box::new(sense), Box::new(EachLimit::new(&limits)), push(config).on(grid, true))
        .moving(advance)
        .crowding(crowd(grid, config))
}

/// Agents that push from where they are, on a ring or a torus.
pub(super) fn still(grid: &Grid, config: &SwarmConfig, sense: impl Sense + 'static) -> Swarm {
    let place: Box<dyn Place> = match config.staggered {
        true => Box::new(EvenLattice::new(&grid.lengths)),
        false => Box::new(CellCentres::new(&grid.lengths)),
    };
    let limit = EachLimit::new(&[config.u_limit as Real]);
    Swarm::new(grid.dimensions(), place, Box::new(sense), Box::new(limit), push(config).on(grid, false))
        .crowding(crowd(grid, config))
}
