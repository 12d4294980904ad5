//! Linear interpolation at evenly spaced points around an agent, along one axis.

use super::Window;
use crate::Real;
use crate::vector::add;
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::LANES;

/// Largest number of samples along an axis.
const MOST: usize = Window::MOST_POINTS;

/// Sample points along one axis that move with an agent. Nodes have several contiguous values each.
pub struct Samples {
    nodes: Real,
    periodic: bool,
    inverse_dx: Real,
    /// Offsets of the samples in cells, from the start of the frame around the nodes.
    offsets: Vec<Real>,
    /// True if samples are one cell apart: all share one weight, and a row of samples is a row of nodes blended with
    /// the next one.
    by_cells: bool,
}

/// Left node of each sample, and the weight of the right one.
pub struct SamplePositions {
    /// First node.
    pub first: usize,
    /// Number of nodes from the first sample to the last, with their neighbours.
    pub count: usize,
    /// Left node of each sample, relative to the first node.
    node: [usize; MOST],
    weight: [Real; MOST],
}

impl SamplePositions {
    /// Creates zeroed positions.
    pub fn new() -> Self {
        Self { first: 0, count: 0, node: [0; MOST], weight: [0.0; MOST] }
    }
}

// Loops over indices: in a function compiled for one instruction set, iterator adapters are not always inlined.

/// Computes `to = a + weight·(b − a)`.
#[inline(always)]
fn blend(to: &mut [Real], a: &[Real], b: &[Real], weight: Real) {
    let (a, b) = (&a[..to.len()], &b[..to.len()]);
    for i in 0..to.len() {
        to[i] = a[i] + weight * (b[i] - a[i]);
    }
}

/// Adds `Σ barᵢ(bᵢ − aᵢ)` to running sums.
#[inline(always)]
fn change(sums: &mut Sums, bar: &[Real], a: &[Real], b: &[Real]) {
    let (a, b) = (&a[..bar.len()], &b[..bar.len()]);
    let whole = bar.len() / LANES * LANES;
    let mut i = 0;
    while i < whole {
        let (bar, a, b) = (&bar[i..i + LANES], &a[i..i + LANES], &b[i..i + LANES]);
        for l in 0..LANES {
            sums[l] += bar[l] * (b[l] - a[l]);
        }
        i += LANES;
    }
    for i in whole..bar.len() {
        sums[i - whole] += bar[i] * (b[i] - a[i]);
    }
}

/// Running sums, one per lane.
pub type Sums = [Real; LANES];

impl Samples {
    /// Creates the samples of a window that has been checked, for nodes inside a frame of `frame` nodes on both sides,
    /// at least half a window wide.
    pub fn new(grid: &Grid, axis: usize, &Window { points, window, .. }: &Window, frame: usize) -> Self {
        let dx = grid.spacing(axis);
        let cells = window / (points - 1) as f64 / dx;
        let offset = |j: usize| ((j as f64 - 0.5 * (points - 1) as f64) * cells + frame as f64) as Real;
        Self {
            nodes: grid.nodes[axis] as Real,
            periodic: grid.periodic[axis],
            inverse_dx: (1.0 / dx) as Real,
            offsets: (0..points).map(offset).collect(),
            by_cells: (cells - 1.0).abs() < 1e-9,
        }
    }

    /// Cells per unit of length: converts a derivative per cell to one per length.
    pub fn inverse_dx(&self) -> Real {
        self.inverse_dx
    }

    /// Largest number of nodes that the samples of an agent depend on.
    pub fn most(&self) -> usize {
        (self.offsets[self.offsets.len() - 1] - self.offsets[0]) as usize + 3
    }

    /// Computes the sample positions of an agent at `xi`; outside the walls, at a NaN position, or on a ring at one too
    /// large to be resolved, the view is that from the wall.
    #[inline(always)]
    pub fn positions(&self, xi: Real, positions: &mut SamplePositions) {
        let at = xi * self.inverse_dx;
        let at = match self.periodic {
            true => (at - self.nodes * (at / self.nodes).floor()).max(0.0).min(self.nodes),
            false => at.max(0.0).min(self.nodes - 1.0),
        };
        let start = at + self.offsets[0];
        positions.first = start as usize;
        positions.weight[0] = start - positions.first as Real;
        positions.count = self.offsets.len() + 1;
        if !self.by_cells {
            for j in 0..self.offsets.len() {
                let t = at + self.offsets[j];
                let node = t as usize;
                positions.node[j] = node - positions.first;
                positions.weight[j] = t - node as Real;
            }
            positions.count = positions.node[self.offsets.len() - 1] + 2;
        }
    }

    /// Computes samples `[points, width]` of nodes `[.., width]`, the first of which is [`SamplePositions::first`].
    #[inline(always)]
    pub fn sample(&self, positions: &SamplePositions, width: usize, nodes: &[Real], samples: &mut [Real]) {
        if self.by_cells {
            return blend(samples, nodes, &nodes[width..], positions.weight[0]);
        }
        for j in 0..self.offsets.len() {
            let (before, sample) = (&nodes[positions.node[j] * width..], &mut samples[j * width..(j + 1) * width]);
            blend(sample, before, &before[width..], positions.weight[j]);
        }
    }

    /// Adjoint of [`sample`](Self::sample) with respect to the nodes: adds to their cotangents.
    #[inline(always)]
    pub fn spread(&self, positions: &SamplePositions, width: usize, samples_bar: &[Real], nodes_bar: &mut [Real]) {
        if self.by_cells {
            // Each node is written once: adding the two halves in turn would wait for each store.
            let (weight, count) = (positions.weight[0], samples_bar.len());
            add(nodes_bar, &samples_bar[..width], 1.0 - weight);
            add(&mut nodes_bar[count..], &samples_bar[count - width..], weight);
            let (nodes_bar, bar, before) = (&mut nodes_bar[width..count], &samples_bar[width..], &samples_bar[..count - width]);
            for i in 0..nodes_bar.len() {
                nodes_bar[i] += (1.0 - weight) * bar[i] + weight * before[i];
            }
            return;
        }
        for j in 0..self.offsets.len() {
            let (before, bar) = (&mut nodes_bar[positions.node[j] * width..], &samples_bar[j * width..(j + 1) * width]);
            add(before, bar, 1.0 - positions.weight[j]);
            add(&mut before[width..], bar, positions.weight[j]);
        }
    }

    /// Adjoint of [`sample`](Self::sample) with respect to the agent's position in cells: adds to running sums.
    #[inline(always)]
    pub fn slide(&self, positions: &SamplePositions, width: usize, nodes: &[Real], samples_bar: &[Real], sums: &mut Sums) {
        if self.by_cells {
            return change(sums, samples_bar, nodes, &nodes[width..]);
        }
        for j in 0..self.offsets.len() {
            let (before, bar) = (&nodes[positions.node[j] * width..], &samples_bar[j * width..(j + 1) * width]);
            change(sums, bar, before, &before[width..]);
        }
    }
}
