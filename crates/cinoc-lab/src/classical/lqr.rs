//! Stationary linear-quadratic regulators that track a target.

use super::{Linearised, riccati};
use nalgebra::DMatrix;

/// Gains of a regulator: push = −K·z + F·z*.
pub struct Lqr {
    /// K: pushes against the field.
    pub feedback: DMatrix<f64>,
    /// F: pushes against the target.
    pub feedforward: DMatrix<f64>,
}

impl Lqr {
    /// Designs the regulator for the cost |z − z*|²/n + `effort`·|u|²/m per tick, with n nodes and m pushes; `None` if the
    /// Riccati equation has no solution that can be found.
    pub fn design(plant: &Linearised, effort: f64) -> Option<Self> {
        let Linearised { field: a, pushes: b, .. } = plant;
        let (nodes, pushes) = (a.nrows(), b.ncols());
        let q = DMatrix::identity(nodes, nodes) / nodes as f64;
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
