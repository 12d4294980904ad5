//! Convolution of many images one by one, in borrowed working space.

use super::Cotangents;
use crate::Real;
use crate::kernel::buffer::align;
use crate::kernel::conv::{Sizes, forward, wide};
use crate::kernel::conv_back::{start_back, weights_back};
use crate::kernel::conv_spread::{sheets, spread};
use crate::kernel::gemm::{Left, Right, Start, gemm};

/// Takes an aligned piece off the working space.
pub(super) fn take_scratch<'a>(space: &mut &'a mut [Real], count: usize) -> &'a mut [Real] {
    let (piece, rest) = std::mem::take(space).split_at_mut(align(count));
    *space = rest;
    &mut piece[..count]
}

/// Copies a matrix of `columns` columns into one with rows padded to whole lines.
fn widen(from: &[Real], columns: usize, to: &mut [Real]) {
    for (from, to) in from.chunks_exact(columns).zip(to.chunks_exact_mut(wide(columns))) {
        to[..columns].copy_from_slice(from);
        to[columns..].fill(0.0);
    }
}

/// Forward pass.
pub(super) struct Forward<'a> {
    sizes: Sizes,
    relu: bool,
    padded: &'a mut [Real],
    weights: &'a mut [Real],
    bias: &'a mut [Real],
}

impl<'a> Forward<'a> {
    /// Length of the working space.
    pub fn scratch(sizes: Sizes) -> usize {
        align(sizes.padded()) + (9 * sizes.inputs + 1) * wide(sizes.outputs)
    }

    /// Creates the pass from the weights and biases of the operation.
    pub fn new(sizes: Sizes, relu: bool, w: &[Real], b: &[Real], scratch: &mut &'a mut [Real]) -> Self {
        let padded = take_scratch(scratch, sizes.padded());
        let weights = take_scratch(scratch, 9 * sizes.inputs * wide(sizes.outputs));
        let bias = take_scratch(scratch, wide(sizes.outputs));
        padded.fill(0.0);
        widen(w, sizes.outputs, weights);
        widen(b, sizes.outputs, bias);
        Self { sizes, relu, padded, weights, bias }
    }

    /// Computes the result of one image.
    pub fn image(&mut self, x: &[Real], y: &mut [Real]) {
        self.sizes.pad(x, self.padded);
        forward(self.sizes, self.padded, self.weights, self.bias, self.relu, y);
    }
}

/// Method of computing the cotangent of an image.
#[derive(Clone, Copy)]
enum Method {
    /// Convolution of the result's cotangent with rotated windows: no scatter, but channels are rounded up.
    Turned(Sizes),
    /// Products of each pixel with all weights, added to its window.
    Scattered { columns: usize },
}

impl Method {
    fn of(sizes: Sizes) -> Self {
        if sizes.stride == 1 && 4 * sizes.inputs >= 3 * wide(sizes.inputs) {
            Self::Turned(Sizes { inputs: wide(sizes.outputs), outputs: sizes.inputs, ..sizes })
        } else {
            Self::Scattered { columns: wide(9 * sizes.inputs) }
        }
    }

    /// Width of the border around the result's cotangent.
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

    /// Length of the zeros that replace a bias, or of the sheets that products are added to; zero initially.
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

    /// Reorders the weights by order of access.
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

/// Backward pass; the cotangents of weights and biases accumulate over the images.
pub(super) struct Backward<'a> {
    sizes: Sizes,
    relu: bool,
    method: Method,
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
        let ((rows, columns), border) = (sizes.result(), Method::of(sizes).border());
        (rows + 2 * border) * (columns + 2 * border) * wide(sizes.outputs)
    }

    /// Length of the working space.
    pub fn scratch(sizes: Sizes) -> usize {
        let method = Method::of(sizes);
        let weights = method.weights(sizes) + (9 * sizes.inputs + 1) * wide(sizes.outputs);
        let images = align(sizes.padded()) + align(sizes.image());
        weights + images + Self::cotangent(sizes) + method.sums(sizes) + method.products(sizes)
    }

    /// Creates the pass from the weights of the operation.
    pub fn new(sizes: Sizes, relu: bool, w: &[Real], scratch: &mut &'a mut [Real]) -> Self {
        let method = Method::of(sizes);
        let mut zeros = |count: usize| {
            let piece = take_scratch(scratch, count);
            piece.fill(0.0);
            piece
        };
        let pass = Self {
            sizes,
            relu,
            method,
            weights: zeros(method.weights(sizes)),
            padded: zeros(sizes.padded()),
            w_bar: zeros(9 * sizes.inputs * wide(sizes.outputs)),
            b_bar: zeros(wide(sizes.outputs)),
            h_bar: zeros(Self::cotangent(sizes)),
            sums: zeros(method.sums(sizes)),
            products: take_scratch(scratch, method.products(sizes)),
            part: take_scratch(scratch, sizes.image()),
        };
        method.arrange(sizes, w, pass.weights);
        pass
    }

    /// Processes one image `x` with result `y`: sets its cotangent or, unless `fresh`, adds to it.
    pub fn image(&mut self, x: &[Real], y: &[Real], y_bar: &[Real], x_bar: Option<&mut [Real]>, fresh: bool) {
        let (sizes, border) = (self.sizes, self.method.border());
        start_back(sizes, self.relu, y, y_bar, self.h_bar, border, self.b_bar);
        sizes.pad(x, self.padded);
        weights_back(sizes, self.padded, self.h_bar, border, self.w_bar);
        let Some(x_bar) = x_bar else { return };
        if fresh {
            self.method.image(sizes, self.h_bar, self.weights, self.products, self.sums, x_bar);
        } else {
            self.method.image(sizes, self.h_bar, self.weights, self.products, self.sums, self.part);
            x_bar.iter_mut().zip(&*self.part).for_each(|(x_bar, part)| *x_bar += part);
        }
    }

    /// Adds the accumulated cotangents of the weights (input `first` of the operation) and of the biases (the next
    /// input).
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
