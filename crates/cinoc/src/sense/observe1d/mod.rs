//! Agents' view of a field on an interval.

mod channels;
mod positions;
mod sampling;

use super::Window;
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::LANES;
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use positions::{LinePositions, hat};

/// Samples `[e…, w·∂e…]` at `n` points around each agent, `e = gain·(z − z*)`, `w` the width of the window.
///
/// `∂e` is a central difference, one-sided at walls. Samples are interpolated linearly, clamped at walls or wrapped on
/// a ring.
/// Inputs: `z [batch, N]`, `z* [batch, N]`, `ξ [batch, agents, 1]`; output `[batch, agents, 2n]`.
///
/// An interpolated value is `Σᵢ hat(t−i)·eᵢ`, `hat(s) = max(0, 1−|s|)`. Summed over the few nodes under the window for
/// all samples at once, this vectorises forwards and backwards, where a gather and a scatter per sample would not. (In
/// the plane each node has a row of values to vectorise over, so there it is the other way round: see `samples.rs`.)
pub struct Observe1d {
    nodes: usize,
    periodic: bool,
    inverse_dx: Real,
    points: usize,
    /// Offsets of the samples in cells; the last one is repeated to fill a group of lanes.
    offsets: Vec<Real>,
    /// Factor from a central difference over two cells to `w·∂e`.
    slope: Real,
    gain: Real,
    through_position: bool,
}

