//! Vectorisable `tanh` and `exp`: no branch, no table, no call.
//!
//! In `f32` they are short polynomials accurate to a few units in the last place; in `f64`, which is for accuracy, the
//! standard library's.

use crate::Real;

/// Computes `a·b + c` in one instruction if the processor family has it. (Its oldest members emulate it slowly, with
/// equal results.)
#[inline(always)]
pub fn fma(a: Real, b: Real, c: Real) -> Real {
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { a.mul_add(b, c) } else { a * b + c }
}

/// Returns zero if `x` is so small that products with it may be subnormal, which is a hundred times slower.
#[inline(always)]
pub fn flush(x: Real) -> Real {
    const TINY: Real = Real::MIN_POSITIVE * 1e8;
    if x.abs() < TINY { 0.0 } else { x }
}

/// Hyperbolic tangent; in `f32` a 13/6 rational approximation (the coefficients are those of Eigen's `ptanh`), at most
/// 5e-7 off.
#[inline(always)]
#[cfg(not(double))]
pub fn tanh(x: Real) -> Real {
    let x = x.clamp(-7.905_311, 7.905_311);
    let s = x * x;
    let odd = -2.760_768_5e-16;
    let odd = fma(odd, s, 2.000_188e-13);
    let odd = fma(odd, s, -8.604_672e-11);
    let odd = fma(odd, s, 5.122_297e-8);
    let odd = fma(odd, s, 1.485_722_4e-5);
    let odd = fma(odd, s, 6.372_619_3e-4);
    let odd = fma(odd, s, 4.893_524_6e-3);
    let even = 1.198_258_4e-6;
    let even = fma(even, s, 1.185_347_1e-4);
    let even = fma(even, s, 2.268_434_6e-3);
    let even = fma(even, s, 4.893_525e-3);
    x * odd / even
}

/// Hyperbolic tangent.
#[inline(always)]
#[cfg(double)]
pub fn tanh(x: Real) -> Real {
    x.tanh()
}

/// Hyperbolic tangent of |x| ≤ 1, as after a soft normalisation: an odd polynomial without division or clamp, at most
/// 1.3e-7 off. (Coefficients fitted for least relative error.)
#[inline(always)]
#[cfg(not(double))]
pub fn tanh_small(x: Real) -> Real {
    let s = x * x;
    let p = 1.041_022_5e-3;
    let p = fma(p, s, -6.203_379e-3);
    let p = fma(p, s, 2.028_998e-2);
    let p = fma(p, s, -5.345_703e-2);
    let p = fma(p, s, 1.332_520_4e-1);
    let p = fma(p, s, -3.333_284e-1);
    let p = fma(p, s, 9.999_999_5e-1);
    x * p
}

/// Hyperbolic tangent of |x| ≤ 1.
#[inline(always)]
#[cfg(double)]
pub fn tanh_small(x: Real) -> Real {
    x.tanh()
}

/// The inverse of [`tanh_small`], for |y| ≤ tanh 1: at most 1.5e-7 off. (Coefficients fitted for least relative error.)
#[inline(always)]
#[cfg(not(double))]
pub fn atanh_small(y: Real) -> Real {
    let s = y * y;
    let p = 1.701_584_3;
    let p = fma(p, s, -3.115_420_6);
    let p = fma(p, s, 2.777_164_7);
    let p = fma(p, s, -1.206_519_8);
    let p = fma(p, s, 4.505_248_4e-1);
    let p = fma(p, s, 5.142_999_4e-2);
    let p = fma(p, s, 1.484_406e-1);
    let p = fma(p, s, 1.997_384e-1);
    let p = fma(p, s, 3.333_380_2e-1);
    let p = fma(p, s, 1.0);
    y * p
}

/// The inverse of [`tanh_small`].
#[inline(always)]
#[cfg(double)]
pub fn atanh_small(y: Real) -> Real {
    y.atanh()
}

/// Exponential; in `f32` by `2^n · p(r)` with the polynomial of Cephes' `expf`, at most 2e-7 off relatively, zero below
/// −87.
#[inline(always)]
#[cfg(not(double))]
pub fn exp(x: Real) -> Real {
    const ROUND: f32 = 12_582_912.0; // 1.5·2²³: adding it rounds to the nearest integer in the low mantissa bits
    let low = if x < -87.0 { 0.0 } else { 1.0 };
    let x = x.clamp(-87.0, 88.0);
    let shifted = fma(x, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fma(n, -0.693_359_4, x);
    let r = fma(n, 2.121_944_4e-4, r);
    let p = 1.987_569_2e-4;
    let p = fma(p, r, 1.398_2e-3);
    let p = fma(p, r, 8.333_452e-3);
    let p = fma(p, r, 4.166_579_6e-2);
    let p = fma(p, r, 1.666_666_5e-1);
    let p = fma(p, r, 0.5);
    let p = fma(p, r * r, r + 1.0);
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    low * p * scale
}

/// Exponential.
#[inline(always)]
#[cfg(double)]
pub fn exp(x: Real) -> Real {
    x.exp()
}

/// Adds sixteen running sums by halves: a fixed order with four dependent additions instead of fifteen.
#[inline(always)]
pub fn sum_lanes(lanes: [Real; 16]) -> Real {
    // Plain loops: `array::from_fn` is a call per element inside a function compiled for one instruction set.
    let (mut eight, mut four) = ([0.0; 8], [0.0; 4]);
    for i in 0..8 {
        eight[i] = lanes[i] + lanes[i + 8];
    }
    for i in 0..4 {
        four[i] = eight[i] + eight[i + 4];
    }
    (four[0] + four[2]) + (four[1] + four[3])
}

/// Computes `Σ f(aᵢ, bᵢ)` in sixteen running sums: a fixed order that vectorises.
#[inline(always)]
pub fn sum_pairs(a: &[Real], b: &[Real], f: impl Fn(Real, Real) -> Real) -> Real {
    let mut lanes = [0.0; 16];
    let ((a16, a1), (b16, b1)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    for (a, b) in a16.iter().zip(b16) {
        for i in 0..16 {
            lanes[i] += f(a[i], b[i]);
        }
    }
    for (i, (a, b)) in a1.iter().zip(b1).enumerate() {
        lanes[i] += f(*a, *b);
    }
    sum_lanes(lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tanh_is_close_to_the_standard_library() {
        for i in (-10_000..=10_000).step_by(if cfg!(miri) { 500 } else { 1 }) {
            let x = i as Real * 1e-4;
            let y = tanh_small(x);
            assert!((y as f64 - (x as f64).tanh()).abs() < 1.3e-7, "tanh({x})");
            assert!((atanh_small(y) as f64 - (y as f64).atanh()).abs() < 1.5e-7, "atanh({y})");
        }
    }

    #[test]
    fn tanh_and_exp_are_close_to_the_standard_library() {
        for i in (-20_000..=20_000).step_by(if cfg!(miri) { 500 } else { 1 }) {
            let x = i as Real * 1e-3;
            assert!((tanh(x) as f64 - (x as f64).tanh()).abs() < 5e-7, "tanh({x})");
            let y = x * 4.0;
            let exact = (y as f64).exp();
            assert!((exp(y) as f64 - exact).abs() <= 2e-7 * exact, "exp({y}) = {} not {exact}", exp(y));
        }
        assert_eq!(exp(-200.0), if cfg!(double) { (-200.0 as Real).exp() } else { 0.0 });
        assert_eq!(exp(0.0), 1.0);
    }
}
