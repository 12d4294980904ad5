//! Matrix products `C = A·B (+ bias)` and `C += A·B` for the tall, thin matrices of a small network.
//!
//! A block of `C` is kept in registers over the inner index: 6×4, 8×3 or 12×2 vectors with 32 registers (AVX-512), 6×2
//! with 16. `A` may be read by rows or by columns, so the same kernel gives the forward product and the gradient of the
//! weights. General libraries lose to this at these sizes (64 rows, 8 to 96 columns) because they pack their operands.

use super::{arch, extent, lane};
use crate::Real;
use pulp::{Simd, WithSimd};

/// Initial value of `C`.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// `C = A·B`
    Zero,
    /// `C += A·B`
    Add,
    /// `C = A·B + bias`, the bias repeated on every row.
    Bias(&'a [Real]),
    /// `C = A·B + D`, with the row stride of `C` for `D`.
    From(&'a [Real]),
}

/// Left operand: element `(i, p)` is `values[i·row + p·column]`.
#[derive(Clone, Copy, Debug)]
pub struct Left<'a> {
    values: &'a [Real],
    row: usize,
    column: usize,
}

impl<'a> Left<'a> {
    /// A matrix with a row stride of `columns`.
    pub fn rows(values: &'a [Real], columns: usize) -> Self {
        Self { values, row: columns, column: 1 }
    }

    /// The transpose of a matrix with a row stride of `columns`.
    pub fn transposed(values: &'a [Real], columns: usize) -> Self {
        Self { values, row: 1, column: columns }
    }
}

/// Right operand: row `p` starts at `values[p·stride]`; it may be some columns of a wider matrix.
#[derive(Clone, Copy, Debug)]
pub struct Right<'a> {
    values: &'a [Real],
    stride: usize,
}

impl<'a> Right<'a> {
    /// The columns from `first` on of a row-major matrix with `columns` columns.
    pub fn columns(values: &'a [Real], columns: usize, first: usize) -> Self {
        Self { values: &values[first..], stride: columns }
    }
}

/// Computes `C[m,n] = start + A[m,k]·B[k,n]`; with k = 0 the start alone.
///
/// # Panics
/// If a slice is shorter than its sizes require.
pub fn gemm(m: usize, n: usize, k: usize, a: Left, b: Right, c: &mut [Real], start: Start) {
    gemm_strided(m, n, k, a, b, c, n, start);
}

/// Computes the product of [`gemm`] with a row stride of `row` for `C`.
///
/// # Panics
/// If a slice is shorter than its sizes require, or rows overlap.
pub fn gemm_strided(m: usize, n: usize, k: usize, a: Left, b: Right, c: &mut [Real], row: usize, start: Start) {
    if m == 0 || n == 0 {
        return;
    }
    // With k = 0 the operands are not read.
    let left = extent(m, a.row, extent(k, a.column, 1));
    assert!(k == 0 || a.values.len() >= left, "gemm: left operand of {} numbers too short for {m}x{k}", a.values.len());
    assert!(b.values.len() >= extent(k, b.stride, n), "gemm: right operand of {} numbers too short for {k}x{n}", b.values.len());
    assert!(row >= n && c.len() >= extent(m, row, n), "gemm: {} numbers for {m}x{n}, rows {row} apart", c.len());
    if let Start::Bias(bias) = start {
        assert!(bias.len() >= n, "gemm: bias of {} for {n} columns", bias.len());
    }
    if let Start::From(d) = start {
        assert!(d.len() >= extent(m, row, n), "gemm: {} numbers to add to {m}x{n}", d.len());
    }
    arch().dispatch(Gemm { m, n, k, a, b, c, row, start });
}

struct Gemm<'a> {
    m: usize,
    n: usize,
    k: usize,
    a: Left<'a>,
    b: Right<'a>,
    c: &'a mut [Real],
    row: usize,
    start: Start<'a>,
}

