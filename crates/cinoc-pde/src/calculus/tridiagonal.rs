//! Tridiagonal systems with constant rows.

use crate::Real;
use cinoc_tape::kernel::math::flush;

/// The symmetric system `off·xᵢ₋₁ + diagonal·xᵢ + off·xᵢ₊₁ = bᵢ` with zeros beyond both ends, factored once (Thomas algorithm).
#[derive(Clone, Debug)]
pub struct Tridiagonal {
    /// Factor of the forward sweep per row.
    scale: Vec<Real>,
    /// Factor of the backward sweep per row.
    back: Vec<Real>,
    off: Real,
}

/// Rows solved in step with one another: the sweep of one row is a chain of dependent operations, eight chains fill the processor.
const TOGETHER: usize = 8;

impl Tridiagonal {
    /// Factors the system of `count` unknowns.
    pub fn new(count: usize, diagonal: f64, off: f64) -> Self {
        let (mut scale, mut back) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut previous = 0.0;
        for _ in 0..count {
            let pivot = 1.0 / (diagonal - off * previous);
            previous = off * pivot;
            scale.push(pivot as Real);
            back.push(previous as Real);
        }
        Self { scale, back, off: off as Real }
    }

    /// Number of unknowns.
    pub fn count(&self) -> usize {
        self.scale.len()
    }

    /// Solves in place for each row of `rows`; row `i` starts at `i·stride + first`.
    ///
    /// # Panics
    /// When a row does not fit its stride.
    pub fn solve(&self, rows: &mut [Real], stride: usize, first: usize) {
        assert!(first + self.count() <= stride, "{} unknowns from {first} in rows of {stride}", self.count());
        let mut groups = rows.chunks_exact_mut(TOGETHER * stride);
        for group in &mut groups {
            self.solve_together::<TOGETHER>(group, stride, first);
        }
        for row in groups.into_remainder().chunks_exact_mut(stride) {
            self.solve_together::<1>(row, stride, first);
        }
    }

    fn solve_together<const G: usize>(&self, group: &mut [Real], stride: usize, first: usize) {
        let n = self.count();
        let mut each = group.chunks_exact_mut(stride);
        let rows: [&mut [Real]; G] = std::array::from_fn(|_| &mut each.next().expect("a whole group")[first..first + n]);
        let mut carried = [0.0; G];
        for i in 0..n {
            for g in 0..G {
                // Far from any source the solution decays below every number there is.
                carried[g] = flush((rows[g][i] - self.off * carried[g]) * self.scale[i]);
                rows[g][i] = carried[g];
            }
        }
        carried = [0.0; G];
        for i in (0..n).rev() {
            for g in 0..G {
                carried[g] = flush(rows[g][i] - self.back[i] * carried[g]);
                rows[g][i] = carried[g];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solution_satisfies_the_equations() {
        let (n, stride, diagonal, off) = (9, 11, 2.96, -0.98);
        let system = Tridiagonal::new(n, diagonal, off);
        let rows: Vec<Real> = cinoc_tape::check::noise(11 * stride, 3);
        let mut solved = rows.clone();
        system.solve(&mut solved, stride, 1);
        for r in 0..11 {
            let (b, x) = (&rows[r * stride..][..stride], &solved[r * stride..][..stride]);
            for i in 1..=n {
                let left = if i > 1 { x[i - 1] } else { 0.0 };
                let right = if i < n { x[i + 1] } else { 0.0 };
                let residual = off as Real * (left + right) + diagonal as Real * x[i] - b[i];
                assert!(residual.abs() < 1e-6, "row {r}, unknown {i}: {residual}");
            }
            assert_eq!((x[0], x[n + 1]), (b[0], b[n + 1]), "what lies outside is left alone");
        }
    }
}
