//! Plan of a transform: its passes and twiddle factors.

use crate::Real;
use std::f64::consts::TAU;

/// Columns of a panel.
pub const WIDTH: usize = 16;

/// Length of a row of a panel.
pub const ROW: usize = 2 * WIDTH;

/// Direction of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `Xₖ = Σ xⱼ e^(−2πi jk/n)`
    Forward,
    /// `xⱼ = Σ Xₖ e^(+2πi jk/n)`, not divided by n.
    Inverse,
}

/// Middle third of the rows, zeros that are neither stored nor computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hole {
    None,
    Input,
    Output,
}

/// Transform of a fixed length. Any length is possible; factors of 2 and 3 are fast.
///
/// ```
/// use cinoc_tape::kernel::fft::{Direction, Fft, ROW, WIDTH};
///
/// // Sixteen columns of eight ones: the transform has the sum in row 0 and zeros elsewhere.
/// let fft = Fft::new(8);
/// let mut x = vec![0.0; 8 * ROW];
/// x.chunks_exact_mut(ROW).for_each(|row| row[..WIDTH].fill(1.0));
/// let (mut y, mut work) = (vec![0.0; 8 * ROW], vec![0.0; fft.work()]);
/// fft.run(Direction::Forward, &x, &mut y, &mut work);
/// assert_eq!((y[0], y[ROW]), (8.0, 0.0));
/// ```
#[derive(Clone, Debug)]
pub struct Fft {
    pub(super) length: usize,
    pub(super) hole: Hole,
    pub(super) passes: Vec<Pass>,
}

/// One factor of the length.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    pub radix: usize,
    /// Length of the transforms that remain after this pass.
    pub rest: usize,
    /// Number of interleaved transforms: the product of the preceding radices.
    pub stride: usize,
    /// `e^(−2πi pj/(radix·rest))` as (re, im) for each p, then each j from 1.
    pub twiddles: Vec<Real>,
    /// `e^(−2πi j/radix)` as (re, im), for radices without a special formula.
    pub roots: Vec<Real>,
}

fn root(j: usize, n: usize) -> [Real; 2] {
    let angle = -TAU * (j % n) as f64 / n as f64;
    [angle.cos() as Real, angle.sin() as Real]
}

impl Fft {
    /// Plans a transform.
    ///
    /// # Panics
    /// For length 0.
    pub fn new(length: usize) -> Self {
        assert!(length > 0, "a transform needs at least one point");
        Self::with_radices(length, factors(length), Hole::None)
    }

    /// Plans a transform of length 3n/2 of the n input rows `0..n/2` and `n..3n/2`, stored contiguously; the others are
    /// zero.
    ///
    /// # Panics
    /// For odd n.
    pub fn padded(n: usize) -> Self {
        assert!(n > 0 && n.is_multiple_of(2), "padding needs an even number of rows, not {n}");
        let radices = [3].into_iter().chain(factors(n / 2)).collect();
        Self::with_radices(longer(n), radices, Hole::Input)
    }

    /// Plans a transform of length 3n/2 that stores only the rows `0..n/2` and `n..3n/2`, contiguously.
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

    /// Length of the working space of [`run`](Self::run).
    pub fn work(&self) -> usize {
        2 * self.length * ROW
    }
}

/// Returns 3n/2 for even n.
fn longer(n: usize) -> usize {
    n.checked_add(n / 2).expect("a transform longer than the address space")
}

/// Factors n, large radices with formulas first.
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
