//! Smooth actuator limits.

use crate::Real;
use cinoc_tape::kernel::math::tanh;
use cinoc_tape::kernel::{parallel, vectorise};
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};

/// Saturation `limit · tanh(raw)`, one limit per component. Inputs: raw actions `[batch, agents, k]`, strength
/// `[batch, agents]`.
///
/// The strength multiplies the pushes, the first components: 1 in normal operation; 0 for a failed agent, which does
/// not move either.
pub struct Saturate {
    limits: Vec<Real>,
    pushes: usize,
}

impl Saturate {
    /// Creates the operation from the largest magnitude of each component, of which the first is the push.
    pub fn new(limits: Vec<Real>) -> Self {
        Self::pushing(limits, 1)
    }

    /// Creates the operation with several pushes.
    pub(super) fn pushing(limits: Vec<Real>, pushes: usize) -> Self {
        Self { limits, pushes }
    }

    /// Factor of an agent's strength on component `c` of its action.
    #[inline(always)]
    fn factor(&self, strength: Real, c: usize) -> Real {
        match c {
            _ if c < self.pushes => strength,
            _ if strength > 0.0 => 1.0,
            _ => 0.0,
        }
    }
}

impl Op for Saturate {
    fn name(&self) -> &'static str {
        "saturate"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0].last() == self.limits.len() && x[0].rows() == x[1].count();
        assert!(fits, "saturate: actions {:?}, strength {:?}, {} limits", x[0], x[1], self.limits.len());
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let k = self.limits.len();
        parallel::rows(y, k, 8 * k, |first, y| {
            vectorise(
                #[inline(always)]
                || {
                    y.iter_mut().zip(&x[0][first * k..]).for_each(|(y, raw)| *y = tanh(*raw));
                    for (y, strength) in y.chunks_exact_mut(k).zip(&x[1][first..]) {
                        for c in 0..k {
                            y[c] *= self.factor(*strength, c) * self.limits[c];
                        }
                    }
                },
            );
        });
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let k = self.limits.len();
        if let Some(raw_bar) = bars.get(0) {
            for (m, raw_bar) in raw_bar.chunks_exact_mut(k).enumerate() {
                for c in 0..k {
                    let (y, y_bar) = (y[m * k + c], y_bar[m * k + c]);
                    let full = self.factor(x[1][m], c) * self.limits[c];
                    // full·(1 − t²) with t = y/full
                    let slope = if full > 0.0 { full - y * y / full } else { 0.0 };
                    raw_bar[c] += y_bar * slope;
                }
            }
        }
        // Only pushes depend on the strength of an active agent.
        if let Some(strength_bar) = bars.get(1) {
            for (m, strength_bar) in strength_bar.iter_mut().enumerate() {
                for c in 0..self.pushes {
                    *strength_bar += self.limits[c] * tanh(x[0][m * k + c]) * y_bar[m * k + c];
                }
            }
        }
    }

    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        let (shape, k) = (x[0].shape(), self.limits.len());
        let push = x[1].reshape(shape.with_last(1));
        let factors = (1..k).fold(push, |factors, c| factors.join(if c < self.pushes { push } else { push.step() }));
        Some(x[0].tanh() * (factors * x[0].tape().constant([k], &self.limits)))
    }
}
