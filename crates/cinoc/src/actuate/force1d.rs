//! The push of a swarm on a field on an interval.

use super::{Push, REACH, check};
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::LANES;
use cinoc_tape::kernel::math::{exp, fma, sum_lanes};
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// `f(x) = Σᵢ uᵢ·exp(−(x−ξᵢ)²/2σ²)`, nearest image on a ring; `u` is the first number of each action.
///
/// Never divided by the number of agents: no agent knows how many there are.
/// Inputs: actions `[batch, agents, k]`, positions `[batch, agents, 1]`; output `[batch, N]`.
pub struct Force1d {
    nodes: usize,
    /// Positions of the nodes, and zeros up to a whole group of lanes.
    x: Vec<Real>,
    /// 1/√2σ: distances are measured in it.
    inverse: Real,
    scale: Real,
    /// Distance at which a bump falls below the resolution of a number.
    radius: Real,
    groups_per_length: Real,
    ring: bool,
    length: Real,
    inverse_length: Real,
}

impl Force1d {
    /// # Panics
    /// Where the grid is not a line, one of its axes has no length, or the push no width.
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
            ring: grid.periodic,
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

    /// Groups of nodes that an agent at `xi` reaches: beyond, its push is below the resolution of a number. One whose position is NaN reaches
    /// the first, so that the field becomes NaN too.
    #[inline(always)]
    fn reach<const RING: bool>(&self, xi: Real) -> std::ops::Range<usize> {
        let groups = self.x.len() / LANES;
        if RING {
            return 0..groups;
        }
        let group = |x: Real| (x * self.groups_per_length).max(0.0).min(groups as Real) as usize;
        group(xi - self.radius)..(group(xi + self.radius) + 1).min(groups)
    }

    /// The field of one instance into `sums`, for nodes in groups of lanes.
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

    /// Numbers of working space.
    pub(super) fn padded(&self) -> usize {
        self.x.len()
    }

    /// The field `y` of one instance.
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

    /// Derivative of `⟨f̄, b⟩` by the position `xi` of an agent that pushes with 1.
    pub(super) fn slope(&self, f_bar: &[Real], xi: Real, scratch: &mut [Real]) -> Real {
        let padded = &mut scratch[..self.x.len()];
        padded.fill(0.0);
        padded[..self.nodes].copy_from_slice(f_bar);
        let (f_bar, _) = padded.as_chunks::<LANES>();
        let (_, slid) = if self.ring { self.feel::<true>(f_bar, xi) } else { self.feel::<false>(f_bar, xi) };
        2.0 * self.inverse * slid
    }

    /// `⟨f̄, b⟩` and `⟨f̄, b·d⟩` of an agent at `xi`, in one pass over the grid.
    #[inline(always)]
    fn feel<const RING: bool>(&self, f_bar: &[[Real; LANES]], xi: Real) -> (Real, Real) {
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
        let (pushed, slid) = sums[..2 * batch * agents].split_at_mut(batch * agents);
        vectorise(
            #[inline(always)]
            || {
                f_bar.fill(0.0);
                for (b, y_bar) in y_bar.chunks_exact(self.nodes).enumerate() {
                    f_bar[..self.nodes].copy_from_slice(y_bar);
                    let (f_bar, _) = f_bar.as_chunks::<LANES>();
                    for m in b * agents..(b + 1) * agents {
                        let xi = x[1][m];
                        (pushed[m], slid[m]) =
                            if self.ring { self.feel::<true>(f_bar, xi) } else { self.feel::<false>(f_bar, xi) };
                    }
                }
            },
        );
        if let Some(action_bar) = bars.get(0) {
            action_bar.chunks_exact_mut(k).zip(&*pushed).for_each(|(action_bar, p)| action_bar[0] += p);
        }
        if let Some(xi_bar) = bars.get(1) {
            for (m, xi_bar) in xi_bar.iter_mut().enumerate() {
                *xi_bar += 2.0 * self.inverse * x[0][m * k] * slid[m];
            }
        }
    }
}
