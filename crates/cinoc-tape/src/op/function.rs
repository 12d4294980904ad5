//! Element-wise elementary functions.

use super::{Cotangents, Inputs, Op};
use crate::kernel::{math, parallel, vectorise};
use crate::{Real, Shape};

/// Element-wise elementary function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    /// tanh x
    Tanh,
    /// eˣ
    Exp,
    /// sin x
    Sin,
    /// cos x
    Cos,
    /// √x, derivative 0 at 0
    Sqrt,
    /// max(x, 0), derivative 0 at 0
    Relu,
    /// |x|, derivative 0 at 0
    Abs,
    /// x²
    Square,
    /// x clamped to the two bounds
    Clamp(Real, Real),
}

impl Function {
    #[inline(always)]
    fn value(self, x: Real) -> Real {
        match self {
            Self::Tanh => math::tanh(x),
            Self::Exp => math::exp(x),
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Sqrt => x.sqrt(),
            Self::Relu => x.max(0.0),
            Self::Abs => x.abs(),
            Self::Square => x * x,
            Self::Clamp(low, high) => x.clamp(low, high),
        }
    }

    /// Applies to slices of equal length.
    fn values(self, x: &[Real], y: &mut [Real]) {
        // Dispatch outside the loop, so that each loop vectorises.
        macro_rules! each {
            ($($function:pat),*) => {
                match self {
                    $(function @ $function => vectorise(
                        #[inline(always)]
                        || y.iter_mut().zip(x).for_each(|(y, x)| *y = function.value(*x)),
                    ),)*
                }
            };
        }
        each!(Self::Tanh, Self::Exp, Self::Sin, Self::Cos, Self::Sqrt, Self::Relu, Self::Abs, Self::Square, Self::Clamp(..));
    }

    /// Returns the derivative at `x`, given the value `y`.
    #[inline(always)]
    fn slope(self, x: Real, y: Real) -> Real {
        let step = |inside: bool| if inside { 1.0 } else { 0.0 };
        match self {
            Self::Tanh => 1.0 - y * y,
            Self::Exp => y,
            Self::Sin => x.cos(),
            Self::Cos => -x.sin(),
            Self::Sqrt => {
                if y > 0.0 {
                    0.5 / y
                } else {
                    0.0
                }
            }
            Self::Relu => step(x > 0.0),
            Self::Abs => step(x > 0.0) - step(x < 0.0),
            Self::Square => 2.0 * x,
            Self::Clamp(low, high) => step(x >= low && x <= high),
        }
    }
}

impl Op for Function {
    fn name(&self) -> &'static str {
        match self {
            Self::Tanh => "tanh",
            Self::Exp => "exp",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Sqrt => "sqrt",
            Self::Relu => "relu",
            Self::Abs => "abs",
            Self::Square => "square",
            Self::Clamp(..) => "clamp",
        }
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        parallel::rows(y, 1, 2, |first, y| self.values(&x[0][first..][..y.len()], y));
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], _: &[Real], x_bar: &mut Cotangents, _: &mut [Real]) {
        let Some(x_bar) = x_bar.get(0) else { return };
        let x = &x[0];
        macro_rules! each {
            ($($function:pat),*) => {
                match self {
                    $(function @ $function => vectorise(
                        #[inline(always)]
                        || {
                            for (((x_bar, x), y), y_bar) in x_bar.iter_mut().zip(x).zip(y).zip(y_bar) {
                                *x_bar += y_bar * function.slope(*x, *y);
                            }
                        },
                    ),)*
                }
            };
        }
        each!(Self::Tanh, Self::Exp, Self::Sin, Self::Cos, Self::Sqrt, Self::Relu, Self::Abs, Self::Square, Self::Clamp(..));
    }
}
