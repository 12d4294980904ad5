//! Linear interpolation at evenly spaced points around an agent, along one axis.

use super::Window;
use crate::Real;
use crate::vector::add;
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::LANES;

/// The most samples along an axis.
const MOST: usize = Window::MOST_POINTS;

/// Points along one axis that move with an agent. Nodes carry several numbers each, next to one another.
pub struct Samples {
    nodes: Real,
    periodic: bool,
    inverse_dx: Real,
    /// Offsets of the samples in cells, counted from the start of the frame around the nodes.
    offsets: Vec<Real>,
    /// Samples lie one cell apart: all share one weight, and a row of samples is a row of nodes blended with the next one.
    by_cells: bool,
}

/// The node before each sample, and the weight of the node behind it.
pub struct Places {
    /// The first of the nodes.
    pub first: usize,
    /// How many nodes there are between the first sample and the last, with their neighbours.
    pub count: usize,
    /// Counted from the first.
    node: [usize; MOST],
    weight: [Real; MOST],
}

impl Places {
    /// Room for the places of an agent.
    pub fn new() -> Self {
        Self { first: 0, count: 0, node: [0; MOST], weight: [0.0; MOST] }
    }
}

// Loops over indices: inside a function compiled for one instruction set, iterator adapters are not always inlined.

/// `to = a + weight·(b − a)`.
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

/// Running sums.
pub type Sums = [Real; LANES];

impl Samples {
    /// Samples over a window that has been checked, on nodes inside a frame of `frame` nodes on both sides, half a window wide or more.
    pub fn new(grid: &Grid, axis: usize, &Window { points, window, .. }: &Window, frame: usize) -> Self {
        let dx = grid.spacing(axis);
        let cells = window / (points - 1) as f64 / dx;
        let offset = |j: usize| ((j as f64 - 0.5 * (points - 1) as f64) * cells + frame as f64) as Real;
        Self {
            nodes: grid.nodes[axis] as Real,
            periodic: grid.periodic,
            inverse_dx: (1.0 / dx) as Real,
            offsets: (0..points).map(offset).collect(),
            by_cells: (cells - 1.0).abs() < 1e-9,
        }
    }

    /// Cells per length: from a derivative by cells to one by positions.
    pub fn inverse_dx(&self) -> Real {
        self.inverse_dx
    }

    /// The most nodes that the samples of an agent touch.
    pub fn most(&self) -> usize {
        (self.offsets[self.offsets.len() - 1] - self.offsets[0]) as usize + 3
    }

    /// Where the samples of an agent at `xi` lie; outside the walls it sees what it would see from the wall. So does one whose position is NaN,
    /// or on a ring so far away that the nearest numbers are more than the ring apart.
    #[inline(always)]
    pub fn places(&self, xi: Real, places: &mut Places) {
        let at = xi * self.inverse_dx;
        let at = match self.periodic {
            true => (at - self.nodes * (at / self.nodes).floor()).max(0.0).min(self.nodes),
            false => at.max(0.0).min(self.nodes - 1.0),
        };
        let start = at + self.offsets[0];
        places.first = start as usize;
        places.weight[0] = start - places.first as Real;
        places.count = self.offsets.len() + 1;
        if !self.by_cells {
            for j in 0..self.offsets.len() {
                let t = at + self.offsets[j];
                let node = t as usize;
                places.node[j] = node - places.first;
                places.weight[j] = t - node as Real;
            }
            places.count = places.node[self.offsets.len() - 1] + 2;
        }
    }

    /// Samples `[points, width]` of nodes `[.., width]`, the first of which is [`Places::first`].
    #[inline(always)]
    pub fn sample(&self, places: &Places, width: usize, nodes: &[Real], samples: &mut [Real]) {
        if self.by_cells {
            return blend(samples, nodes, &nodes[width..], places.weight[0]);
        }
        for j in 0..self.offsets.len() {
            let (before, sample) = (&nodes[places.node[j] * width..], &mut samples[j * width..(j + 1) * width]);
            blend(sample, before, &before[width..], places.weight[j]);
        }
    }

    /// The adjoint of [`sample`](Self::sample) by the nodes: adds to their cotangents.
    #[inline(always)]
    pub fn spread(&self, places: &Places, width: usize, samples_bar: &[Real], nodes_bar: &mut [Real]) {
        if self.by_cells {
            // Every node once: adding the two halves one after the other would wait for each store.
            let (weight, count) = (places.weight[0], samples_bar.len());
            add(nodes_bar, &samples_bar[..width], 1.0 - weight);
            add(&mut nodes_bar[count..], &samples_bar[count - width..], weight);
            let (nodes_bar, bar, before) = (&mut nodes_bar[width..count], &samples_bar[width..], &samples_bar[..count - width]);
            for i in 0..nodes_bar.len() {
                nodes_bar[i] += (1.0 - weight) * bar[i] + weight * before[i];
            }
            return;
        }
        for j in 0..self.offsets.len() {
            let (before, bar) = (&mut nodes_bar[places.node[j] * width..], &samples_bar[j * width..(j + 1) * width]);
            add(before, bar, 1.0 - places.weight[j]);
            add(&mut before[width..], bar, places.weight[j]);
        }
    }

    /// The adjoint of [`sample`](Self::sample) by the agent's position, counted in cells: adds to running sums.
    #[inline(always)]
    pub fn slide(&self, places: &Places, width: usize, nodes: &[Real], samples_bar: &[Real], sums: &mut Sums) {
        if self.by_cells {
            return change(sums, samples_bar, nodes, &nodes[width..]);
        }
        for j in 0..self.offsets.len() {
            let (before, bar) = (&nodes[places.node[j] * width..], &samples_bar[j * width..(j + 1) * width]);
            change(sums, bar, before, &before[width..]);
        }
    }
}
