//! An agent's view of a field on an interval.

use crate::Real;
use crate::config::ObserveConfig;
use cinoc_pde::Grid;
use cinoc_tape::kernel::interpolate::{interpolate, interpolate_back, slide};
use cinoc_tape::kernel::math::whole;
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// The most samples of a patch: indices and weights live on the stack.
const MOST: usize = 64;

/// Samples worked on at once.
const LANES: usize = 16;

/// `[e…, w·∂e…]` at `n` points around each agent, `e = gain·(z − z*)`, `w` the width of the window.
///
/// `∂e` is by central differences, one-sided at walls. Samples are interpolated linearly, clamped at walls or wrapped on a ring.
/// Inputs: `z [batch, N]`, `z* [batch, N]`, `ξ [batch, agents, 1]`; output `[batch, agents, 2n]`.
pub struct Observe1d {
    nodes: usize,
    periodic: bool,
    inverse_dx: Real,
    points: usize,
    /// Offsets of the samples in cells, and zeros up to a whole group of lanes.
    offsets: Vec<Real>,
    /// Factor from a central difference over two cells to `w·∂e`.
    slope: Real,
    gain: Real,
    through_position: bool,
}

/// Left node, weight of the right node, and 1 unless clamped at a wall, of each sample of one agent.
struct Cells {
    left: [u32; MOST],
    weight: [Real; MOST],
    free: [Real; MOST],
}

impl Observe1d {
    /// # Panics
    /// With more than 64 samples.
    pub fn new(grid: &Grid, config: &ObserveConfig) -> Self {
        let n = config.points;
        assert!((2..=MOST).contains(&n), "observe.points must be from 2 to {MOST}, not {n}");
        let dx = grid.spacing(0);
        let h = config.window / (n - 1) as f64;
        let offset = |j: usize| ((j as f64 - (n - 1) as f64 / 2.0) * h / dx) as Real;
        Self {
            nodes: grid.count(),
            periodic: grid.periodic,
            inverse_dx: (1.0 / dx) as Real,
            points: n,
            offsets: (0..n.next_multiple_of(LANES)).map(|j| if j < n { offset(j) } else { 0.0 }).collect(),
            slope: (config.window / (2.0 * dx)) as Real,
            gain: config.gain as Real,
            through_position: config.through_position,
        }
    }

    /// `e` and `w·∂e` of one instance, with the first node repeated behind the last.
    #[inline(always)]
    fn channels(&self, z: &[Real], target: &[Real], e: &mut [Real], g: &mut [Real]) {
        let n = self.nodes;
        let (z, target, e, g) = (&z[..n], &target[..n], &mut e[..n + 1], &mut g[..n + 1]);
        for i in 0..n {
            e[i] = self.gain * (z[i] - target[i]);
        }
        for i in 1..n - 1 {
            g[i] = self.slope * (e[i + 1] - e[i - 1]);
        }
        (g[0], g[n - 1]) = if self.periodic {
            (self.slope * (e[1] - e[n - 1]), self.slope * (e[0] - e[n - 2]))
        } else {
            (2.0 * self.slope * (e[1] - e[0]), 2.0 * self.slope * (e[n - 1] - e[n - 2]))
        };
        (e[n], g[n]) = (e[0], g[0]);
    }

    /// The adjoint of [`channels`](Self::channels): turns the cotangents of `e` and `g` into that of `z`, left in `e_bar`.
    #[inline(always)]
    fn channels_back(&self, e_bar: &mut [Real], g_bar: &mut [Real]) {
        let n = self.nodes;
        let (e_bar, g_bar) = (&mut e_bar[..n + 1], &mut g_bar[..n + 1]);
        e_bar[0] += e_bar[n];
        g_bar[0] += g_bar[n];
        for i in 2..n - 2 {
            e_bar[i] += self.slope * (g_bar[i - 1] - g_bar[i + 1]);
        }
        e_bar[0] -= self.slope * g_bar[1];
        e_bar[1] -= self.slope * g_bar[2];
        e_bar[n - 2] += self.slope * g_bar[n - 3];
        e_bar[n - 1] += self.slope * g_bar[n - 2];
        let (first, last) = (self.slope * g_bar[0], self.slope * g_bar[n - 1]);
        if self.periodic {
            e_bar[1] += first;
            e_bar[n - 1] -= first;
            e_bar[0] += last;
            e_bar[n - 2] -= last;
        } else {
            e_bar[1] += 2.0 * first;
            e_bar[0] -= 2.0 * first;
            e_bar[n - 1] += 2.0 * last;
            e_bar[n - 2] -= 2.0 * last;
        }
        e_bar.iter_mut().for_each(|e_bar| *e_bar *= self.gain);
    }

