//! 3×3 convolutions of small images, one at a time, without copying windows.
//!
//! An image `[height, width, channels]` gets a border of zeros. The three pixels of a window's row are then contiguous:
//! a convolution is a product with three runs of `3·channels` numbers per result, blocked as in [`super::gemm`] with
//! pixels × channels of the result in registers. Channels of results are rounded up to whole lines (see [`wide`]).

use super::buffer::align;
use super::{arch, lane, vectorise};
use crate::Real;
use pulp::{Simd, WithSimd};

/// Rounds channels up to whole vectors of any machine; the padding is zero.
pub fn wide(channels: usize) -> usize {
    align(channels)
}

/// Saturating product of sizes: on overflow `usize::MAX`, which no slice has, so that checks fail instead of wrapping
/// around.
pub(super) fn product<const N: usize>(sizes: [usize; N]) -> usize {
    sizes.into_iter().fold(1, usize::saturating_mul)
}

/// Sizes of a convolution with a border of zeros of one pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of the image.
    pub height: usize,
    /// Columns of the image.
    pub width: usize,
    /// Channels of the image.
    pub inputs: usize,
    /// Channels of the result.
    pub outputs: usize,
    /// Pixels from one window to the next.
    pub stride: usize,
}

impl Sizes {
    /// Rows and columns of the result.
    pub fn result(&self) -> (usize, usize) {
        (self.height.div_ceil(self.stride), self.width.div_ceil(self.stride))
    }

    /// Length of an image.
    pub fn image(&self) -> usize {
        product([self.height, self.width, self.inputs])
    }

    /// Length of a result.
    pub fn count(&self) -> usize {
        let (rows, columns) = self.result();
        product([rows, columns, self.outputs])
    }

    /// Length of an image with its border.
    pub fn padded(&self) -> usize {
        product([self.height.saturating_add(2), self.width.saturating_add(2), self.inputs])
    }

    /// Length of one row of an image with its border.
    pub(super) fn pitch(&self) -> usize {
        (self.width + 2) * self.inputs
    }

    /// Copies an image into its padded version; the border is unchanged.
    pub fn pad(&self, image: &[Real], padded: &mut [Real]) {
        let line = self.width * self.inputs;
        for (from, to) in image.chunks_exact(line).zip(padded[self.pitch()..].chunks_exact_mut(self.pitch())) {
            to[self.inputs..][..line].copy_from_slice(from);
        }
    }

    /// Sums padded images and removes the border.
    pub fn unpad(&self, sheets: &[Real], image: &mut [Real]) {
        let line = self.width * self.inputs;
        vectorise(
            #[inline(always)]
            || {
                for (n, sheet) in sheets.chunks_exact(self.padded()).enumerate() {
                    for (to, from) in image.chunks_exact_mut(line).zip(sheet[self.pitch()..].chunks_exact(self.pitch())) {
                        let from = &from[self.inputs..][..line];
                        if n == 0 {
                            to.copy_from_slice(from);
                        } else {
                            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
                        }
                    }
                }
            },
        );
    }

    /// Offset of the window of result `(row, column)` in a padded image.
    pub(super) fn window(&self, row: usize, column: usize) -> usize {
        row * self.stride * self.pitch() + column * self.stride * self.inputs
    }
}

/// Computes `y = x * w + b`, with negative numbers set to zero if `relu`; `padded` is x,
/// `weights [9·inputs, wide(outputs)]`, `bias [wide(outputs)]`.
///
/// # Panics
/// If a slice is shorter than its sizes require.
pub fn forward(sizes: Sizes, padded: &[Real], weights: &[Real], bias: &[Real], relu: bool, y: &mut [Real]) {
    let (rows, columns) = sizes.result();
    let width = wide(sizes.outputs);
    assert!(padded.len() >= sizes.padded(), "conv: image of {} numbers for {sizes:?}", padded.len());
    assert!(
        weights.len() >= product([9, sizes.inputs, width]) && bias.len() >= width,
        "conv: {} weights for {sizes:?}",
        weights.len()
    );
    assert!(y.len() >= sizes.count(), "conv: result of {} numbers for {sizes:?}", y.len());
    if rows > 0 && columns > 0 {
        arch().dispatch(Forward { sizes, padded, weights, bias, relu, y: y.as_mut_ptr() });
    }
}

#[derive(Clone, Copy)]
struct Forward<'a> {
    sizes: Sizes,
    padded: &'a [Real],
    weights: &'a [Real],
    bias: &'a [Real],
    relu: bool,
    y: *mut Real,
}

/// Pixels per block.
const BLOCKS: [usize; 7] = [12, 10, 8, 6, 4, 2, 1];

/// Block size that covers a row of pixels with the least work, counting 3 pixels for the start of a block.
fn block_for(columns: usize, most: usize) -> usize {
    let fitting = BLOCKS.into_iter().filter(|b| *b <= columns.min(most));
    fitting.min_by_key(|b| columns.div_ceil(*b) * (b + 3)).expect("one pixel fits")
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = lane::count::<S>();
        let most = if lane::many_registers::<S>() { 12 } else { 6 };
        let block = block_for(self.sizes.result().1, most);
        let mut j = 0;
        while j < self.sizes.outputs {
            // SAFETY: `forward` checked the lengths; blocks stay inside the result's rows, channels inside
            // `wide(outputs)`.
            unsafe {
                j += if wide(self.sizes.outputs) - j >= 2 * lanes {
                    self.channels::<S, 2>(simd, block, j)
                } else {
                    self.channels::<S, 1>(simd, block, j)
                };
            }
        }
    }
}

