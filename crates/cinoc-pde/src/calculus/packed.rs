//! Spectra of real fields in exactly as many numbers as the fields have, in panels.

use crate::Real;
use cinoc_tape::kernel::fft::{ROW, WIDTH};
use cinoc_tape::kernel::{crew, vectorise};

/// A packing: which number of a *state* is which part of which mode, and the way between fields and states.
///
/// Operators that are diagonal in Fourier space are products of the state with one coefficient per number.
///
/// Derivatives are simple too if a cotangent in Fourier space is kept as the *spectrum of the cotangent of the field*. The transform
/// and its inverse are then each other's adjoints without any weights, a real symbol is its own adjoint, an imaginary one turns its sign.
pub trait Layout: Send + Sync {
    /// Numbers in a state.
    fn size(&self) -> usize;

    /// Fields that share a state.
    fn group(&self) -> usize;

    /// Mode numbers along each axis for each number of the state.
    fn modes(&self) -> Vec<Vec<i64>>;

    /// Working space for [`load`](Self::load) and [`unload`](Self::unload).
    fn work(&self) -> usize;

    /// The spectra of at most [`group`](Self::group) fields, one after the other in `fields`.
    fn load(&self, fields: &[Real], state: &mut [Real], work: &mut [Real]);

    /// The fields of a state, which is used up.
    fn unload(&self, state: &mut [Real], fields: &mut [Real], work: &mut [Real]);
}

/// An odd derivative or the like, `i·σ(k)`, on a state: one number per complex number. Zero where a mode is real.
#[derive(Clone, Debug)]
pub struct OddSymbol(Vec<[Real; WIDTH]>);

impl OddSymbol {
    /// From the mode numbers of each number of the state. `sigma` must vanish at real modes: zero and Nyquist.
    pub fn new(layout: &dyn Layout, sigma: impl Fn(&[i64]) -> f64) -> Self {
        let modes = layout.modes();
        let row = |modes: &[Vec<i64>]| std::array::from_fn(|i| sigma(&modes[i]) as Real);
        Self(modes.chunks_exact(ROW).map(row).collect())
    }

    /// `y = sign·i·σ·x`; the adjoint has the sign −1. With `add`, adds to `y`.
    pub fn apply(&self, sign: Real, x: &[Real], y: &mut [Real], add: bool) {
        crew::rows(y, ROW, ROW, |first, y| {
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

    /// `y = z + i·σ·x`
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

    /// `x = sign·i·σ·x`
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

/// One coefficient per number of a state, from a function of the mode numbers.
pub fn coefficients(layout: &dyn Layout, sigma: impl Fn(&[i64]) -> f64) -> Vec<Real> {
    layout.modes().iter().map(|j| sigma(j) as Real).collect()
}

/// `x = coefficient·x`, number by number.
pub fn scale(coefficients: &[Real], x: &mut [Real]) {
    crew::rows(x, 1, 1, |first, x| {
        vectorise(
            #[inline(always)]
            || x.iter_mut().zip(&coefficients[first..]).for_each(|(x, c)| *x *= c),
        );
    });
}

/// `x += y`
pub fn add(x: &mut [Real], y: &[Real]) {
    crew::rows(x, 1, 1, |first, x| {
        vectorise(
            #[inline(always)]
            || x.iter_mut().zip(&y[first..]).for_each(|(x, y)| *x += y),
        );
    });
}

/// The most terms that [`combine`] takes.
pub const MOST_TERMS: usize = 5;

/// Whether all numbers of a row of [`WIDTH`] belong to the same mode: then one coefficient per row does, and there is less to read.
pub fn rows_are_modes(layout: &dyn Layout) -> bool {
    layout.modes().chunks(WIDTH).all(|row| row.iter().all(|mode| *mode == row[0]))
}

/// `y = Σ coefficient·x` over the terms, number by number; coefficients one per number or, for all terms, one per row. Numbers below 1e-30
/// become zero: modes that die out would otherwise end as denormal numbers, which are slow.
///
/// # Panics
/// Without terms, or with more than [`MOST_TERMS`].
pub fn combine<'a>(terms: impl Iterator<Item = (&'a [Real], &'a [Real])>, y: &mut [Real]) {
    let (mut all, mut count) = ([(&[][..], &[][..]); MOST_TERMS], 0);
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
        _ => panic!("one to {MOST_TERMS} terms, not {count}"),
    }
}

fn combine_all<const N: usize>(terms: [(&[Real], &[Real]); N], y: &mut [Real]) {
    let compact = terms[0].0.len() * WIDTH == y.len();
    crew::rows(y, WIDTH, N * WIDTH, |first, y| {
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
