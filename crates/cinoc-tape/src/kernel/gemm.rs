//! `C = A·B (+ bias)` and `C += A·B` for the tall, thin matrices of a small network.
//!
//! A block of `C` stays in registers while the inner index runs: 6×4 or 12×2 vectors with 32 registers (AVX-512), 6×2 with 16.
//! `A` may be read by rows or by columns, so the same kernel gives the forward product and the gradient of the weights.
//! General libraries lose to this at these sizes (64 rows, 8 to 96 columns) because they pack their operands.

use super::arch;
use crate::Real;
use pulp::{Simd, WithSimd};

/// How the block of `C` starts.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    /// `C = A·B`
    Zero,
    /// `C += A·B`
    Add,
    /// `C = A·B + bias`, the bias repeated on every row.
    Bias(&'a [Real]),
}

/// The left operand: element `(i, p)` is `values[i·row + p·column]`.
#[derive(Clone, Copy)]
pub struct Left<'a> {
    values: &'a [Real],
    row: usize,
    column: usize,
}

impl<'a> Left<'a> {
    /// A row-major matrix with `columns` columns.
    pub fn rows(values: &'a [Real], columns: usize) -> Self {
        Self { values, row: columns, column: 1 }
    }

    /// The transpose of a row-major matrix with `columns` columns.
    pub fn transposed(values: &'a [Real], columns: usize) -> Self {
        Self { values, row: 1, column: columns }
    }
}

/// The right operand: row `p` starts at `values[p·stride]`, so that it may be some columns of a wider matrix.
#[derive(Clone, Copy)]
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

/// `C[m,n] = start + A[m,k]·B[k,n]`.
///
/// # Panics
/// When a slice is shorter than its sizes say.
pub fn gemm(m: usize, n: usize, k: usize, a: Left, b: Right, c: &mut [Real], start: Start) {
    if m == 0 || n == 0 {
        return;
    }
    assert!(k == 0 || a.values.len() > (m - 1) * a.row + (k - 1) * a.column, "gemm: left operand too short");
    assert!(k == 0 || b.values.len() >= (k - 1) * b.stride + n, "gemm: right operand too short for {k}x{n}");
    assert!(c.len() >= m * n, "gemm: {} numbers for {m}x{n}", c.len());
    if let Start::Bias(bias) = start {
        assert!(bias.len() >= n, "gemm: bias of {} for {n} columns", bias.len());
    }
    arch().dispatch(Gemm { m, n, k, a, b, c, start });
}

