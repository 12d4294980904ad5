//! Operations and their derivatives.

mod arithmetic;
mod arrange;
mod conv;
mod conv_branch;
mod conv_pass;
mod dense;
mod function;
mod local_dense;
mod matmul;
mod reduce;
mod soft_dense;

pub use arithmetic::{Affine, Binary};
pub use arrange::Arrange;
pub use conv::Conv3x3;
pub use conv_branch::ConvBranch;
pub use dense::{Activation, Dense};
pub use function::Function;
pub use local_dense::LocalDense;
pub use matmul::MatMul;
pub use reduce::Reduce;
pub use soft_dense::SoftDense;

use crate::backward::{Slot, Written};
use crate::pending_rows::{PendingRows, add_rows};
use crate::{Real, Shape, Var};
use std::fmt;
use std::ops::Index;
use std::sync::Arc;

/// Maximum number of inputs of an operation.
pub const MAX_INPUTS: usize = 8;

/// A differentiable operation. Derivatives written by hand are in implementations of this trait only.
///
/// Results go into borrowed buffers; implementations allocate nothing.
///
/// ```
/// use cinoc_tape::check::{assert_derivative, noise};
/// use cinoc_tape::op::{Cotangents, Inputs, Op};
/// use cinoc_tape::{Real, Shape};
/// use std::sync::Arc;
///
/// struct Cube;
///
/// impl Op for Cube {
///     fn name(&self) -> &'static str {
///         "cube"
///     }
///
///     fn shape(&self, x: &[Shape]) -> Shape {
///         x[0]
///     }
///
///     fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
///         y.iter_mut().zip(&x[0]).for_each(|(y, x)| *y = x * x * x);
///     }
///
///     fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], x_bar: &mut Cotangents, _: &mut [Real]) {
///         let Some(x_bar) = x_bar.get(0) else { return };
///         x_bar.iter_mut().zip(y_bar).zip(&x[0]).for_each(|((x_bar, y_bar), x)| *x_bar += 3.0 * x * x * y_bar);
///     }
/// }
///
/// let cube = Arc::new(Cube);
/// assert_derivative(&[(&[4], &noise(4, 1))], |v| v[0].apply(&cube));
/// ```
pub trait Op: Send + Sync {
    /// Short name, for messages and profiles.
    fn name(&self) -> &'static str;

    /// Shape of the result.
    ///
    /// # Panics
    /// If the shapes do not match.
    fn shape(&self, x: &[Shape]) -> Shape;

    /// Count of numbers that the forward pass saves for the backward pass, besides inputs and result.
    fn saved(&self, _x: &[Shape]) -> usize {
        0
    }

    /// Length of the working space of either pass; its initial content is arbitrary.
    fn scratch(&self, _x: &[Shape]) -> usize {
        0
    }

    /// Multiplications and additions of layers and convolutions in the forward pass, for profiles; 0 for others.
    fn flops(&self, _x: &[Shape]) -> usize {
        0
    }

    /// Computes every element of `y` and of `saved`.
    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], scratch: &mut [Real]);

    /// Adds `y_bar · ∂y/∂x` to the cotangent of each input that has one.
    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], saved: &[Real], x_bar: &mut Cotangents, scratch: &mut [Real]);

    /// Expresses the operation by others, in the end by primitive ones ([`Recorded::is_primitive`]), for
    /// [`Tape::primitives_only`](crate::Tape::primitives_only); `None` for primitive operations and those without such
    /// an expression.
    fn decompose<'t>(&self, _x: &[Var<'t>]) -> Option<Var<'t>> {
        None
    }
}

/// Values (by index) and shapes of the inputs.
#[derive(Debug)]
pub struct Inputs<'a> {
    pub(crate) values: [&'a [Real]; MAX_INPUTS],
    pub(crate) shapes: [Shape; MAX_INPUTS],
    pub(crate) count: usize,
}

impl Inputs<'_> {
    /// Shape of input `i`.
    pub fn shape(&self, i: usize) -> Shape {
        self.shapes[i]
    }

    /// Shapes of all inputs.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes[..self.count]
    }

    /// Number of inputs.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Index<usize> for Inputs<'_> {
    type Output = [Real];
    fn index(&self, i: usize) -> &[Real] {
        self.values[i]
    }
}

/// Cotangents of the inputs, borrowed one at a time since two inputs may be the same variable.
#[derive(Debug)]
pub struct Cotangents<'a> {
    pub(crate) replayed: &'a mut [Real],
    pub(crate) written: &'a mut Written,
    pub(crate) invariant: &'a mut [Real],
    pub(crate) written_invariant: &'a mut Written,
    pub(crate) pending: &'a mut PendingRows,
    pub(crate) shared: &'a mut [Real],
    pub(crate) slots: [Option<Slot>; MAX_INPUTS],
}

