//! Scatter of window contributions to an image.

use super::conv::{Sizes, product, wide};
use super::{arch, lane};
use crate::Real;
use pulp::{Simd, WithSimd};

/// Number of sheets that [`spread`] needs; windows of one sheet do not overlap.
pub fn sheets(sizes: Sizes) -> usize {
    3usize.div_ceil(sizes.stride)
}

/// Sums the contributions of all windows to each pixel of a padded image: `products [rows·columns, wide(9·inputs)]`
/// holds the contribution to each window. Neighbouring windows go to different `sheets` of the size of the padded
/// image, which the caller sums: no number is read back right after its store. Numbers that no window reaches are
/// unchanged.
///
/// # Panics
/// If a slice is shorter than its sizes require.
pub fn spread(sizes: Sizes, products: &[Real], sheets: &mut [Real]) {
    let (rows, columns) = sizes.result();
    assert!(
        sheets.len() >= product([self::sheets(sizes), sizes.padded()]),
        "conv: sheets of {} numbers for {sizes:?}",
        sheets.len()
    );
    assert!(
        products.len() >= product([rows, columns, wide(sizes.inputs.saturating_mul(9))]),
        "conv: {} products for {sizes:?}",
        products.len()
    );
    arch().dispatch(Spread { sizes, products, sheets: sheets.as_mut_ptr() });
}

struct Spread<'a> {
    sizes: Sizes,
    products: &'a [Real],
    sheets: *mut Real,
}

impl WithSimd for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sizes { height, inputs, stride, .. } = self.sizes;
        let (lanes, run, (rows, columns)) = (lane::count::<S>(), 3 * inputs, self.sizes.result());
        let width = wide(9 * inputs);
        let rest = lane::first(simd, run % lanes);
        for line in 0..height + 2 {
            // Row `line` of the image is row `k` of the windows of result row `(line − k)/stride`.
            let reach = |k: usize| line >= k && (line - k).is_multiple_of(stride) && (line - k) / stride < rows;
            let from = |k: usize| (line - k) / stride * columns * width + k * run;
            let mut starts = [0; 3];
            let mut count = 0;
            for k in (0..3).filter(|k| reach(*k)) {
                starts[count] = from(k);
                count += 1;
            }
            // SAFETY: `spread` checked the lengths; a window lies inside the padded image.
            unsafe {
                match count {
                    3 => self.line::<S, 3>(simd, line, starts, rest),
                    2 => self.line::<S, 2>(simd, line, starts, rest),
                    1 => self.line::<S, 1>(simd, line, starts, rest),
                    _ => {}
                }
            }
        }
    }
}

impl Spread<'_> {
    /// Sums up one row of the image, where `K` rows of windows reach it.
    ///
    /// # Safety
    /// The slices are as long as [`spread`] checks; `line` is a row of the padded image, the first `K` of `starts` are
    /// runs of rows of products, and `rest` masks what a run has beyond whole vectors.
    #[inline(always)]
    unsafe fn line<S: Simd, const K: usize>(&self, simd: S, line: usize, starts: [usize; 3], rest: lane::Mask<S>) {
        let Sizes { inputs, stride, .. } = self.sizes;
        let (lanes, run, columns) = (lane::count::<S>(), 3 * inputs, self.sizes.result().1);
        let (apart, width, pitch) = (sheets(self.sizes), wide(9 * inputs), self.sizes.pitch());
        let mut sheet = 0;
        for column in 0..columns {
            // SAFETY: the window of each column lies inside the row of its sheet, its run inside the products; the last
            // vector is masked.
            unsafe {
                let to = self.sheets.add(sheet * self.sizes.padded() + line * pitch + column * stride * inputs);
                let from = starts.map(|start| self.products.as_ptr().add(start + column * width));
                let mut i = 0;
                while i + lanes <= run {
                    let mut sum = lane::load(simd, from[0].add(i));
                    for from in &from[1..K] {
                        sum = lane::add(simd, sum, lane::load(simd, from.add(i)));
                    }
                    lane::store(simd, to.add(i), sum);
                    i += lanes;
                }
                if i < run {
                    let mut sum = lane::load_masked(simd, rest, from[0].add(i));
                    for from in &from[1..K] {
                        sum = lane::add(simd, sum, lane::load_masked(simd, rest, from.add(i)));
                    }
                    lane::store_masked(simd, rest, to.add(i), sum);
                }
            }
            sheet = if sheet + 1 == apart { 0 } else { sheet + 1 };
        }
    }
}
