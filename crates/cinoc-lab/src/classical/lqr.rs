//! Stationary linear-quadratic regulators that track a target.

use super::linearised::Modes;
use super::{Linearised, riccati};
use nalgebra::{DMatrix, DVector};

/// Gains of a regulator: push = −K·z + F·z*.
pub struct Lqr {
    /// K: pushes against the field.
    pub feedback: DMatrix<f64>,
    /// F: pushes against the target.
    pub feedforward: DMatrix<f64>,
}

impl Lqr {
    /// Designs the regulator for the cost |z − z*|²/n + `effort`·|u|²/m per tick, with n nodes and m pushes; `None` if the
    /// Riccati equation has no solution that can be found. A plant with [`Linearised::modes`] is regulated in these: the
    /// others decay fast and are not regulated.
    pub fn design(plant: &Linearised, effort: f64) -> Option<Self> {
        let Linearised { field, pushes, modes, .. } = plant;
        let each = 1.0 / field.nrows() as f64;
        let Some(Modes { basis, factors }) = modes else { return Self::solve(field, pushes, each, effort) };
        let slow = DMatrix::from_diagonal(&DVector::from_column_slice(factors));
        let Self { feedback, feedforward } = Self::solve(&slow, &basis.tr_mul(pushes), each, effort)?;
        Some(Self { feedback: feedback * basis.transpose(), feedforward: feedforward * basis.transpose() })
    }

    /// Solves for the gains of z' = a·z + b·u, with the weight `each` of every square of z.
    fn solve(a: &DMatrix<f64>, b: &DMatrix<f64>, each: f64, effort: f64) -> Option<Self> {
        let (nodes, pushes) = (a.nrows(), b.ncols());
        let q = DMatrix::identity(nodes, nodes) * each;
        let weight = effort / pushes as f64;
        let p = riccati(a, b, &q, weight)?;
        let onto = b.transpose() * &p;
        let inverse = (DMatrix::identity(pushes, pushes) * weight + &onto * b).lu();
        let feedback = inverse.solve(&(&onto * a))?;
        // The costate of a constant target: v = (A − B·K)ᵀ·v + Q·z*.
        let closed = a - b * &feedback;
        let costate = (DMatrix::identity(nodes, nodes) - closed.transpose()).lu().solve(&q)?;
        let feedforward = inverse.solve(&(b.transpose() * costate))?;
        Some(Self { feedback, feedforward })
    }
}
