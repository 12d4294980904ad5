//! Channels of a field on a rectangle: the error and its slopes.

use crate::Real;
use crate::vector::add;
use cinoc_pde::Grid;
use cinoc_tape::kernel::{parallel, vectorise};

/// Channels per node: `e`, `w·∂x e`, `w·∂y e`.
pub const CHANNELS: usize = 3;

/// Channels `[e, w·∂x e, w·∂y e]` at each node, `e = gain·(z − z*)`, with a frame around the grid that repeats the
/// walls, or the far side along a periodic axis, so that windows beyond the edge need no special case.
///
/// Slopes are central differences, one-sided at walls, times the width `w` of the window.
pub struct Channels2d {
    nodes: [usize; 2],
    periodic: [bool; 2],
    gain: Real,
    /// Factors from a central difference over two cells to the slope.
    slopes: [Real; 2],
    /// Width of the frame along each axis.
    pub frame: [usize; 2],
    /// Indices in the frame and of the node inside that each repeats, for each axis.
    copies: [Vec<(usize, usize)>; 2],
}

impl Channels2d {
    /// Creates the channels for windows of width `window`, which must have been checked.
    pub fn new(grid: &Grid, window: f64, gain: f64) -> Self {
        let nodes = [grid.nodes[0], grid.nodes[1]];
        // Half a window, the right neighbour of the last sample, and one more for rounding: half a window that is
        // nearly a whole number of cells may be rounded up to it.
        let frame = [0, 1].map(|axis| (0.5 * window / grid.spacing(axis) + 0.01) as usize + 2);
        let copies = [0, 1].map(|axis| {
            let (n, frame) = (nodes[axis] as isize, frame[axis] as isize);
            let inside = |i: isize| if grid.periodic[axis] { i.rem_euclid(n) } else { i.clamp(0, n - 1) };
            let around = (-frame..0).chain(n..n + frame);
            around.map(|i| ((i + frame) as usize, (inside(i) + frame) as usize)).collect()
        });
        let slopes = [0, 1].map(|axis| (window / (2.0 * grid.spacing(axis))) as Real);
        Self { nodes, periodic: [grid.periodic[0], grid.periodic[1]], gain: gain as Real, slopes, frame, copies }
    }

    /// Values in a row with its frame.
    pub fn stride(&self) -> usize {
        (self.nodes[1] + 2 * self.frame[1]) * CHANNELS
    }

    /// Total number of values.
    pub fn count(&self) -> usize {
        (self.nodes[0] + 2 * self.frame[0]) * self.stride()
    }

    /// Scratch size of the adjoint: a plane and a row.
    pub fn work(&self) -> usize {
        (self.nodes[0] + 1) * self.nodes[1]
    }

    /// Neighbours on both sides of node `i` along an axis, and the factor from their difference to the slope.
    #[inline(always)]
    fn neighbours(&self, axis: usize, i: usize) -> (usize, usize, Real) {
        let (last, slope) = (self.nodes[axis] - 1, self.slopes[axis]);
        match i {
            0 if self.periodic[axis] => (last, 1, slope),
            0 => (0, 1, 2.0 * slope),
            _ if i < last => (i - 1, i + 1, slope),
            _ if self.periodic[axis] => (last - 1, 0, slope),
            _ => (last - 1, last, 2.0 * slope),
        }
    }

    /// Computes the channels of one instance.
    pub fn fill(&self, z: &[Real], target: &[Real], channels: &mut [Real]) {
        let ([nx, ny], stride, first) = (self.nodes, self.stride(), self.frame[0]);
        let inside = &mut channels[first * stride..][..nx * stride];
        parallel::rows(inside, stride, 2 * stride, |from, rows| {
            parallel::with_scratch(4 * ny, |work| {
                vectorise(
                    #[inline(always)]
                    || {
                        for (i, row) in rows.chunks_exact_mut(stride).enumerate() {
                            self.fill_row(z, target, from + i, row, work);
                        }
                    },
                );
            });
        });
        for &(to, from) in &self.copies[0] {
            channels.copy_within(from * stride..(from + 1) * stride, to * stride);
        }
    }