impl WithSimd for Gemm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = lane::count::<S>();
        let n = self.n;
        let c = self.c.as_mut_ptr();
        let mut j = 0;
        while j < n {
            let left = n - j;
            let panel =
                Panel { simd, m: self.m, row: self.row, k: self.k, a: self.a, b: self.b, c, start: self.start, j, width: left };
            // SAFETY: `gemm_strided` checked the lengths; every panel stays inside `n` columns and `m` rows.
            unsafe {
                j += match (lane::many_registers::<S>(), left / lanes, !left.is_multiple_of(lanes)) {
                    (true, 4.., _) => panel.run::<6, 4, false>(),
                    (true, 3, false) => panel.run::<8, 3, false>(),
                    (true, 2, true) => panel.run::<8, 3, true>(),
                    (true, 2, false) => panel.run::<12, 2, false>(),
                    (true, 1, true) => panel.run::<12, 2, true>(),
                    (true, 1, false) => panel.run::<12, 1, false>(),
                    (true, _, _) => panel.run::<12, 1, true>(),
                    (false, 2.., _) => panel.run::<6, 2, false>(),
                    (false, 1, true) => panel.run::<6, 2, true>(),
                    (false, 1, false) => panel.run::<6, 1, false>(),
                    (false, _, _) => panel.run::<6, 1, true>(),
                };
            }
        }
    }
}

/// A group of columns of `C`, starting at `j`.
#[derive(Clone, Copy)]
struct Panel<'a, S> {
    simd: S,
    m: usize,
    /// Row stride of `C`.
    row: usize,
    k: usize,
    a: Left<'a>,
    b: Right<'a>,
    c: *mut Real,
    start: Start<'a>,
    j: usize,
    width: usize,
}

