//! A convolution of many images, one after the other, in working space that is lent.

use super::Cotangents;
use crate::Real;
use crate::kernel::buffer::align;
use crate::kernel::conv::{Sizes, forward, wide};
use crate::kernel::conv_back::{start_back, weights_back};
use crate::kernel::conv_spread::{sheets, spread};
use crate::kernel::gemm::{Left, Right, Start, gemm};

/// Cuts an aligned piece off the working space.
pub(super) fn cut<'a>(space: &mut &'a mut [Real], count: usize) -> &'a mut [Real] {
    let (piece, rest) = std::mem::take(space).split_at_mut(align(count));
    *space = rest;
    &mut piece[..count]
}

/// Copies a matrix of `columns` columns into one whose rows are whole lines.
fn widen(from: &[Real], columns: usize, to: &mut [Real]) {
    for (from, to) in from.chunks_exact(columns).zip(to.chunks_exact_mut(wide(columns))) {
        to[..columns].copy_from_slice(from);
        to[columns..].fill(0.0);
    }
}

/// The forward pass.
pub(super) struct Forward<'a> {
    sizes: Sizes,
    relu: bool,
    padded: &'a mut [Real],
    weights: &'a mut [Real],
    bias: &'a mut [Real],
}

impl<'a> Forward<'a> {
    /// Numbers of working space.
    pub fn scratch(sizes: Sizes) -> usize {
        align(sizes.padded()) + (9 * sizes.inputs + 1) * wide(sizes.outputs)
    }

    /// With weights and biases as the operation has them.
    pub fn new(sizes: Sizes, relu: bool, w: &[Real], b: &[Real], scratch: &mut &'a mut [Real]) -> Self {
        let padded = cut(scratch, sizes.padded());
        let weights = cut(scratch, 9 * sizes.inputs * wide(sizes.outputs));
        let bias = cut(scratch, wide(sizes.outputs));
        padded.fill(0.0);
        widen(w, sizes.outputs, weights);
        widen(b, sizes.outputs, bias);
        Self { sizes, relu, padded, weights, bias }
    }

    /// The result of one image.
    pub fn image(&mut self, x: &[Real], y: &mut [Real]) {
        self.sizes.pad(x, self.padded);
        forward(self.sizes, self.padded, self.weights, self.bias, self.relu, y);
    }
}

/// How the cotangent of an image is computed.
#[derive(Clone, Copy)]
enum Way {
    /// By a convolution of the result's cotangent with turned windows: nothing to scatter, but channels are rounded up.
    Turned(Sizes),
    /// By products of each pixel with all weights, which are added to its window.
    Scattered { columns: usize },
}

impl Way {
    fn of(sizes: Sizes) -> Self {
        if sizes.stride == 1 && 4 * sizes.inputs >= 3 * wide(sizes.inputs) {
            Self::Turned(Sizes { inputs: wide(sizes.outputs), outputs: sizes.inputs, ..sizes })
        } else {
            Self::Scattered { columns: wide(9 * sizes.inputs) }
        }
    }

    /// Pixels of the border around the result's cotangent.
    fn border(self) -> usize {
        match self {
            Self::Turned(_) => 1,
            Self::Scattered { .. } => 0,
        }
    }

    fn weights(self, sizes: Sizes) -> usize {
        match self {
            Self::Turned(turned) => 9 * turned.inputs * wide(turned.outputs),
            Self::Scattered { columns } => align(sizes.outputs * columns),
        }
    }

    /// Zeros in place of a bias, or the sheets that products are added to. They are zero at the start.
    fn sums(self, sizes: Sizes) -> usize {
        match self {
            Self::Turned(turned) => wide(turned.outputs),
            Self::Scattered { .. } => align(sheets(sizes) * sizes.padded()),
        }
    }

    fn products(self, sizes: Sizes) -> usize {
        let (rows, pixels) = sizes.result();
        match self {
            Self::Turned(_) => 0,
            Self::Scattered { columns } => rows * pixels * columns,
        }
    }

    /// The weights in the order in which they are read.
    fn arrange(self, sizes: Sizes, w: &[Real], to: &mut [Real]) {
        let Sizes { inputs, outputs, .. } = sizes;
        to.fill(0.0);
        for (row, w) in w.chunks_exact(outputs).enumerate() {
            let (place, i) = (row / inputs, row % inputs);
            for (o, w) in w.iter().enumerate() {
                match self {
                    Self::Turned(turned) => to[((8 - place) * turned.inputs + o) * wide(inputs) + i] = *w,
                    Self::Scattered { columns } => to[o * columns + row] = *w,
                }
            }
        }
    }

