//! An agent's view of a field on an interval.

use crate::Real;
use crate::config::ObserveConfig;
use cinoc_pde::Grid;
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// The most samples of a patch: indices and weights live on the stack.
const MOST: usize = 64;

/// `[e…, w·∂e…]` at `n` points around each agent, `e = gain·(z − z*)`, `w` the width of the window.
///
/// `∂e` is by central differences, one-sided at walls. Samples are interpolated linearly, clamped at walls or wrapped on a ring.
/// Inputs: `z [batch, N]`, `z* [batch, N]`, `ξ [batch, agents, 1]`; output `[batch, agents, 2n]`.
pub struct Observe1d {
    nodes: usize,
    periodic: bool,
    inverse_dx: Real,
    /// Offsets of the samples in cells.
    offsets: Vec<Real>,
    /// Factor from a central difference over two cells to `w·∂e`.
    slope: Real,
    gain: Real,
    through_position: bool,
}

/// Left node and weight of the right node, of each sample of one agent.
struct Cells {
    left: [u32; MOST],
    weight: [Real; MOST],
    inside: [Real; MOST],
}

impl Observe1d {
    /// # Panics
    /// With more than 64 samples.
    pub fn new(grid: &Grid, config: &ObserveConfig) -> Self {
        let n = config.points;
        assert!((2..=MOST).contains(&n), "observe.points must be from 2 to {MOST}, not {n}");
        let dx = grid.spacing(0);
        let h = config.window / (n - 1) as f64;
        Self {
            nodes: grid.count(),
            periodic: grid.periodic,
            inverse_dx: (1.0 / dx) as Real,
            offsets: (0..n).map(|j| ((j as f64 - (n - 1) as f64 / 2.0) * h / dx) as Real).collect(),
            slope: (config.window / (2.0 * dx)) as Real,
            gain: config.gain as Real,
            through_position: config.through_position,
        }
    }

    fn points(&self) -> usize {
        self.offsets.len()
    }

    /// `e` and `w·∂e` of one instance.
    #[inline(always)]
    fn channels(&self, z: &[Real], target: &[Real], e: &mut [Real], g: &mut [Real]) {
        let n = self.nodes;
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
    }

    /// The adjoint of [`channels`](Self::channels): turns the cotangents of `e` and `g` into that of `z`, left in `e_bar`.
    #[inline(always)]
    fn channels_back(&self, e_bar: &mut [Real], g_bar: &[Real]) {
        let n = self.nodes;
        for i in 1..n - 1 {
            e_bar[i + 1] += self.slope * g_bar[i];
            e_bar[i - 1] -= self.slope * g_bar[i];
        }
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

    #[inline(always)]
    fn cells(&self, xi: Real, cells: &mut Cells) {
        let n = self.points();
        let at = xi * self.inverse_dx;
        let (offsets, left, weight, inside) =
            (&self.offsets[..n], &mut cells.left[..n], &mut cells.weight[..n], &mut cells.inside[..n]);
        if self.periodic {
            let nodes = self.nodes as Real;
            for j in 0..n {
                let t = at + offsets[j];
                let wrapped = t - nodes * (t / nodes).floor();
                // Rounding may give exactly `nodes`, which is node 0.
                let i = wrapped.floor().min(nodes - 1.0);
                (left[j], weight[j], inside[j]) = (i as u32, wrapped - i, 1.0);
            }
        } else {
            let last = (self.nodes - 1) as Real;
            for j in 0..n {
                let t = at + offsets[j];
                let clamped = t.max(0.0).min(last);
                let i = (clamped as i32 as Real).min(last - 1.0);
                (left[j], weight[j]) = (i as i32 as u32, clamped - i);
                inside[j] = if t == clamped { 1.0 } else { 0.0 };
            }
        }
    }

    #[inline(always)]
    fn right(&self, left: usize) -> usize {
        if self.periodic && left + 1 == self.nodes { 0 } else { left + 1 }
    }
}

impl Op for Observe1d {
    fn name(&self) -> &'static str {
        "observe"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let &[batch, agents, 1] = x[2].sizes() else { panic!("observe: positions {:?}", x[2]) };
        assert!(x[0].sizes() == [batch, self.nodes] && x[1] == x[0], "observe: field {:?}, target {:?}", x[0], x[1]);
        Shape::new(&[batch, agents, 2 * self.points()])
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        4 * self.nodes
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let (n, nodes) = (self.points(), self.nodes);
        let &[batch, agents, _] = x.shape(2).sizes() else { unreachable!() };
        let (e, g) = scratch[..2 * nodes].split_at_mut(nodes);
        vectorise(
            #[inline(always)]
            || {
                let mut cells = Cells { left: [0; MOST], weight: [0.0; MOST], inside: [0.0; MOST] };
                for b in 0..batch {
                    self.channels(&x[0][b * nodes..][..nodes], &x[1][b * nodes..][..nodes], e, g);
                    for m in b * agents..(b + 1) * agents {
                        self.cells(x[2][m], &mut cells);
                        let (seen_e, seen_g) = y[m * 2 * n..][..2 * n].split_at_mut(n);
                        for j in 0..n {
                            let (i, w) = (cells.left[j] as usize, cells.weight[j]);
                            let k = self.right(i);
                            seen_e[j] = e[i] + w * (e[k] - e[i]);
                            seen_g[j] = g[i] + w * (g[k] - g[i]);
                        }
                    }
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (n, nodes) = (self.points(), self.nodes);
        let &[batch, agents, _] = x.shape(2).sizes() else { unreachable!() };
        let (fields, field_bars) = scratch.split_at_mut(2 * nodes);
        let (e, g) = fields.split_at_mut(nodes);
        let (e_bar, g_bar) = field_bars.split_at_mut(nodes);
        let through_position = self.through_position && bars.wanted(2);
        for b in 0..batch {
            let row = b * nodes..(b + 1) * nodes;
            let mut xi_bar = if through_position { bars.get(2) } else { None };
            vectorise(
                #[inline(always)]
                || {
                    let mut cells = Cells { left: [0; MOST], weight: [0.0; MOST], inside: [0.0; MOST] };
                    e_bar.fill(0.0);
                    g_bar.fill(0.0);
                    if through_position {
                        self.channels(&x[0][row.clone()], &x[1][row.clone()], e, g);
                    }
                    for m in b * agents..(b + 1) * agents {
                        self.cells(x[2][m], &mut cells);
                        let (bar_e, bar_g) = y_bar[m * 2 * n..][..2 * n].split_at(n);
                        let mut slide = 0.0;
                        for j in 0..n {
                            let (i, w) = (cells.left[j] as usize, cells.weight[j]);
                            let k = self.right(i);
                            e_bar[i] += (1.0 - w) * bar_e[j];
                            e_bar[k] += w * bar_e[j];
                            g_bar[i] += (1.0 - w) * bar_g[j];
                            g_bar[k] += w * bar_g[j];
                            slide += cells.inside[j] * (bar_e[j] * (e[k] - e[i]) + bar_g[j] * (g[k] - g[i]));
                        }
                        if let Some(xi_bar) = &mut xi_bar {
                            xi_bar[m] += slide * self.inverse_dx;
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
