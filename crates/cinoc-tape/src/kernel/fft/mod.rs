//! Fourier transforms of many columns at once.
//!
//! A *panel* is a matrix of complex numbers with [`WIDTH`] columns: each row is `WIDTH` real parts followed by `WIDTH`
//! imaginary parts. The transform runs down the columns, so that every instruction uses whole vectors without shuffles:
//! several times faster than transforming short columns one by one. Stockham's algorithm: no bit reversal, natural
//! order in and out.

mod butterfly;
mod pass;
mod plan;

pub use plan::{Direction, Fft, ROW, WIDTH};

use super::arch;
use crate::Real;
use pass::Run;

impl Fft {
    /// Transforms a panel. The content of `work` is arbitrary.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn run(&self, direction: Direction, x: &[Real], y: &mut [Real], work: &mut [Real]) {
        let (rows_in, rows_out) = self.rows();
        assert!(x.len() >= rows_in * ROW && y.len() >= rows_out * ROW, "fft of {}: {} to {}", self.length, x.len(), y.len());
        assert!(work.len() >= self.work(), "fft of {}: {} numbers of working space", self.length, work.len());
        arch().dispatch(Run { fft: self, direction, x, y, work });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::noise;
    use pulp::Simd;
    use std::f64::consts::TAU;

    /// Evaluates the definition, column by column.
    fn slow(direction: Direction, n: usize, x: &[Real]) -> Vec<Real> {
        let sign = if direction == Direction::Forward { 1.0 } else { -1.0 };
        let mut y = vec![0.0; n * ROW];
        for k in 0..n {
            for column in 0..WIDTH {
                let (mut re, mut im) = (0.0, 0.0);
                for j in 0..n {
                    let angle = -sign * TAU * (j * k % n) as f64 / n as f64;
                    let (a, b) = (x[j * ROW + column] as f64, x[j * ROW + WIDTH + column] as f64);
                    re += a * angle.cos() - b * angle.sin();
                    im += a * angle.sin() + b * angle.cos();
                }
                (y[k * ROW + column], y[k * ROW + WIDTH + column]) = (re as Real, im as Real);
            }
        }
        y
    }

    fn assert_close(what: &str, a: &[Real], b: &[Real]) {
        let limit = if cfg!(double) { 1e-12 } else { 2e-5 };
        assert_eq!(a.len(), b.len(), "{what}");
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            assert!((a - b).abs() < limit, "{what}, number {i}: {a} not {b}");
        }
    }

    #[test]
    fn agrees_with_the_definition_at_every_length() {
        let all = (1..=36).chain([48, 49, 50, 64, 77, 96, 100, 128]);
        for n in all.filter(|n| !cfg!(miri) || [1, 2, 3, 4, 5, 6, 8, 12].contains(n)) {
            let fft = Fft::new(n);
            let x = noise(n * ROW, n as u64);
            let (mut y, mut work) = (vec![0.0; n * ROW], vec![Real::NAN; fft.work()]);
            for direction in [Direction::Forward, Direction::Inverse] {
                fft.run(direction, &x, &mut y, &mut work);
                assert_close(&format!("length {n}"), &y, &slow(direction, n, &x));
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn every_instruction_set_gives_the_same() {
        let fft = Fft::new(96);
        let x = noise(96 * ROW, 1);
        let exact = slow(Direction::Forward, 96, &x);
        let (mut y, mut work) = (vec![0.0; 96 * ROW], vec![0.0; fft.work()]);
        pulp::Scalar::new().vectorize(Run { fft: &fft, direction: Direction::Forward, x: &x, y: &mut y, work: &mut work });
        assert_close("one number at a time", &y, &exact);
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            Simd::vectorize(simd, Run { fft: &fft, direction: Direction::Forward, x: &x, y: &mut y, work: &mut work });
            assert_close("AVX2", &y, &exact);
        }
    }

    #[test]
    fn padding_is_a_longer_transform_with_zeros() {
        for n in [2, 6, 10, 32, 64].into_iter().take(if cfg!(miri) { 2 } else { 5 }) {
            let (half, long) = (n / 2, 3 * n / 2);
            let x = noise(n * ROW, 3);
            let mut wide = vec![0.0; long * ROW];
            wide[..half * ROW].copy_from_slice(&x[..half * ROW]);
            wide[n * ROW..].copy_from_slice(&x[half * ROW..]);
            let padded = Fft::padded(n);
            let (mut y, mut work) = (vec![0.0; long * ROW], vec![Real::NAN; padded.work()]);
            padded.run(Direction::Inverse, &x, &mut y, &mut work);
            assert_close("padded", &y, &slow(Direction::Inverse, long, &wide));

            let x = noise(long * ROW, 4);
            let mut short = vec![0.0; n * ROW];
            Fft::cut(n).run(Direction::Forward, &x, &mut short, &mut work);
            let all = slow(Direction::Forward, long, &x);
            assert_close("cut", &short[..half * ROW], &all[..half * ROW]);
            assert_close("cut", &short[half * ROW..], &all[n * ROW..]);
        }
    }
}
