//! Vectors of complex numbers and transforms of short length.

use super::super::lane;
use crate::Real;
use pulp::Simd;
use std::f64::consts::FRAC_1_SQRT_2;

/// A vector of complex numbers.
#[derive(Clone, Copy)]
pub(super) struct Complex<S: Simd> {
    pub re: lane::Vector<S>,
    pub im: lane::Vector<S>,
}

#[inline(always)]
pub(super) fn add<S: Simd>(simd: S, a: Complex<S>, b: Complex<S>) -> Complex<S> {
    Complex { re: lane::add(simd, a.re, b.re), im: lane::add(simd, a.im, b.im) }
}

#[inline(always)]
pub(super) fn sub<S: Simd>(simd: S, a: Complex<S>, b: Complex<S>) -> Complex<S> {
    Complex { re: lane::sub(simd, a.re, b.re), im: lane::sub(simd, a.im, b.im) }
}

/// a − i·b
#[inline(always)]
pub(super) fn sub_i<S: Simd>(simd: S, a: Complex<S>, b: Complex<S>) -> Complex<S> {
    Complex { re: lane::add(simd, a.re, b.im), im: lane::sub(simd, a.im, b.re) }
}

/// a + i·b
#[inline(always)]
pub(super) fn add_i<S: Simd>(simd: S, a: Complex<S>, b: Complex<S>) -> Complex<S> {
    Complex { re: lane::sub(simd, a.re, b.im), im: lane::add(simd, a.im, b.re) }
}

/// a + c·b for a real c
#[inline(always)]
pub(super) fn add_times<S: Simd>(simd: S, a: Complex<S>, c: f64, b: Complex<S>) -> Complex<S> {
    let c = lane::splat(simd, c as Real);
    Complex { re: lane::fma(simd, c, b.re, a.re), im: lane::fma(simd, c, b.im, a.im) }
}

#[inline(always)]
pub(super) fn scale<S: Simd>(simd: S, c: f64, a: Complex<S>) -> Complex<S> {
    let c = lane::splat(simd, c as Real);
    Complex { re: lane::mul(simd, c, a.re), im: lane::mul(simd, c, a.im) }
}

/// w·a
#[inline(always)]
pub(super) fn turn<S: Simd>(simd: S, w: Complex<S>, a: Complex<S>) -> Complex<S> {
    Complex {
        re: lane::sub_product(simd, lane::mul(simd, w.re, a.re), w.im, a.im),
        im: lane::fma(simd, w.re, a.im, lane::mul(simd, w.im, a.re)),
    }
}

#[inline(always)]
pub(super) fn dft2<S: Simd>(simd: S, [a, b]: [Complex<S>; 2]) -> [Complex<S>; 2] {
    [add(simd, a, b), sub(simd, a, b)]
}

#[inline(always)]
pub(super) fn dft3<S: Simd>(simd: S, [a, b, c]: [Complex<S>; 3]) -> [Complex<S>; 3] {
    let (sum, difference) = (add(simd, b, c), scale(simd, SIN_60, sub(simd, b, c)));
    let middle = add_times(simd, a, -0.5, sum);
    [add(simd, a, sum), sub_i(simd, middle, difference), add_i(simd, middle, difference)]
}

pub(super) const SIN_60: f64 = 0.866_025_403_784_438_6;

#[inline(always)]
pub(super) fn dft4<S: Simd>(simd: S, [a, b, c, d]: [Complex<S>; 4]) -> [Complex<S>; 4] {
    let (p, q, r, s) = (add(simd, a, c), sub(simd, a, c), add(simd, b, d), sub(simd, b, d));
    [add(simd, p, r), sub_i(simd, q, s), sub(simd, p, r), add_i(simd, q, s)]
}

#[inline(always)]
pub(super) fn dft6<S: Simd>(simd: S, [a, b, c, d, e, f]: [Complex<S>; 6]) -> [Complex<S>; 6] {
    let even = dft3(simd, [a, c, e]);
    let [o0, o1, o2] = dft3(simd, [b, d, f]);
    // e^(−iπ/3) = ½ − i sin 60°, its square −½ − i sin 60°.
    let o1 = sub_i(simd, scale(simd, 0.5, o1), scale(simd, SIN_60, o1));
    let o2 = sub_i(simd, scale(simd, -0.5, o2), scale(simd, SIN_60, o2));
    let pair = |k: usize, o| dft2(simd, [even[k], o]);
    let ([y0, y3], [y1, y4], [y2, y5]) = (pair(0, o0), pair(1, o1), pair(2, o2));
    [y0, y1, y2, y3, y4, y5]
}

#[inline(always)]
pub(super) fn dft8<S: Simd>(simd: S, [a, b, c, d, e, f, g, h]: [Complex<S>; 8]) -> [Complex<S>; 8] {
    let [e0, e1, e2, e3] = dft4(simd, [a, c, e, g]);
    let [o0, o1, o2, o3] = dft4(simd, [b, d, f, h]);
    // (1 − i)/√2 and (−1 − i)/√2 times the odd terms.
    let o1 = scale(simd, FRAC_1_SQRT_2, sub_i(simd, o1, o1));
    let o3 = scale(simd, -FRAC_1_SQRT_2, add_i(simd, o3, o3));
    [
        add(simd, e0, o0),
        add(simd, e1, o1),
        sub_i(simd, e2, o2),
        add(simd, e3, o3),
        sub(simd, e0, o0),
        sub(simd, e1, o1),
        add_i(simd, e2, o2),
        sub(simd, e3, o3),
    ]
}