impl<S: Simd> Panel<'_, S> {
    /// Computes all rows of `V` vectors of columns, `R` rows at a time; returns the number of columns done.
    /// With `PART` the last vector has fewer columns than lanes.
    ///
    /// # Safety
    /// The operands are as long as [`gemm_strided`] checks; `width` columns are left from `j` on, at least `V` vectors
    /// of them, or with `PART` more than `V − 1`.
    #[inline(always)]
    unsafe fn run<const R: usize, const V: usize, const PART: bool>(self) -> usize {
        let mut i = 0;
        // SAFETY: each block has rows below `m`; the rest is what this function requires.
        unsafe {
            while i + R <= self.m {
                self.block::<R, V, PART>(i);
                i += R;
            }
            while i + 4 <= self.m {
                self.block::<4, V, PART>(i);
                i += 4;
            }
            while i + 2 <= self.m {
                self.block::<2, V, PART>(i);
                i += 2;
            }
            if i < self.m {
                self.block::<1, V, PART>(i);
            }
        }
        (V * lane::count::<S>()).min(self.width)
    }

    /// Computes `R` rows from `i` on in registers.
    ///
    /// # Safety
    /// As [`run`](Self::run), with `i + R ≤ m`.
    #[inline(always)]
    unsafe fn block<const R: usize, const V: usize, const PART: bool>(self, i: usize) {
        let Self { simd, row: n, k, a, .. } = self;
        let lanes = lane::count::<S>();
        let mask = lane::first(simd, if PART { self.width - (V - 1) * lanes } else { lanes });
        // SAFETY: called with vector `v` of a row, whose columns are below `n`: the last, if it is short, is masked.
        let load = |from: *const Real, v: usize| unsafe {
            if PART && v == V - 1 { lane::load_masked(simd, mask, from) } else { lane::load(simd, from) }
        };
        let mut sum = [[lane::splat(simd, 0.0); V]; R];
        // SAFETY: rows `i..i + R` and the columns of these vectors lie inside `C`, `D` and the bias; for each inner
        // index below `k` the elements of the left operand and the row of the right one lie inside their slices.
        unsafe {
            let c = self.c.add(i * n + self.j);
            for v in 0..V {
                match self.start {
                    Start::Zero => {}
                    Start::Add => (0..R).for_each(|r| sum[r][v] = load(c.add(r * n + v * lanes), v)),
                    Start::From(d) => {
                        let d = d.as_ptr().add(i * n + self.j + v * lanes);
                        (0..R).for_each(|r| sum[r][v] = load(d.add(r * n), v));
                    }
                    Start::Bias(bias) => {
                        let bias = load(bias.as_ptr().add(self.j + v * lanes), v);
                        (0..R).for_each(|r| sum[r][v] = bias);
                    }
                }
            }
            // Not `add`: with k = 0 the operands may be empty, and these addresses are out of bounds but never read.
            let mut left = a.values.as_ptr().wrapping_add(i.wrapping_mul(a.row));
            let mut right = self.b.values.as_ptr().wrapping_add(self.j);
            for _ in 0..k {
                let mut row = [lane::splat(simd, 0.0); V];
                for v in 0..V {
                    row[v] = load(right.add(v * lanes), v);
                }
                for r in 0..R {
                    let x = lane::splat(simd, *left.add(r * a.row));
                    for v in 0..V {
                        sum[r][v] = lane::fma(simd, x, row[v], sum[r][v]);
                    }
                }
                left = left.wrapping_add(a.column);
                right = right.wrapping_add(self.b.stride);
            }
            for r in 0..R {
                for v in 0..V {
                    let to = c.add(r * n + v * lanes);
                    if PART && v == V - 1 {
                        lane::store_masked(simd, mask, to, sum[r][v]);
                    } else {
                        lane::store(simd, to, sum[r][v]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_obvious_triple_loop() {
        let number = |i: usize| ((i * 7919 + 13) % 101) as Real / 50.0 - 1.0;
        let all = [(1, 1, 1), (7, 2, 3), (5, 33, 3), (9, 17, 0), (7, 2, 32), (64, 64, 40), (13, 40, 64), (26, 96, 32)];
        for (m, n, k) in all.into_iter().take(if cfg!(miri) { 4 } else { all.len() }) {
            let a: Vec<Real> = (0..m * k).map(number).collect();
            let b: Vec<Real> = (0..k * n).map(|i| number(i + 5)).collect();
            let bias: Vec<Real> = (0..n).map(|i| number(i + 9)).collect();
            let transposed: Vec<Real> = (0..k * m).map(|i| a[(i % m) * k + i / m]).collect();
            let rows: Vec<Real> = (0..m * n).map(|i| number(i + 11)).collect();
            for (start, base) in [(Start::Zero, 0), (Start::Add, 1), (Start::Bias(&bias), 2), (Start::From(&rows), 3)] {
                for left in [Left::rows(&a, k), Left::transposed(&transposed, m)] {
                    let mut c: Vec<Real> = (0..m * n).map(|i| number(i + 3)).collect();
                    let before = c.clone();
                    gemm(m, n, k, left, Right::columns(&b, n, 0), &mut c, start);
                    for i in 0..m {
                        for j in 0..n {
                            let first = [0.0, before[i * n + j], bias[j], rows[i * n + j]][base];
                            let exact: Real = first + (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum::<Real>();
                            assert!((c[i * n + j] - exact).abs() < 1e-4, "{m}x{n}x{k} at {i},{j}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn without_an_inner_index_the_start_remains() {
        for (m, n) in [(1, 1), (13, 40), (24, 64)] {
            let bias = vec![2.0; n];
            for (start, expected) in [(Start::Zero, 0.0), (Start::Add, 1.0), (Start::Bias(&bias), 2.0)] {
                for left in [Left::rows(&[], 0), Left::rows(&[], usize::MAX), Left::transposed(&[], m)] {
                    let mut c = vec![1.0; m * n];
                    gemm(m, n, 0, left, Right::columns(&[], n, 0), &mut c, start);
                    assert!(c.iter().all(|c| *c == expected), "{m}x{n}: {expected}");
                }
            }
        }
    }

    /// Rows so far apart that the size of the whole matrix wraps around to a small number.
    const FAR: usize = usize::MAX / 2 + 1;

    #[test]
    #[should_panic(expected = "left operand of 8 numbers too short for 3x1")]
    fn a_left_operand_whose_size_wraps_around_is_too_short() {
        gemm(3, 1, 1, Left::rows(&[0.0; 8], FAR), Right::columns(&[0.0; 8], 1, 0), &mut [0.0; 8], Start::Zero);
    }

    #[test]
    #[should_panic(expected = "right operand of 8 numbers too short for 3x1")]
    fn a_right_operand_whose_size_wraps_around_is_too_short() {
        gemm(1, 1, 3, Left::rows(&[0.0; 8], 3), Right::columns(&[0.0; 8], FAR, 0), &mut [0.0; 8], Start::Zero);
    }

    #[test]
    #[should_panic(expected = "8 numbers for 3x1")]
    fn a_result_whose_size_wraps_around_is_too_short() {
        gemm_strided(3, 1, 1, Left::rows(&[0.0; 8], 1), Right::columns(&[0.0; 8], 1, 0), &mut [0.0; 8], FAR, Start::Zero);
    }
}
