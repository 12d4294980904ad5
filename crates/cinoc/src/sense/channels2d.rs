//! What there is to see of a field on a rectangle: the error and its slopes.

use crate::Real;
use crate::vector::add;
use cinoc_pde::Grid;

/// Numbers per node: `e`, `w·∂x e`, `w·∂y e`.
pub const CHANNELS: usize = 3;

/// `[e, w·∂x e, w·∂y e]` at each node, `e = gain·(z − z*)`, with a frame around the grid that repeats the walls or the far side of a ring:
/// whoever looks beyond the edge needs no special case.
///
/// Slopes are by central differences, one-sided at walls, times the width `w` of the window.
pub struct Channels2d {
    nodes: [usize; 2],
    periodic: bool,
    gain: Real,
    /// Factor from a central difference over two cells to the slope.
    slopes: [Real; 2],
    /// Width of the frame along each axis.
    pub frame: [usize; 2],
    /// For each axis: places in the frame, and the place inside that each repeats.
    copies: [Vec<(usize, usize)>; 2],
}

impl Channels2d {
    /// For windows of width `window`, which have been checked.
    pub fn new(grid: &Grid, window: f64, gain: f64) -> Self {
        let nodes = [grid.nodes[0], grid.nodes[1]];
        // Half a window, the right neighbour of the last sample, and one more for rounding; where half a window is nearly a whole number of cells,
        // rounding may make it one.
        let frame = [0, 1].map(|axis| (0.5 * window / grid.spacing(axis) + 0.01) as usize + 2);
        let copies = [0, 1].map(|axis| {
            let (n, frame) = (nodes[axis] as isize, frame[axis] as isize);
            let inside = |i: isize| if grid.periodic { i.rem_euclid(n) } else { i.clamp(0, n - 1) };
            let around = (-frame..0).chain(n..n + frame);
            around.map(|i| ((i + frame) as usize, (inside(i) + frame) as usize)).collect()
        });
        let slopes = [0, 1].map(|axis| (window / (2.0 * grid.spacing(axis))) as Real);
        Self { nodes, periodic: grid.periodic, gain: gain as Real, slopes, frame, copies }
    }

    /// Numbers in a row with its frame.
    pub fn stride(&self) -> usize {
        (self.nodes[1] + 2 * self.frame[1]) * CHANNELS
    }

    /// Numbers in all.
    pub fn count(&self) -> usize {
        (self.nodes[0] + 2 * self.frame[0]) * self.stride()
    }

    /// Numbers of working space: a plane and a row.
    pub fn work(&self) -> usize {
        (self.nodes[0] + 1) * self.nodes[1]
    }

    /// Neighbours on both sides of node `i` along an axis, and the factor from their difference to the slope.
    #[inline(always)]
    fn neighbours(&self, axis: usize, i: usize) -> (usize, usize, Real) {
        let (last, slope) = (self.nodes[axis] - 1, self.slopes[axis]);
        match i {
            0 if self.periodic => (last, 1, slope),
            0 => (0, 1, 2.0 * slope),
            _ if i < last => (i - 1, i + 1, slope),
            _ if self.periodic => (last - 1, 0, slope),
            _ => (last - 1, last, 2.0 * slope),
        }
    }

    /// Where the nodes of row `i` lie.
    #[inline(always)]
    fn row(&self, i: usize) -> std::ops::Range<usize> {
        let start = (i + self.frame[0]) * self.stride() + self.frame[1] * CHANNELS;
        start..start + self.nodes[1] * CHANNELS
    }

    /// The channels of one instance.
    #[inline(always)]
    pub fn fill(&self, z: &[Real], target: &[Real], channels: &mut [Real], work: &mut [Real]) {
        let [nx, ny] = self.nodes;
        let (e, slope) = work.split_at_mut(nx * ny);
        let (z, target) = (&z[..nx * ny], &target[..nx * ny]);
        for k in 0..nx * ny {
            e[k] = self.gain * (z[k] - target[k]);
        }
        for i in 0..nx {
            let (minus, plus, factor) = self.neighbours(0, i);
            let (before, here, after) = (&e[minus * ny..][..ny], &e[i * ny..][..ny], &e[plus * ny..][..ny]);
            let (left, right, inner) = (&here[..ny - 2], &here[2..], &mut slope[1..ny - 1]);
            for j in 0..ny - 2 {
                inner[j] = self.slopes[1] * (right[j] - left[j]);
            }
            for j in [0, ny - 1] {
                let (minus, plus, factor) = self.neighbours(1, j);
                slope[j] = factor * (here[plus] - here[minus]);
            }
            let (row, slope) = (&mut channels[self.row(i)].as_chunks_mut::<CHANNELS>().0[..ny], &slope[..ny]);
            for j in 0..ny {
                row[j] = [here[j], factor * (after[j] - before[j]), slope[j]];
            }
        }
        let (stride, first) = (self.stride(), self.frame[0]);
        for i in first..first + nx {
            let row = channels[i * stride..(i + 1) * stride].as_chunks_mut::<CHANNELS>().0;
            for &(to, from) in &self.copies[1] {
                row[to] = row[from];
            }
        }
        for &(to, from) in &self.copies[0] {
            channels.copy_within(from * stride..(from + 1) * stride, to * stride);
        }
    }

    /// The adjoint of [`fill`](Self::fill): from the cotangents of the channels, which are used up, to that of `z`, left at the start of `work`.
    #[inline(always)]
    pub fn pull_back(&self, bars: &mut [Real], work: &mut [Real]) {
        let [nx, ny] = self.nodes;
        let (stride, first) = (self.stride(), self.frame[0]);
        for &(to, from) in &self.copies[0] {
            // The frame and what it repeats never overlap.
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