impl Cotangents<'_> {
    /// Returns true if input `i` has a cotangent.
    pub fn wanted(&self, i: usize) -> bool {
        self.slots[i].is_some()
    }

    /// Returns the cotangent of input `i`, to be added to; `None` if the input has none.
    pub fn get(&mut self, i: usize) -> Option<&mut [Real]> {
        let (bar, fresh) = self.slot(i)?;
        if fresh {
            bar.fill(0.0);
        }
        Some(bar)
    }

    /// Adds `xᵀ·h_bar` to the cotangent of input `i`, weights `[k, n]`, from rows of `k` and `n` numbers. With `few`,
    /// rows are accumulated over several calls first.
    ///
    /// # Panics
    /// If the row lengths do not match the weights and the rows.
    pub(crate) fn add_rows(&mut self, i: usize, sizes: [usize; 2], x: &[Real], h_bar: &[Real], few: bool) {
        match self.slots[i] {
            Some(Slot::Shared { start, end }) if few => self.pending.add(start..end, sizes, x, h_bar, self.shared),
            _ => {
                if let Some(w_bar) = self.get(i) {
                    add_rows(sizes, x, h_bar, w_bar);
                }
            }
        }
    }

    /// Returns the cotangent of input `i` as [`get`](Self::get) does; if the flag is true it holds arbitrary numbers,
    /// to be overwritten.
    pub fn slot(&mut self, i: usize) -> Option<(&mut [Real], bool)> {
        match self.slots[i]? {
            Slot::Shared { start, end } => Some((&mut self.shared[start..end], false)),
            Slot::Replayed { node, start, end } => {
                let fresh = self.written.mark(node);
                Some((&mut self.replayed[start..end], fresh))
            }
            Slot::Invariant { node, start, end } => {
                let fresh = self.written_invariant.mark(node);
                Some((&mut self.invariant[start..end], fresh))
            }
        }
    }
}

/// A recorded operation: small ones by value, others behind a shared pointer, so that recording never allocates.
///
/// The enum is exhaustive on purpose: a translator of recordings should not compile when an operation is added.
#[derive(Clone)]
pub enum Recorded {
    /// `a ∘ b`
    Binary(Binary),
    /// `a·x + b`
    Affine(Affine),
    /// An elementary function of each element.
    Function(Function),
    /// Copies, selections, joins.
    Arrange(Arrange),
    /// Sums and means.
    Reduce(Reduce),
    /// Matrix product.
    MatMul(MatMul),
    /// A layer of a network.
    Dense(Dense),
    /// A layer on normalised inputs.
    SoftDense(SoftDense),
    /// A locally connected layer.
    LocalDense(LocalDense),
    /// Convolution of images.
    Conv3x3(Conv3x3),
    /// Two convolutions and a layer on their results.
    ConvBranch(ConvBranch),
    /// Any other operation.
    Shared(Arc<dyn Op>),
}

impl Recorded {
    /// Returns true for the primitive operations, which a translator of recordings must support.
    pub fn is_primitive(&self) -> bool {
        use Recorded::{Affine, Arrange, Binary, Function, MatMul, Reduce};
        matches!(self, Binary(_) | Affine(_) | Function(_) | Arrange(_) | Reduce(_) | MatMul(_))
    }

    /// The operation itself.
    pub fn op(&self) -> &dyn Op {
        match self {
            Self::Binary(op) => op,
            Self::Affine(op) => op,
            Self::Function(op) => op,
            Self::Arrange(op) => op,
            Self::Reduce(op) => op,
            Self::MatMul(op) => op,
            Self::Dense(op) => op,
            Self::SoftDense(op) => op,
            Self::LocalDense(op) => op,
            Self::Conv3x3(op) => op,
            Self::ConvBranch(op) => op,
            Self::Shared(op) => &**op,
        }
    }
}

/// Operations are equal if they compute the same; those behind pointers only if the pointers are equal.
impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Binary(a), Self::Binary(b)) => a == b,
            (Self::Affine(a), Self::Affine(b)) => a == b,
            (Self::Function(a), Self::Function(b)) => a == b,
            (Self::Arrange(a), Self::Arrange(b)) => a == b,
            (Self::Reduce(a), Self::Reduce(b)) => a == b,
            (Self::MatMul(a), Self::MatMul(b)) => a == b,
            (Self::Dense(a), Self::Dense(b)) => a == b,
            (Self::SoftDense(a), Self::SoftDense(b)) => a == b,
            (Self::LocalDense(a), Self::LocalDense(b)) => a == b,
            (Self::Conv3x3(a), Self::Conv3x3(b)) => a == b,
            (Self::ConvBranch(a), Self::ConvBranch(b)) => a == b,
            (Self::Shared(a), Self::Shared(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.op().name())
    }
}

macro_rules! recorded {
    ($($name:ident),*) => {$(
        impl From<$name> for Recorded {
            fn from(op: $name) -> Self {
                Self::$name(op)
            }
        }
    )*};
}
recorded!(Binary, Affine, Function, Arrange, Reduce, MatMul, Dense, SoftDense, LocalDense, Conv3x3, ConvBranch);

impl<T: Op + 'static> From<&Arc<T>> for Recorded {
    fn from(op: &Arc<T>) -> Self {
        Self::Shared(op.clone())
    }
}

impl From<&Arc<dyn Op>> for Recorded {
    fn from(op: &Arc<dyn Op>) -> Self {
        Self::Shared(op.clone())
    }
}
