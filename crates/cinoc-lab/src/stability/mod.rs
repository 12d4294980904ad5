//! Linear stability analysis: growth rates of small disturbances of a controlled field, from the linearised closed
//! loop.
//!
//! One tick maps the state `x` — the field and the memory of the agents — to `F(x)`. Near a fixed point `x* = F(x*)` a
//! disturbance is multiplied by the Jacobian `J` of `F` in each tick, and the growth rate is `ln ρ(J) / Δt`: below
//! zero, every small disturbance decays. Agents on a regular lattice make `J` equal in every cell, so that waves
//! `e^{iκ·x}` times a periodic function do not mix (Bloch's theorem): a matrix of the size of one cell for each κ gives
//! the growth on the infinite lattice, and on every ring or torus with that lattice ([`lattice`]). With walls the whole
//! Jacobian is used ([`whole`]). [`simulate`] measures the growth in a run.
//!
//! The analysis is local: it holds for small disturbances, with all agents active and at their positions of rest. See
//! `docs/science/stability.md`.
//!
//! ```
//! use cinoc::policy::ZeroControl;
//! use cinoc_lab::stability::Stability;
//!
//! // The fastest wave of the uncontrolled Kuramoto–Sivashinsky equation grows at 1/4 per unit of time.
//! let ring = cinoc::problem("ks1d")?.with(&["physics.length=16.5", "physics.nodes=96"])?;
//! let found = Stability::of_lattice(ring.problem(), &ZeroControl { action_width: 1 }, &Default::default(), 6)?;
//! assert!((found.growth.slow - 0.25).abs() < 1e-3 && !found.stable());
//! # Ok::<(), cinoc::Error>(())
//! ```

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

use bloch::Bloch;
use cinoc::policy::{Policy, ZeroControl};
use cinoc::{Config, Error, Problem, Real, Registry};
use cinoc_tape::Params;
use closed_loop::ClosedLoop;
use fixed_point::fixed_point;
use krylov::{leading, norm};
use nalgebra::Complex;
use std::f64::consts::TAU;

/// Growth rates of small disturbances, per unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Rate of the fastest disturbance: below zero the closed loop is stable.
    pub all: f64,
    /// Rate of the fastest disturbance that does not change sign from tick to tick. The others are grid-scale waves
    /// that an implicit scheme does not damp, or agents that overshoot in every tick.
    pub slow: f64,
}

/// Result of the analysis of a lattice, or of one swarm in its domain.
pub struct Stability {
    /// Length of an agent's share of the domain: the distance between agents on a line, the square root of the area of
    /// each in the plane.
    pub spacing: f64,
    /// Distance between nodes of the grid.
    pub node_spacing: f64,
    /// Nodes of a cell: the smallest piece of domain and swarm that all others are copies of.
    pub cell_nodes: usize,
    /// Agents of a cell.
    pub agents_per_cell: usize,
    /// Growth of the fastest disturbance: on the infinite lattice, or of the whole domain.
    pub growth: Growth,
    /// Phase difference of that disturbance between neighbouring cells; empty for a whole domain.
    pub phase: Vec<f64>,
    /// Growth under zero control.
    pub uncontrolled: f64,
    /// Growth including disturbances of positions, if agents can move and come to rest. Neutral positions are no
    /// instability: they make this zero.
    pub moving: Option<f64>,
    /// True if agents that can move come to rest. Where they drift or oscillate, the field was analysed with agents
    /// held at their regular positions, and the result is inconclusive.
    pub still: bool,
    /// Root mean square of the field at the fixed point: 0 if agents do not act on a field that is at its target.
    pub offset: f64,
    /// Largest derivative with respect to variables further away than two fifths of the domain, relative to the largest
    /// of all; zero for a whole domain. Where it is not small, waves reached around the domain and the result does not
    /// apply to the infinite lattice.
    pub far: f64,
    bloch: Option<Bloch>,
    tick_time: f64,
}

/// Phases per turn that are tried before the largest growth is refined, on a line and in the plane; and the same from
/// node to node.
const PER_TURN: [usize; 2] = [64, 10];
const PER_TURN_FREE: [usize; 2] = [256, 64];

