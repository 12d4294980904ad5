//! Smooth limits of a velocity.

use crate::Real;
use cinoc_tape::kernel::math::tanh;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};

/// Saturation `limit·tanh(raw)` of two components, then of the length to `limit` with the direction kept, times the
/// agent's strength. Inputs: raw actions `[batch, agents, 2]`, strength `[batch, agents]`.
pub struct SaturateLength {
    limit: Real,
}

impl SaturateLength {
    /// Creates the operation from the largest length.
    pub fn new(limit: f64) -> Self {
        Self { limit: limit as Real }
    }

    /// Returns tanh of both components, in units of the limit, and the factor that reduces its length to at most one.
    fn unit(raw: &[Real]) -> ([Real; 2], Real) {
        let v = [tanh(raw[0]), tanh(raw[1])];
        let square = v[0] * v[0] + v[1] * v[1];
        // This comparison keeps NaN, so that a diverged episode is detected.
        (v, if square <= 1.0 { 1.0 } else { 1.0 / square.sqrt() })
    }
}

impl Op for SaturateLength {
    fn name(&self) -> &'static str {
        "saturate"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[0].last() == 2 && x[0].rows() == x[1].count(), "saturate: actions {:?}, strength {:?}", x[0], x[1]);
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        for ((y, raw), strength) in y.chunks_exact_mut(2).zip(x[0].chunks_exact(2)).zip(&x[1]) {
            let (v, factor) = Self::unit(raw);
            let full = strength * self.limit * factor;
            (y[0], y[1]) = (full * v[0], full * v[1]);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        if let Some(strength_bar) = bars.get(1) {
            for (m, (strength_bar, y_bar)) in strength_bar.iter_mut().zip(y_bar.chunks_exact(2)).enumerate() {
                let (v, factor) = Self::unit(&x[0][2 * m..][..2]);
                *strength_bar += self.limit * factor * (v[0] * y_bar[0] + v[1] * y_bar[1]);
            }
        }
        let Some(raw_bar) = bars.get(0) else { return };
        for (m, (raw_bar, y_bar)) in raw_bar.chunks_exact_mut(2).zip(y_bar.chunks_exact(2)).enumerate() {
            let (v, factor) = Self::unit(&x[0][2 * m..][..2]);
            let full = x[1][m] * self.limit * factor;
            // A shortened velocity depends on the direction only: the component along it is removed.
            let along = if factor < 1.0 { factor * factor * (v[0] * y_bar[0] + v[1] * y_bar[1]) } else { 0.0 };
            for c in 0..2 {
                raw_bar[c] += full * (y_bar[c] - along * v[c]) * (1.0 - v[c] * v[c]);
            }
        }
    }

    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        let v = x[0].tanh();
        // Squared length, at least one.
        let longer = (v.square().sum_keeping(2) - 1.0).relu() + 1.0;
        let full = x[1] * self.limit / longer.sqrt();
        Some(v * full.repeat(2).reshape(v.shape()))
    }
}