struct Gemm<'a> {
    m: usize,
    n: usize,
    k: usize,
    a: Left<'a>,
    b: Right<'a>,
    c: &'a mut [Real],
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
            let panel = Panel { simd, m: self.m, n, k: self.k, a: self.a, b: self.b, c, start: self.start, j, width: left };
            // SAFETY: `gemm` checked the lengths; every panel stays inside `n` columns and `m` rows.
            unsafe {
                j += match (S::REGISTER_COUNT >= 32, left / lanes) {
                    (true, 4..) => panel.run::<6, 4>(),
                    (true, 2..) => panel.run::<12, 2>(),
                    (false, 2..) => panel.run::<6, 2>(),
                    (true, 1) => panel.run::<12, 1>(),
                    (false, 1) => panel.run::<6, 1>(),
                    _ => panel.run_masked(),
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
    n: usize,
    k: usize,
    a: Left<'a>,
    b: Right<'a>,
    c: *mut Real,
    start: Start<'a>,
    j: usize,
    width: usize,
}

impl<S: Simd> Panel<'_, S> {
    /// All rows of `V` whole vectors of columns, `R` rows at a time; returns the number of columns done.
    #[inline(always)]
    unsafe fn run<const R: usize, const V: usize>(self) -> usize {
        let mut i = 0;
        unsafe {
            while i + R <= self.m {
                self.block::<R, V>(i);
                i += R;
            }
            while i + 4 <= self.m {
                self.block::<4, V>(i);
                i += 4;
            }
            while i + 2 <= self.m {
                self.block::<2, V>(i);
                i += 2;
            }
            if i < self.m {
                self.block::<1, V>(i);
            }
        }
        V * lane::count::<S>()
    }

    #[inline(always)]
    unsafe fn block<const R: usize, const V: usize>(self, i: usize) {
        let Self { simd, n, k, a, .. } = self;
        let lanes = lane::count::<S>();
        let mut sum = [[lane::splat(simd, 0.0); V]; R];
        unsafe {
            let c = self.c.add(i * n + self.j);
            for r in 0..R {
                for v in 0..V {
                    match self.start {
                        Start::Zero => {}
                        Start::Add => sum[r][v] = lane::load(simd, c.add(r * n + v * lanes)),
                        Start::Bias(bias) => sum[r][v] = lane::load(simd, bias.as_ptr().add(self.j + v * lanes)),
                    }
                }
            }
            let mut left = a.values.as_ptr().add(i * a.row);
            let mut right = self.b.values.as_ptr().add(self.j);
            for _ in 0..k {
                let mut row = [lane::splat(simd, 0.0); V];
                for v in 0..V {
                    row[v] = lane::load(simd, right.add(v * lanes));
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
                    lane::store(simd, c.add(r * n + v * lanes), sum[r][v]);
                }
            }
        }
    }

    /// The last columns, fewer than one vector.
    #[inline(always)]
    unsafe fn run_masked(self) -> usize {
        let mut i = 0;
        unsafe {
            while i + 6 <= self.m {
                self.block_masked::<6>(i);
                i += 6;
            }
            while i < self.m {
                self.block_masked::<1>(i);
                i += 1;
            }
        }
        self.width
    }

    #[inline(always)]
    unsafe fn block_masked<const R: usize>(self, i: usize) {
        let Self { simd, n, k, a, width, .. } = self;
        let mask = lane::first(simd, width);
        let mut sum = [lane::splat(simd, 0.0); R];
        unsafe {
            let c = self.c.add(i * n + self.j);
            for r in 0..R {
                match self.start {
                    Start::Zero => {}
                    Start::Add => sum[r] = lane::load_masked(simd, mask, c.add(r * n)),
                    Start::Bias(bias) => sum[r] = lane::load_masked(simd, mask, bias.as_ptr().add(self.j)),
                }
            }
            let mut left = a.values.as_ptr().add(i * a.row);
            let mut right = self.b.values.as_ptr().add(self.j);
            for _ in 0..k {
                let row = lane::load_masked(simd, mask, right);
                for r in 0..R {
                    sum[r] = lane::fma(simd, lane::splat(simd, *left.add(r * a.row)), row, sum[r]);
                }
                left = left.wrapping_add(a.column);
                right = right.wrapping_add(self.b.stride);
            }
            for r in 0..R {
                lane::store_masked(simd, mask, c.add(r * n), sum[r]);
            }
        }
    }
}

/// The few vector instructions used, named alike for both precisions.
#[allow(non_camel_case_types)]
pub(super) mod lane {
    use super::*;

