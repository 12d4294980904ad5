//! Transposition of 16×16 blocks.
//!
//! With AVX-512 a block takes 64 shuffles of whole vectors, several times faster than moving single numbers.

use super::extent;
use super::fft::WIDTH;
use super::parallel::Panel;
use crate::Real;

/// Strides of the blocks of a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Stride between rows.
    pub row: usize,
    /// Stride between blocks.
    pub block: usize,
}

impl Blocks {
    /// Length up to the end of the last of `count` blocks.
    fn end(self, count: usize) -> usize {
        extent(count, self.block, extent(WIDTH, self.row, WIDTH))
    }
}

/// Writes `count` blocks of `x` to `y`, transposed.
///
/// # Panics
/// If a block does not fit.
pub fn transpose(count: usize, x: &[Real], from: Blocks, y: &mut [Real], to: Blocks) {
    if count == 0 {
        return;
    }
    assert!(x.len() >= from.end(count) && y.len() >= to.end(count), "{count} blocks: {} to {} numbers", x.len(), y.len());
    // SAFETY: all blocks fit, as asserted.
    unsafe { exchange(count, x.as_ptr(), from, y.as_mut_ptr(), to) };
}

/// Writes block `b` of `x`, transposed, to row `b` of a panel, from column `column` on with rows at a stride of `row`.
///
/// # Panics
/// If a block does not fit.
pub fn transpose_to_rows(x: &[Real], from: Blocks, panel: &mut Panel, column: usize, row: usize) {
    let count = panel.rows();
    let (start, width, apart) = panel.place();
    let fits = x.len() >= from.end(count) && column.saturating_add(extent(WIDTH, row, WIDTH)) <= width;
    assert!(fits, "{count} blocks: {} numbers to rows of {width} from {column} on", x.len());
    // SAFETY: each block fits into its row, as asserted.
    unsafe { exchange(count, x.as_ptr(), from, start.add(column), Blocks { row, block: apart }) };
}

/// Transposes blocks at the given strides.
///
/// # Safety
/// `x` is readable and `y` writable in all `count` blocks.
unsafe fn exchange(count: usize, x: *const Real, from: Blocks, y: *mut Real, to: Blocks) {
    #[cfg(all(target_arch = "x86_64", not(double)))]
    if let Some(simd) = pulp::x86::V4::try_new() {
        use pulp::NullaryFnOnce;
        struct Shuffle(pulp::x86::V4, usize, *const Real, Blocks, *mut Real, Blocks);
        impl NullaryFnOnce for Shuffle {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Self(simd, count, x, from, y, to) = self;
                for b in 0..count {
                    // SAFETY: as the enclosing function requires.
                    unsafe { wide::block(simd, x.add(b * from.block), from.row, y.add(b * to.block), to.row) };
                }
            }
        }
        return simd.vectorize(Shuffle(simd, count, x, from, y, to));
    }
    for b in 0..count {
        for j in 0..WIDTH {
            for i in 0..WIDTH {
                // SAFETY: as this function requires.
                unsafe { *y.add(b * to.block + j * to.row + i) = *x.add(b * from.block + i * from.row + j) };
            }
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(double)))]
mod wide {
    use pulp::x86::V4;
    use std::arch::x86_64::__m512;

