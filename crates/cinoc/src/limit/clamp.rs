//! Clamping of given actions to the actuator limits.

use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Clamping of each action component to ±limit; zero for a failed agent. Inputs: actions `[batch, agents, k]`, strength
/// `[batch, agents]`.
///
/// The strength of an active agent has no effect: the action is given. The derivative is one up to and including the
/// limit. NaN is kept, so that a diverged episode is detected.
pub struct Clamp {
    limits: Vec<Real>,
}

impl Clamp {
    /// Creates the operation from the largest magnitude of each component.
    pub fn new(limits: Vec<Real>) -> Self {
        Self { limits }
    }
}

/// Clamps `x` to ±limit; keeps NaN.
#[inline(always)]
fn clamp(x: Real, limit: Real) -> Real {
    if x > limit {
        limit
    } else if x < -limit {
        -limit
    } else {
        x
    }
}

fn shape(x: &[Shape], width: usize) -> Shape {
    let fits = x[0].last() == width && x[0].rows() == x[1].count();
    assert!(fits, "clamp: actions {:?}, strength {:?}, {width} limits", x[0], x[1]);
    x[0]
}

impl Op for Clamp {
    fn name(&self) -> &'static str {
        "clamp action"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        shape(x, self.limits.len())
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let k = self.limits.len();
        for ((y, action), strength) in y.chunks_exact_mut(k).zip(x[0].chunks_exact(k)).zip(&x[1]) {
            for c in 0..k {
                y[c] = if *strength > 0.0 { clamp(action[c], self.limits[c]) } else { 0.0 };
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let k = self.limits.len();
        let Some(bar) = bars.get(0) else { return };
        for (m, (bar, y_bar)) in bar.chunks_exact_mut(k).zip(y_bar.chunks_exact(k)).enumerate() {
            for c in 0..k {
                if x[1][m] > 0.0 && x[0][m * k + c].abs() <= self.limits[c] {
                    bar[c] += y_bar[c];
                }
            }
        }
    }
}

/// Clamping of the components of a velocity to ±limit, then of its length to `limit` with its direction kept; zero for
/// a failed agent. Inputs: actions `[batch, agents, 2]`, strength `[batch, agents]`.
///
/// For a shortened velocity the derivative along its direction is zero; otherwise as for [`Clamp`].
pub struct ClampLength {
    limit: Real,
}

impl ClampLength {
    /// Tolerance on the squared length: a shortened velocity may exceed the limit by rounding and is not shortened
    /// again, so that clamping is idempotent to the bit.
    const ROUNDING: Real = 16.0 * Real::EPSILON;

    /// Creates the operation from the largest length.
    pub fn new(limit: f64) -> Self {
        Self { limit: limit as Real }
    }

    /// Returns the clamped velocity and the factor that shortens it.
    fn shortened(&self, action: &[Real]) -> ([Real; 2], Real) {
        let v = [clamp(action[0], self.limit), clamp(action[1], self.limit)];
        let [x, y] = v.map(|v| v / self.limit);
        let square = x * x + y * y;
        // This comparison keeps NaN.
        (v, if square <= 1.0 + Self::ROUNDING { 1.0 } else { 1.0 / square.sqrt() })
    }
}

impl Op for ClampLength {
    fn name(&self) -> &'static str {
        "clamp action"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        shape(x, 2)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        for ((y, action), strength) in y.chunks_exact_mut(2).zip(x[0].chunks_exact(2)).zip(&x[1]) {
            let (v, factor) = self.shortened(action);
            (y[0], y[1]) = if *strength > 0.0 { (factor * v[0], factor * v[1]) } else { (0.0, 0.0) };
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let Some(bar) = bars.get(0) else { return };
        for (m, (bar, y_bar)) in bar.chunks_exact_mut(2).zip(y_bar.chunks_exact(2)).enumerate().filter(|(m, _)| x[1][*m] > 0.0) {
            let action = &x[0][2 * m..][..2];
            let (v, factor) = self.shortened(action);
            // Direction of a shortened velocity, and the component of the cotangent along it.
            let n = v.map(|v| factor * v / self.limit);
            let along = if factor < 1.0 { n[0] * y_bar[0] + n[1] * y_bar[1] } else { 0.0 };
            for c in 0..2 {
                if action[c].abs() <= self.limit {
                    bar[c] += factor * (y_bar[c] - along * n[c]);
                }
            }
        }
    }
}
