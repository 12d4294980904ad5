//! Motion of agents.

use crate::Real;
use cinoc_tape::kernel::parallel;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Motion `ξ' = ξ + Δt·v`, held inside a box, or around periodic axes; `v` are the last components of each action. Inputs:
/// `ξ [batch, agents, d]`, actions `[batch, agents, k]`.
pub struct Advance {
    dt: Real,
    low: Vec<Real>,
    high: Vec<Real>,
    /// True for each axis whose ends are the same.
    periodic: Vec<bool>,
}

impl Advance {
    /// Creates the motion by `dt·v` inside the box from corner `low` to corner `high`.
    pub fn new(dt: Real, low: Vec<Real>, high: Vec<Real>) -> Self {
        let periodic = vec![false; low.len()];
        Self { dt, low, high, periodic }
    }

    /// Lets agents that leave the box along a periodic axis enter it at the other end.
    pub fn around(self, periodic: &[bool]) -> Self {
        assert_eq!(periodic.len(), self.low.len(), "flags of periodic axes");
        Self { periodic: periodic.to_vec(), ..self }
    }

    /// Lower and upper corner of the box.
    pub fn bounds(&self) -> [&[Real]; 2] {
        [&self.low, &self.high]
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
        parallel::rows(y, d, 4 * d, |first, y| {
            for (m, y) in y.chunks_exact_mut(d).enumerate() {
                let m = first + m;
                for c in 0..d {
                    let moved = x[0][m * d + c] + self.dt * x[1][m * k + k - d + c];
                    // These comparisons keep NaN, so that a diverged episode is detected.
                    y[c] = match moved {
                        _ if self.periodic[c] => {
                            let length = self.high[c] - self.low[c];
                            moved - length * ((moved - self.low[c]) / length).floor()
                        }
                        _ if moved < self.low[c] => self.low[c],
                        _ if moved > self.high[c] => self.high[c],
                        _ => moved,
                    };
                }
            }
        });
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let (d, k) = (self.low.len(), x.shape(1).last());
        // At the edge of the box the derivative is zero.
        let free = |m: usize, c: usize| {
            let moved = x[0][m * d + c] + self.dt * x[1][m * k + k - d + c];
            if self.periodic[c] || (moved >= self.low[c] && moved <= self.high[c]) { y_bar[m * d + c] } else { 0.0 }
        };
        if let Some(xi_bar) = bars.get(0) {
            for (m, xi_bar) in xi_bar.chunks_exact_mut(d).enumerate() {
                xi_bar.iter_mut().enumerate().for_each(|(c, xi_bar)| *xi_bar += free(m, c));
            }
        }
        if let Some(action_bar) = bars.get(1) {
            for (m, action_bar) in action_bar.chunks_exact_mut(k).enumerate() {
                action_bar[k - d..].iter_mut().enumerate().for_each(|(c, action_bar)| *action_bar += self.dt * free(m, c));
            }
        }
    }
}