/// Analyses agents on the infinite lattice of this spacing, driven by the policy of a configuration; the domain is
/// periodic. [`Ring::choose`] selects a ring or torus with this lattice, about as large and as finely resolved as that
/// of the configuration.
pub fn lattice(registry: &Registry, config: &Config, params: &Params, spacing: f64) -> Result<Stability, Error> {
    let config = Ring::choose(registry, config, spacing)?.config(registry, config)?;
    let parts = registry.parts(&config)?;
    Stability::of_lattice(&parts.problem, &*parts.policy, params, parts.problem.agents)
}

/// Analyses `agents` agents in the domain of a problem, with or without walls. Agents that move are followed to their
/// rest near zero, and held there: the growth is that of the field and of the memory; [`Stability::moving`] includes
/// positions.
pub fn whole(problem: &Problem, policy: &dyn Policy, params: &Params, agents: usize) -> Result<Stability, Error> {
    let (tick_time, rest) = (problem.tick_time(), Rest::of(problem, policy, params, agents)?);
    let mut closed = ClosedLoop::new(problem, policy, params, agents)?;
    closed.places = rest.places;
    let growth = growth_of_whole(&closed, &rest.x, tick_time);
    let mut whole = Stability::about(problem, agents, &rest.x, growth, None);
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

/// Returns the growth under zero control: in an infinite domain, and in that of the problem.
fn uncontrolled(problem: &Problem) -> Result<(f64, f64), Error> {
    let (grid, tick_time) = (problem.stepper.grid(), problem.tick_time());
    let (idle, none) = (ZeroControl { action_width: problem.swarm.action_width() }, Params::default());
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
    /// Converts factors per tick of each kind.
    fn per_time(factors: &[Complex<f64>], tick_time: f64) -> Self {
        let [all, slow] = [0, 1].map(|i| factors[i].norm().ln() / tick_time);
        Self { all, slow }
    }
}

impl Stability {
    /// Analyses the lattice of which `agents` agents at their regular positions on a ring or torus are a piece.
    pub fn of_lattice(problem: &Problem, policy: &dyn Policy, params: &Params, agents: usize) -> Result<Self, Error> {
        if !problem.stepper.grid().periodic {
            return Err(Error::bad(
                "the problem",
                &*problem.name,
                "one on a ring or a torus; a domain with walls is analysed as a whole",
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

    /// Returns true if every small disturbance of the field decays, and none of positions grows.
    pub fn stable(&self) -> bool {
        // Neutral directions are known to rounding.
        let neutral = (1e3 * Real::EPSILON as f64 / self.tick_time).max(1e-6);
        self.growth.all < 0.0 && self.still && self.moving.is_none_or(|growth| growth < neutral)
    }

    /// Returns the growth of waves of this phase.
    ///
    /// # Panics
    /// If this is not the result of a lattice.
    pub fn at(&self, phase: &[f64]) -> Growth {
        let [all, slow] = self.bloch.as_ref().expect("the result of a lattice").rates(phase, self.tick_time);
        Growth { all, slow }
    }

    /// Returns the growth on a ring or a torus of this length, with the same lattice.
    ///
    /// # Panics
    /// If this is not the result of a lattice.
    pub fn ring(&self, length: f64) -> Result<Growth, Error> {
        let phases = self.bloch.as_ref().expect("the result of a lattice").phases_on(length);
        let each = phases.iter().map(|phase| self.at(phase));
        let most = |a: Growth, b: Growth| Growth { all: a.all.max(b.all), slow: a.slow.max(b.slow) };
        each.reduce(most).ok_or_else(|| Error::bad("the length", length.to_string(), "one that whole cells of the lattice fit"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloch::jacobian_rows;
    use cinoc::internal::library;
    use krylov::largest;
    use nalgebra::DMatrix;
    use spectrum::eigenvalues;

    /// The eigenvalues of a whole ring are those of its cells at the phases that fit it, and Arnoldi's method finds the
    /// largest.
    #[test]
    fn cells_have_the_spectrum_of_their_ring() {
        let registry = Registry::builtin();
        let model = library::find(&registry, "ks1d").unwrap();
        let config = Ring { length: 18.0, nodes: 96, agents: 6 }.config(&registry, &model.config).unwrap();
        let parts = registry.parts(&config).unwrap();
        let cells = Stability::of_lattice(&parts.problem, &*parts.policy, &model.params, 6).unwrap().ring(18.0).unwrap();
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
