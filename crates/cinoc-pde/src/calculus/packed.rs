//! Packed spectra of real fields, of the same length as the fields, in panels.

use crate::Real;
use cinoc_tape::kernel::fft::{ROW, WIDTH};
use cinoc_tape::kernel::{parallel, vectorise};

/// Packing of a spectrum: the mode of each number of a *state*, and the transforms between fields and states.
///
/// Operators that are diagonal in Fourier space are products of the state with one coefficient per number.
///
/// A cotangent in Fourier space is the *spectrum of the cotangent of the field*. The transform and its inverse are then
/// adjoint without weights, a real symbol is its own adjoint, an imaginary one changes sign.
pub trait Layout: Send + Sync {
    /// Length of a state.
    fn size(&self) -> usize;

    /// Number of fields per state.
    fn group(&self) -> usize;

    /// Mode numbers along each axis, for each number of the state.
    fn modes(&self) -> Vec<Vec<i64>>;

    /// Length of the working space of [`load`](Self::load) and [`unload`](Self::unload).
    fn work(&self) -> usize;

    /// Computes the spectra of at most [`group`](Self::group) fields, contiguous in `fields`.
    fn load(&self, fields: &[Real], state: &mut [Real], work: &mut [Real]);

    /// Computes the fields of a state, which is overwritten.
    fn unload(&self, state: &mut [Real], fields: &mut [Real], work: &mut [Real]);
}

/// Imaginary symbol `i·σ(k)` on a state, such as an odd derivative: one number per complex number, zero for real modes.
#[derive(Clone, Debug)]
pub struct OddSymbol(Vec<[Real; WIDTH]>);

impl OddSymbol {
    /// Creates the symbol from a function of the mode numbers, which must vanish at real modes (zero and Nyquist).
    pub fn new(layout: &dyn Layout, sigma: impl Fn(&[i64]) -> f64) -> Self {
        let modes = layout.modes();
        let row = |modes: &[Vec<i64>]| std::array::from_fn(|i| sigma(&modes[i]) as Real);
        Self(modes.chunks_exact(ROW).map(row).collect())
    }

    /// Computes `y = sign·i·σ·x`; the adjoint has the sign −1. With `add`, adds to `y`.
    pub fn apply(&self, sign: Real, x: &[Real], y: &mut [Real], add: bool) {
        parallel::rows(y, ROW, ROW, |first, y| {
            let (x, y) = (&x.as_chunks::<ROW>().0[first..], y.as_chunks_mut::<ROW>().0);
            vectorise(
                #[inline(always)]
                || {
                    for ((y, x), s) in y.iter_mut().zip(x).zip(&self.0[first..]) {
                        for i in 0..WIDTH {
                            let turned = [-sign * s[i] * x[WIDTH + i], sign * s[i] * x[i]];
                            let before = if add { [y[i], y[WIDTH + i]] } else { [0.0; 2] };
                            (y[i], y[WIDTH + i]) = (before[0] + turned[0], before[1] + turned[1]);
                        }
                    }
                },
            );
        });
    }

    /// Computes `y = z + i·σ·x`.
    pub fn apply_plus(&self, x: &[Real], z: &[Real], y: &mut [Real]) {
        let (x, z, y) = (x.as_chunks::<ROW>().0, z.as_chunks::<ROW>().0, y.as_chunks_mut::<ROW>().0);
        vectorise(
            #[inline(always)]
            || {
                for ((y, (x, z)), s) in y.iter_mut().zip(x.iter().zip(z)).zip(&self.0) {
                    for i in 0..WIDTH {
                        y[i] = z[i] - s[i] * x[WIDTH + i];
                        y[WIDTH + i] = z[WIDTH + i] + s[i] * x[i];
                    }
                }
            },
        );
    }

    /// Computes `x = sign·i·σ·x`.
    pub fn apply_in_place(&self, sign: Real, x: &mut [Real]) {
        vectorise(
            #[inline(always)]
            || {
                for (x, s) in x.as_chunks_mut::<ROW>().0.iter_mut().zip(&self.0) {
                    for i in 0..WIDTH {
                        (x[i], x[WIDTH + i]) = (-sign * s[i] * x[WIDTH + i], sign * s[i] * x[i]);
                    }
                }
            },
        );
    }
}

