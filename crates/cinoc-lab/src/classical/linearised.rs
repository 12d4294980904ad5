//! One tick of the field as a linear map.

use crate::stability;
use cinoc::{Error, Problem, Real};
use cinoc_pde::Grid;
use cinoc_tape::{Arena, Tape};
use nalgebra::DMatrix;
use std::f64::consts::{PI, TAU};

/// One tick near a field of zero with agents that stand: z' = A·z + B·u.
pub struct Linearised {
    /// A: the field of the next tick against that of this one.
    pub field: DMatrix<f64>,
    /// B: the field of the next tick against the pushes.
    pub pushes: DMatrix<f64>,
    /// Index of each push among all numbers of all actions.
    pub columns: Vec<usize>,
    /// Agent of each push.
    pub owners: Vec<usize>,
    /// Push of each column at a raw action of 1, before saturation.
    pub unit: Vec<f64>,
    /// Agents.
    pub agents: usize,
    /// Slow modes of a large periodic field, in which regulators are designed.
    pub modes: Option<Modes>,
}

/// Number of nodes above which regulators of periodic fields are designed in slow modes.
const MANY: usize = 1024;

/// Factor per tick below which a mode is not regulated: it decays within a tick or two, or, where the scheme multiplies the
/// shortest waves by a negative factor, in alternation.
const FAST: f64 = 0.02;

/// Orthonormal modes of a field with their factors per tick.
pub struct Modes {
    /// A mode in each column.
    pub basis: DMatrix<f64>,
    /// Factor per tick of each mode.
    pub factors: Vec<f64>,
}

impl Modes {
    /// Returns the waves on a periodic grid that decay slowly. An equation with constant coefficients multiplies the
    /// field by a circulant matrix, whose eigenvectors waves are; `row` is its first row, and it is symmetric.
    fn slow(grid: &Grid, row: &[f64]) -> Self {
        let (count, axes) = (grid.count(), grid.dimensions());
        let index = |mut i: usize| -> Vec<usize> {
            let mut at = vec![0; axes];
            for axis in (0..axes).rev() {
                (at[axis], i) = (i % grid.nodes[axis], i / grid.nodes[axis]);
            }
            at
        };
        let nodes: Vec<Vec<usize>> = (0..count).map(index).collect();
        let phase = |wave: &[usize], node: &[usize]| -> f64 {
            (0..axes).map(|axis| TAU * (wave[axis] * node[axis] % grid.nodes[axis]) as f64 / grid.nodes[axis] as f64).sum()
        };
        let (mut columns, mut factors) = (Vec::new(), Vec::new());
        for wave in &nodes {
            let opposite: Vec<usize> = (0..axes).map(|axis| (grid.nodes[axis] - wave[axis]) % grid.nodes[axis]).collect();
            let factor: f64 = nodes.iter().zip(row).map(|(node, a)| a * phase(wave, node).cos()).sum();
            // Of each pair of opposite waves one gives the cosine and the sine.
            if factor < FAST || opposite < *wave {
                continue;
            }
            let shifts: &[f64] = if opposite == *wave { &[0.0] } else { &[0.0, -0.5 * PI] };
            for shift in shifts {
                let mode = nodes.iter().map(|node| (phase(wave, node) + shift).cos());
                columns.push(nalgebra::DVector::from_iterator(count, mode).normalize());
                factors.push(factor);
            }
        }
        Self { basis: DMatrix::from_iterator(count, columns.len(), columns.iter().flatten().copied()), factors }
    }

    /// Returns true if there are any, and they are eigenvectors: waves are not where coefficients vary in space.
    fn are_of(&self, field: &DMatrix<f64>) -> bool {
        let factors = DMatrix::from_diagonal(&self.factors.clone().into());
        !self.factors.is_empty() && (field * &self.basis - &self.basis * factors).amax() < 1e-3
    }
}

impl Linearised {
    /// Linearises a problem with this number of agents.
    pub fn of(problem: &Problem, agents: usize) -> Result<Self, Error> {
        let (field, effect) = stability::derivatives(problem, agents)?;
        let (width, limits, strength) = (problem.swarm.action_width(), problem.swarm.limits(), strengths(problem, agents));
        // Velocities do not act on the field of agents that stand.
        let acts = |column: &usize| effect.column(*column).amax() > 0.0;
        let columns: Vec<usize> = (0..effect.ncols()).filter(acts).collect();
        if columns.is_empty() {
            let reason = "agents whose actions change a field at rest: only there a linear regulator exists";
            return Err(Error::bad("the problem", &*problem.name, reason));
        }
        let unit = |&column: &usize| limits[column % width] as f64 * strength[column / width];
        let owners = columns.iter().map(|column| column / width).collect();
        let (unit, pushes) = (columns.iter().map(unit).collect(), effect.select_columns(&columns));
        let grid = problem.stepper.grid();
        let symmetric = || (&field - field.transpose()).amax() < 1e-4 * field.amax();
        let modes = (grid.is_periodic() && grid.count() > MANY && symmetric())
            .then(|| Modes::slow(grid, &field.row(0).iter().copied().collect::<Vec<f64>>()))
            .filter(|modes| modes.are_of(&field));
        Ok(Self { field, pushes, columns, owners, unit, agents, modes })
    }
}

/// Returns the strength of each agent on the regular lattice, reduced in crowds.
fn strengths(problem: &Problem, agents: usize) -> Vec<f64> {
    let tape = Tape::new(Arena::default(), &[]);
    let positions = problem.swarm.start(agents);
    let xi = tape.constant([1, agents, problem.swarm.dimensions()], &positions);
    let strength = problem.swarm.strength(tape.constant([1, agents], &vec![1.0 as Real; agents]), xi);
    let id = strength.id();
    tape.into_arena().value(&[], id).iter().map(|&x| x as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classical::Lqr;

    #[test]
    fn a_regulator_of_slow_modes_is_that_of_all() {
        let ring = cinoc::problem("ks1d").unwrap();
        let (problem, grid) = (ring.problem(), ring.problem().stepper.grid());
        let whole = Linearised::of(problem, 8).unwrap();
        let modes = Modes::slow(grid, &whole.field.row(0).iter().copied().collect::<Vec<f64>>());
        assert!(modes.factors.len() < grid.count(), "{} of {} modes", modes.factors.len(), grid.count());
        let overlap = modes.basis.tr_mul(&modes.basis) - DMatrix::identity(modes.factors.len(), modes.factors.len());
        assert!(overlap.amax() < 1e-9);
        assert!(modes.are_of(&whole.field) && !modes.are_of(&(&whole.field * 0.9)));
        let expected = Lqr::design(&whole, 0.01).unwrap();
        let found = Lqr::design(&Linearised { modes: Some(modes), ..whole }, 0.01).unwrap();
        let apart = (&found.feedback - &expected.feedback).norm() / expected.feedback.norm();
        assert!(apart < 0.01, "{apart}");
    }
}
