//! Operations and their derivatives.

mod arithmetic;
mod arrange;
mod conv;
mod conv_branch;
mod conv_pass;
mod dense;
mod function;
mod matmul;
mod placed_dense;
mod reduce;
mod soft_dense;

pub use arithmetic::{Affine, Binary};
pub use arrange::Arrange;
pub use conv::Conv3x3;
pub use conv_branch::ConvBranch;
pub use dense::{Activation, Dense};
pub use function::Function;
pub use matmul::MatMul;
pub use placed_dense::PlacedDense;
pub use reduce::Reduce;
pub use soft_dense::SoftDense;

use crate::backward::{Place, Touched};
use crate::gathered::{Gathered, add_rows};
use crate::{Real, Shape, Var};
use std::ops::Index;
use std::sync::Arc;

/// The most inputs an operation can have.
pub const MAX_INPUTS: usize = 8;

/// A differentiable operation: the only place where a derivative is written by hand.
///
/// Everything is written into buffers that are lent; nothing is allocated.
pub trait Op: Send + Sync {
    /// Short name, for error messages.
    fn name(&self) -> &'static str;

    /// Shape of the result.
    ///
    /// # Panics
    /// When the inputs do not fit.
    fn shape(&self, x: &[Shape]) -> Shape;

    /// How many numbers the forward pass keeps for the backward pass, besides inputs and result.
    fn saved(&self, _x: &[Shape]) -> usize {
        0
    }

    /// How many numbers of working space either pass needs. Their content is arbitrary at the start.
    fn scratch(&self, _x: &[Shape]) -> usize {
        0
    }

    /// Multiplications and additions of layers and convolutions in the forward pass, for profiles; 0 for others.
    fn flops(&self, _x: &[Shape]) -> usize {
        0
    }

    /// Writes every element of `y` (and of `saved`).
    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], scratch: &mut [Real]);

    /// Adds `y_bar · ∂y/∂x` to the cotangent of each input that wants one.
    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], saved: &[Real], x_bar: &mut Cotangents, scratch: &mut [Real]);

    /// The same written with others, in the end with plain ones ([`Recorded::is_plain`]), for tapes that are told to record
    /// [`plainly`](crate::Tape::plainly); none where it is plain itself, or nobody has written it so.
    fn plain<'t>(&self, _x: &[Var<'t>]) -> Option<Var<'t>> {
        None
    }
}

/// The inputs' values (by index) and shapes.
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

    /// All shapes.
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

/// The inputs' cotangents, lent one at a time (two inputs may be the same variable).
pub struct Cotangents<'a> {
    pub(crate) arena: &'a mut [Real],
    pub(crate) touched: &'a mut Touched,
    pub(crate) invariant: &'a mut [Real],
    pub(crate) touched_invariant: &'a mut Touched,
    pub(crate) gathered: &'a mut Gathered,
    pub(crate) shared: &'a mut [Real],
    pub(crate) places: [Option<Place>; MAX_INPUTS],
}

impl Cotangents<'_> {
    /// Whether input `i` wants a cotangent at all.
    pub fn wanted(&self, i: usize) -> bool {
        self.places[i].is_some()
    }

    /// The cotangent of input `i`, to be added to; `None` where nobody asks for it.
    pub fn get(&mut self, i: usize) -> Option<&mut [Real]> {
        let (bar, fresh) = self.slot(i)?;
        if fresh {
            bar.fill(0.0);
        }
        Some(bar)
    }

    /// Adds `xᵀ·h_bar` to the cotangent of input `i`, weights `[k, n]`, from rows of `k` and `n` numbers. `few`: the operation has so few rows that they are
    /// gathered over several calls first.
    ///
    /// # Panics
    /// If the sizes of a row do not fit the weights and the rows.
    pub(crate) fn add_rows(&mut self, i: usize, sizes: [usize; 2], x: &[Real], h_bar: &[Real], few: bool) {
        match self.places[i] {
            Some(Place::Shared { start, end }) if few => self.gathered.add(start..end, sizes, x, h_bar, self.shared),
            _ => {
                if let Some(w_bar) = self.get(i) {
                    add_rows(sizes, x, h_bar, w_bar);
                }
            }
        }
    }

    /// As [`get`](Self::get), but a fresh cotangent (`true`) holds arbitrary numbers and is to be overwritten, not added to.
    pub fn slot(&mut self, i: usize) -> Option<(&mut [Real], bool)> {
        match self.places[i]? {
            Place::Shared { start, end } => Some((&mut self.shared[start..end], false)),
            Place::Arena { node, start, end } => {
                let fresh = self.touched.mark(node);
                Some((&mut self.arena[start..end], fresh))
            }
            Place::Invariant { node, start, end } => {
                let fresh = self.touched_invariant.mark(node);
                Some((&mut self.invariant[start..end], fresh))
            }
        }
    }
}

/// An operation as the tape keeps it: small plain ones by value, larger ones behind a shared pointer, so that recording never allocates.
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
    /// The same with normalised inputs.
    SoftDense(SoftDense),
    /// The same with weights that differ from place to place.
    PlacedDense(PlacedDense),
    /// Convolution of images.
    Conv3x3(Conv3x3),
    /// Convolutions and a layer on their results.
    ConvBranch(ConvBranch),
    /// Anything else.
    Shared(Arc<dyn Op>),
}

impl Recorded {
    /// Whether it is one of the few operations that whoever translates a recording has to know.
    pub fn is_plain(&self) -> bool {
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
            Self::PlacedDense(op) => op,
            Self::Conv3x3(op) => op,
            Self::ConvBranch(op) => op,
            Self::Shared(op) => &**op,
        }
    }
}

/// Whether two operations do the same; those behind pointers only if they are one and the same.
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
            (Self::PlacedDense(a), Self::PlacedDense(b)) => a == b,
            (Self::Conv3x3(a), Self::Conv3x3(b)) => a == b,
            (Self::ConvBranch(a), Self::ConvBranch(b)) => a == b,
            (Self::Shared(a), Self::Shared(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
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
recorded!(Binary, Affine, Function, Arrange, Reduce, MatMul, Dense, SoftDense, PlacedDense, Conv3x3, ConvBranch);

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
