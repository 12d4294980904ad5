//! Actuator limits.

use crate::Real;
use cinoc_tape::kernel::math::tanh;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// `alive · limit · tanh(raw)`, one limit per component. Inputs: raw actions `[batch, agents, k]`, alive (0 or 1) `[batch, agents]`.
pub struct Saturate {
    limits: Vec<Real>,
}

impl Saturate {
    /// The largest magnitude of each component.
    pub fn new(limits: Vec<Real>) -> Self {
        Self { limits }
    }
}

impl Op for Saturate {
    fn name(&self) -> &'static str {
        "saturate"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0].last() == self.limits.len() && x[0].rows() == x[1].count();
        assert!(fits, "saturate: actions {:?}, alive {:?}, {} limits", x[0], x[1], self.limits.len());
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let k = self.limits.len();
        for (m, y) in y.chunks_exact_mut(k).enumerate() {
            for c in 0..k {
                y[c] = x[1][m] * self.limits[c] * tanh(x[0][m * k + c]);
            }
        }
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let k = self.limits.len();
        let Some(raw_bar) = bars.get(0) else { return };
        for (i, raw_bar) in raw_bar.iter_mut().enumerate() {
            let (limit, alive) = (self.limits[i % k], x[1][i / k]);
            let t = y[i] / limit;
            *raw_bar += alive * limit * y_bar[i] * (1.0 - t * t);
        }
    }
}