    fn image(self, sizes: Sizes, h_bar: &[Real], weights: &[Real], products: &mut [Real], sums: &mut [Real], x_bar: &mut [Real]) {
        match self {
            Self::Turned(turned) => forward(turned, h_bar, weights, sums, false, x_bar),
            Self::Scattered { columns } => {
                let (rows, pixels) = sizes.result();
                let (left, right) = (Left::rows(h_bar, wide(sizes.outputs)), Right::columns(weights, columns, 0));
                gemm(rows * pixels, columns, sizes.outputs, left, right, products, Start::Zero);
                spread(sizes, products, sums);
                sizes.unpad(sums, x_bar);
            }
        }
    }
}

/// The backward pass; the cotangents of weights and biases add up over the images.
pub(super) struct Backward<'a> {
    sizes: Sizes,
    relu: bool,
    way: Way,
    weights: &'a mut [Real],
    padded: &'a mut [Real],
    w_bar: &'a mut [Real],
    b_bar: &'a mut [Real],
    h_bar: &'a mut [Real],
    sums: &'a mut [Real],
    products: &'a mut [Real],
    part: &'a mut [Real],
}

impl<'a> Backward<'a> {
    fn cotangent(sizes: Sizes) -> usize {
        let ((rows, columns), border) = (sizes.result(), Way::of(sizes).border());
        (rows + 2 * border) * (columns + 2 * border) * wide(sizes.outputs)
    }

    /// Numbers of working space.
    pub fn scratch(sizes: Sizes) -> usize {
        let way = Way::of(sizes);
        let weights = way.weights(sizes) + (9 * sizes.inputs + 1) * wide(sizes.outputs);
        let images = align(sizes.padded()) + align(sizes.image());
        weights + images + Self::cotangent(sizes) + way.sums(sizes) + way.products(sizes)
    }

    /// With weights as the operation has them.
    pub fn new(sizes: Sizes, relu: bool, w: &[Real], scratch: &mut &'a mut [Real]) -> Self {
        let way = Way::of(sizes);
        let mut zeros = |count: usize| {
            let piece = cut(scratch, count);
            piece.fill(0.0);
            piece
        };
        let pass = Self {
            sizes,
            relu,
            way,
            weights: zeros(way.weights(sizes)),
            padded: zeros(sizes.padded()),
            w_bar: zeros(9 * sizes.inputs * wide(sizes.outputs)),
            b_bar: zeros(wide(sizes.outputs)),
            h_bar: zeros(Self::cotangent(sizes)),
            sums: zeros(way.sums(sizes)),
            products: cut(scratch, way.products(sizes)),
            part: cut(scratch, sizes.image()),
        };
        way.arrange(sizes, w, pass.weights);
        pass
    }

    /// One image with its result and that one's cotangent; sets the cotangent of the image or, if it is not `fresh`, adds to it.
    pub fn image(&mut self, x: &[Real], y: &[Real], y_bar: &[Real], x_bar: Option<&mut [Real]>, fresh: bool) {
        let (sizes, border) = (self.sizes, self.way.border());
        start_back(sizes, self.relu, y, y_bar, self.h_bar, border, self.b_bar);
        sizes.pad(x, self.padded);
        weights_back(sizes, self.padded, self.h_bar, border, self.w_bar);
        let Some(x_bar) = x_bar else { return };
        if fresh {
            self.way.image(sizes, self.h_bar, self.weights, self.products, self.sums, x_bar);
        } else {
            self.way.image(sizes, self.h_bar, self.weights, self.products, self.sums, self.part);
            x_bar.iter_mut().zip(&*self.part).for_each(|(x_bar, part)| *x_bar += part);
        }
    }

    /// Adds what came together for the weights, input `first` of the operation, and for the biases behind them.
    pub fn finish(self, bars: &mut Cotangents, first: usize) {
        let columns = self.sizes.outputs;
        for (i, from) in [(first, self.w_bar), (first + 1, self.b_bar)] {
            let Some(to) = bars.get(i) else { continue };
            for (to, from) in to.chunks_exact_mut(columns).zip(from.chunks_exact(wide(columns))) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
            }
        }
    }
}
