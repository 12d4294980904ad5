//! The cost of the error at the end of an episode.

use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Offset of the error under the root, which keeps the slope finite.
const SOFTENING: Real = 1e-7;

/// `log·ln(e + floor) + root·(e + 1e-7)^¼` of each error `e`.
///
/// A mean of squares is insensitive to whether an instance ends at 1e-5 or at 1e-6 of its initial error. The logarithm
/// rewards every halving alike; the root emphasises instances with large final errors.
pub struct FinalError {
    /// Weight of the logarithm.
    pub log: Real,
    /// Error below which there is little further reward.
    pub floor: Real,
    /// Weight of the root.
    pub root: Real,
}

impl Op for FinalError {
    fn name(&self) -> &'static str {
        "final error"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        for (y, e) in y.iter_mut().zip(&x[0]) {
            *y = self.log * (e + self.floor).ln() + self.root * (e + SOFTENING).sqrt().sqrt();
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let Some(bar) = bars.get(0) else { return };
        for (bar, (e, y_bar)) in bar.iter_mut().zip(x[0].iter().zip(y_bar)) {
            let soft = e + SOFTENING;
            *bar += y_bar * (self.log / (e + self.floor) + 0.25 * self.root * soft.sqrt().sqrt() / soft);
        }
    }
}