    /// Computes row `i` of the channels, with its frame; `work` holds four rows.
    #[inline(always)]
    fn fill_row(&self, z: &[Real], target: &[Real], i: usize, row: &mut [Real], work: &mut [Real]) {
        let ny = self.nodes[1];
        let (errors, slope) = work.split_at_mut(3 * ny);
        let (minus, plus, factor) = self.neighbours(0, i);
        for (e, i) in errors.chunks_exact_mut(ny).zip([minus, i, plus]) {
            let (z, target) = (&z[i * ny..][..ny], &target[i * ny..][..ny]);
            for j in 0..ny {
                e[j] = self.gain * (z[j] - target[j]);
            }
        }
        let (before, here, after) = (&errors[..ny], &errors[ny..2 * ny], &errors[2 * ny..3 * ny]);
        let (left, right, inner) = (&here[..ny - 2], &here[2..], &mut slope[1..ny - 1]);
        for j in 0..ny - 2 {
            inner[j] = self.slopes[1] * (right[j] - left[j]);
        }
        for j in [0, ny - 1] {
            let (minus, plus, factor) = self.neighbours(1, j);
            slope[j] = factor * (here[plus] - here[minus]);
        }
        let row = row.as_chunks_mut::<CHANNELS>().0;
        let (nodes, slope) = (&mut row[self.frame[1]..][..ny], &slope[..ny]);
        for j in 0..ny {
            nodes[j] = [here[j], factor * (after[j] - before[j]), slope[j]];
        }
        for &(to, from) in &self.copies[1] {
            row[to] = row[from];
        }
    }

    /// Adjoint of [`fill`](Self::fill): from the cotangents of the channels, which are overwritten, to that of `z`,
    /// stored at the start of `work`.
    #[inline(always)]
    pub fn pull_back(&self, bars: &mut [Real], work: &mut [Real]) {
        let [nx, ny] = self.nodes;
        let (stride, first) = (self.stride(), self.frame[0]);
        for &(to, from) in &self.copies[0] {
            // The frame and the nodes it repeats never overlap.
            let (low, high) = bars.split_at_mut(to.max(from) * stride);
            let (low, high) = (&mut low[to.min(from) * stride..][..stride], &mut high[..stride]);
            if from < to { add(low, high, 1.0) } else { add(high, low, 1.0) }
        }
        let (z_bar, slope) = work.split_at_mut(nx * ny);
        let slope = &mut slope[..ny];
        z_bar.fill(0.0);
        for i in 0..nx {
            let row = bars[(first + i) * stride..][..stride].as_chunks_mut::<CHANNELS>().0;
            for &(to, from) in &self.copies[1] {
                for c in 0..CHANNELS {
                    row[from][c] += row[to][c];
                }
            }
            let row = &row[self.frame[1]..][..ny];
            let (minus, plus, factor) = self.neighbours(0, i);
            for j in 0..ny {
                slope[j] = row[j][1];
            }
            add(&mut z_bar[plus * ny..], slope, factor);
            add(&mut z_bar[minus * ny..], slope, -factor);
            let here = &mut z_bar[i * ny..][..ny];
            for j in 0..ny {
                here[j] += row[j][0];
                slope[j] = row[j][2];
            }
            add(&mut here[2..], &slope[1..ny - 1], self.slopes[1]);
            add(here, &slope[1..ny - 1], -self.slopes[1]);
            for j in [0, ny - 1] {
                let (minus, plus, factor) = self.neighbours(1, j);
                here[plus] += factor * slope[j];
                here[minus] -= factor * slope[j];
            }
        }
        for k in 0..nx * ny {
            z_bar[k] *= self.gain;
        }
    }
}
