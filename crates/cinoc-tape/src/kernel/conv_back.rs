//! Backward pass of a convolution: through the activation, to weights and biases.

use super::conv::{Sizes, product, wide};
use super::{arch, lane};
use crate::Real;
use pulp::{Simd, WithSimd};

/// Length of `rows` × `columns` pixels inside a border.
fn bordered(rows: usize, columns: usize, border: usize, width: usize) -> usize {
    let wider = |size: usize| size.saturating_add(border.saturating_mul(2));
    product([wider(rows), wider(columns), width])
}

/// Computes `w_bar += Σ over pixels of x·h_bar`: the image `padded`, `h_bar [rows, columns, wide(outputs)]` inside a
/// border of `border` pixels, `w_bar [9·inputs, wide(outputs)]`.
///
/// # Panics
/// If a slice is shorter than its sizes require.
pub fn weights_back(sizes: Sizes, padded: &[Real], h_bar: &[Real], border: usize, w_bar: &mut [Real]) {
    let (rows, columns) = sizes.result();
    let width = wide(sizes.outputs);
    assert!(padded.len() >= sizes.padded(), "conv: image of {} numbers for {sizes:?}", padded.len());
    assert!(h_bar.len() >= bordered(rows, columns, border, width), "conv: cotangent of {} numbers for {sizes:?}", h_bar.len());
    assert!(w_bar.len() >= product([9, sizes.inputs, width]), "conv: {} weights for {sizes:?}", w_bar.len());
    arch().dispatch(WeightsBack { sizes, padded, h_bar, border, w_bar: w_bar.as_mut_ptr() });
}

#[derive(Clone, Copy)]
struct WeightsBack<'a> {
    sizes: Sizes,
    padded: &'a [Real],
    h_bar: &'a [Real],
    border: usize,
    w_bar: *mut Real,
}

impl WithSimd for WeightsBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = lane::count::<S>();
        let run = 3 * self.sizes.inputs;
        for line in 0..3 {
            let mut j = 0;
            while j < wide(self.sizes.outputs) {
                let two = wide(self.sizes.outputs) - j >= 2 * lanes;
                let mut i = 0;
                // A run is a multiple of three numbers long.
                while i < run {
                    // SAFETY: `weights_back` checked the lengths; blocks stay inside a run and inside `wide(outputs)`.
                    unsafe {
                        i += match (lane::many_registers::<S>(), run - i, two) {
                            (true, 12.., true) => self.block::<S, 12, 2>(simd, line, i, j),
                            (true, 12.., false) => self.block::<S, 12, 1>(simd, line, i, j),
                            (true, 9.., true) => self.block::<S, 9, 2>(simd, line, i, j),
                            (true, 9.., false) => self.block::<S, 9, 1>(simd, line, i, j),
                            (_, 6.., true) => self.block::<S, 6, 2>(simd, line, i, j),
                            (_, 6.., false) => self.block::<S, 6, 1>(simd, line, i, j),
                            (_, _, true) => self.block::<S, 3, 2>(simd, line, i, j),
                            (_, _, false) => self.block::<S, 3, 1>(simd, line, i, j),
                        };
                    }
                }
                j += if two { 2 * lanes } else { lanes };
            }
        }
    }
}