/// Evaluates a function of the mode numbers for each number of a state.
pub fn coefficients(layout: &dyn Layout, sigma: impl Fn(&[i64]) -> f64) -> Vec<Real> {
    layout.modes().iter().map(|j| sigma(j) as Real).collect()
}

/// Computes `x = coefficient·x`, element by element.
pub fn scale(coefficients: &[Real], x: &mut [Real]) {
    parallel::rows(x, 1, 1, |first, x| {
        vectorise(
            #[inline(always)]
            || x.iter_mut().zip(&coefficients[first..]).for_each(|(x, c)| *x *= c),
        );
    });
}

/// Computes `x += y`.
pub fn add(x: &mut [Real], y: &[Real]) {
    parallel::rows(x, 1, 1, |first, x| {
        vectorise(
            #[inline(always)]
            || x.iter_mut().zip(&y[first..]).for_each(|(x, y)| *x += y),
        );
    });
}

/// Maximum number of terms of [`combine`].
pub const MAX_TERMS: usize = 5;

/// Returns true if all numbers of a row of [`WIDTH`] belong to one mode, so that one coefficient per row suffices.
pub fn rows_are_modes(layout: &dyn Layout) -> bool {
    layout.modes().chunks(WIDTH).all(|row| row.iter().all(|mode| *mode == row[0]))
}

/// Computes `y = Σ coefficient·x` over the terms; coefficients are one per number or, for all terms, one per row.
/// Numbers below 1e-30 become zero: decaying modes would otherwise become subnormal, which is slow.
///
/// # Panics
/// With no terms, or more than [`MAX_TERMS`].
pub fn combine<'a>(terms: impl Iterator<Item = (&'a [Real], &'a [Real])>, y: &mut [Real]) {
    let (mut all, mut count) = ([(&[][..], &[][..]); MAX_TERMS], 0);
    for term in terms {
        all[count] = term;
        count += 1;
    }
    match all[..count] {
        [a] => combine_all([a], y),
        [a, b] => combine_all([a, b], y),
        [a, b, c] => combine_all([a, b, c], y),
        [a, b, c, d] => combine_all([a, b, c, d], y),
        [a, b, c, d, e] => combine_all([a, b, c, d, e], y),
        _ => panic!("one to {MAX_TERMS} terms, not {count}"),
    }
}

fn combine_all<const N: usize>(terms: [(&[Real], &[Real]); N], y: &mut [Real]) {
    let compact = terms[0].0.len() * WIDTH == y.len();
    parallel::rows(y, WIDTH, N * WIDTH, |first, y| {
        let rows = y.len() / WIDTH;
        let states: [&[[Real; WIDTH]]; N] = std::array::from_fn(|n| &terms[n].1.as_chunks().0[first..][..rows]);
        let y = &mut y.as_chunks_mut::<WIDTH>().0[..rows];
        let each = if compact { 1 } else { WIDTH };
        let factors: [&[Real]; N] = std::array::from_fn(|n| &terms[n].0[first * each..][..rows * each]);
        if compact { combine_rows::<N, true>(factors, states, y) } else { combine_rows::<N, false>(factors, states, y) }
    });
}

fn combine_rows<const N: usize, const COMPACT: bool>(
    factors: [&[Real]; N],
    states: [&[[Real; WIDTH]]; N],
    y: &mut [[Real; WIDTH]],
) {
    vectorise(
        #[inline(always)]
        || {
            for row in 0..y.len() {
                let mut sum = [0.0; WIDTH];
                for n in 0..N {
                    let x = &states[n][row];
                    if COMPACT {
                        let c = factors[n][row];
                        for i in 0..WIDTH {
                            sum[i] += c * x[i];
                        }
                    } else {
                        let c = &factors[n][row * WIDTH..][..WIDTH];
                        for i in 0..WIDTH {
                            sum[i] += c[i] * x[i];
                        }
                    }
                }
                for sum in &mut sum {
                    *sum = if sum.abs() < 1e-30 { 0.0 } else { *sum };
                }
                y[row] = sum;
            }
        },
    );
}
