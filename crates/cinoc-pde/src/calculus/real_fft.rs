//! Fourier transforms of real columns, sixteen at a time.

use crate::Real;
use cinoc_tape::kernel::fft::{Direction, Fft, WIDTH};
use cinoc_tape::kernel::vectorise;
use std::f64::consts::TAU;

/// Transform of real columns of even length n, by a complex transform of half the length.
///
/// In space a panel is n rows of [`WIDTH`] numbers. Read as complex rows these are n/2 rows whose real parts are the
/// even rows and whose imaginary parts are the odd ones: the input of the half-length transform, without any
/// rearrangement. The spectrum is *packed*: complex rows k = 0..n/2, where row 0 holds the two modes that are real, k =
/// 0 as its real part and k = n/2 (Nyquist) as its imaginary part.
#[derive(Clone, Debug)]
pub struct RealFft {
    length: usize,
    /// Rows of the spectrum in use; the others count as zero.
    rows: usize,
    half: Fft,
    /// e^(−2πik/n)
    turns: Vec<[Real; 2]>,
}

const ZERO: [Real; WIDTH] = [0.0; WIDTH];

impl RealFft {
    /// Creates a transform of all modes.
    ///
    /// # Panics
    /// For odd lengths.
    pub fn new(length: usize) -> Self {
        Self::low(length, length / 2)
    }

    /// Creates a transform of the modes below `rows`: a forward transform omits the others, an inverse one treats them
    /// as zero. Unless `rows` is n/2, the Nyquist mode is among them.
    ///
    /// # Panics
    /// For odd lengths, or more than n/2 rows.
    pub fn low(length: usize, rows: usize) -> Self {
        assert!(length > 0 && length.is_multiple_of(2), "a real transform needs an even number of points, not {length}");
        assert!(rows <= length / 2, "{rows} modes on {length} points");
        let turn = |k: usize| {
            let angle = -TAU * k as f64 / length as f64;
            [angle.cos() as Real, angle.sin() as Real]
        };
        Self { length, rows, half: Fft::new(length / 2), turns: (0..=length / 4).map(turn).collect() }
    }

    /// Length of the working space of a transform.
    pub fn work(&self) -> usize {
        self.length * WIDTH + self.half.work()
    }

    fn full(&self) -> bool {
        self.rows == self.length / 2
    }

    /// Computes `Xₖ = scale·Σ xⱼ e^(−2πi jk/n)`: n rows of reals to packed rows.
    pub fn forward(&self, x: &[Real], y: &mut [Real], scale: Real, work: &mut [Real]) {
        let (c, work) = work.split_at_mut(self.length * WIDTH);
        self.half.run(Direction::Forward, x, c, work);
        let (half, rows) = (self.length / 2, self.rows);
        let (c, y) = (c.as_chunks::<WIDTH>().0, &mut y.as_chunks_mut::<WIDTH>().0[..2 * rows]);
        let share = 0.5 * scale;
        vectorise(
            #[inline(always)]
            || {
                for i in 0..WIDTH {
                    y[0][i] = scale * (c[0][i] + c[1][i]);
                    y[1][i] = if self.full() { scale * (c[0][i] - c[1][i]) } else { 0.0 };
                }
                for (k, &[cos, sin]) in self.turns.iter().enumerate().skip(1) {
                    let l = half - k;
                    let (a, b, p, q) = (&c[2 * k], &c[2 * k + 1], &c[2 * l], &c[2 * l + 1]);
                    let mut z = [ZERO; 4];
                    for i in 0..WIDTH {
                        let (even_re, even_im) = (share * (a[i] + p[i]), share * (b[i] - q[i]));
                        let (odd_re, odd_im) = (share * (b[i] + q[i]), share * (p[i] - a[i]));
                        let (re, im) = (cos * odd_re - sin * odd_im, cos * odd_im + sin * odd_re);
                        (z[0][i], z[1][i]) = (even_re + re, even_im + im);
                        (z[2][i], z[3][i]) = (even_re - re, im - even_im);
                    }
                    if k < rows {
                        (y[2 * k], y[2 * k + 1]) = (z[0], z[1]);
                    }
                    if l < rows {
                        (y[2 * l], y[2 * l + 1]) = (z[2], z[3]);
                    }
                }
            },
        );
    }

