//! Variables and operations on them.

use crate::node::VarId;
use crate::op::{
    Activation, Affine, Arrange, Binary, Conv3x3, ConvBranch, Dense, Function, LocalDense, MatMul, Recorded, Reduce, SoftDense,
};
use crate::{Layer, Real, Shape, Tape};
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::Arc;

/// Handle to a value on a tape. Operations on handles are computed immediately and recorded for the backward sweep.
///
/// In `a ∘ b` the shapes are equal, or `b` is broadcast: its shape is a trailing part of `a`'s, or it has one element.
///
/// ```
/// use cinoc_tape::{Arena, Tape};
///
/// let tape = Tape::new(Arena::default(), &[]);
/// let x = tape.input(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
/// let row = tape.constant(&[2], &[10.0, 20.0]);
/// assert_eq!((x + row).value(), [11.0, 22.0, 13.0, 24.0]);
/// assert_eq!((0.5 * x).mean().value(), [1.25]);
/// ```
#[derive(Clone, Copy)]
pub struct Var<'t> {
    tape: &'t Tape<'t>,
    id: VarId,
}

impl fmt::Debug for Var<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Var({}, {:?})", self.id.0, self.shape())
    }
}

impl<'t> Var<'t> {
    pub(crate) fn new<'p>(tape: &'t Tape<'p>, id: VarId) -> Self
    where
        'p: 't,
    {
        Self { tape, id }
    }

    /// Identifier in the [`crate::Arena`].
    pub fn id(self) -> VarId {
        self.id
    }

    /// The tape of this variable.
    pub fn tape(self) -> &'t Tape<'t> {
        self.tape
    }

    /// Shape of the value.
    pub fn shape(self) -> Shape {
        self.tape.shape(self.id)
    }

    /// Returns a copy of the value.
    pub fn value(self) -> Vec<Real> {
        self.read(<[Real]>::to_vec)
    }

    /// Passes the value to `reader`, which must not record anything.
    pub fn read<T>(self, reader: impl FnOnce(&[Real]) -> T) -> T {
        self.tape.read(self.id, reader)
    }

