//! Agents that push less where they are many.

use crate::Real;
use crate::config::SwarmConfig;
use crate::neighbours::near_pairs;
use cinoc_pde::Grid;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::sync::Arc;

/// The strength of each agent divided by how crowded its place is, where it is more crowded than `alone` says.
///
/// The crowd around agent i is `Σⱼ (1 − |ξᵢ−ξⱼ|²/6σ²)²` over all living agents nearer than `√6σ`, itself included: a bump with the integral
/// of a push of width σ in the plane (within 4 % on a line) that ends somewhere. Each strength is divided by `max(1, crowd/alone)`.
/// Whatever their number, the agents at a place then push as strongly together as a few would: what a policy learned with few holds with many.
/// Inputs: strength `[batch, agents]`, positions `[batch, agents, d]`; output: strength.
pub struct Share {
    alone: Real,
    reach: Real,
    /// Lengths of the domain along its axes, where leaving at one end means entering at the other.
    around: Option<Vec<Real>>,
}

impl Share {
    /// What a configuration asks for, if anything.
    pub fn of(grid: &Grid, config: &SwarmConfig) -> Option<Arc<Self>> {
        (config.crowd > 0.0).then(|| Arc::new(Self::new(grid, config.sigma, config.crowd)))
    }

    /// For pushes of width `sigma` on `grid`; a crowd up to `alone` is none.
    pub fn new(grid: &Grid, sigma: f64, alone: f64) -> Self {
        let around = grid.periodic.then(|| grid.lengths.clone());
        Self { alone: alone as Real, reach: (6f64.sqrt() * sigma) as Real, around }
    }

    /// Calls `f(i, j, difference of positions along each axis, squared distance)` for each pair of agents within reach.
    fn pairs(&self, xi: &[Real], d: usize, work: &mut [Real], mut f: impl FnMut(usize, usize, [Real; 2], Real)) {
        let apart = |i: usize, j: usize| {
            let mut apart = [0.0; 2];
            for c in 0..d {
                apart[c] = xi[i * d + c] - xi[j * d + c];
                if let Some(lengths) = &self.around {
                    apart[c] -= lengths[c] * (apart[c] / lengths[c]).round();
                }
            }
            apart
        };
        if self.around.is_none() {
            return near_pairs(xi, d, self.reach, work, |i, j, squared| f(i, j, apart(i, j), squared));
        }
        for i in 0..xi.len() / d {
            for j in i + 1..xi.len() / d {
                let apart = apart(i, j);
                let squared = apart[0] * apart[0] + apart[1] * apart[1];
                if squared < self.reach * self.reach {
                    f(i, j, apart, squared);
                }
            }
        }
    }
}

impl Op for Share {
    fn name(&self) -> &'static str {
        "share"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[1].rows() == x[0].count() && x[1].last() <= 2, "share: strength {:?}, positions {:?}", x[0], x[1]);
        x[0]
    }

    /// The crowd around each agent.
    fn saved(&self, x: &[Shape]) -> usize {
        x[0].count()
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        3 * x[0].last()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], crowds: &mut [Real], work: &mut [Real]) {
        let &[_, agents, d] = x.shape(1).sizes() else { unreachable!("checked") };
        let instances = x[0].chunks_exact(agents).zip(x[1].chunks_exact(agents * d));
        for ((strength, xi), crowd) in instances.zip(crowds.chunks_exact_mut(agents)) {
            crowd.fill(1.0);
            self.pairs(xi, d, work, |i, j, _, squared| {
                let near = 1.0 - squared / (self.reach * self.reach);
                let weight = near * near;
                crowd[i] += if strength[j] > 0.0 { weight } else { 0.0 };
                crowd[j] += if strength[i] > 0.0 { weight } else { 0.0 };
            });
        }
        for ((y, strength), crowd) in y.iter_mut().zip(&x[0]).zip(&*crowds) {
            *y = strength / (crowd / self.alone).max(1.0);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], crowds: &[Real], bars: &mut Cotangents, work: &mut [Real]) {
        let &[_, agents, d] = x.shape(1).sizes() else { unreachable!("checked") };
        if let Some(bar) = bars.get(0) {
            for ((bar, y_bar), crowd) in bar.iter_mut().zip(y_bar).zip(crowds) {
                *bar += y_bar / (crowd / self.alone).max(1.0);
            }
        }
        let Some(bar) = bars.get(1) else { return };
        let (crowd_bar, work) = work.split_at_mut(agents);
        for (b, (bar, xi)) in bar.chunks_exact_mut(agents * d).zip(x[1].chunks_exact(agents * d)).enumerate() {
            let here = b * agents..(b + 1) * agents;
            let (strength, crowd, y_bar) = (&x[0][here.clone()], &crowds[here.clone()], &y_bar[here]);
            for (i, crowd_bar) in crowd_bar.iter_mut().enumerate() {
                // y = s·alone/crowd
                let shares = crowd[i] > self.alone;
                *crowd_bar = if shares { -y_bar[i] * strength[i] * self.alone / (crowd[i] * crowd[i]) } else { 0.0 };
            }
            self.pairs(xi, d, work, |i, j, apart, squared| {
                let reached = self.reach * self.reach;
                let felt =
                    if strength[j] > 0.0 { crowd_bar[i] } else { 0.0 } + if strength[i] > 0.0 { crowd_bar[j] } else { 0.0 };
                let slope = -4.0 * (1.0 - squared / reached) / reached * felt;
                for c in 0..d {
                    bar[i * d + c] += slope * apart[c];
                    bar[j * d + c] -= slope * apart[c];
                }
            });
        }
    }
}
