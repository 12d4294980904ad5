//! Trainable parameters: one vector, with a name and a shape for each piece.

use crate::kernel::buffer::{Buffer, align};
use crate::{Real, Shape, Tape, Var};

/// One named piece of the parameter vector.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    name: String,
    shape: Shape,
    start: usize,
}

/// Parameters as one vector, so that optimiser, clipping and checkpoints are loops over it.
///
/// Behind the parameters the vector holds the transpose of each matrix, which the backward pass of a layer needs; [`Params::refresh`]
/// renews them after an update.
#[derive(Clone, Default)]
pub struct Params {
    pieces: Vec<Piece>,
    values: Buffer,
    length: usize,
}

impl Params {
    /// Adds a piece; its place in the list is its number.
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

    /// The parameters; gaps between pieces, there for alignment, are zero and stay so.
    pub fn theta(&self) -> &[Real] {
        &self.values[..self.length]
    }

    /// The parameters, to be changed; call [`refresh`](Self::refresh) afterwards.
    pub fn theta_mut(&mut self) -> &mut [Real] {
        &mut self.values[..self.length]
    }

    /// What a tape shares: the parameters and their transposes.
    pub fn shared(&self) -> &[Real] {
        &self.values
    }

    /// How many numbers can be trained (gaps not counted).
    pub fn count(&self) -> usize {
        self.pieces.iter().map(|p| p.shape.count()).sum()
    }

    /// Renews the transposed matrices.
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

    /// Name, shape and values of each piece, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Shape, &[Real])> {
        self.pieces.iter().map(|p| (p.name.as_str(), p.shape, &self.values[p.start..p.start + p.shape.count()]))
    }

    /// The values of piece `name`, in a vector laid out like the parameters (a gradient, say).
    pub fn slice<'a>(&self, name: &str, vector: &'a [Real]) -> Option<&'a [Real]> {
        self.pieces.iter().find(|p| p.name == name).map(|p| &vector[p.start..p.start + p.shape.count()])
    }

    /// The pieces of a vector laid out like the parameters, one after the other without gaps.
    pub fn dense(&self, vector: &[Real]) -> Vec<Real> {
        self.pieces.iter().flat_map(|p| &vector[p.start..p.start + p.shape.count()]).copied().collect()
    }

    /// Sets all parameters, given one after the other without gaps.
    ///
    /// # Panics
    /// Unless there are as many as [`count`](Self::count) says.
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

    /// Sets piece `name`; false if there is none of that name and size.
    pub fn set(&mut self, name: &str, values: &[Real]) -> bool {
        let Some(p) = self.pieces.iter().find(|p| p.name == name && p.shape.count() == values.len()) else { return false };
        self.values[p.start..p.start + values.len()].copy_from_slice(values);
        self.refresh();
        true
    }

    /// The parameters as variables of a tape that shares [`Params::shared`].
    pub fn leaves<'t>(&'t self, tape: &'t Tape<'t>, train: bool) -> Leaves<'t> {
        Leaves { params: self, tape, train }
    }
}

/// Parameters as variables of one tape.
#[derive(Clone, Copy)]
pub struct Leaves<'t> {
    params: &'t Params,
    tape: &'t Tape<'t>,
    train: bool,
}

/// Weights, transposed weights (a constant) and biases of a layer.
#[derive(Clone, Copy)]
pub struct Layer<'t> {
    /// `[in, out]`
    pub w: Var<'t>,
    /// `[out, in]`, for the backward pass.
    pub w_t: Var<'t>,
    /// `[out]`, or `[rows, out]` where each row has its own.
    pub b: Var<'t>,
}

impl<'t> Leaves<'t> {
    /// The tape these leaves belong to.
    pub fn tape(&self) -> &'t Tape<'t> {
        self.tape
    }

    /// Piece number `i`.
    pub fn get(&self, i: usize) -> Var<'t> {
        let p = &self.params.pieces[i];
        self.tape.parameter(p.start, p.shape, self.train)
    }

    /// The layer whose weights are piece `i`, without biases.
    pub fn linear(&self, i: usize) -> Layer<'t> {
        let outputs = self.params.pieces[i].shape.last();
        self.with_bias(i, self.tape.zeros([outputs]))
    }

    /// The layer whose weights are piece `i` and whose biases are piece `i + 1`.
    pub fn layer(&self, i: usize) -> Layer<'t> {
        self.with_bias(i, self.get(i + 1))
    }

    fn with_bias(&self, i: usize, b: Var<'t>) -> Layer<'t> {
        let p = &self.params.pieces[i];
        let &[rows, columns] = p.shape.sizes() else { panic!("{} is no matrix: {:?}", p.name, p.shape) };
        let w_t = self.tape.parameter(self.params.length + p.start, [columns, rows], false);
        Layer { w: self.get(i), w_t, b }
    }
}
