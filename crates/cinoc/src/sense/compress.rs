//! Small and large observations at once.

use crate::Real;
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// `x/√(1 + |x|/s)` of each element: `x` as it is below `s`, like a square root above.
///
/// Errors shrink a hundredfold within an episode; compressed, the policy sees the last per cent as well as the first hundred.
pub struct Compress {
    inverse: Real,
}

impl Compress {
    /// Linear below `scale`.
    pub fn new(scale: f64) -> Self {
        Self { inverse: (1.0 / scale) as Real }
    }
}

impl Op for Compress {
    fn name(&self) -> &'static str {
        "compress"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let x = &x[0];
        vectorise(
            #[inline(always)]
            || y.iter_mut().zip(x).for_each(|(y, x)| *y = x / (1.0 + x.abs() * self.inverse).sqrt()),
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let Some(x_bar) = bars.get(0) else { return };
        let x = &x[0];
        vectorise(
            #[inline(always)]
            || {
                for ((x_bar, x), y_bar) in x_bar.iter_mut().zip(x).zip(y_bar) {
                    let t = x.abs() * self.inverse;
                    *x_bar += y_bar * (1.0 + 0.5 * t) / ((1.0 + t) * (1.0 + t).sqrt());
                }
            },
        );
    }
}
