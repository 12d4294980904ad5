//! A certificate of stability: how fast small disturbances of a controlled field grow or decay, from the linearised closed loop.
//!
//! One tick takes the state `x` — the field and what agents remember — to `F(x)`. Near the state `x* = F(x*)` in which the loop rests a
//! disturbance is multiplied by the Jacobian `J` of `F` in each tick, and the growth rate is `ln ρ(J) / Δt`: below zero, every small
//! disturbance dies out. Agents on a regular lattice make `J` the same in every cell, so that waves `e^{iκ·x}` times something periodic do not
//! mix (Bloch's theorem): a matrix of the size of one cell for each κ tells the growth on the infinite lattice, and on every ring or torus
//! with that lattice ([`lattice`]). Where there are walls the whole Jacobian is taken ([`whole`]). [`simulate`] measures the same in a run.
//!
//! What this says is local: of small disturbances, of agents that are where they should be, all of them alive. `docs/certificate.md` has more.

mod bloch;
mod closed_loop;
mod fixed_point;
mod krylov;
mod rest;
mod rings;
mod simulate;
mod spectrum;
mod symmetry;

pub use rest::Rest;
pub use rings::Ring;
pub use simulate::simulate;

use crate::policy::{Idle, Policy};
use crate::{Config, Error, Problem, Real, Registry};
use bloch::Bloch;
use cinoc_tape::Params;
use closed_loop::ClosedLoop;
use fixed_point::fixed_point;
use krylov::{leading, norm};
use nalgebra::Complex;
use std::f64::consts::TAU;

/// How fast small disturbances grow, per unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Of the fastest of all: below zero the closed loop is stable.
    pub all: f64,
    /// Of the fastest of those that do not change their sign from tick to tick. The others are grid-scale waves that an implicit scheme does
    /// not damp, or agents that overshoot in every tick.
    pub slow: f64,
}

/// What was found about a lattice, or about one swarm in its domain.
pub struct Certificate {
    /// Length of an agent's share of the domain: the distance between agents on a line, the root of the area of each in the plane.
    pub spacing: f64,
    /// Distance between nodes of the grid.
    pub node_spacing: f64,
    /// Nodes of a cell: the smallest piece of domain and swarm that all others are copies of.
    pub cell_nodes: usize,
    /// Agents of a cell.
    pub agents_per_cell: usize,
    /// The growth of the fastest disturbance: on the infinite lattice, or of the whole.
    pub growth: Growth,
    /// By how much the phase of that disturbance grows from a cell to its neighbours; empty for a whole.
    pub phase: Vec<f64>,
    /// The growth where agents do nothing.
    pub uncontrolled: f64,
    /// The growth of everything where positions are disturbed, too, if agents can move and come to rest. Positions that nobody brings back are
    /// no instability: they make this zero.
    pub moving: Option<f64>,
    /// Whether agents that can move come to rest. Where they drift on or flutter, the field was judged with agents held at their regular places,
    /// and nothing is certain.
    pub still: bool,
    /// Root mean square of the field in which the closed loop rests: 0 if agents leave a field alone that is where it should be.
    pub offset: f64,
    /// The largest derivative by anything further away than two fifths of the domain, beside the largest of all; zero for a whole. Where it is
    /// not small, waves reached around the domain and the infinite lattice is another matter.
    pub far: f64,
    bloch: Option<Bloch>,
    tick_time: f64,
}

/// Phases per turn that are tried before the largest growth is searched for, on a line and in the plane; and the same from node to node.
const PER_TURN: [usize; 2] = [64, 10];
const PER_TURN_FREE: [usize; 2] = [256, 64];

/// Agents on the infinite lattice of this spacing, driven by the policy of a configuration; the domain is periodic. A ring or torus that has
/// it, about as large and as finely resolved as that of the configuration, is chosen by [`Ring::choose`].
pub fn lattice(registry: &Registry, config: &Config, params: &Params, spacing: f64) -> Result<Certificate, Error> {
    let config = Ring::choose(registry, config, spacing)?.config(registry, config)?;
    let parts = registry.parts(&config)?;
    Certificate::of_lattice(&parts.problem, &*parts.policy, params, parts.problem.agents)
}