impl WeightsBack<'_> {
    /// Sums `R` numbers of a run by `V` vectors of channels over all pixels; returns `R`.
    ///
    /// # Safety
    /// The slices are as long as [`weights_back`] checks, `w_bar` too; `line < 3`, `i + R` is at most the length of a
    /// run, `j + V·lanes` at most `wide(outputs)`.
    #[inline(always)]
    unsafe fn block<S: Simd, const R: usize, const V: usize>(self, simd: S, line: usize, i: usize, j: usize) -> usize {
        let Sizes { inputs, outputs, stride, .. } = self.sizes;
        let (lanes, width, step) = (lane::count::<S>(), wide(outputs), stride * inputs);
        let (rows, columns) = self.sizes.result();
        // SAFETY: row `line·3·inputs + i + r` of `w_bar` is below `9·inputs`; windows lie inside the padded image,
        // pixels of the cotangent inside its border, and vectors inside `wide(outputs)` columns.
        unsafe {
            let to = self.w_bar.add((line * 3 * inputs + i) * width + j);
            let mut sum = [[lane::splat(simd, 0.0); V]; R];
            for r in 0..R {
                for v in 0..V {
                    sum[r][v] = lane::load(simd, to.add(r * width + v * lanes));
                }
            }
            for row in 0..rows {
                let mut left = self.padded.as_ptr().add(self.sizes.window(row, 0) + line * self.sizes.pitch() + i);
                let mut right =
                    self.h_bar.as_ptr().add(((row + self.border) * (columns + 2 * self.border) + self.border) * width + j);
                for _ in 0..columns {
                    let mut h = [lane::splat(simd, 0.0); V];
                    for v in 0..V {
                        h[v] = lane::load(simd, right.add(v * lanes));
                    }
                    for r in 0..R {
                        let x = lane::splat(simd, *left.add(r));
                        for v in 0..V {
                            sum[r][v] = lane::fma(simd, x, h[v], sum[r][v]);
                        }
                    }
                    left = left.wrapping_add(step);
                    right = right.wrapping_add(width);
                }
            }
            for r in 0..R {
                for v in 0..V {
                    lane::store(simd, to.add(r * width + v * lanes), sum[r][v]);
                }
            }
        }
        R
    }
}

/// Computes the cotangent before the activation, `h_bar [rows, columns, wide(outputs)]` inside an unchanged border of
/// `border` pixels: `y_bar`, with `relu` only where `y > 0`. Its sum over the pixels is added to `b_bar`.
///
/// # Panics
/// If a slice is shorter than its sizes require.
pub fn start_back(sizes: Sizes, relu: bool, y: &[Real], y_bar: &[Real], h_bar: &mut [Real], border: usize, b_bar: &mut [Real]) {
    let (rows, columns) = sizes.result();
    let width = wide(sizes.outputs);
    let count = sizes.count();
    assert!(y.len() >= count && y_bar.len() >= count, "conv: results of {} numbers for {sizes:?}", y.len());
    assert!(h_bar.len() >= bordered(rows, columns, border, width), "conv: cotangent of {} numbers", h_bar.len());
    assert!(b_bar.len() >= width, "conv: {} biases for {sizes:?}", b_bar.len());
    arch().dispatch(StartBack { sizes, relu, y, y_bar, h_bar: h_bar.as_mut_ptr(), border, b_bar: b_bar.as_mut_ptr() });
}

struct StartBack<'a> {
    sizes: Sizes,
    relu: bool,
    y: &'a [Real],
    y_bar: &'a [Real],
    h_bar: *mut Real,
    border: usize,
    b_bar: *mut Real,
}

impl WithSimd for StartBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (lanes, (rows, columns), outputs) = (lane::count::<S>(), self.sizes.result(), self.sizes.outputs);
        let (width, border) = (wide(outputs), self.border);
        for j in (0..outputs).step_by(lanes) {
            let part = lane::first(simd, lanes.min(outputs - j));
            // SAFETY: `start_back` checked the lengths; the last vector of a pixel's channels is masked.
            unsafe {
                let mut sum = lane::load(simd, self.b_bar.add(j));
                for row in 0..rows {
                    let (mut from, mut to) =
                        (row * columns * outputs + j, ((row + border) * (columns + 2 * border) + border) * width + j);
                    for _ in 0..columns {
                        let mut h = lane::load_masked(simd, part, self.y_bar.as_ptr().add(from));
                        if self.relu {
                            h = lane::where_positive(simd, lane::load_masked(simd, part, self.y.as_ptr().add(from)), h);
                        }
                        sum = lane::add(simd, sum, h);
                        lane::store(simd, self.h_bar.add(to), h);
                        (from, to) = (from + outputs, to + width);
                    }
                }
                lane::store(simd, self.b_bar.add(j), sum);
            }
        }
    }
}
