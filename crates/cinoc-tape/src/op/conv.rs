//! Convolution of images with 3×3 windows.

use super::conv_pass::{Backward, Forward};
use super::{Cotangents, Inputs, Op};
use crate::kernel::conv::Sizes;
use crate::{Real, Shape, Var};

/// `x * w + b`, zero-padded by one pixel, with or without `max(·, 0)`.
///
/// Inputs: `w [9·in, out]` (its rows run over window rows, window columns and channels), `b [out]`, images
/// `x […, height·width·in]`; output `[…, ⌈height/stride⌉·⌈width/stride⌉·out]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conv3x3 {
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image.
    pub width: usize,
    /// Numbers per pixel.
    pub channels_in: usize,
    /// Pixels from one window to the next.
    pub stride: usize,
    /// Sets negative results to zero.
    pub relu: bool,
}

impl Conv3x3 {
    fn sizes(&self, outputs: usize) -> Sizes {
        Sizes { height: self.height, width: self.width, inputs: self.channels_in, outputs, stride: self.stride }
    }
}

impl Op for Conv3x3 {
    fn name(&self) -> &'static str {
        "conv"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let sizes = self.sizes(x[1].count());
        let fits = x[0].sizes() == [9 * sizes.inputs, sizes.outputs] && x[2].last() == sizes.image();
        assert!(fits && sizes.count() > 0, "conv: {sizes:?}, images {:?}, weights {:?}, biases {:?}", x[2], x[0], x[1]);
        x[2].with_last(sizes.count())
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        let sizes = self.sizes(x[1].count());
        Forward::scratch(sizes).max(Backward::scratch(sizes))
    }

    fn flops(&self, x: &[Shape]) -> usize {
        let sizes = self.sizes(x[1].count());
        2 * 9 * sizes.inputs * sizes.count() * x[2].rows()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], mut scratch: &mut [Real]) {
        let sizes = self.sizes(x.shape(1).count());
        let mut pass = Forward::new(sizes, self.relu, &x[0], &x[1], &mut scratch);
        for (x, y) in x[2].chunks_exact(sizes.image()).zip(y.chunks_exact_mut(sizes.count())) {
            pass.image(x, y);
        }
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, mut scratch: &mut [Real]) {
        let sizes = self.sizes(x.shape(1).count());
        let mut pass = Backward::new(sizes, self.relu, &x[0], &mut scratch);
        let mut x_bar = bars.slot(2);
        for n in 0..x.shape(2).rows() {
            let (from, to) = (n * sizes.image()..(n + 1) * sizes.image(), n * sizes.count()..(n + 1) * sizes.count());
            let fresh = x_bar.as_ref().is_some_and(|(_, fresh)| *fresh);
            let x_bar = x_bar.as_mut().map(|(x_bar, _)| &mut x_bar[from.clone()]);
            pass.image(&x[2][from], &y[to.clone()], &y_bar[to], x_bar, fresh);
        }
        pass.finish(bars, 0);
    }

    /// Gathers the window around each pixel from the image and one appended zero (for pixels beyond the edges), then
    /// multiplies.
    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        let (sizes, shape) = (self.sizes(x[1].shape().count()), x[2].shape());
        let (rows, columns) = sizes.result();
        let inside = |at: usize, offset: usize, count: usize| (at * self.stride + offset).checked_sub(1).filter(|&at| at < count);
        let mut index = Vec::with_capacity(rows * columns * 9 * self.channels_in);
        for pixel in 0..rows * columns {
            for window in 0..9 {
                let at = inside(pixel / columns, window / 3, self.height).zip(inside(pixel % columns, window % 3, self.width));
                let first = at.map(|(i, j)| (i * self.width + j) * self.channels_in);
                index.extend((0..self.channels_in).map(|c| first.map_or(sizes.image(), |first| first + c) as u32));
            }
        }
        let padded = x[2].join(x[2].tape().zeros(shape.with_last(1)));
        let windows = padded.gather(&index.into()).reshape([shape.rows() * rows * columns, 9 * self.channels_in]);
        let y = windows.matmul(x[0]) + x[1];
        Some(if self.relu { y.relu() } else { y }.reshape(shape.with_last(sizes.count())))
    }
}
