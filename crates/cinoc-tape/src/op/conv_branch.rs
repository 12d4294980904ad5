//! Fused convolutional branch of a network.

use super::conv_pass::{Backward, Forward, take_scratch};
use super::soft_dense::{forward, start_back, tanh_back};
use super::{Conv3x3, Cotangents, Inputs, Op};
use crate::kernel::buffer::align;
use crate::kernel::conv::Sizes;
use crate::kernel::gemm::{Left, Right, Start, gemm};
use crate::pending_rows::FEW_ROWS;
use crate::{Layer, Real, Shape, Var};

/// `tanh(soft(c)·w + b)` of each image's features `c = relu(relu(x * w₀ + b₀) * w₁ + b₁)`, where `soft(c) = c/(‖c‖+1)`.
///
/// Inputs: `w₀ [9·in, c₀]`, `b₀`, `w₁ [9·c₀, c₁]`, `b₁`, `w [features, out]`, `b [out]`, `w` transposed (a constant),
/// then the images `x […, height·width·in]`.
///
/// An image has ten times more features than numbers. A few images are processed at a time, so that their features stay
/// in the cache. The features are saved or recomputed, as the caller chooses (see [`crate::Tape::rematerialise`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvBranch {
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image.
    pub width: usize,
    /// Numbers per pixel.
    pub channels: usize,
    /// Pixels from one window to the next, in both convolutions.
    pub stride: usize,
    /// Saves the features for the backward pass.
    pub keep: bool,
}

/// Index of the images among the inputs.
const X: usize = 7;

/// Images per chunk in the forward pass: few enough for the cache, enough to amortise reading the weights of the last
/// layer.
const CHUNK: usize = 24;
/// Images per chunk in the backward pass, where cotangents need cache too.
const CHUNK_BACK: usize = 12;

impl ConvBranch {
    /// Sizes of the two convolutions.
    fn sizes(&self, x: &[Shape]) -> [Sizes; 2] {
        let (inputs, middle, outputs, stride) = (self.channels, x[1].count(), x[3].count(), self.stride);
        let first = Sizes { height: self.height, width: self.width, inputs, outputs: middle, stride };
        let (height, width) = first.result();
        [first, Sizes { height, width, inputs: middle, outputs, stride }]
    }
}

