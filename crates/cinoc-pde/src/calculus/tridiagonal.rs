//! Tridiagonal systems with constant rows.

use crate::Real;
use cinoc_tape::kernel::math::flush;
use cinoc_tape::kernel::parallel::Panel;

/// Symmetric system `off·xᵢ₋₁ + diagonal·xᵢ + off·xᵢ₊₁ = bᵢ` with zeros beyond both ends, factored once (Thomas
/// algorithm).
#[derive(Clone, Debug)]
pub struct Tridiagonal {
    /// Factors of the forward sweep.
    scale: Vec<Real>,
    /// Factors of the backward sweep.
    back: Vec<Real>,
    off: Real,
}

/// Rows solved in lockstep: the sweep of one row is a chain of dependent operations, and eight chains fill the
/// pipeline.
const TOGETHER: usize = 8;

/// Computes `xᵢ = scale·xᵢ − factor·besideᵢ`.
#[inline(always)]
fn combine(x: &mut [Real], beside: &[Real], scale: Real, factor: Real) {
    let ((x16, x1), (beside16, beside1)) = (x.as_chunks_mut::<16>(), beside.as_chunks::<16>());
    for (x, beside) in x16.iter_mut().zip(beside16) {
        let beside = *beside;
        for l in 0..16 {
            x[l] = x[l] * scale - beside[l] * factor;
        }
    }
    x1.iter_mut().zip(beside1).for_each(|(x, beside)| *x = *x * scale - beside * factor);
}

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
    /// If a row does not fit its stride.
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

    /// Solves in place along the first axis of `columns`, `[unknowns, width]`: every column is a separate system, and
    /// all are swept together.
    ///
    /// # Panics
    /// If the number of rows differs from that of the unknowns.
    #[inline(always)]
    pub fn solve_columns(&self, columns: &mut [Real], width: usize) {
        assert_eq!(columns.len(), self.count() * width, "columns of {} unknowns", self.count());
        let n = self.count();
        columns[..width].iter_mut().for_each(|x| *x *= self.scale[0]);
        for i in 1..n {
            let (before, row) = columns[(i - 1) * width..(i + 1) * width].split_at_mut(width);
            combine(row, before, self.scale[i], self.back[i]);
        }
        for i in (0..n - 1).rev() {
            let (row, after) = columns[i * width..(i + 2) * width].split_at_mut(width);
            combine(row, after, 1.0, self.back[i]);
        }
    }

    /// Solves in place for some columns of a wider matrix.
    ///
    /// # Panics
    /// If the number of rows differs from that of the unknowns.
    #[inline(always)]
    pub fn solve_panel(&self, panel: &mut Panel) {
        assert_eq!(panel.rows(), self.count(), "columns of {} unknowns", self.count());
        let n = self.count();
        panel.row(0).iter_mut().for_each(|x| *x *= self.scale[0]);
        for i in 1..n {
            let [before, row] = panel.two_rows(i - 1, i);
            combine(row, before, self.scale[i], self.back[i]);
        }
        for i in (0..n - 1).rev() {
            let [row, after] = panel.two_rows(i, i + 1);
            combine(row, after, 1.0, self.back[i]);
        }
    }

    fn solve_together<const G: usize>(&self, group: &mut [Real], stride: usize, first: usize) {
        let n = self.count();
        let mut each = group.chunks_exact_mut(stride);
        let rows: [&mut [Real]; G] = std::array::from_fn(|_| &mut each.next().expect("a whole group")[first..first + n]);
        let mut carried = [0.0; G];
        for i in 0..n {
            for g in 0..G {
                // Far from any source the solution decays below the range of numbers.
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
    fn columns_are_solved_like_rows() {
        let (n, width) = (9, 21);
        let system = Tridiagonal::new(n, 2.96, -0.98);
        let mut columns: Vec<Real> = cinoc_tape::check::noise(n * width, 3);
        let mut rows: Vec<Real> = (0..width * n).map(|i| columns[i % n * width + i / n]).collect();
        system.solve_columns(&mut columns, width);
        system.solve(&mut rows, n, 0);
        (0..width * n).for_each(|i| assert!((rows[i] - columns[i % n * width + i / n]).abs() < 1e-6));
    }

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
            assert_eq!((x[0], x[n + 1]), (b[0], b[n + 1]), "numbers outside are unchanged");
        }
    }
}
