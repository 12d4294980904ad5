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
        with: [&[Real]; 2],
        y: &mut [Real],
        finish: impl Fn(&mut Real, Real, Real, [Real; 2]) + Sync + Copy,
    ) {
        let [planes, rows, n] = self.cells;
        parallel::rows(y, n, 4 * n, |first, y| {
            vectorise(
                #[inline(always)]
                || {
                    let [mut plane, mut at] = [first / rows, first % rows];
                    for (row, y) in (first..).zip(y.chunks_exact_mut(n)) {
                        let across = |g: &'a [Real], i: usize, count: usize, stride: usize| {
                            let before = if i > 0 { row - stride } else { row + (count - 1) * stride };
                            let after = if i + 1 < count { row + stride } else { row - (count - 1) * stride };
                            [part(g, row, n), part(z, before, n), part(g, after, n), part(z, after, n)]
                        };
                        let own = Row { own: part(self.own, row, n), g: part(self.along(2), row, n), z: part(z, row, n) };
                        let with = [part(with[0], row, n), part(with[1], row, n)];
                        match self.dimensions() {
                            1 => own.apply([], with, y, finish),
                            2 => own.apply([across(self.along(1), at, rows, 1)], with, y, finish),
                            _ => {
                                let planes = across(self.along(0), plane, planes, rows);
                                own.apply([across(self.along(1), at, rows, 1), planes], with, y, finish);
                            }
                        }
                        at += 1;
                        if at == rows {
                            (plane, at) = (plane + 1, 0);
                        }
                    }
                },
            );
        });
    }
}

/// Row of a field or of conductances.
#[inline(always)]
fn part(all: &[Real], row: usize, n: usize) -> &[Real] {
    &all[row * n..][..n]
}

/// Row of cells along the last axis.
#[derive(Clone, Copy)]
struct Row<'a> {
    own: &'a [Real],
    g: &'a [Real],
    z: &'a [Real],
}

impl Row<'_> {
    #[inline(always)]
    fn apply<const ACROSS: usize>(
        &self,
        across: [Across; ACROSS],
        with: [&[Real]; 2],
        y: &mut [Real],
        finish: impl Fn(&mut Real, Real, Real, [Real; 2]) + Copy,
    ) {
        let last = self.z.len() - 1;
        self.end(0, across, with, y, finish);
        if last == 0 {
            return;
        }
        let mut j = 1;
        while j + 16 <= last {
            self.lanes::<16, ACROSS>(j, across, with, y, finish);
            j += 16;
        }
        while j + 4 <= last {
            self.lanes::<4, ACROSS>(j, across, with, y, finish);
            j += 4;
        }
        while j < last {
            self.lanes::<1, ACROSS>(j, across, with, y, finish);
            j += 1;
        }
        self.end(last, across, with, y, finish);
    }

    /// Computes the cells from `j` on; all have neighbours in the row.
    #[inline(always)]
    fn lanes<const L: usize, const ACROSS: usize>(
        &self,
        j: usize,
        across: [Across; ACROSS],
        with: [&[Real]; 2],
        y: &mut [Real],
        finish: impl Fn(&mut Real, Real, Real, [Real; 2]),
    ) {
        let (z, own) = (load::<L>(self.z, j), load::<L>(self.own, j));
        let mut sum = [0.0; L];
        for l in 0..L {
            sum[l] = own[l] * z[l];
        }
        for after in [0, 1] {
            // The face towards the following cell is that cell's.
            let (g, beside) = (load::<L>(self.g, j + after), load::<L>(self.z, j + 2 * after - 1));
            for l in 0..L {
                sum[l] += g[l] * (z[l] - beside[l]);
            }
        }
        for [g_before, before, g_after, after] in across {
            for (g, beside) in [(g_before, before), (g_after, after)] {
                let (g, beside) = (load::<L>(g, j), load::<L>(beside, j));
                for l in 0..L {
                    sum[l] += g[l] * (z[l] - beside[l]);
                }
            }
        }
        let (a, b) = (load::<L>(with[0], j), load::<L>(with[1], j));
        let y = y[j..].first_chunk_mut::<L>().expect("lanes inside the row");
        for l in 0..L {
            finish(&mut y[l], sum[l], z[l], [a[l], b[l]]);
        }
    }

    /// Computes the first or the last cell, which are neighbours.
    #[inline(always)]
    fn end<const ACROSS: usize>(
        &self,
        j: usize,
        across: [Across; ACROSS],
        with: [&[Real]; 2],
        y: &mut [Real],
        finish: impl Fn(&mut Real, Real, Real, [Real; 2]),
    ) {
        let (z, last) = (self.z[j], self.z.len() - 1);
        let (before, after) = (if j > 0 { j - 1 } else { last }, if j < last { j + 1 } else { 0 });
        let mut sum = self.own[j] * z + self.g[j] * (z - self.z[before]) + self.g[after] * (z - self.z[after]);
        for [g_before, before, g_after, after] in across {
            sum += g_before[j] * (z - before[j]) + g_after[j] * (z - after[j]);
        }
        finish(&mut y[j], sum, z, [with[0][j], with[1][j]]);
    }
}

#[inline(always)]
fn load<const L: usize>(row: &[Real], j: usize) -> [Real; L] {
    *row[j..].first_chunk().expect("lanes inside the row")
}