    /// Whole groups of lanes at a time, so that it vectorises; what lies beyond the last sample is not used.
    #[inline(always)]
    fn cells(&self, xi: Real, cells: &mut Cells) {
        let at = xi * self.inverse_dx;
        let (offsets, _) = self.offsets.as_chunks::<LANES>();
        let (left, _) = cells.left.as_chunks_mut::<LANES>();
        let (weight, _) = cells.weight.as_chunks_mut::<LANES>();
        let (free, _) = cells.free.as_chunks_mut::<LANES>();
        let each = offsets.iter().zip(left).zip(weight).zip(free);
        let last = (self.nodes - 1) as Real;
        if self.periodic {
            let (nodes, inverse) = (self.nodes as Real, 1.0 / self.nodes as Real);
            for (((offsets, left), weight), free) in each {
                for j in 0..LANES {
                    let t = at + offsets[j];
                    let wrapped = (t - nodes * (t * inverse).floor()).max(0.0);
                    // Rounding may give exactly `nodes`: the last node with weight one, which is node 0.
                    let i = wrapped.floor().min(last);
                    (left[j], weight[j], free[j]) = (whole(i), wrapped - i, 1.0);
                }
            }
        } else {
            for (((offsets, left), weight), free) in each {
                for j in 0..LANES {
                    let t = at + offsets[j];
                    let clamped = t.max(0.0).min(last);
                    let i = clamped.floor().min(last - 1.0);
                    (left[j], weight[j]) = (whole(i), clamped - i);
                    free[j] = if t == clamped { 1.0 } else { 0.0 };
                }
            }
        }
    }
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
        4 * (self.nodes + 1)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let (n, nodes) = (self.points, self.nodes);
        let &[batch, agents, _] = x.shape(2).sizes() else { unreachable!() };
        let (e, g) = scratch[..2 * (nodes + 1)].split_at_mut(nodes + 1);
        vectorise(
            #[inline(always)]
            || {
                let mut cells = Cells { left: [0; MOST], weight: [0.0; MOST], free: [0.0; MOST] };
                for b in 0..batch {
                    self.channels(&x[0][b * nodes..][..nodes], &x[1][b * nodes..][..nodes], e, g);
                    for m in b * agents..(b + 1) * agents {
                        self.cells(x[2][m], &mut cells);
                        let (seen_e, seen_g) = y[m * 2 * n..][..2 * n].split_at_mut(n);
                        interpolate(e, &cells.left[..n], &cells.weight[..n], seen_e);
                        interpolate(g, &cells.left[..n], &cells.weight[..n], seen_g);
                    }
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (n, nodes) = (self.points, self.nodes);
        let &[batch, agents, _] = x.shape(2).sizes() else { unreachable!() };
        let (fields, field_bars) = scratch.split_at_mut(2 * (nodes + 1));
        let (e, g) = fields.split_at_mut(nodes + 1);
        let (e_bar, g_bar) = field_bars[..2 * (nodes + 1)].split_at_mut(nodes + 1);
        let through_position = self.through_position && bars.wanted(2);
        for b in 0..batch {
            let row = b * nodes..(b + 1) * nodes;
            let mut xi_bar = if through_position { bars.get(2) } else { None };
            vectorise(
                #[inline(always)]
                || {
                    let mut cells = Cells { left: [0; MOST], weight: [0.0; MOST], free: [0.0; MOST] };
                    e_bar.fill(0.0);
                    g_bar.fill(0.0);
                    if through_position {
                        self.channels(&x[0][row.clone()], &x[1][row.clone()], e, g);
                    }
                    for m in b * agents..(b + 1) * agents {
                        self.cells(x[2][m], &mut cells);
                        let (bar_e, bar_g) = y_bar[m * 2 * n..][..2 * n].split_at(n);
                        let (left, weight, free) = (&cells.left[..n], &cells.weight[..n], &cells.free[..n]);
                        interpolate_back(e_bar, left, weight, bar_e);
                        interpolate_back(g_bar, left, weight, bar_g);
                        if let Some(xi_bar) = &mut xi_bar {
                            xi_bar[m] += self.inverse_dx * (slide(e, left, free, bar_e) + slide(g, left, free, bar_g));
                        }
                    }
                    self.channels_back(e_bar, g_bar);
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
