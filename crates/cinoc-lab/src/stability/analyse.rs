//! The analysis of a closed loop: as a lattice of cells, or as a whole.

use super::bloch::Bloch;
use super::closed_loop::ClosedLoop;
use super::fixed_point::fixed_point;
use super::growth::{Growth, neutral};
use super::krylov::norm;
use super::margins::Margins;
use super::norms::Norms;
use super::opened::Between;
use super::rest::Rest;
use super::symmetry::indices;
use super::tail::tail;
use super::tick::Tick;
use super::{Options, Stability};
use cinoc::policy::ZeroControl;
use cinoc::{Error, Problem};
use cinoc_tape::Params;
use std::f64::consts::TAU;

/// Phases per turn that are tried before the largest growth is refined, on a line and in the plane, for cells of one
/// agent; the same from node to node; and the fewest.
const PER_TURN: [usize; 2] = [64, 10];
const PER_TURN_FREE: [usize; 2] = [256, 64];
const FEWEST: usize = 8;

/// Finest step of phases, and the same for large cells, per agent.
const FINEST: f64 = 1e-3;
const COARSE: f64 = 0.02;

impl Stability {
    /// Analyses the lattice of which a closed loop on a ring or torus is a piece, as small a one as its symmetry allows.
    pub(super) fn of_cells(closed: &ClosedLoop, options: &Options) -> Result<Self, Error> {
        let (problem, grid) = (closed.problem, closed.problem.stepper.grid());
        if !grid.is_periodic() {
            return Err(Error::bad(
                "the problem",
                &*problem.name,
                "one on a ring or a torus; a domain with walls is analysed as a whole",
            ));
        }
        let x = fixed_point(closed, closed.rest())?;
        let bloch = Bloch::new(grid, closed, &x);
        let (mut per_turn, mut finest) = (PER_TURN[grid.dimensions() - 1], FINEST);
        if !options.failed.is_empty() {
            // Waves of larger cells depend less on their phase.
            let volume: f64 = grid.lengths.iter().map(|&length| length as f64).product();
            let aside = (closed.agents as f64 / bloch.cells(volume) as f64).powf(1.0 / grid.dimensions() as f64);
            (per_turn, finest) = ((per_turn as f64 / aside) as usize, COARSE * aside);
        }
        let [fastest, slow] = bloch.maximise(per_turn.max(FEWEST), finest, |phase| bloch.rates(phase));
        let growth = Growth { all: fastest.1, slow: slow.1 };
        let (endless, here) = uncontrolled(problem)?;
        let margins = options.margins.then(|| {
            let mut open: Vec<_> = bloch.phases_on(grid.lengths[0] as f64).iter().map(|phase| bloch.open(phase)).collect();
            let limit = neutral(here, problem.tick_time());
            Margins::search(Between::nominal(closed), &mut |between| {
                let grows = open.iter().position(|open| !bloch.stable(open, between, limit));
                // The first to grow is tried first in the next step of the search.
                grows.inspect(|&i| open.swap(0, i)).is_none()
            })
        });
        let found = Self::about(closed, &x, growth, Some(bloch));
        let norms = options.norms.then(|| {
            let bloch = found.bloch.as_ref().expect("the result of a lattice");
            Norms::of_cells(bloch, bloch.phases_on(found.length), found.cell_nodes, problem.tick_time())
        });
        Ok(Self { phase: fastest.0, uncontrolled: endless, margins: margins.flatten(), norms: norms.flatten(), ..found })
    }

    /// Analyses a closed loop in its domain.
    pub(super) fn of_whole(closed: &ClosedLoop, options: &Options) -> Result<Self, Error> {
        let problem = closed.problem;
        let rest = Rest::of_loop(closed)?;
        let held = ClosedLoop { places: rest.places, ..closed.clone() };
        let mut tick = Tick::new(&held, 1);
        tick.next(&rest.x);
        let growth = Between::nominal(&held).growth(&held, &mut tick);
        let uncontrolled = uncontrolled(problem)?.1;
        let limit = neutral(uncontrolled, problem.tick_time());
        let margins = options.margins.then(|| {
            let stable = &mut |between: Between| between.stable(&held, &mut tick, limit);
            Margins::search(Between::nominal(&held), stable)
        });
        let free = closed.clone().moving();
        Ok(Self {
            uncontrolled,
            margins: margins.flatten(),
            norms: options.norms.then(|| Norms::of_whole(&held, &rest.x)).flatten(),
            still: !problem.swarm.moves() || rest.moving.is_some(),
            moving: rest.moving.as_ref().map(|x| growth_of_whole(&free, x).all),
            tail: rest.moving.as_ref().map(|x| tail(&free, x)),
            ..Self::about(closed, &rest.x, growth, None)
        })
    }

    fn about(closed: &ClosedLoop, x: &[f64], growth: Growth, bloch: Option<Bloch>) -> Self {
        let (problem, agents) = (closed.problem, closed.agents);
        let grid = problem.stepper.grid();
        let (d, nodes) = (grid.dimensions(), grid.count());
        let volume: f64 = grid.lengths.iter().map(|&length| length as f64).product();
        let cells = bloch.as_ref().map_or(1, |bloch| bloch.cells(volume));
        Self {
            agents,
            spacing: (volume / agents as f64).powf(1.0 / d as f64),
            node_spacing: grid.spacing(0),
            cell_nodes: nodes / cells,
            agents_per_cell: agents / cells,
            growth,
            phase: Vec::new(),
            uncontrolled: 0.0,
            moving: None,
            tail: None,
            still: true,
            offset: norm(&x[..nodes]) / (nodes as f64).sqrt(),
            far: bloch.as_ref().map_or(0.0, |bloch| bloch.far),
            margins: None,
            norms: None,
            bloch,
            length: grid.lengths[0] as f64,
            tick_time: problem.tick_time(),
        }
    }
}

/// Returns the growth of a whole closed loop at the state `x`.
pub fn growth_of_whole(closed: &ClosedLoop, x: &[f64]) -> Growth {
    let mut tick = Tick::new(closed, 1);
    tick.next(x);
    Between::nominal(closed).growth(closed, &mut tick)
}

/// Returns the growth under zero control: in an infinite domain, and in that of the problem.
fn uncontrolled(problem: &Problem) -> Result<(f64, f64), Error> {
    let grid = problem.stepper.grid();
    let (idle, none) = (ZeroControl { action_width: problem.swarm.action_width() }, Params::default());
    let free = ClosedLoop::new(problem, &idle, &none, 1)?;
    if !grid.is_periodic() {
        let growth = growth_of_whole(&free, &free.rest()).all;
        return Ok((growth, growth));
    }
    let bloch = Bloch::free(grid, &free, &free.rest());
    let [(_, endless), _] = bloch.maximise(PER_TURN_FREE[grid.dimensions() - 1], FINEST, |phase| bloch.rates(phase));
    let fits = (0..grid.count()).map(|i| {
        let waves = indices(grid, i).into_iter().zip(&grid.nodes);
        bloch.rates(&waves.map(|(m, nodes)| TAU * m as f64 / *nodes as f64).collect::<Vec<f64>>())[0]
    });
    Ok((endless, fits.fold(f64::NEG_INFINITY, f64::max)))
}