/// The largest spacing, to a relative `tolerance`, between a stable one and one that is not; growth is taken to rise in between.
pub fn largest_spacing(
    registry: &Registry,
    config: &Config,
    params: &Params,
    [mut stable, mut unstable]: [f64; 2],
    tolerance: f64,
) -> Result<f64, Error> {
    let grows = |spacing: f64| Ok::<bool, Error>(lattice(registry, config, params, spacing)?.growth.all >= 0.0);
    for (spacing, expected) in [(stable, false), (unstable, true)] {
        if grows(spacing)? != expected {
            let word = if expected { "unstable" } else { "stable" };
            return Err(Error::bad("the spacing", spacing.to_string(), format!("one at which the lattice is {word}")));
        }
    }
    while unstable / stable > 1.0 + tolerance {
        let middle = (stable * unstable).sqrt();
        *if grows(middle)? { &mut unstable } else { &mut stable } = middle;
    }
    Ok(stable)
}

/// `agents` agents in the domain of a problem, walls or not. Agents that move are followed to where they come to rest near zero, and held there:
/// the growth is that of the field and of what they remember; [`Certificate::moving`] is that of everything.
pub fn whole(problem: &Problem, policy: &dyn Policy, params: &Params, agents: usize) -> Result<Certificate, Error> {
    let (tick_time, rest) = (problem.tick_time(), Rest::of(problem, policy, params, agents)?);
    let mut closed = ClosedLoop::new(problem, policy, params, agents)?;
    closed.places = rest.places;
    let growth = growth_of_whole(&closed, &rest.x, tick_time);
    let mut whole = Certificate::about(problem, agents, &rest.x, growth, None);
    whole.uncontrolled = uncontrolled(problem)?.1;
    let with_positions = ClosedLoop::new(problem, policy, params, agents)?.moving();
    whole.still = !problem.swarm.moves() || rest.moving.is_some();
    whole.moving = rest.moving.map(|x| growth_of_whole(&with_positions, &x, tick_time).all);
    Ok(whole)
}

fn growth_of_whole(closed: &ClosedLoop, x: &[f64], tick_time: f64) -> Growth {
    let mut tick = closed.record(1);
    tick.next(x);
    // The transpose has the same eigenvalues.
    let tolerance = (10.0 * Real::EPSILON as f64).max(1e-4 * tick_time);
    Growth::per_time(&leading(x.len(), tolerance, &mut |v| tick.pull(v)), tick_time)
}

/// The growth where agents do nothing: in a domain without end, and in that of the problem.
fn uncontrolled(problem: &Problem) -> Result<(f64, f64), Error> {
    let (grid, tick_time) = (problem.stepper.grid(), problem.tick_time());
    let (idle, none) = (Idle { action_width: problem.swarm.action_width() }, Params::default());
    let free = ClosedLoop::new(problem, &idle, &none, 1)?;
    if !grid.periodic {
        let growth = growth_of_whole(&free, &free.rest(), tick_time).all;
        return Ok((growth, growth));
    }
    // Every node is a cell.
    let bloch = Bloch::new(grid, &free, &[], &free.rest());
    let rate = |phase: &[f64]| bloch.rates(phase, tick_time);
    let [(_, endless), _] = bloch.maximise(PER_TURN_FREE[grid.dimensions() - 1], rate);
    let fits = (0..grid.count()).map(|i| {
        let waves = symmetry::indices(grid, i).into_iter().zip(&grid.nodes);
        rate(&waves.map(|(m, nodes)| TAU * m as f64 / *nodes as f64).collect::<Vec<f64>>())[0]
    });
    Ok((endless, fits.fold(f64::NEG_INFINITY, f64::max)))
}

impl Growth {
    /// From the factors per tick of each kind.
    fn per_time(factors: &[Complex<f64>], tick_time: f64) -> Self {
        let [all, slow] = [0, 1].map(|i| factors[i].norm().ln() / tick_time);
        Self { all, slow }
    }
}

impl Certificate {
    /// The lattice that `agents` agents at their regular places on a ring or torus are a piece of.
    pub fn of_lattice(problem: &Problem, policy: &dyn Policy, params: &Params, agents: usize) -> Result<Self, Error> {
        if !problem.stepper.grid().periodic {
            return Err(Error::bad(
                "the problem",
                &*problem.name,
                "one on a ring or a torus; a domain with walls is judged as a whole",
            ));
        }
        let closed = ClosedLoop::new(problem, policy, params, agents)?;
        let x = fixed_point(&closed, closed.rest())?;
        let (grid, tick_time) = (problem.stepper.grid(), problem.tick_time());
        let bloch = Bloch::new(grid, &closed, &closed.places, &x);
        let [fastest, slow] = bloch.maximise(PER_TURN[grid.dimensions() - 1], |phase| bloch.rates(phase, tick_time));
        let growth = Growth { all: fastest.1, slow: slow.1 };
        let uncontrolled = uncontrolled(problem)?.0;
        Ok(Self { phase: fastest.0, uncontrolled, ..Self::about(problem, agents, &x, growth, Some(bloch)) })
    }