    /// Computes `xⱼ = scale·Σ Xₖ e^(+2πi jk/n)` over all n modes: packed rows to n rows of reals.
    pub fn inverse(&self, y: &[Real], x: &mut [Real], scale: Real, work: &mut [Real]) {
        let (c, work) = work.split_at_mut(self.length * WIDTH);
        let (half, rows) = (self.length / 2, self.rows);
        let (y, packed) = (&y.as_chunks::<WIDTH>().0[..2 * rows], c.as_chunks_mut::<WIDTH>().0);
        vectorise(
            #[inline(always)]
            || {
                for i in 0..WIDTH {
                    let nyquist = if self.full() { y[1][i] } else { 0.0 };
                    packed[0][i] = scale * (y[0][i] + nyquist);
                    packed[1][i] = scale * (y[0][i] - nyquist);
                }
                for (k, &[cos, sin]) in self.turns.iter().enumerate().skip(1) {
                    let l = half - k;
                    let (a, b) = if k < rows { (&y[2 * k], &y[2 * k + 1]) } else { (&ZERO, &ZERO) };
                    let (p, q) = if l < rows { (&y[2 * l], &y[2 * l + 1]) } else { (&ZERO, &ZERO) };
                    let mut z = [ZERO; 4];
                    for i in 0..WIDTH {
                        let (even_re, even_im) = (scale * (a[i] + p[i]), scale * (b[i] - q[i]));
                        let (re, im) = (scale * (a[i] - p[i]), scale * (b[i] + q[i]));
                        let (odd_re, odd_im) = (cos * re + sin * im, cos * im - sin * re);
                        (z[0][i], z[1][i]) = (even_re - odd_im, even_im + odd_re);
                        (z[2][i], z[3][i]) = (even_re + odd_im, odd_re - even_im);
                    }
                    (packed[2 * k], packed[2 * k + 1]) = (z[0], z[1]);
                    (packed[2 * l], packed[2 * l + 1]) = (z[2], z[3]);
                }
            },
        );
        self.half.run(Direction::Inverse, c, x, work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc_tape::check::noise;
    use cinoc_tape::kernel::fft::ROW;

    #[test]
    fn agrees_with_the_definition() {
        for n in [2, 4, 6, 10, 14, 32, 64, 96, 128] {
            let fft = RealFft::new(n);
            let x = noise(n * WIDTH, 1);
            let (mut y, mut back, mut work) = (vec![0.0; n * WIDTH], vec![0.0; n * WIDTH], vec![Real::NAN; fft.work()]);
            fft.forward(&x, &mut y, 1.0, &mut work);
            fft.inverse(&y, &mut back, 1.0 / n as Real, &mut work);
            let limit = if cfg!(double) { 1e-12 } else { 2e-5 };
            for column in 0..WIDTH {
                for k in 0..=n / 2 {
                    let sum = |f: fn(f64) -> f64| -> f64 {
                        (0..n).map(|j| x[j * WIDTH + column] as f64 * f(-TAU * (j * k % n) as f64 / n as f64)).sum()
                    };
                    let at = |row: usize| y[row * WIDTH + column] as f64;
                    let (re, im) = match k {
                        0 => (at(0), 0.0),
                        _ if k == n / 2 => (at(1), 0.0),
                        _ => (at(2 * k), at(2 * k + 1)),
                    };
                    assert!((re - sum(f64::cos)).abs() + (im - sum(f64::sin)).abs() < limit, "length {n}, mode {k}");
                }
            }
            x.iter().zip(&back).for_each(|(x, back)| assert!((x - back).abs() < limit as Real, "there and back, length {n}"));
        }
    }

    #[test]
    fn low_modes_are_the_first_ones() {
        let (all, low) = (RealFft::new(24), RealFft::low(24, 8));
        let x = noise(24 * WIDTH, 2);
        let (mut full, mut few) = (vec![0.0; 24 * WIDTH], vec![0.0; 8 * ROW]);
        let mut work = vec![0.0; all.work()];
        all.forward(&x, &mut full, 1.0, &mut work);
        low.forward(&x, &mut few, 1.0, &mut work);
        assert_eq!((&few[..WIDTH], &few[ROW..]), (&full[..WIDTH], &full[ROW..8 * ROW]));
        full[WIDTH..ROW].fill(0.0);
        full[8 * ROW..].fill(0.0);
        let (mut a, mut b) = (vec![0.0; 24 * WIDTH], vec![0.0; 24 * WIDTH]);
        all.inverse(&full, &mut a, 1.0, &mut work);
        low.inverse(&few, &mut b, 1.0, &mut work);
        assert_eq!(a, b);
    }
}
