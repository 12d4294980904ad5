//! The push of a swarm on a field on an interval.

use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::math::exp;
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// `f(x) = Σᵢ uᵢ·exp(−(x−ξᵢ)²/2σ²)`, nearest image on a ring; `u` is the first number of each action.
///
/// Never divided by the number of agents: no agent knows how many there are.
/// Inputs: actions `[batch, agents, k]`, positions `[batch, agents, 1]`; output `[batch, N]`.
pub struct Force1d {
    x: Vec<Real>,
    /// 1/√2σ: distances are measured in it.
    inverse: Real,
    scale: Real,
    /// Length of the ring, if it is one.
    ring: Option<Real>,
}

impl Force1d {
    /// Bumps of width `sigma`, multiplied by `scale`.
    pub fn new(grid: &Grid, sigma: f64, scale: f64) -> Self {
        let inverse = 1.0 / (2f64.sqrt() * sigma);
        Self {
            x: grid.positions(0).iter().map(|&x| x as Real).collect(),
            inverse: inverse as Real,
            scale: scale as Real,
            ring: grid.periodic.then_some(grid.lengths[0]),
        }
    }

    /// Distance from an agent to node `i`, in units of √2σ.
    #[inline(always)]
    fn distance(&self, x: Real, xi: Real) -> Real {
        let d = x - xi;
        let d = match self.ring {
            Some(length) => d - length * (d / length).round(),
            None => d,
        };
        d * self.inverse
    }
}

impl Op for Force1d {
    fn name(&self) -> &'static str {
        "force"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[0].sizes()[..2] == x[1].sizes()[..2], "force: actions {:?}, positions {:?}", x[0], x[1]);
        Shape::new(&[x[0].sizes()[0], self.x.len()])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let &[_, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let n = self.x.len();
        vectorise(
            #[inline(always)]
            || {
                for (b, y) in y.chunks_exact_mut(n).enumerate() {
                    y.fill(0.0);
                    for m in b * agents..(b + 1) * agents {
                        let (u, xi) = (self.scale * x[0][m * k], x[1][m]);
                        for (y, x) in y.iter_mut().zip(&self.x) {
                            let d = self.distance(*x, xi);
                            *y += u * exp(-d * d);
                        }
                    }
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let &[batch, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let n = self.x.len();
        // ⟨f̄, b⟩ and ⟨f̄, b·d⟩ of every agent in one pass over the grid.
        let (pushed, slid) = scratch.split_at_mut(batch * agents);
        vectorise(
            #[inline(always)]
            || {
                for (m, (pushed, slid)) in pushed.iter_mut().zip(slid.iter_mut()).enumerate() {
                    let f_bar = &y_bar[m / agents * n..][..n];
                    let (mut sums, mut slides) = ([0.0; 16], [0.0; 16]);
                    let xi = x[1][m];
                    let (f16, f1) = f_bar.as_chunks::<16>();
                    let (x16, x1) = self.x.as_chunks::<16>();
                    for (f, x) in f16.iter().zip(x16) {
                        for i in 0..16 {
                            let d = self.distance(x[i], xi);
                            let weighted = f[i] * exp(-d * d);
                            sums[i] += weighted;
                            slides[i] += weighted * d;
                        }
                    }
                    for (i, (f, x)) in f1.iter().zip(x1).enumerate() {
                        let d = self.distance(*x, xi);
                        let weighted = f * exp(-d * d);
                        sums[i] += weighted;
                        slides[i] += weighted * d;
                    }
                    *pushed = self.scale * sums.iter().sum::<Real>();
                    *slid = self.scale * slides.iter().sum::<Real>();
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

    fn scratch(&self, x: &[Shape]) -> usize {
        2 * x[1].count()
    }
}