    /// Transposes a block by exchanging pairs, quadruples, then quarters of vectors, twice.
    ///
    /// # Safety
    /// `x` is readable and `y` writable in sixteen rows of sixteen numbers.
    #[inline(always)]
    pub unsafe fn block(simd: V4, x: *const f32, x_row: usize, y: *mut f32, y_row: usize) {
        let avx = simd.avx512f;
        // SAFETY: as this function requires; `simd` proves that the instructions exist.
        unsafe {
            let mut a = [avx._mm512_setzero_ps(); 16];
            for i in 0..16 {
                a[i] = x.add(i * x_row).cast::<__m512>().read_unaligned();
            }
            let mut b = a;
            for i in (0..16).step_by(2) {
                b[i] = avx._mm512_unpacklo_ps(a[i], a[i + 1]);
                b[i + 1] = avx._mm512_unpackhi_ps(a[i], a[i + 1]);
            }
            let wide = |x: __m512| avx._mm512_castps_pd(x);
            let low = |a, b| avx._mm512_castpd_ps(avx._mm512_unpacklo_pd(wide(a), wide(b)));
            let high = |a, b| avx._mm512_castpd_ps(avx._mm512_unpackhi_pd(wide(a), wide(b)));
            for i in (0..16).step_by(4) {
                a[i] = low(b[i], b[i + 2]);
                a[i + 1] = high(b[i], b[i + 2]);
                a[i + 2] = low(b[i + 1], b[i + 3]);
                a[i + 3] = high(b[i + 1], b[i + 3]);
            }
            // a[4g + c] holds columns c, c+4, c+8, c+12 of rows 4g..4g+4, a quarter each.
            for c in 0..4 {
                b[c] = avx._mm512_shuffle_f32x4::<0b10_00_10_00>(a[c], a[4 + c]);
                b[4 + c] = avx._mm512_shuffle_f32x4::<0b11_01_11_01>(a[c], a[4 + c]);
                b[8 + c] = avx._mm512_shuffle_f32x4::<0b10_00_10_00>(a[8 + c], a[12 + c]);
                b[12 + c] = avx._mm512_shuffle_f32x4::<0b11_01_11_01>(a[8 + c], a[12 + c]);
            }
            for c in 0..4 {
                a[c] = avx._mm512_shuffle_f32x4::<0b10_00_10_00>(b[c], b[8 + c]);
                a[8 + c] = avx._mm512_shuffle_f32x4::<0b11_01_11_01>(b[c], b[8 + c]);
                a[4 + c] = avx._mm512_shuffle_f32x4::<0b10_00_10_00>(b[4 + c], b[12 + c]);
                a[12 + c] = avx._mm512_shuffle_f32x4::<0b11_01_11_01>(b[4 + c], b[12 + c]);
            }
            for i in 0..16 {
                y.add(i * y_row).cast::<__m512>().write_unaligned(a[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parallel;
    use super::*;
    use crate::check::noise;

    #[test]
    fn rows_become_columns() {
        let (from, to) = (Blocks { row: 40, block: 16 }, Blocks { row: 16, block: 300 });
        let x = noise(16 * 40, 1);
        let mut y = vec![9.0; 600];
        transpose(2, &x, from, &mut y, to);
        for b in 0..2 {
            for i in 0..16 {
                for j in 0..16 {
                    assert_eq!(y[b * 300 + j * 16 + i], x[b * 16 + i * 40 + j], "block {b}, row {i}, column {j}");
                }
            }
        }
        assert!(y[256..300].iter().all(|&y| y == 9.0), "numbers in between are unchanged");
    }

    #[test]
    fn blocks_go_to_rows_of_a_panel() {
        let (x, mut y) = (noise(2 * 256, 1), vec![9.0; 2 * 700]);
        let from = Blocks { row: 16, block: 256 };
        parallel::for_each_part(parallel::panels(&mut y, 700, 300), |p, mut panel| {
            if p == 1 {
                transpose_to_rows(&x, from, &mut panel, 5, 17);
            }
        });
        let mut expected = vec![9.0; 2 * 700];
        transpose(2, &x, from, &mut expected[305..], Blocks { row: 17, block: 700 });
        assert_eq!(y, expected);
    }

    #[test]
    #[should_panic(expected = "3 blocks: 256 to 256 numbers")]
    fn blocks_whose_distance_wraps_around_do_not_fit() {
        let far = Blocks { row: 16, block: usize::MAX / 2 + 1 };
        transpose(3, &[0.0; 256], Blocks { row: 16, block: 0 }, &mut [0.0; 256], far);
    }
}