impl Observe1d {
    /// Creates the operation.
    ///
    /// # Panics
    /// If the grid is not a line of positive length with at least 4 nodes, if the number of samples is not in 2 to
    /// [`Window::MOST_POINTS`], or if the width of the window is not in 0 to [`Window::WIDEST`] domains.
    pub fn new(grid: &Grid, window: &Window) -> Self {
        window.check(grid, 1);
        let n = window.points;
        let dx = grid.spacing(0);
        let h = window.window / (n - 1) as f64;
        let offset = |j: usize| ((j.min(n - 1) as f64 - (n - 1) as f64 / 2.0) * h / dx) as Real;
        Self {
            nodes: grid.count(),
            periodic: grid.periodic[0],
            inverse_dx: (1.0 / dx) as Real,
            points: n,
            offsets: (0..n.next_multiple_of(LANES)).map(offset).collect(),
            slope: (window.window / (2.0 * dx)) as Real,
            gain: window.gain as Real,
            through_position: window.through_position,
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    pub(super) fn periodic(&self) -> bool {
        self.periodic
    }

    /// Size of a patch.
    pub(super) fn seen(&self) -> usize {
        2 * self.points
    }

    /// Number of nodes that a patch can depend on: those under the window, and one more on either side for the
    /// differences.
    pub(super) fn span(&self) -> usize {
        (self.offsets[self.points - 1] - self.offsets[0]) as usize + 5
    }

    /// Position of an agent on a ring in cells, wrapped such that its first sample is between node 0 and the last.
    #[inline(always)]
    fn cell(&self, xi: Real) -> Real {
        let (nodes, at) = (self.nodes as Real, xi * self.inverse_dx);
        let at = at - nodes * ((at + self.offsets[0]) / nodes).floor();
        // Rounding may put the first sample slightly outside, or anywhere if the position is too large to be resolved.
        at.max(-self.offsets[0]).min(nodes - self.offsets[0])
    }

    /// First of the [`span`](Self::span) nodes around an agent on a ring.
    pub(super) fn first_around(&self, xi: Real) -> usize {
        ((self.cell(xi) + self.offsets[0]) as usize + self.nodes - 1) % self.nodes
    }

    /// Computes the linear map from the nodes around an agent on a ring to its patch, `[span, 2n]`.
    pub(super) fn factors(&self, xi: Real, factors: &mut [Real]) {
        let (at, n) = (self.cell(xi), self.points);
        let first = ((at + self.offsets[0]) as usize) as Real - 1.0;
        for (i, row) in factors.chunks_exact_mut(2 * n).enumerate() {
            let node = first + i as Real;
            for j in 0..n {
                let t = at + self.offsets[j];
                row[j] = self.gain * hat(t - node);
                // The node is the right one in the difference at its left neighbour, and the left one in that at its
                // right neighbour.
                row[n + j] = self.gain * self.slope * (hat(t - (node - 1.0)) - hat(t - (node + 1.0)));
            }
        }
    }

    /// Number of nodes plus what may be accessed behind them: the width of the window (repeated nodes of a ring) and a
    /// group of lanes.
    fn extended(&self) -> usize {
        let span = self.offsets[self.points - 1] - self.offsets[0];
        self.nodes + span as usize + 2 + LANES
    }

    #[inline(always)]
    fn forward_groups<const G: usize>(&self, x: &Inputs, y: &mut [Real], scratch: &mut [Real]) {
        let nodes = self.nodes;
        let &[batch, agents, _] = x.shape(2).sizes() else { unreachable!() };
        let (e, g) = scratch.split_at_mut(self.extended());
        let g = &mut g[..e.len()];
        let mut positions = LinePositions::new();
        for b in 0..batch {
            self.channels(&x[0][b * nodes..][..nodes], &x[1][b * nodes..][..nodes], e, g);
            for m in b * agents..(b + 1) * agents {
                self.positions::<G>(x[2][m], &mut positions);
                self.sample::<G>(&positions, e, g, &mut y[m * 2 * self.points..][..2 * self.points]);
            }
        }
    }

    /// Computes the cotangents of one instance: that of `z`, stored in `e_bar`, and that of the positions, added to
    /// `xi_bar`.
    #[inline(always)]
    fn back_groups<const G: usize>(
        &self,
        x: &Inputs,
        b: usize,
        y_bar: &[Real],
        work: [&mut [Real]; 4],
        mut xi_bar: Option<&mut [Real]>,
    ) {
        let nodes = self.nodes;
        let &[_, agents, _] = x.shape(2).sizes() else { unreachable!() };
        let [e, g, e_bar, g_bar] = work;
        let mut positions = LinePositions::new();
        e_bar.fill(0.0);
        g_bar.fill(0.0);
        if xi_bar.is_some() {
            self.channels(&x[0][b * nodes..][..nodes], &x[1][b * nodes..][..nodes], e, g);
        }
        for m in b * agents..(b + 1) * agents {
            self.positions::<G>(x[2][m], &mut positions);
            let seen_bar = &y_bar[m * 2 * self.points..][..2 * self.points];
            self.spread(&positions, seen_bar, e_bar, g_bar);
            if let Some(xi_bar) = &mut xi_bar {
                xi_bar[m] += self.slide::<G>(&positions, e, g, seen_bar);
            }
        }
        self.channels_back(e_bar, g_bar);
    }
}

/// Calls a function with a constant number of groups of lanes, so that its loops unroll.
macro_rules! by_groups {
    ($self:ident.$function:ident($($argument:expr),*)) => {
        match $self.points.div_ceil(LANES) {
            1 => $self.$function::<1>($($argument),*),
            2 => $self.$function::<2>($($argument),*),
            3 => $self.$function::<3>($($argument),*),
            _ => $self.$function::<4>($($argument),*),
        }
    };
}

impl Op for Observe1d {
    fn name(&self) -> &'static str {
        "observe"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let &[batch, agents, 1] = x[2].sizes() else { panic!("observe: positions {:?}", x[2]) };
        assert!(x[0].sizes() == [batch, self.nodes] && x[1] == x[0], "observe: field {:?}, target {:?}", x[0], x[1]);
        Shape::new(&[batch, agents, 2 * self.points])
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        4 * self.extended()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        vectorise(
            #[inline(always)]
            || by_groups!(self.forward_groups(x, y, scratch)),
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let batch = x.shape(2).sizes()[0];
        let n = self.extended();
        let (fields, field_bars) = scratch.split_at_mut(2 * n);
        let (e, g) = fields.split_at_mut(n);
        let (e_bar, g_bar) = field_bars[..2 * n].split_at_mut(n);
        for b in 0..batch {
            let row = b * self.nodes..(b + 1) * self.nodes;
            let xi_bar = if self.through_position { bars.get(2) } else { None };
            vectorise(
                #[inline(always)]
                || {
                    let work: [&mut [Real]; 4] = [e, g, e_bar, g_bar];
                    by_groups!(self.back_groups(x, b, y_bar, work, xi_bar));
                },
            );
            if let Some(z_bar) = bars.get(0) {
                z_bar[row.clone()].iter_mut().zip(&*e_bar).for_each(|(z_bar, e_bar)| *z_bar += e_bar);
            }
            if let Some(target_bar) = bars.get(1) {
                target_bar[row].iter_mut().zip(&*e_bar).for_each(|(target_bar, e_bar)| *target_bar -= e_bar);
            }
        }
    }
}
