//! Linear operators that are diagonal in Fourier space.

use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Multiplication of each mode of a spectrum by a real or an imaginary number.
///
/// Even derivatives and masks are real, odd derivatives imaginary. Input `[batch, modes..., 2]`.
#[derive(Debug)]
pub struct Symbol {
    /// One number per mode.
    values: Vec<Real>,
    imaginary: bool,
}

impl Symbol {
    /// Creates a real symbol from `σ(k)` of each mode.
    pub fn real(values: Vec<Real>) -> Self {
        Self { values, imaginary: false }
    }

    /// Creates an imaginary symbol from `σ(k)` of each mode.
    pub fn imaginary(values: Vec<Real>) -> Self {
        Self { values, imaginary: true }
    }

    /// Adds the product (overwrites, if `fresh`); the adjoint of an imaginary symbol is its negative.
    fn apply(&self, x: &[Real], y: &mut [Real], fresh: bool, adjoint: bool) {
        let turn = if adjoint { -1.0 } else { 1.0 };
        let rows = 2 * self.values.len();
        for (y, x) in y.chunks_exact_mut(rows).zip(x.chunks_exact(rows)) {
            for ((y, x), s) in y.as_chunks_mut::<2>().0.iter_mut().zip(x.as_chunks::<2>().0).zip(&self.values) {
                let product = if self.imaginary { [-turn * s * x[1], turn * s * x[0]] } else { [s * x[0], s * x[1]] };
                *y = if fresh { product } else { [y[0] + product[0], y[1] + product[1]] };
            }
        }
    }
}

impl Op for Symbol {
    fn name(&self) -> &'static str {
        "symbol"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let modes: usize = x[0].sizes()[1..].iter().product();
        assert_eq!(modes, 2 * self.values.len(), "symbol of {} modes on a spectrum {:?}", self.values.len(), x[0]);
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        self.apply(&x[0], y, true, false);
    }

    fn vjp(&self, _: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        if let Some((x_bar, fresh)) = bars.slot(0) {
            self.apply(y_bar, x_bar, fresh, true);
        }
    }
}