    fn about(problem: &Problem, agents: usize, x: &[f64], growth: Growth, bloch: Option<Bloch>) -> Self {
        let grid = problem.stepper.grid();
        let (d, nodes) = (grid.dimensions(), grid.count());
        let volume: f64 = grid.lengths.iter().map(|&length| length as f64).product();
        let cells = bloch.as_ref().map_or(1, |bloch| bloch.cells(volume));
        Self {
            spacing: (volume / agents as f64).powf(1.0 / d as f64),
            node_spacing: grid.spacing(0),
            cell_nodes: nodes / cells,
            agents_per_cell: agents / cells,
            growth,
            phase: Vec::new(),
            uncontrolled: 0.0,
            moving: None,
            still: true,
            offset: norm(&x[..nodes]) / (nodes as f64).sqrt(),
            far: bloch.as_ref().map_or(0.0, |bloch| bloch.far),
            bloch,
            tick_time: problem.tick_time(),
        }
    }

    /// Whether it is certain that every small disturbance of the field dies out, and none of positions grows.
    pub fn stable(&self) -> bool {
        // What is neither brought back nor grows is known to rounding.
        let neutral = (1e3 * Real::EPSILON as f64 / self.tick_time).max(1e-6);
        self.growth.all < 0.0 && self.still && self.moving.is_none_or(|growth| growth < neutral)
    }

    /// The growth of waves of this phase.
    ///
    /// # Panics
    /// If it is not of a lattice.
    pub fn at(&self, phase: &[f64]) -> Growth {
        let [all, slow] = self.bloch.as_ref().expect("a certificate of a lattice").rates(phase, self.tick_time);
        Growth { all, slow }
    }

    /// The growth on a ring or a torus of this length, with the same lattice.
    ///
    /// # Panics
    /// If it is not of a lattice.
    pub fn ring(&self, length: f64) -> Result<Growth, Error> {
        let phases = self.bloch.as_ref().expect("a certificate of a lattice").phases_on(length);
        let each = phases.iter().map(|phase| self.at(phase));
        let most = |a: Growth, b: Growth| Growth { all: a.all.max(b.all), slow: a.slow.max(b.slow) };
        each.reduce(most).ok_or_else(|| Error::bad("the length", length.to_string(), "one that whole cells of the lattice fit"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library;
    use bloch::jacobian_rows;
    use krylov::largest;
    use nalgebra::DMatrix;
    use spectrum::eigenvalues;

    /// All eigenvalues of the whole ring are those of its cells at the phases that fit it, and Arnoldi's method finds the largest.
    #[test]
    fn cells_have_the_spectrum_of_their_ring() {
        let registry = Registry::builtin();
        let model = library::find(&registry, "ks1d").unwrap();
        let config = Ring { length: 18.0, nodes: 96, agents: 6 }.config(&registry, &model.config).unwrap();
        let parts = registry.parts(&config).unwrap();
        let cells = Certificate::of_lattice(&parts.problem, &*parts.policy, &model.params, 6).unwrap().ring(18.0).unwrap();
        let closed = ClosedLoop::new(&parts.problem, &*parts.policy, &model.params, 6).unwrap();
        let x = fixed_point(&closed, closed.rest()).unwrap();
        let rows = jacobian_rows(&closed, &x, &(0..x.len()).collect::<Vec<_>>());
        let dense = DMatrix::from_fn(x.len(), x.len(), |i, j| rows[i][j]);
        let whole = Growth::per_time(&largest(&eigenvalues(&dense)), parts.problem.tick_time());
        let arnoldi = growth_of_whole(&closed, &x, parts.problem.tick_time());
        for (found, what) in [(cells, "cells"), (arnoldi, "Arnoldi")] {
            let close = (found.all - whole.all).abs() < 2e-4 && (found.slow - whole.slow).abs() < 2e-4;
            assert!(close, "{what}: {found:?}, the whole ring {whole:?}");
        }
    }
}
