//! Fourier transforms of many columns side by side.
//!
//! A *panel* is a matrix of complex numbers with [`WIDTH`] columns: each row is `WIDTH` real parts followed by `WIDTH` imaginary parts.
//! The transform runs down the columns, so that every instruction works on whole vectors and nothing is shuffled: several times
//! faster than transforming one short column after another. Stockham's algorithm: no bit reversal, natural order in and out.

mod butterfly;
mod pass;

use super::arch;
use crate::Real;
use pass::Run;
use std::f64::consts::TAU;

/// Columns of a panel.
pub const WIDTH: usize = 16;

/// Numbers in a row of a panel.
pub const ROW: usize = 2 * WIDTH;

/// Which way to transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `Xₖ = Σ xⱼ e^(−2πi jk/n)`
    Forward,
    /// `xⱼ = Σ Xₖ e^(+2πi jk/n)`, not divided by n.
    Inverse,
}

/// Rows of zeros that are neither stored nor computed: the middle third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hole {
    None,
    Input,
    Output,
}

/// A transform of fixed length, any length, fast where its factors are 2 and 3.
#[derive(Clone, Debug)]
pub struct Fft {
    length: usize,
    hole: Hole,
    passes: Vec<Pass>,
}

/// One factor of the length.
#[derive(Clone, Debug)]
struct Pass {
    radix: usize,
    /// Length of the transforms that are left after this pass.
    rest: usize,
    /// How many transforms are interleaved: the product of the radices before.
    stride: usize,
    /// `e^(−2πi pj/(radix·rest))` as (re, im) for each p, then each j from 1.
    twiddles: Vec<Real>,
    /// `e^(−2πi j/radix)` as (re, im), for radices without a formula of their own.
    roots: Vec<Real>,
}

fn root(j: usize, n: usize) -> [Real; 2] {
    let angle = -TAU * (j % n) as f64 / n as f64;
    [angle.cos() as Real, angle.sin() as Real]
}

impl Fft {
    /// # Panics
    /// For length 0.
    pub fn new(length: usize) -> Self {
        assert!(length > 0, "a transform needs at least one point");
        Self::with_radices(length, factors(length), Hole::None)
    }

    /// A transform of length 3n/2 whose input has the n rows `0..n/2` and `n..3n/2` only, stored one after the other: the rest is zero.
    ///
    /// # Panics
    /// For odd n.
    pub fn padded(n: usize) -> Self {
        assert!(n > 0 && n.is_multiple_of(2), "padding needs an even number of rows, not {n}");
        let radices = [3].into_iter().chain(factors(n / 2)).collect();
        Self::with_radices(longer(n), radices, Hole::Input)
    }

    /// A transform of length 3n/2 of which only the rows `0..n/2` and `n..3n/2` are computed and stored, one after the other.
    ///
    /// # Panics
    /// For odd n.
    pub fn cut(n: usize) -> Self {
        assert!(n > 0 && n.is_multiple_of(2), "padding needs an even number of rows, not {n}");
        let radices = factors(n / 2).into_iter().chain([3]).collect();
        Self::with_radices(longer(n), radices, Hole::Output)
    }

    fn with_radices(length: usize, radices: Vec<usize>, hole: Hole) -> Self {
        let (mut left, mut stride) = (length, 1);
        let passes = radices.into_iter().map(|radix| {
            let rest = left / radix;
            let twiddles = (0..rest).flat_map(|p| (1..radix).flat_map(move |j| root(p * j, radix * rest))).collect();
            let roots = (0..radix).flat_map(|j| root(j, radix)).collect();
            let pass = Pass { radix, rest, stride, twiddles, roots };
            (left, stride) = (rest, stride * radix);
            pass
        });
        Self { length, hole, passes: passes.collect() }
    }

    /// Rows of the input, and of the output.
    pub fn rows(&self) -> (usize, usize) {
        let short = self.length / 3 * 2;
        match self.hole {
            Hole::None => (self.length, self.length),
            Hole::Input => (short, self.length),
            Hole::Output => (self.length, short),
        }
    }

    /// How many numbers of working space [`run`](Self::run) needs.
    pub fn work(&self) -> usize {
        2 * self.length * ROW
    }

    /// Transforms a panel. The content of `work` is arbitrary.
    ///
    /// # Panics
    /// When a slice is too short.
    pub fn run(&self, direction: Direction, x: &[Real], y: &mut [Real], work: &mut [Real]) {
        let (rows_in, rows_out) = self.rows();
        assert!(x.len() >= rows_in * ROW && y.len() >= rows_out * ROW, "fft of {}: {} to {}", self.length, x.len(), y.len());
        assert!(work.len() >= self.work(), "fft of {}: {} numbers of working space", self.length, work.len());
        arch().dispatch(Run { fft: self, direction, x, y, work });
    }
}

/// 3n/2 of an even n.
fn longer(n: usize) -> usize {
    n.checked_add(n / 2).expect("a transform longer than the address space")
}

/// Factors of n, the large ones that have formulas first.
fn factors(mut n: usize) -> Vec<usize> {
    let mut all = Vec::new();
    for radix in [8, 6, 4, 3, 2] {
        // 16 is 4·4, not 8·2.
        while n.is_multiple_of(radix) && !(radix == 8 && n == 16) {
            all.push(radix);
            n /= radix;
        }
    }
    let mut odd = 5;
    while n > 1 {
        while n.is_multiple_of(odd) {
            all.push(odd);
            n /= odd;
        }
        odd += 2;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::noise;
    use pulp::Simd;

    /// The definition, column by column.
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
        let limit = if cfg!(feature = "f64") { 1e-12 } else { 2e-5 };
        assert_eq!(a.len(), b.len(), "{what}");
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            assert!((a - b).abs() < limit, "{what}, number {i}: {a} not {b}");
        }
    }

    #[test]
    fn agrees_with_the_definition_at_every_length() {
        for n in (1..=36).chain([48, 49, 50, 64, 77, 96, 100, 128]) {
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
        for n in [2, 6, 10, 32, 64] {
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