    macro_rules! lanes {
        ($vectors:ident, $masks:ident, $int:ty, $splat:ident, $fma:ident, $add:ident, $sub:ident, $mul:ident, $neg:ident,
         $between:ident, $load:ident, $store:ident) => {
            pub type Vector<S> = <S as Simd>::$vectors;
            pub type Mask<S> = pulp::MemMask<<S as Simd>::$masks>;
            #[inline(always)]
            pub fn splat<S: Simd>(simd: S, x: Real) -> Vector<S> {
                simd.$splat(x)
            }
            #[inline(always)]
            pub fn fma<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>, c: Vector<S>) -> Vector<S> {
                simd.$fma(a, b, c)
            }
            #[inline(always)]
            pub fn add<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>) -> Vector<S> {
                simd.$add(a, b)
            }
            #[inline(always)]
            pub fn sub<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>) -> Vector<S> {
                simd.$sub(a, b)
            }
            #[inline(always)]
            pub fn mul<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>) -> Vector<S> {
                simd.$mul(a, b)
            }
            /// c − a·b
            #[inline(always)]
            pub fn sub_product<S: Simd>(simd: S, c: Vector<S>, a: Vector<S>, b: Vector<S>) -> Vector<S> {
                simd.$fma(simd.$neg(a), b, c)
            }
            #[inline(always)]
            pub fn first<S: Simd>(simd: S, count: usize) -> Mask<S> {
                simd.$between(0, count as $int)
            }
            #[inline(always)]
            pub unsafe fn load_masked<S: Simd>(simd: S, mask: Mask<S>, from: *const Real) -> Vector<S> {
                unsafe { simd.$load(mask, from) }
            }
            #[inline(always)]
            pub unsafe fn store_masked<S: Simd>(simd: S, mask: Mask<S>, to: *mut Real, x: Vector<S>) {
                unsafe { simd.$store(mask, to, x) }
            }
        };
    }
    #[cfg(not(feature = "f64"))]
    lanes!(
        f32s,
        m32s,
        u32,
        splat_f32s,
        mul_add_e_f32s,
        add_f32s,
        sub_f32s,
        mul_f32s,
        neg_f32s,
        mask_between_m32s,
        mask_load_ptr_f32s,
        mask_store_ptr_f32s
    );
    #[cfg(feature = "f64")]
    lanes!(
        f64s,
        m64s,
        u64,
        splat_f64s,
        mul_add_e_f64s,
        add_f64s,
        sub_f64s,
        mul_f64s,
        neg_f64s,
        mask_between_m64s,
        mask_load_ptr_f64s,
        mask_store_ptr_f64s
    );

    #[inline(always)]
    pub unsafe fn load<S: Simd>(_: S, from: *const Real) -> Vector<S> {
        unsafe { from.cast::<Vector<S>>().read_unaligned() }
    }
    #[inline(always)]
    pub unsafe fn store<S: Simd>(_: S, to: *mut Real, x: Vector<S>) {
        unsafe { to.cast::<Vector<S>>().write_unaligned(x) }
    }
    /// Numbers per vector.
    #[inline(always)]
    pub const fn count<S: Simd>() -> usize {
        size_of::<Vector<S>>() / size_of::<Real>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_obvious_triple_loop() {
        let number = |i: usize| ((i * 7919 + 13) % 101) as Real / 50.0 - 1.0;
        for (m, n, k) in [(1, 1, 1), (7, 2, 32), (64, 64, 40), (13, 40, 64), (26, 96, 32), (5, 33, 3), (9, 17, 0)] {
            let a: Vec<Real> = (0..m * k).map(number).collect();
            let b: Vec<Real> = (0..k * n).map(|i| number(i + 5)).collect();
            let bias: Vec<Real> = (0..n).map(|i| number(i + 9)).collect();
            let transposed: Vec<Real> = (0..k * m).map(|i| a[(i % m) * k + i / m]).collect();
            for (start, base) in [(Start::Zero, 0), (Start::Add, 1), (Start::Bias(&bias), 2)] {
                for left in [Left::rows(&a, k), Left::transposed(&transposed, m)] {
                    let mut c: Vec<Real> = (0..m * n).map(|i| number(i + 3)).collect();
                    let before = c.clone();
                    gemm(m, n, k, left, Right::columns(&b, n, 0), &mut c, start);
                    for i in 0..m {
                        for j in 0..n {
                            let first = [0.0, before[i * n + j], bias[j]][base];
                            let exact: Real = first + (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum::<Real>();
                            assert!((c[i * n + j] - exact).abs() < 1e-4, "{m}x{n}x{k} at {i},{j}");
                        }
                    }
                }
            }
        }
    }
}
