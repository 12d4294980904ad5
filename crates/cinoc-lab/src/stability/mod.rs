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
//! A gain k and a delay of d ticks between decisions and their effect change `J`: [`Margins`] are those up to which the
//! loop stays stable. Of a stable loop [`Norms`] say how much a load moves the field. Swarms with failed agents are
//! analysed as they are, on a ring or torus as one cell of an infinite lattice ([`swarm`]).
//!
//! The analysis is local: it holds for small disturbances, with agents at their positions of rest. See
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

mod analyse;
mod bloch;
mod closed_loop;
mod derivatives;
mod fixed_point;
mod growth;
mod krylov;
mod margins;
mod norms;
mod opened;
mod rest;
mod rings;
mod simulate;
mod spectrum;
mod symmetry;
mod tail;
mod tick;

pub use derivatives::derivatives;
pub use growth::Growth;
pub use margins::Margins;
pub use norms::Norms;
pub use rest::Rest;
pub use rings::Ring;
pub use simulate::simulate;

use bloch::Bloch;
use cinoc::policy::Policy;
use cinoc::{Config, Error, Problem, Registry};
use cinoc_tape::Params;
use closed_loop::ClosedLoop;
use growth::neutral;

/// Result of the analysis of a lattice, or of one swarm in its domain.
pub struct Stability {
    /// Agents in the domain, including failed ones.
    pub agents: usize,
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
    /// Estimate of the share of a field disturbance that decays at the rate [`moving`](Self::moving), from one random
    /// disturbance, if agents can move and come to rest; the rest of it decays at the rate with agents held.
    pub tail: Option<f64>,
    /// True if agents that can move come to rest. Where they drift or oscillate, the field was analysed with agents
    /// held at their regular positions, and the result is inconclusive.
    pub still: bool,
    /// Root mean square of the field at the fixed point: 0 if agents do not act on a field that is at its target.
    pub offset: f64,
    /// Largest derivative with respect to variables further away than two fifths of the domain, relative to the largest
    /// of all; zero for a whole domain. Where it is not small, waves reached around the domain and the result does not
    /// apply to the infinite lattice.
    pub far: f64,
    /// Gain and delay margins in the domain, with agents held, if they were asked for and the loop is stable there.
    pub margins: Option<Margins>,
    /// Norms in the domain, with agents held, if they were asked for and the loop is stable there and not too large.
    pub norms: Option<Norms>,
    bloch: Option<Bloch>,
    length: f64,
    tick_time: f64,
}

/// Options of an analysis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Agents that have failed.
    pub failed: Vec<usize>,
    /// Computes [`Stability::margins`], the most expensive part.
    pub margins: bool,
    /// Computes [`Stability::norms`].
    pub norms: bool,
}

/// Nodes of the largest domain that is treated as one cell of a lattice.
const LARGEST_CELL: usize = 1 << 10;

/// Analyses agents on the infinite lattice of this spacing, driven by the policy of a configuration; the domain is
/// periodic. [`Ring::choose`] selects a ring or torus with this lattice, about as large and as finely resolved as that
/// of the configuration.
pub fn lattice(registry: &Registry, config: &Config, params: &Params, spacing: f64) -> Result<Stability, Error> {
    lattice_with(registry, config, params, spacing, &Options::default())
}

/// As [`lattice`], with options.
pub fn lattice_with(
    registry: &Registry,
    config: &Config,
    params: &Params,
    spacing: f64,
    options: &Options,
) -> Result<Stability, Error> {
    let config = Ring::choose(registry, config, spacing)?.config(registry, config)?;
    let parts = registry.parts(&config)?;
    let closed = ClosedLoop::new(&parts.problem, &*parts.policy, params, parts.problem.agents)?;
    Stability::of_cells(&closed.without(&options.failed)?, options)
}

/// Analyses `agents` agents in the domain of a problem, with or without walls. Agents that move are followed to their
/// rest near zero, and held there: the growth is that of the field and of the memory; [`Stability::moving`] includes
/// positions.
pub fn whole(problem: &Problem, policy: &dyn Policy, params: &Params, agents: usize) -> Result<Stability, Error> {
    Stability::of_whole(&ClosedLoop::new(problem, policy, params, agents)?, &Options::default())
}