impl Forward<'_> {
    /// Computes `V` vectors of channels from `j` on for all pixels; returns the number of channels done.
    ///
    /// # Safety
    /// The slices are as long as [`forward`] checks, `y` has room for the result, `block` is at most the number of
    /// result columns and `j + V·lanes` at most `wide(outputs)`.
    #[inline(always)]
    unsafe fn channels<S: Simd, const V: usize>(self, simd: S, block: usize, j: usize) -> usize {
        // SAFETY: `R` is `block`; the rest is what this function requires.
        unsafe {
            match block {
                12 => self.rows::<S, 12, V>(simd, j),
                10 => self.rows::<S, 10, V>(simd, j),
                8 => self.rows::<S, 8, V>(simd, j),
                6 => self.rows::<S, 6, V>(simd, j),
                4 => self.rows::<S, 4, V>(simd, j),
                2 => self.rows::<S, 2, V>(simd, j),
                _ => self.rows::<S, 1, V>(simd, j),
            }
        }
        V * lane::count::<S>()
    }

    /// Computes all pixels, `R` at a time; the last block of a row may overlap the one before.
    ///
    /// # Safety
    /// As [`channels`](Self::channels), with `R` at most the number of result columns.
    #[inline(always)]
    unsafe fn rows<S: Simd, const R: usize, const V: usize>(self, simd: S, j: usize) {
        let (rows, columns) = self.sizes.result();
        for row in 0..rows {
            let mut column = 0;
            while column < columns {
                // SAFETY: `row` and the `R` columns lie inside the result; the rest is what this function requires.
                unsafe { self.block::<S, R, V>(simd, row, column.min(columns - R), j) };
                column += R;
            }
        }
    }

    /// Computes `R` pixels from `(row, column)` on, `V` vectors of channels from `j` on, in registers.
    ///
    /// # Safety
    /// As [`channels`](Self::channels); pixels `column..column + R` of `row` lie inside the result.
    #[inline(always)]
    unsafe fn block<S: Simd, const R: usize, const V: usize>(self, simd: S, row: usize, column: usize, j: usize) {
        let Sizes { inputs, outputs, stride, .. } = self.sizes;
        let (lanes, width, step) = (lane::count::<S>(), wide(outputs), stride * inputs);
        // SAFETY: the three rows of each window lie inside the padded image, the vectors of weights and biases inside
        // their `wide(outputs)` columns. Stores go to channels below `outputs` of these pixels: vectors that reach
        // beyond are masked.
        unsafe {
            let mut start = [lane::splat(simd, 0.0); V];
            for v in 0..V {
                start[v] = lane::load(simd, self.bias.as_ptr().add(j + v * lanes));
            }
            let mut sum = [start; R];
            let mut right = self.weights.as_ptr().add(j);
            for line in 0..3 {
                let mut left = self.padded.as_ptr().add(self.sizes.window(row, column) + line * self.sizes.pitch());
                // Unrolled by three: the length of a run is a multiple of three.
                for _ in 0..inputs {
                    add(simd, left, step, right, &mut sum);
                    add(simd, left.add(1), step, right.add(width), &mut sum);
                    add(simd, left.add(2), step, right.add(2 * width), &mut sum);
                    left = left.wrapping_add(3);
                    right = right.wrapping_add(3 * width);
                }
            }
            let floor = lane::splat(simd, if self.relu { 0.0 } else { Real::NEG_INFINITY });
            let y = self.y.add((row * self.sizes.result().1 + column) * outputs + j);
            if outputs - j >= V * lanes {
                for r in 0..R {
                    for v in 0..V {
                        lane::store(simd, y.add(r * outputs + v * lanes), lane::max(simd, sum[r][v], floor));
                    }
                }
                return;
            }
            // A copy, so that the sums stay in registers.
            let copy = sum;
            for (r, sum) in copy.iter().enumerate() {
                for (v, sum) in sum.iter().enumerate() {
                    let left = (outputs - j).saturating_sub(v * lanes).min(lanes);
                    lane::store_masked(
                        simd,
                        lane::first(simd, left),
                        y.add(r * outputs + v * lanes),
                        lane::max(simd, *sum, floor),
                    );
                }
            }
        }
    }
}

/// Adds the products of one number of each of `R` windows, `step` apart, with `V` vectors of weights.
///
/// # Safety
/// `left` is readable at `R` numbers `step` apart, `right` at `V` whole vectors.
#[inline(always)]
unsafe fn add<S: Simd, const R: usize, const V: usize>(
    simd: S,
    left: *const Real,
    step: usize,
    right: *const Real,
    sum: &mut [[lane::Vector<S>; V]; R],
) {
    // SAFETY: what is read is what this function requires to be readable.
    unsafe {
        let mut w = [lane::splat(simd, 0.0); V];
        for v in 0..V {
            w[v] = lane::load(simd, right.add(v * lane::count::<S>()));
        }
        for r in 0..R {
            let x = lane::splat(simd, *left.add(r * step));
            for v in 0..V {
                sum[r][v] = lane::fma(simd, x, w[v], sum[r][v]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "conv: image of 64 numbers")]
    fn an_image_whose_size_wraps_around_is_too_small() {
        let sizes = Sizes { height: 2, width: 2, inputs: usize::MAX / 16 + 1, outputs: 1, stride: 1 };
        forward(sizes, &[0.0; 64], &[0.0; 64], &[0.0; 64], false, &mut [0.0; 64]);
    }
}
