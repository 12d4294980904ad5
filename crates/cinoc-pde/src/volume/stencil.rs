//! Symmetric matrices of neighbouring cells.

use crate::Real;
use cinoc_tape::kernel::{parallel, vectorise};

/// Matrix `A z = own·z + Σ over faces g·(z − neighbour)` on cells along three axes.
///
/// `faces` holds the conductance `g` of the face towards the preceding cell, for each axis (the last ones of the three)
/// and cell. The cell before the first is the last, with conductance zero unless the axis is periodic: every cell has
/// all neighbours, and the loop no branches.
#[derive(Clone, Copy)]
pub(super) struct Stencil<'a> {
    pub cells: [usize; 3],
    pub own: &'a [Real],
    pub faces: &'a [Real],
}

/// Neighbours of a row along an axis across it: conductances and values before, and after.
type Across<'a> = [&'a [Real]; 4];

impl<'a> Stencil<'a> {
    /// Number of axes.
    fn dimensions(&self) -> usize {
        self.faces.len() / self.own.len()
    }

    /// Conductances along one of the three axes.
    fn along(&self, axis: usize) -> &'a [Real] {
        let (n, skipped) = (self.own.len(), 3 - self.dimensions());
        &self.faces[(axis - skipped) * n..][..n]
    }

    /// Cells before and after a cell along one of the three axes.
    pub fn neighbours(&self, cell: usize, axis: usize) -> [usize; 2] {
        let stride: usize = self.cells[axis + 1..].iter().product();
        let (n, i) = (self.cells[axis], cell / stride % self.cells[axis]);
        let before = if i > 0 { cell - stride } else { cell + (n - 1) * stride };
        let after = if i + 1 < n { cell + stride } else { cell - (n - 1) * stride };
        [before, after]
    }

    /// Calls `entry(column, value)` for the entries of a row of the matrix; columns may repeat.
    pub fn entries(&self, cell: usize, mut entry: impl FnMut(usize, Real)) {
        let mut diagonal = self.own[cell];
        for axis in 3 - self.dimensions()..3 {
            let ([before, after], g) = (self.neighbours(cell, axis), self.along(axis));
            for (other, g) in [(before, g[cell]), (after, g[after])] {
                diagonal += g;
                entry(other, -g);
            }
        }
        entry(cell, diagonal);
    }

    /// Calls `finish(y, A z, z, [a, b])` in each cell, with the numbers of two further arrays.
    pub fn apply(
        &self,
        z: &[Real],
        [a, b]: [&[Real]; 2],
        y: &mut [Real],
        finish: impl Fn(&mut Real, Real, Real, [Real; 2]) + Sync + Copy,
    ) {
        let n = self.cells[2];
        let d = self.dimensions();
        let slice = |all: &'a [Real], row: usize| &all[row * n..][..n];
        parallel::rows(y, n, 4 * n, |first, y| {
            vectorise(
                #[inline(always)]
                || {
                    for (row, y) in (first..).zip(y.chunks_exact_mut(n)) {
                        let across = |axis: usize| -> Across {
                            let [before, after] = self.neighbours(row * n, axis).map(|cell| cell / n);
                            let g = self.along(axis);
                            [slice(g, row), &z[before * n..][..n], slice(g, after), &z[after * n..][..n]]
                        };
                        let [z_row, a, b] = [z, a, b].map(|all| &all[row * n..][..n]);
                        match d {
                            1 => self.row(row, z_row, [], [a, b], y, finish),
                            2 => self.row(row, z_row, [across(1)], [a, b], y, finish),
                            _ => self.row(row, z_row, [across(1), across(0)], [a, b], y, finish),
                        }
                    }
                },
            );
        });
    }

    #[inline(always)]
    fn row<const ACROSS: usize>(
        &self,
        row: usize,
        z: &[Real],
        across: [Across; ACROSS],
        [a, b]: [&[Real]; 2],
        y: &mut [Real],
        finish: impl Fn(&mut Real, Real, Real, [Real; 2]),
    ) {
        let n = z.len();
        let (own, g) = (&self.own[row * n..][..n], &self.along(2)[row * n..][..n]);
        let others = |j: usize| {
            let mut sum = own[j] * z[j];
            for [g_before, before, g_after, after] in across {
                sum += g_before[j] * (z[j] - before[j]) + g_after[j] * (z[j] - after[j]);
            }
            sum
        };
        // The ends of the row are neighbours.
        let wrap = g[0] * (z[0] - z[n - 1]);
        if n == 1 {
            return finish(&mut y[0], others(0), z[0], [a[0], b[0]]);
        }
        finish(&mut y[0], others(0) + wrap + g[1] * (z[0] - z[1]), z[0], [a[0], b[0]]);
        let m = n - 2;
        let across = across.map(|all| all.map(|all| &all[1..][..m]));
        let (left, here, right) = (&z[..m], &z[1..][..m], &z[2..][..m]);
        let (own, g_left, g_right) = (&own[1..][..m], &g[1..][..m], &g[2..][..m]);
        let (y_inner, a_inner, b_inner) = (&mut y[1..][..m], &a[1..][..m], &b[1..][..m]);
        for j in 0..m {
            let mut sum = own[j] * here[j];
            for [g_before, before, g_after, after] in across {
                sum += g_before[j] * (here[j] - before[j]) + g_after[j] * (here[j] - after[j]);
            }
            sum += g_left[j] * (here[j] - left[j]) + g_right[j] * (here[j] - right[j]);
            finish(&mut y_inner[j], sum, here[j], [a_inner[j], b_inner[j]]);
        }
        let last = n - 1;
        finish(&mut y[last], others(last) - wrap + g[last] * (z[last] - z[last - 1]), z[last], [a[last], b[last]]);
    }
}