/// Analyses `agents` agents in the domain of a problem as they are, some of which may have failed: with walls, or if it
/// is large, as a whole; otherwise as one cell of an infinite lattice.
pub fn swarm(
    problem: &Problem,
    policy: &dyn Policy,
    params: &Params,
    agents: usize,
    options: &Options,
) -> Result<Stability, Error> {
    let closed = ClosedLoop::new(problem, policy, params, agents)?.without(&options.failed)?;
    let grid = problem.stepper.grid();
    match grid.is_periodic() && grid.count() <= LARGEST_CELL {
        true => Stability::of_cells(&closed, options),
        false => Stability::of_whole(&closed, options),
    }
}

impl Stability {
    /// Analyses the lattice of which `agents` agents at their regular positions on a ring or torus are a piece.
    pub fn of_lattice(problem: &Problem, policy: &dyn Policy, params: &Params, agents: usize) -> Result<Self, Error> {
        Self::of_cells(&ClosedLoop::new(problem, policy, params, agents)?, &Options::default())
    }

    /// Returns true if every small disturbance of the field decays, and none of positions grows.
    pub fn stable(&self) -> bool {
        self.growth.all < 0.0 && self.still && !self.positions_grow()
    }

    /// Returns true if disturbances of positions grow.
    pub fn positions_grow(&self) -> bool {
        self.moving.is_some_and(|growth| growth >= neutral(0.0, self.tick_time))
    }

    /// Returns the growth of the slowest disturbance in the domain, of those that do not change sign from tick to tick and
    /// of positions, unless these are neutral.
    pub fn slowest(&self) -> f64 {
        let moving = self.moving.filter(|growth| growth.abs() >= neutral(0.0, self.tick_time));
        moving.map_or(self.here().slow, |moving| moving.max(self.here().slow))
    }

    /// Returns the growth of waves of this phase.
    ///
    /// # Panics
    /// If this is not the result of a lattice.
    pub fn at(&self, phase: &[f64]) -> Growth {
        let [all, slow] = self.bloch.as_ref().expect("the result of a lattice").rates(phase);
        Growth { all, slow }
    }

    /// Returns the growth in the domain of the problem.
    pub fn here(&self) -> Growth {
        let ring = self.bloch.as_ref().map(|_| self.ring(self.length).expect("cells fit their domain"));
        ring.unwrap_or(self.growth)
    }

    /// Returns the growth on the infinite lattice, if this is the result of one.
    pub fn infinite(&self) -> Option<Growth> {
        self.bloch.as_ref().map(|_| self.growth)
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
    use analyse::growth_of_whole;
    use bloch::jacobian_rows;
    use cinoc::internal::library;
    use fixed_point::fixed_point;
    use krylov::largest;
    use nalgebra::{Complex, DMatrix};
    use opened::Between;
    use spectrum::eigenvalues;

    /// The eigenvalues of a whole ring are those of its cells at the phases that fit it, and Arnoldi's method finds the
    /// largest.
    #[test]
    fn cells_have_the_spectrum_of_their_ring() {
        let registry = Registry::builtin();
        let model = library::find(&registry, "ks1d:sharp").unwrap();
        let config = Ring { length: 18.0, nodes: 96, agents: 6 }.config(&registry, &model.config).unwrap();
        let parts = registry.parts(&config).unwrap();
        let cells = Stability::of_lattice(&parts.problem, &*parts.policy, &model.params, 6).unwrap().ring(18.0).unwrap();
        let closed = ClosedLoop::new(&parts.problem, &*parts.policy, &model.params, 6).unwrap();
        let x = fixed_point(&closed, closed.rest()).unwrap();
        let size = x.len() + closed.actions();
        let rows = jacobian_rows(&closed, &x, &(0..size).collect::<Vec<_>>());
        let open = DMatrix::from_fn(size, size, |i, j| Complex::new(rows[i][j], 0.0));
        let dense = Between::nominal(&closed).close(&open, x.len());
        let whole = Growth::per_time(&largest(&eigenvalues(dense)), parts.problem.tick_time());
        let arnoldi = growth_of_whole(&closed, &x);
        for (found, what) in [(cells, "cells"), (arnoldi, "Arnoldi")] {
            let close = (found.all - whole.all).abs() < 2e-4 && (found.slow - whole.slow).abs() < 2e-4;
            assert!(close, "{what}: {found:?}, the whole ring {whole:?}");
        }
    }
}
