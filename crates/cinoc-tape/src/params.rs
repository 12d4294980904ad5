//! Trainable parameters: one vector of named pieces.

use crate::kernel::buffer::{Buffer, align};
use crate::{Real, Shape, Tape, Var};

/// One named piece of the parameter vector.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    name: String,
    shape: Shape,
    start: usize,
}

/// Trainable parameters in one vector, so that optimiser, clipping and checkpoints are loops over it.
///
/// Behind the parameters the vector holds the transpose of each matrix, which the backward pass of a layer needs;
/// [`Params::refresh`] updates them.
///
/// ```
/// use cinoc_tape::op::Activation;
/// use cinoc_tape::{Adjoints, Arena, Params, Tape};
///
/// let mut params = Params::default();
/// params.push("w", [2, 1], &[0.5, -0.5]);
/// params.push("b", [1], &[0.1]);
///
/// let tape = Tape::new(Arena::default(), params.shared());
/// let x = tape.constant([1, 2], &[1.0, 2.0]);
/// let loss = x.dense(params.leaves(&tape, true).layer(0), Activation::Tanh).square().sum().id();
/// let arena = tape.into_arena();
///
/// let mut bars = Adjoints::default();
/// bars.start(&arena, params.theta().len());
/// bars.seed(&arena, loss, &[1.0]);
/// arena.backward(params.shared(), &mut bars);
/// assert_eq!(params.slice("w", &bars.shared).map(<[_]>::len), Some(2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Params {
    pieces: Vec<Piece>,
    values: Buffer,
    length: usize,
}

impl Params {
    /// Appends a piece; its number is its position in the list.
    pub fn push(&mut self, name: &str, shape: impl Into<Shape>, values: &[Real]) {
        let shape = shape.into();
        assert_eq!(shape.count(), values.len(), "parameter {name} of shape {shape:?} was given {} numbers", values.len());
        let start = align(self.length);
        self.pieces.push(Piece { name: name.to_owned(), shape, start });
        self.length = align(start + values.len());
        let mut all = Buffer::zeros(2 * self.length);
        all[..start].copy_from_slice(&self.values[..start]);
        all[start..start + values.len()].copy_from_slice(values);
        self.values = all;
        self.refresh();
    }

    /// The parameter vector; alignment gaps between pieces are zero.
    pub fn theta(&self) -> &[Real] {
        &self.values[..self.length]
    }

    /// The parameter vector for an update; call [`refresh`](Self::refresh) afterwards.
    pub fn theta_mut(&mut self) -> &mut [Real] {
        &mut self.values[..self.length]
    }

    /// The slice that tapes share: parameters and transposed matrices.
    pub fn shared(&self) -> &[Real] {
        &self.values
    }

    /// Number of trainable parameters, without gaps.
    pub fn count(&self) -> usize {
        self.pieces.iter().map(|p| p.shape.count()).sum()
    }

    /// Recomputes the transposed matrices.
    pub fn refresh(&mut self) {
        let (theta, transposed) = self.values.split_at_mut(self.length);
        for Piece { shape, start, .. } in &self.pieces {
            let &[rows, columns] = shape.sizes() else { continue };
            for i in 0..rows {
                for j in 0..columns {
                    transposed[start + j * rows + i] = theta[start + i * columns + j];
                }
            }
        }
    }

    /// Iterates over name, shape and values of the pieces, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Shape, &[Real])> {
        self.pieces.iter().map(|p| (p.name.as_str(), p.shape, &self.values[p.start..p.start + p.shape.count()]))
    }

    /// Returns the piece `name` of a vector laid out like the parameters, such as a gradient.
    pub fn slice<'a>(&self, name: &str, vector: &'a [Real]) -> Option<&'a [Real]> {
        self.pieces.iter().find(|p| p.name == name).map(|p| &vector[p.start..p.start + p.shape.count()])
    }

    /// Returns the pieces of a vector laid out like the parameters, without gaps.
    pub fn dense(&self, vector: &[Real]) -> Vec<Real> {
        self.pieces.iter().flat_map(|p| &vector[p.start..p.start + p.shape.count()]).copied().collect()
    }

    /// Sets all parameters from a vector without gaps.
    ///
    /// # Panics
    /// If the length differs from [`count`](Self::count).
    pub fn fill(&mut self, values: &[Real]) {
        assert_eq!(values.len(), self.count(), "a number for each parameter");
        let mut rest = values;
        for Piece { shape, start, .. } in &self.pieces {
            let (now, after) = rest.split_at(shape.count());
            self.values[*start..start + shape.count()].copy_from_slice(now);
            rest = after;
        }
        self.refresh();
    }

    /// Sets the piece `name`; returns false if there is none of that name and size.
    pub fn set(&mut self, name: &str, values: &[Real]) -> bool {
        let Some(p) = self.pieces.iter().find(|p| p.name == name && p.shape.count() == values.len()) else { return false };
        self.values[p.start..p.start + values.len()].copy_from_slice(values);
        self.refresh();
        true
    }

    /// Returns the parameters as variables of a tape that shares [`Params::shared`]; with `train` they have cotangents.
    pub fn leaves<'t>(&'t self, tape: &'t Tape<'t>, train: bool) -> Leaves<'t> {
        Leaves { params: self, tape, train }
    }
}

/// Parameters as variables of one tape.
#[derive(Clone, Copy, Debug)]
pub struct Leaves<'t> {
    params: &'t Params,
    tape: &'t Tape<'t>,
    train: bool,
}

/// Weights, transposed weights (a constant) and biases of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'t> {
    /// `[in, out]`
    pub w: Var<'t>,
    /// `[out, in]`, for the backward pass.
    pub w_t: Var<'t>,
    /// `[out]`, or `[rows, out]` where each row has its own.
    pub b: Var<'t>,
}

impl<'t> Leaves<'t> {
    /// The tape of these variables.
    pub fn tape(&self) -> &'t Tape<'t> {
        self.tape
    }

    /// Returns piece `i`.
    pub fn get(&self, i: usize) -> Var<'t> {
        let p = &self.params.pieces[i];
        self.tape.parameter(p.start, p.shape, self.train)
    }

    /// Returns the layer with weights in piece `i`, without biases.
    pub fn linear(&self, i: usize) -> Layer<'t> {
        let outputs = self.params.pieces[i].shape.last();
        self.with_bias(i, self.tape.zeros([outputs]))
    }

    /// Returns the layer with weights in piece `i` and biases in piece `i + 1`.
    pub fn layer(&self, i: usize) -> Layer<'t> {
        self.with_bias(i, self.get(i + 1))
    }

    fn with_bias(&self, i: usize, b: Var<'t>) -> Layer<'t> {
        let p = &self.params.pieces[i];
        let &[rows, columns] = p.shape.sizes() else { panic!("{} is not a matrix: {:?}", p.name, p.shape) };
        let w_t = self.tape.parameter(self.params.length + p.start, [columns, rows], false);
        Layer { w: self.get(i), w_t, b }
    }
}
