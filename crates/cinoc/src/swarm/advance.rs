//! Motion of agents.

use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// `ξ' = clamp(ξ + Δt·v)` to a box; `v` are the last numbers of each action. Inputs: `ξ [batch, agents, d]`, actions `[batch, agents, k]`.
pub struct Advance {
    dt: Real,
    low: Vec<Real>,
    high: Vec<Real>,
}

impl Advance {
    /// Moves by `dt·v` inside the box.
    pub fn new(dt: Real, low: Vec<Real>, high: Vec<Real>) -> Self {
        Self { dt, low, high }
    }
}

impl Op for Advance {
    fn name(&self) -> &'static str {
        "advance"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0].last() == self.low.len() && x[1].last() >= self.low.len() && x[0].rows() == x[1].rows();
        assert!(fits, "advance: positions {:?}, actions {:?}", x[0], x[1]);
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let (d, k) = (self.low.len(), x.shape(1).last());
        for (m, y) in y.chunks_exact_mut(d).enumerate() {
            for c in 0..d {
                let moved = x[0][m * d + c] + self.dt * x[1][m * k + k - d + c];
                y[c] = moved.max(self.low[c]).min(self.high[c]);
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let (d, k) = (self.low.len(), x.shape(1).last());
        let free = |i: usize| {
            let (m, c) = (i / d, i % d);
            let moved = x[0][i] + self.dt * x[1][m * k + k - d + c];
            if moved >= self.low[c] && moved <= self.high[c] { y_bar[i] } else { 0.0 }
        };
        if let Some(xi_bar) = bars.get(0) {
            xi_bar.iter_mut().enumerate().for_each(|(i, xi_bar)| *xi_bar += free(i));
        }
        if let Some(action_bar) = bars.get(1) {
            for i in 0..y_bar.len() {
                action_bar[i / d * k + k - d + i % d] += self.dt * free(i);
            }
        }
    }
}
