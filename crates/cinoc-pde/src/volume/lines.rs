//! Lines of cells along the last axis, and their neighbours.

use super::Mesh;
use crate::Real;

/// Lines of cells along the last axis of a mesh. Loops over a line have no branches: neighbours along the axis are the
/// same line shifted, neighbours across it are other lines. Beyond an end is the other one.
#[derive(Clone, Copy)]
pub(super) struct Lines<'a> {
    cells: &'a [usize],
}

impl<'a> Lines<'a> {
    pub fn of(mesh: &'a Mesh) -> Self {
        Self { cells: mesh.cells() }
    }

    /// Number of cells of a line.
    pub fn length(&self) -> usize {
        self.cells[self.cells.len() - 1]
    }

    /// A line, to be read and written along an axis.
    #[inline(always)]
    pub fn along(&self, line: usize, axis: usize) -> Line {
        let (n, outer) = (self.length(), self.cells.len() - 1);
        if axis == outer {
            return Line { line, n, across: None };
        }
        let (count, stride) = (self.cells[axis], self.cells[axis + 1..outer].iter().product::<usize>());
        let i = line / stride % count;
        Line { line, n, across: Some(Across { first: line - i * stride, stride, i, count }) }
    }
}

/// A line of cells, to be read and written along an axis.
#[derive(Clone, Copy)]
pub(super) struct Line {
    line: usize,
    n: usize,
    /// Lines along an axis across; `None` along the last axis.
    across: Option<Across>,
}

/// Lines that follow each other along an axis.
#[derive(Clone, Copy)]
struct Across {
    first: usize,
    stride: usize,
    /// The line among them.
    i: usize,
    count: usize,
}

impl Across {
    /// The line at a distance.
    #[inline(always)]
    fn line(&self, offset: isize) -> usize {
        let (mut i, count) = (self.i as isize + offset, self.count as isize);
        while i < 0 {
            i += count;
        }
        while i >= count {
            i -= count;
        }
        self.first + i as usize * self.stride
    }
}

impl Line {
    /// Values of `N` neighbours along the axis of all cells, those at the distances from `first` on.
    #[inline(always)]
    pub fn around<'a, const N: usize>(&self, all: &'a [Real], first: isize, pad: &'a mut [Real]) -> [&'a [Real]; N] {
        let n = self.n;
        if let Some(across) = self.across {
            return std::array::from_fn(|k| &all[across.line(first + k as isize) * n..][..n]);
        }
        let (here, low) = (&all[self.line * n..][..n], -first as usize);
        let pad = &mut pad[..n + N - 1];
        pad[low..low + n].copy_from_slice(here);
        for k in (0..low).chain(low + n..n + N - 1) {
            pad[k] = here[(k as isize + first).rem_euclid(n as isize) as usize];
        }
        let pad = &*pad;
        std::array::from_fn(|k| &pad[k..][..n])
    }

    /// Adjoint of [`around`](Self::around): adds the cotangents of the neighbours to those of the cells.
    #[inline(always)]
    pub fn add_around<const N: usize>(&self, from: [&[Real]; N], first: isize, all: &mut [Real], pad: &mut [Real]) {
        let n = self.n;
        if let Some(across) = self.across {
            for (k, from) in from.into_iter().enumerate() {
                add(&mut all[across.line(first + k as isize) * n..][..n], from);
            }
            return;
        }
        let (here, low) = (&mut all[self.line * n..][..n], -first as usize);
        let pad = &mut pad[..n + N - 1];
        pad.fill(0.0);
        from.into_iter().enumerate().for_each(|(k, from)| add(&mut pad[k..][..n], from));
        add(here, &pad[low..low + n]);
        for k in (0..low).chain(low + n..n + N - 1) {
            here[(k as isize + first).rem_euclid(n as isize) as usize] += pad[k];
        }
    }
}

#[inline(always)]
fn add(to: &mut [Real], from: &[Real]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

#[cfg(test)]
mod tests {
    use super::super::Side;
    use super::*;
    use cinoc_tape::check::noise;

    /// Against indices of cells, and against its adjoint, also on axes shorter than the number of neighbours.
    #[test]
    fn neighbours_are_found_around_the_ends() {
        for cells in [vec![7], vec![2], vec![1], vec![3, 5], vec![1, 2], vec![4, 3, 6], vec![2, 5, 1]] {
            let d = cells.len();
            let mesh = Mesh::new(&cells, &vec![1.0; d], vec![[Side::Periodic, Side::Periodic]; d]);
            let (lines, n, z) = (Lines::of(&mesh), cells[d - 1], noise(mesh.count(), 1));
            let mut pad = vec![0.0; n + 5];
            for (line, axis) in (0..mesh.count() / n).flat_map(|line| (0..d).map(move |axis| (line, axis))) {
                let along = lines.along(line, axis);
                let found = along.around::<5>(&z, -2, &mut pad).map(<[Real]>::to_vec);
                let cell = |j: usize, offset: isize| {
                    let (stride, count) = (mesh.stride(axis), cells[axis]);
                    let (i, cell) = ((line * n + j) / stride % count, line * n + j);
                    cell - i * stride + (i as isize + offset).rem_euclid(count as isize) as usize * stride
                };
                for (k, j) in (0..5).flat_map(|k| (0..n).map(move |j| (k, j))) {
                    assert_eq!(found[k][j], z[cell(j, k as isize - 2)], "{cells:?}, axis {axis}, line {line}");
                }
                let bars: [Vec<Real>; 5] = std::array::from_fn(|k| noise(n, k as u64 + 2));
                let (mut sum, mut expected) = (vec![0.0; z.len()], vec![0.0; z.len()]);
                along.add_around(bars.each_ref().map(Vec::as_slice), -2, &mut sum, &mut pad);
                for (k, j) in (0..5).flat_map(|k| (0..n).map(move |j| (k, j))) {
                    expected[cell(j, k as isize - 2)] += bars[k][j];
                }
                assert!(sum.iter().zip(&expected).all(|(a, b): (&Real, &Real)| (a - b).abs() < 1e-5), "{cells:?}, axis {axis}");
            }
        }
    }
}
