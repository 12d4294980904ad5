//! Force of a swarm on a field on an interval.

use super::{Push, REACH, check};
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::LANES;
use cinoc_tape::kernel::math::{exp, fma, sum_lanes};
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Force `f(x) = Σᵢ uᵢ·exp(−(x−ξᵢ)²/2σ²)`, nearest image on a ring; `u` is the first component of each action.
///
/// It is not normalised by the number of agents, which no agent knows.
/// Inputs: actions `[batch, agents, k]`, positions `[batch, agents, 1]`; output `[batch, N]`.
pub struct Force1d {
    nodes: usize,
    /// Positions of the nodes, padded with zeros to a whole group of lanes.
    x: Vec<Real>,
    /// Inverse length scale 1/√2σ.
    inverse: Real,
    scale: Real,
    /// Distance beyond which a bump is below floating-point resolution.
    radius: Real,
    groups_per_length: Real,
    ring: bool,
    length: Real,
    inverse_length: Real,
}

impl Force1d {
    /// Creates the force on `grid`.
    ///
    /// # Panics
    /// If the grid is not a line, if it has no length, or if the width of the push is not positive.
    pub fn new(grid: &Grid, push: &Push) -> Self {
        check(grid, 1, push.sigma);
        let inverse = 1.0 / (2f64.sqrt() * push.sigma);
        let mut x: Vec<Real> = grid.positions(0).iter().map(|&x| x as Real).collect();
        x.resize(x.len().next_multiple_of(LANES), 0.0);
        Self {
            nodes: grid.count(),
            x,
            inverse: inverse as Real,
            scale: push.scale(1) as Real,
            radius: ((REACH as f64).sqrt() / inverse) as Real,
            groups_per_length: (1.0 / (LANES as f64 * grid.spacing(0))) as Real,
            ring: grid.periodic[0],
            length: grid.lengths[0],
            inverse_length: 1.0 / grid.lengths[0],
        }
    }

    /// Distance from an agent to a node, in units of √2σ.
    #[inline(always)]
    fn distance<const RING: bool>(&self, x: Real, xi: Real) -> Real {
        let d = x - xi;
        let d = if RING { d - self.length * (d * self.inverse_length + 0.5).floor() } else { d };
        d * self.inverse
    }

    /// Groups of nodes that an agent at `xi` reaches; its push is below floating-point resolution elsewhere. A NaN
    /// position maps to the first group, so that the field becomes NaN too.
    #[inline(always)]
    fn reach<const RING: bool>(&self, xi: Real) -> std::ops::Range<usize> {
        let groups = self.x.len() / LANES;
        if RING {
            return 0..groups;
        }
        let group = |x: Real| (x * self.groups_per_length).max(0.0).min(groups as Real) as usize;
        group(xi - self.radius)..(group(xi + self.radius) + 1).min(groups)
    }

