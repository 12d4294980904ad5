//! What a transform of some length consists of.

use crate::Real;
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
pub(super) enum Hole {
    None,
    Input,
    Output,
}

/// A transform of fixed length, any length, fast where its factors are 2 and 3.
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
    /// Length of the transforms that are left after this pass.
    pub rest: usize,
    /// How many transforms are interleaved: the product of the radices before.
    pub stride: usize,
    /// `e^(−2πi pj/(radix·rest))` as (re, im) for each p, then each j from 1.
    pub twiddles: Vec<Real>,
    /// `e^(−2πi j/radix)` as (re, im), for radices without a formula of their own.
    pub roots: Vec<Real>,
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