    /// Records an operation whose only input is this variable.
    pub fn apply(self, op: impl Into<Recorded>) -> Var<'t> {
        self.tape.record(op, [self])
    }

    fn binary(self, other: Var<'t>, op: Binary) -> Var<'t> {
        self.tape.record(op, [self, other])
    }

    /// tanh of each element.
    pub fn tanh(self) -> Var<'t> {
        self.apply(Function::Tanh)
    }

    /// eˣ of each element.
    pub fn exp(self) -> Var<'t> {
        self.apply(Function::Exp)
    }

    /// Sine of each element.
    pub fn sin(self) -> Var<'t> {
        self.apply(Function::Sin)
    }

    /// Cosine of each element.
    pub fn cos(self) -> Var<'t> {
        self.apply(Function::Cos)
    }

    /// Square root of each element; the derivative at 0 is taken as 0.
    pub fn sqrt(self) -> Var<'t> {
        self.apply(Function::Sqrt)
    }

    /// max(x, 0); the derivative at 0 is 0.
    pub fn relu(self) -> Var<'t> {
        self.apply(Function::Relu)
    }

    /// |x|; the derivative at 0 is 0.
    pub fn abs(self) -> Var<'t> {
        self.apply(Function::Abs)
    }

    /// x².
    pub fn square(self) -> Var<'t> {
        self.apply(Function::Square)
    }

    /// x clamped to [low, high]; the derivative outside is 0.
    pub fn clamp(self, low: Real, high: Real) -> Var<'t> {
        self.apply(Function::Clamp(low, high))
    }

    /// 1 where x > 0, else 0; no derivative passes. (Exact but for x below 1e-30.)
    pub fn step(self) -> Var<'t> {
        self.stop_gradient().affine(1e30, 0.0).clamp(0.0, 1.0)
    }

    /// `self` where `condition` is 1 and `other` where it is 0; the shapes are equal, and both are finite.
    pub fn select(self, condition: Var<'t>, other: Var<'t>) -> Var<'t> {
        self * condition + other * condition.affine(-1.0, 1.0)
    }

    /// `scale·x + shift`.
    pub fn affine(self, scale: Real, shift: Real) -> Var<'t> {
        self.apply(Affine { scale, shift })
    }

    /// Returns the value as a constant through which no derivative passes.
    pub fn stop_gradient(self) -> Var<'t> {
        self.tape.detach(self.id)
    }

    /// Sum of all elements, shape `[1]`.
    pub fn sum(self) -> Var<'t> {
        self.apply(Reduce { keep: 0, mean: false })
    }

    /// Mean of all elements, shape `[1]`.
    pub fn mean(self) -> Var<'t> {
        self.apply(Reduce { keep: 0, mean: true })
    }

    /// Sum over all but the first `axes` axes.
    pub fn sum_keeping(self, axes: usize) -> Var<'t> {
        self.apply(Reduce { keep: axes, mean: false })
    }

    /// Mean over all but the first `axes` axes.
    pub fn mean_keeping(self, axes: usize) -> Var<'t> {
        self.apply(Reduce { keep: axes, mean: true })
    }

    /// Matrix product `[rows, k]·[k, n]`; leading axes of `self` count as rows.
    pub fn matmul(self, other: Var<'t>) -> Var<'t> {
        self.tape.record(MatMul, [self, other])
    }

    /// Returns the elements in another shape.
    pub fn reshape(self, shape: impl Into<Shape>) -> Var<'t> {
        self.apply(Arrange::Reshape(shape.into()))
    }

    /// Columns `from..to` of the last axis.
    pub fn columns(self, from: usize, to: usize) -> Var<'t> {
        self.apply(Arrange::Columns(from, to))
    }

    /// Selects elements of the last axis by index, the same in each row; an index may repeat.
    pub fn gather(self, index: &Arc<[u32]>) -> Var<'t> {
        self.apply(Arrange::Gather(index.clone()))
    }

    /// Repeats each element `times` times along a new last axis.
    pub fn repeat(self, times: usize) -> Var<'t> {
        self.apply(Arrange::Repeat(times))
    }

    /// Repeats each row `times` times along a new axis before the last: `[a, b]` becomes `[a, times, b]`.
    pub fn repeat_rows(self, times: usize) -> Var<'t> {
        self.apply(Arrange::RepeatRows(times))
    }

    /// Transposes each group of `rows` rows: `[a·rows, b]` becomes `[a·b, rows]`.
    pub fn transpose_each(self, rows: usize) -> Var<'t> {
        self.apply(Arrange::TransposeEach(rows))
    }

    /// Concatenates along the last axis.
    pub fn join(self, other: Var<'t>) -> Var<'t> {
        self.tape.record(Arrange::Join, [self, other])
    }

    /// Computes a network layer, `activation(x·w + b)`, as one fused operation.
    pub fn dense(self, layer: Layer<'t>, activation: Activation) -> Var<'t> {
        let (seen, wanted) = (self.shape(), layer.w.shape());
        assert_eq!(seen.last(), wanted.rows(), "dense: input {seen:?}, weights {wanted:?}");
        self.dense_from(0, layer, activation)
    }

    /// Computes a network layer with rows `first..first + inputs` of `w`.
    pub fn dense_from(self, first: usize, layer: Layer<'t>, activation: Activation) -> Var<'t> {
        self.tape.record(Dense { activation, first }, [layer.w, layer.b, layer.w_t, self])
    }

    /// Computes a layer on two inputs as if they were joined along the last axis. If `other` is loop-invariant, so is
    /// its product with the weights, which is then recorded separately and computed once for all replays.
    pub fn dense_with(self, other: Var<'t>, layer: Layer<'t>, activation: Activation) -> Var<'t> {
        let (here, there, wanted) = (self.shape().last(), other.shape().last(), layer.w.shape());
        assert_eq!(here + there, wanted.rows(), "dense: inputs of {here} and {there} numbers, weights {wanted:?}");
        if !other.is_loop_invariant() {
            return self.tape.record(Dense { activation, first: 0 }, [layer.w, layer.b, layer.w_t, self, other]);
        }
        let b = other.dense_from(here, layer, Activation::Linear);
        self.dense_from(0, Layer { b, ..layer }, activation)
    }

    /// Computes a locally connected layer: weights `w [positions·in, out]` differ between positions; row r is at
    /// position r modulo their number.
    pub fn local_dense(self, w: Var<'t>, b: Var<'t>, activation: Activation) -> Var<'t> {
        let w_t = w.stop_gradient().transpose_each(self.shape().last());
        self.tape.record(LocalDense { activation }, [w, b, w_t, self])
    }

    /// Returns true if the value is loop-invariant: it depends on constants and parameters alone and is the same in all
    /// replays.
    pub fn is_loop_invariant(self) -> bool {
        self.tape.is_loop_invariant(self.id)
    }

    /// Computes a layer on normalised inputs, `tanh(soft(x)·w + b)`, as one fused operation.
    pub fn soft_dense(self, layer: Layer<'t>) -> Var<'t> {
        self.tape.record(SoftDense, [layer.w, layer.b, layer.w_t, self])
    }

    /// Convolves images with `w [9·in, out]` and adds `b [out]`.
    pub fn conv3x3(self, conv: Conv3x3, w: Var<'t>, b: Var<'t>) -> Var<'t> {
        self.tape.record(conv, [w, b, self])
    }

    /// Computes two convolutions and a layer on their normalised results as one fused operation.
    pub fn conv_branch(self, branch: ConvBranch, convolutions: [(Var<'t>, Var<'t>); 2], layer: Layer<'t>) -> Var<'t> {
        let [(w0, b0), (w1, b1)] = convolutions;
        self.tape.record(branch, [w0, b0, w1, b1, layer.w, layer.b, layer.w_t, self])
    }

    /// Computes `h/(‖h‖+1)` over the last axis from primitive operations.
    pub fn soft(self) -> Var<'t> {
        let rows = self.shape();
        let norm = self.square().sum_keeping(rows.sizes().len() - 1).sqrt();
        self / norm.affine(1.0, 1.0).repeat(rows.last())
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident),*) => {$(
        impl<'t> $trait for Var<'t> {
            type Output = Var<'t>;
            fn $method(self, other: Var<'t>) -> Var<'t> {
                self.binary(other, Binary::$op)
            }
        }
    )*};
}
operators!(Add add Add, Sub sub Subtract, Mul mul Multiply, Div div Divide);

impl<'t> Neg for Var<'t> {
    type Output = Var<'t>;
    fn neg(self) -> Var<'t> {
        self.affine(-1.0, 0.0)
    }
}

impl<'t> Mul<Var<'t>> for Real {
    type Output = Var<'t>;
    fn mul(self, x: Var<'t>) -> Var<'t> {
        x.affine(self, 0.0)
    }
}

impl<'t> Mul<Real> for Var<'t> {
    type Output = Var<'t>;
    fn mul(self, c: Real) -> Var<'t> {
        self.affine(c, 0.0)
    }
}

impl<'t> Add<Real> for Var<'t> {
    type Output = Var<'t>;
    fn add(self, c: Real) -> Var<'t> {
        self.affine(1.0, c)
    }
}

impl<'t> Sub<Real> for Var<'t> {
    type Output = Var<'t>;
    fn sub(self, c: Real) -> Var<'t> {
        self.affine(1.0, -c)
    }
}