    /// Adds the force of one instance to `sums`, nodes in groups of lanes.
    #[inline(always)]
    fn push<const RING: bool>(&self, actions: &[Real], k: usize, xi: &[Real], sums: &mut [[Real; LANES]]) {
        let (nodes, _) = self.x.as_chunks::<LANES>();
        sums.fill([0.0; LANES]);
        for (action, &xi) in actions.chunks_exact(k).zip(xi) {
            let u = self.scale * action[0];
            let near = self.reach::<RING>(xi);
            for (sum, x) in sums[near.clone()].iter_mut().zip(&nodes[near]) {
                for i in 0..LANES {
                    let d = self.distance::<RING>(x[i], xi);
                    sum[i] = fma(u, exp(-d * d), sum[i]);
                }
            }
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Size of the scratch space.
    pub(super) fn padded(&self) -> usize {
        self.x.len()
    }

    /// Computes the force `y` of one instance.
    #[inline(always)]
    pub(super) fn instance(&self, actions: &[Real], k: usize, xi: &[Real], y: &mut [Real], scratch: &mut [Real]) {
        let (sums, _) = scratch[..self.x.len()].as_chunks_mut::<LANES>();
        if self.ring {
            self.push::<true>(actions, k, xi, sums);
        } else {
            self.push::<false>(actions, k, xi, sums);
        }
        y.copy_from_slice(&sums.as_flattened()[..self.nodes]);
    }

    /// Derivative of `⟨f̄, b⟩` with respect to the position `xi` of an agent of unit intensity.
    pub(super) fn slope(&self, f_bar: &[Real], xi: Real, scratch: &mut [Real]) -> Real {
        let padded = &mut scratch[..self.x.len()];
        padded.fill(0.0);
        padded[..self.nodes].copy_from_slice(f_bar);
        let (f_bar, _) = padded.as_chunks::<LANES>();
        let (_, slope_sum) = if self.ring { self.project::<true>(f_bar, xi) } else { self.project::<false>(f_bar, xi) };
        2.0 * self.inverse * slope_sum
    }

    /// Computes `⟨f̄, b⟩` and `⟨f̄, b·d⟩` of an agent at `xi` in one pass over the grid.
    #[inline(always)]
    fn project<const RING: bool>(&self, f_bar: &[[Real; LANES]], xi: Real) -> (Real, Real) {
        let (nodes, _) = self.x.as_chunks::<LANES>();
        let (mut push, mut slide) = ([0.0; LANES], [0.0; LANES]);
        let near = self.reach::<RING>(xi);
        for (f_bar, x) in f_bar[near.clone()].iter().zip(&nodes[near]) {
            for i in 0..LANES {
                let d = self.distance::<RING>(x[i], xi);
                let weighted = f_bar[i] * exp(-d * d);
                push[i] += weighted;
                slide[i] = fma(weighted, d, slide[i]);
            }
        }
        (self.scale * sum_lanes(push), self.scale * sum_lanes(slide))
    }
}

impl Op for Force1d {
    fn name(&self) -> &'static str {
        "force"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[0].sizes()[..2] == x[1].sizes()[..2], "force: actions {:?}, positions {:?}", x[0], x[1]);
        Shape::new(&[x[0].sizes()[0], self.nodes])
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        self.x.len() + 2 * x[1].count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let &[_, agents, k] = x.shape(0).sizes() else { unreachable!() };
        vectorise(
            #[inline(always)]
            || {
                for (b, y) in y.chunks_exact_mut(self.nodes).enumerate() {
                    let (actions, xi) = (&x[0][b * agents * k..][..agents * k], &x[1][b * agents..][..agents]);
                    self.instance(actions, k, xi, y, scratch);
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let &[batch, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let (f_bar, sums) = scratch.split_at_mut(self.x.len());
        let (push_sums, slope_sums) = sums[..2 * batch * agents].split_at_mut(batch * agents);
        vectorise(
            #[inline(always)]
            || {
                f_bar.fill(0.0);
                for (b, y_bar) in y_bar.chunks_exact(self.nodes).enumerate() {
                    f_bar[..self.nodes].copy_from_slice(y_bar);
                    let (f_bar, _) = f_bar.as_chunks::<LANES>();
                    for m in b * agents..(b + 1) * agents {
                        let xi = x[1][m];
                        (push_sums[m], slope_sums[m]) =
                            if self.ring { self.project::<true>(f_bar, xi) } else { self.project::<false>(f_bar, xi) };
                    }
                }
            },
        );
        if let Some(action_bar) = bars.get(0) {
            action_bar.chunks_exact_mut(k).zip(&*push_sums).for_each(|(action_bar, p)| action_bar[0] += p);
        }
        if let Some(xi_bar) = bars.get(1) {
            for (m, xi_bar) in xi_bar.iter_mut().enumerate() {
                *xi_bar += 2.0 * self.inverse * x[0][m * k] * slope_sums[m];
            }
        }
    }
}
