//! Matrices of implicit steps.

use super::stencil::Stencil;
use crate::Real;

/// Symmetric matrix `1 + A + c·G²` of an implicit step, all times its length: `A` is decay and diffusion, `G` is `−lap`.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub second: Stencil<'a>,
    pub fourth: Option<(Real, Stencil<'a>)>,
}

impl Matrix<'_> {
    /// Number of unknowns.
    pub fn count(&self) -> usize {
        self.second.own.len()
    }

    /// Computes the product with a field.
    pub fn apply(&self, z: &[Real], y: &mut [Real], work: &mut [Real]) {
        self.second.apply(z, [z, z], y, |y, az, z, _| *y = z + az);
        if let Some((c, lap)) = self.fourth {
            lap.apply(z, [z, z], work, |w, gz, _, _| *w = gz);
            lap.apply(work, [z, z], y, |y, ggz, _, _| *y += c * ggz);
        }
    }

    /// Calls `entry(row, column, value)` for entries whose sum is the matrix; places repeat.
    pub fn entries(&self, mut entry: impl FnMut(usize, usize, Real)) {
        for cell in 0..self.count() {
            entry(cell, cell, 1.0);
            self.second.entries(cell, |column, value| entry(cell, column, value));
            // G² is the sum of the products of its rows with themselves, since it is symmetric.
            if let Some((c, lap)) = self.fourth {
                lap.entries(cell, |i, a| lap.entries(cell, |j, b| entry(i, j, c * a * b)));
            }
        }
    }
}
