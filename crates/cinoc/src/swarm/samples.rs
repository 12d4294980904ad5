//! Linear interpolation at evenly spaced points around an agent, along one axis.

use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::math::sum_lanes;

/// The most samples along an axis: their places live on the stack.
pub const MOST: usize = 64;

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

/// `to = a + weight·(b − a)`.
#[inline(always)]
fn blend(to: &mut [Real], a: &[Real], b: &[Real], weight: Real) {
    to.iter_mut().zip(a).zip(b).for_each(|((to, a), b)| *to = a + weight * (b - a));
}

/// `to += factor·from`.
#[inline(always)]
pub fn add(to: &mut [Real], from: &[Real], factor: Real) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

/// `Σ barᵢ(bᵢ − aᵢ)`.
#[inline(always)]
fn change(bar: &[Real], a: &[Real], b: &[Real]) -> Real {
    let (a, b) = (&a[..bar.len()], &b[..bar.len()]);
    let mut lanes = [0.0; 16];
    let ((bar16, bar1), (a16, a1), (b16, b1)) = (bar.as_chunks::<16>(), a.as_chunks::<16>(), b.as_chunks::<16>());
    for ((bar, a), b) in bar16.iter().zip(a16).zip(b16) {
        for l in 0..16 {
            lanes[l] += bar[l] * (b[l] - a[l]);
        }
    }
    for (l, ((bar, a), b)) in bar1.iter().zip(a1).zip(b1).enumerate() {
        lanes[l] += bar * (b - a);
    }
    sum_lanes(lanes)
}

impl Samples {
    /// `points` samples over a window of width `window`, on nodes inside a frame of `frame` nodes on both sides.
    ///
    /// # Panics
    /// With fewer than 2 or more than 64 samples.
    pub fn new(grid: &Grid, axis: usize, points: usize, window: f64, frame: usize) -> Self {
        assert!((2..=MOST).contains(&points), "observe.points must be from 2 to {MOST}, not {points}");
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

    /// Where the samples of an agent at `xi` lie; outside the walls it sees what it would see from the wall.
    #[inline(always)]
    pub fn places(&self, xi: Real, places: &mut Places) {
        let at = xi * self.inverse_dx;
        let at = match self.periodic {
            true => at - self.nodes * (at / self.nodes).floor(),
            false => at.max(0.0).min(self.nodes - 1.0),
        };
        places.first = (at + self.offsets[0]) as usize;
        for (j, offset) in self.offsets.iter().enumerate() {
            let t = at + offset;
            let node = t as usize;
            places.node[j] = node - places.first;
            places.weight[j] = t - node as Real;
        }
        let last = self.offsets.len() - 1;
        // Rounding may put the last sample into a neighbouring cell.
        places.count = 2 + if self.by_cells { last } else { places.node[last] };
    }

    /// Samples `[points, width]` of nodes `[.., width]`, the first of which is [`Places::first`].
    #[inline(always)]
    pub fn sample(&self, places: &Places, width: usize, nodes: &[Real], samples: &mut [Real]) {
        if self.by_cells {
            return blend(samples, nodes, &nodes[width..], places.weight[0]);
        }
        for (j, sample) in samples.chunks_exact_mut(width).enumerate() {
            let (before, behind) = nodes[places.node[j] * width..][..2 * width].split_at(width);
            blend(sample, before, behind, places.weight[j]);
        }
    }

    /// The adjoint of [`sample`](Self::sample) by the nodes: adds to their cotangents.
    #[inline(always)]
    pub fn spread(&self, places: &Places, width: usize, samples_bar: &[Real], nodes_bar: &mut [Real]) {
        if self.by_cells {
            add(nodes_bar, samples_bar, 1.0 - places.weight[0]);
            return add(&mut nodes_bar[width..], samples_bar, places.weight[0]);
        }
        for (j, bar) in samples_bar.chunks_exact(width).enumerate() {
            let (before, behind) = nodes_bar[places.node[j] * width..][..2 * width].split_at_mut(width);
            add(before, bar, 1.0 - places.weight[j]);
            add(behind, bar, places.weight[j]);
        }
    }

    /// The adjoint of [`sample`](Self::sample) by the agent's position, counted in cells.
    #[inline(always)]
    pub fn slide(&self, places: &Places, width: usize, nodes: &[Real], samples_bar: &[Real]) -> Real {
        if self.by_cells {
            return change(samples_bar, nodes, &nodes[width..]);
        }
        let mut sum = 0.0;
        for (j, bar) in samples_bar.chunks_exact(width).enumerate() {
            let (before, behind) = nodes[places.node[j] * width..][..2 * width].split_at(width);
            sum += change(bar, before, behind);
        }
        sum
    }
}
