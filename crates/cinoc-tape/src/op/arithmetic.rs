//! Element-wise arithmetic; the second operand may be broadcast over leading axes.

use super::{Cotangents, Inputs, Op};
use crate::kernel::parallel;
use crate::{Real, Shape};

/// `a ∘ b`, element by element. `b` has `a`'s shape, a trailing part of it, or one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Binary {
    /// a + b
    Add,
    /// a − b
    Subtract,
    /// a · b
    Multiply,
    /// a / b
    Divide,
}

impl Binary {
    /// Applies to slices of equal length.
    #[inline(always)]
    fn each(self, a: &[Real], b: &[Real], y: &mut [Real]) {
        let each = y.iter_mut().zip(a).zip(b);
        match self {
            Self::Add => each.for_each(|((y, a), b)| *y = a + b),
            Self::Subtract => each.for_each(|((y, a), b)| *y = a - b),
            Self::Multiply => each.for_each(|((y, a), b)| *y = a * b),
            Self::Divide => each.for_each(|((y, a), b)| *y = a / b),
        }
    }
}

impl Op for Binary {
    fn name(&self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
        }
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let (a, b) = (x[0], x[1]);
        assert!(a == b || b.count() == 1 || a.sizes().ends_with(b.sizes()), "{}: {b:?} cannot be repeated to {a:?}", self.name());
        a
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let (a, b) = (&x[0], &x[1]);
        if a.len() == b.len() {
            return parallel::rows(y, 1, 1, |i, y| self.each(&a[i..][..y.len()], &b[i..][..y.len()], y));
        }
        parallel::rows(y, b.len(), b.len(), |i, y| {
            let a = &a[i * b.len()..][..y.len()];
            y.chunks_exact_mut(b.len()).zip(a.chunks_exact(b.len())).for_each(|(y, a)| self.each(a, b, y));
        });
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], _: &[Real], x_bar: &mut Cotangents, _: &mut [Real]) {
        let (a, b) = (&x[0], &x[1]);
        if let Some(a_bar) = x_bar.get(0) {
            for (a_bar, y_bar) in a_bar.chunks_exact_mut(b.len()).zip(y_bar.chunks_exact(b.len())) {
                let each = a_bar.iter_mut().zip(y_bar).zip(b);
                match self {
                    Self::Add | Self::Subtract => each.for_each(|((a_bar, y_bar), _)| *a_bar += y_bar),
                    Self::Multiply => each.for_each(|((a_bar, y_bar), b)| *a_bar += y_bar * b),
                    Self::Divide => each.for_each(|((a_bar, y_bar), b)| *a_bar += y_bar / b),
                }
            }
        }
        if let Some(b_bar) = x_bar.get(1) {
            for (c, y_bar) in y_bar.chunks_exact(b.len()).enumerate() {
                let at = c * b.len();
                for j in 0..b.len() {
                    b_bar[j] += match self {
                        Self::Add => y_bar[j],
                        Self::Subtract => -y_bar[j],
                        Self::Multiply => y_bar[j] * a[at + j],
                        Self::Divide => -y_bar[j] * y[at + j] / b[j],
                    };
                }
            }
        }
    }
}

/// `scale·x + shift` with constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// Factor.
    pub scale: Real,
    /// Summand.
    pub shift: Real,
}

impl Op for Affine {
    fn name(&self) -> &'static str {
        "affine"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        parallel::rows(y, 1, 1, |i, y| y.iter_mut().zip(&x[0][i..]).for_each(|(y, x)| *y = self.scale * x + self.shift));
    }

    fn vjp(&self, _: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], x_bar: &mut Cotangents, _: &mut [Real]) {
        if let Some(x_bar) = x_bar.get(0) {
            x_bar.iter_mut().zip(y_bar).for_each(|(x_bar, y_bar)| *x_bar += self.scale * y_bar);
        }
    }
}