impl Op for ConvBranch {
    fn name(&self) -> &'static str {
        "conv branch"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let [first, second] = self.sizes(x);
        let (features, n) = (second.count(), x[5].count());
        let fits = x[0].sizes() == [9 * first.inputs, first.outputs]
            && x[2].sizes() == [9 * second.inputs, second.outputs]
            && x[4].sizes() == [features, n]
            && x[6].sizes() == [n, features]
            && x[X].last() == first.image();
        assert!(fits && features > 0, "conv branch: {self:?}, images {:?}, weights {:?}, {:?}, {:?}", x[X], x[0], x[2], x[4]);
        x[X].with_last(n)
    }

    /// Saved: products of the features with the weights, norms and, if kept, the features.
    fn saved(&self, x: &[Shape]) -> usize {
        let features = if self.keep { self.sizes(x)[1].count() } else { 0 };
        x[X].rows() * (x[5].count() + 1 + features)
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        let [first, second] = self.sizes(x);
        let (middle, features, n) = (align(first.count()), second.count(), x[5].count());
        let passes = Forward::scratch(first) + Forward::scratch(second);
        let (count, count_back) = (x[X].rows().min(CHUNK), x[X].rows().min(CHUNK_BACK));
        let back = Backward::scratch(first) + Backward::scratch(second) + middle;
        let chunk = align(count_back * first.count()) + 2 * align(count_back * features) + align(count_back * n);
        passes + (middle + align(count * features)).max(back + chunk)
    }

    fn flops(&self, x: &[Shape]) -> usize {
        let convolutions: usize = self.sizes(x).map(|sizes| 9 * sizes.inputs * sizes.count()).iter().sum();
        2 * x[X].rows() * (convolutions + x[4].count())
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], mut scratch: &mut [Real]) {
        let [first, second] = self.sizes(x.shapes());
        let (rows, image, n, m, k) = (x.shape(X).rows(), first.image(), x.shape(5).count(), first.count(), second.count());
        let (products, rest) = saved.split_at_mut(rows * n);
        let (norms, kept) = rest.split_at_mut(rows);
        let mut first = Forward::new(first, true, &x[0], &x[1], &mut scratch);
        let mut second = Forward::new(second, true, &x[2], &x[3], &mut scratch);
        let middle = take_scratch(&mut scratch, m);
        for from in (0..rows).step_by(CHUNK) {
            let to = rows.min(from + CHUNK);
            let features = if self.keep { &mut kept[from * k..to * k] } else { &mut scratch[..(to - from) * k] };
            for (x, features) in x[X][from * image..to * image].chunks_exact(image).zip(features.chunks_exact_mut(k)) {
                first.image(x, middle);
                second.image(middle, features);
            }
            let at = from * n..to * n;
            forward(features, &x[4], &x[5], &mut y[at.clone()], &mut products[at], &mut norms[from..to]);
        }
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, mut scratch: &mut [Real]) {
        let [first, second] = self.sizes(x.shapes());
        let (rows, image, n, m, k) = (x.shape(X).rows(), first.image(), x.shape(5).count(), first.count(), second.count());
        let (products, rest) = saved.split_at(rows * n);
        let (norms, kept) = rest.split_at(rows);
        let chunk = rows.min(CHUNK_BACK);
        let mut first_back = Backward::new(first, true, &x[0], &mut scratch);
        let mut second_back = Backward::new(second, true, &x[2], &mut scratch);
        let mut first = Forward::new(first, true, &x[0], &x[1], &mut scratch);
        let mut second = Forward::new(second, true, &x[2], &x[3], &mut scratch);
        let (middles, middle_bar) = (take_scratch(&mut scratch, chunk * m), take_scratch(&mut scratch, m));
        let (features, features_bar) = (take_scratch(&mut scratch, chunk * k), take_scratch(&mut scratch, chunk * k));
        let fresh = bars.slot(X).is_some_and(|(_, fresh)| fresh);
        for from in (0..rows).step_by(chunk) {
            let to = rows.min(from + chunk);
            let count = to - from;
            let x_rows = &x[X][from * image..to * image];
            for (i, (x, middle)) in x_rows.chunks_exact(image).zip(middles.chunks_exact_mut(m)).enumerate() {
                first.image(x, middle);
                if !self.keep {
                    second.image(middle, &mut features[i * k..][..k]);
                }
            }
            let features = if self.keep { &kept[from * k..to * k] } else { &features[..count * k] };
            let (h_bar, features_bar) = (&mut scratch[..count * n], &mut features_bar[..count * k]);
            let at = from * n..to * n;
            tanh_back(&y[at.clone()], &y_bar[at.clone()], h_bar, bars.get(5));
            start_back(features, &products[at], &norms[from..to], h_bar, Some(features_bar), true);
            gemm(count, k, n, Left::rows(h_bar, n), Right::columns(&x[6], k, 0), features_bar, Start::Add);
            bars.add_rows(4, [k, n], features, h_bar, rows < FEW_ROWS);
            let mut x_bar = bars.get(X).map(|x_bar| &mut x_bar[from * image..to * image]);
            for i in 0..count {
                let middle = &middles[i * m..][..m];
                second_back.image(middle, &features[i * k..][..k], &features_bar[i * k..][..k], Some(middle_bar), true);
                let x_bar = x_bar.as_deref_mut().map(|x_bar| &mut x_bar[i * image..][..image]);
                first_back.image(&x_rows[i * image..][..image], middle, middle_bar, x_bar, fresh);
            }
        }
        first_back.finish(bars, 0);
        second_back.finish(bars, 2);
    }

    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        let &Self { height, width, channels: channels_in, stride, .. } = self;
        let first = Conv3x3 { height, width, channels_in, stride, relu: true };
        let (height, width) = (height.div_ceil(stride), width.div_ceil(stride));
        let second = Conv3x3 { height, width, channels_in: x[1].shape().count(), ..first };
        let features = x[X].conv3x3(first, x[0], x[1]).conv3x3(second, x[2], x[3]);
        Some(features.soft_dense(Layer { w: x[4], b: x[5], w_t: x[6] }))
    }
}
