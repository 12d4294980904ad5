//! Passes of a transform, one per factor of its length.

use super::super::lane;
use super::butterfly::{Complex, SIN_60, add, add_i, add_times, dft2, dft3, dft4, dft6, dft8, scale, sub_i, turn};
use super::plan::{Direction, Fft, Hole, Pass, ROW, WIDTH};
use crate::Real;
use pulp::{Simd, WithSimd};

pub(super) struct Run<'a> {
    pub fft: &'a Fft,
    pub direction: Direction,
    pub x: &'a [Real],
    pub y: &'a mut [Real],
    pub work: &'a mut [Real],
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Fft { length, hole, ref passes } = *self.fft;
        // The inverse transform is the forward one with real and imaginary parts exchanged.
        let (re, im) = if self.direction == Direction::Forward { (0, WIDTH) } else { (WIDTH, 0) };
        let last = passes.len().wrapping_sub(1);
        if passes.is_empty() {
            self.y[..ROW].copy_from_slice(&self.x[..ROW]);
        }
        // SAFETY: `Fft::run` checked the lengths: x and y hold all rows that are read and written, work holds two full
        // panels.
        unsafe {
            let (y, work) = (self.y.as_mut_ptr(), self.work.as_mut_ptr());
            // Passes alternate between two buffers and end in y, which is too short for intermediate results of a cut
            // panel.
            let places = if hole == Hole::Output { [work.add(length * ROW), work] } else { [y, work] };
            let mut from = self.x.as_ptr();
            for (i, pass) in passes.iter().enumerate() {
                let to = if i == last { y } else { places[(last - i) % 2] };
                let step = Step { simd, pass, from, to, re, im };
                match (pass.radix, hole) {
                    (3, Hole::Input) if i == 0 => step.padded(),
                    (3, Hole::Output) if i == last => step.cut(),
                    (2, _) => step.all(dft2),
                    (3, _) => step.all(dft3),
                    (4, _) => step.all(dft4),
                    (6, _) => step.all(dft6),
                    (8, _) => step.all(dft8),
                    _ => step.naive(),
                }
                from = to;
            }
        }
    }
}

/// One pass over a panel.
#[derive(Clone, Copy)]
struct Step<'a, S> {
    simd: S,
    pass: &'a Pass,
    from: *const Real,
    to: *mut Real,
    re: usize,
    im: usize,
}

/// Methods read rows of `from` and write rows of `to`.
///
/// # Safety
/// For all of them: `from` has all rows that the pass reads and `to` all that it writes, each of [`ROW`] numbers; they
/// do not overlap.
impl<S: Simd> Step<'_, S> {
    #[inline(always)]
    unsafe fn load(&self, at: usize) -> Complex<S> {
        // SAFETY: `at` is a column of a row of `from`, a whole number of vectors below `WIDTH`: both parts lie inside
        // the row.
        unsafe {
            let from = self.from.add(at);
            Complex { re: lane::load(self.simd, from.add(self.re)), im: lane::load(self.simd, from.add(self.im)) }
        }
    }

    #[inline(always)]
    unsafe fn store(&self, at: usize, x: Complex<S>) {
        // SAFETY: as for `load`, in `to`.
        unsafe {
            let to = self.to.add(at);
            lane::store(self.simd, to.add(self.re), x.re);
            lane::store(self.simd, to.add(self.im), x.im);
        }
    }

    /// Twiddle factor `j` (from 1) of group `p`.
    #[inline(always)]
    unsafe fn twiddle(&self, p: usize, j: usize) -> Complex<S> {
        // SAFETY: a pass has `radix − 1` complex factors for each of its `rest ≥ 1` groups; `p < rest` and
        // `1 ≤ j < radix`.
        unsafe {
            let at = self.pass.twiddles.as_ptr().add(2 * (p * (self.pass.radix - 1) + j - 1));
            Complex { re: lane::splat(self.simd, *at), im: lane::splat(self.simd, *at.add(1)) }
        }
    }

    #[inline(always)]
    unsafe fn all<const R: usize>(self, dft: impl Fn(S, [Complex<S>; R]) -> [Complex<S>; R]) {
        let Pass { rest, stride, .. } = *self.pass;
        let (apart, near) = (stride * rest * ROW, stride * ROW);
        // SAFETY: `R` is the radix: rows read and written are below `R·rest·stride`, the length of the transform.
        unsafe {
            for p in 0..rest {
                let mut w = [self.twiddle(0, 1); R];
                for j in 1..R {
                    w[j] = self.twiddle(p, j);
                }
                for q in 0..stride {
                    for column in (0..WIDTH).step_by(lane::count::<S>()) {
                        let from = (p * stride + q) * ROW + column;
                        let mut x = [self.load(from); R];
                        for j in 1..R {
                            x[j] = self.load(from + j * apart);
                        }
                        let mut y = dft(self.simd, x);
                        if p > 0 {
                            for j in 1..R {
                                y[j] = turn(self.simd, w[j], y[j]);
                            }
                        }
                        let to = p * R * near + q * ROW + column;
                        for j in 0..R {
                            self.store(to + j * near, y[j]);
                        }
                    }
                }
            }
        }
    }

    /// First pass of radix 3 for an input whose middle third is zero and not stored.
    #[inline(always)]
    unsafe fn padded(self) {
        let (simd, rest) = (self.simd, self.pass.rest);
        // SAFETY: a padded input has `2·rest` rows; the rows written are below `3·rest`.
        unsafe {
            for p in 0..rest {
                for column in (0..WIDTH).step_by(lane::count::<S>()) {
                    let (a, c) = (self.load(p * ROW + column), self.load((rest + p) * ROW + column));
                    let (middle, side) = (add_times(simd, a, -0.5, c), scale(simd, SIN_60, c));
                    let (mut y1, mut y2) = (add_i(simd, middle, side), sub_i(simd, middle, side));
                    if p > 0 {
                        (y1, y2) = (turn(simd, self.twiddle(p, 1), y1), turn(simd, self.twiddle(p, 2), y2));
                    }
                    self.store(3 * p * ROW + column, add(simd, a, c));
                    self.store((3 * p + 1) * ROW + column, y1);
                    self.store((3 * p + 2) * ROW + column, y2);
                }
            }
        }
    }

    /// Last pass of radix 3 for an output whose middle third is not stored.
    #[inline(always)]
    unsafe fn cut(self) {
        let (simd, stride) = (self.simd, self.pass.stride);
        // SAFETY: the last pass has `rest = 1`: rows read are below `3·stride`, those written below `2·stride`, the
        // rows of a cut output.
        unsafe {
            for q in 0..stride {
                for column in (0..WIDTH).step_by(lane::count::<S>()) {
                    let at = |row: usize| row * ROW + column;
                    let x = [self.load(at(q)), self.load(at(q + stride)), self.load(at(q + 2 * stride))];
                    let [y0, _, y2] = dft3(simd, x);
                    self.store(at(q), y0);
                    self.store(at(q + stride), y2);
                }
            }
        }
    }

    /// Pass of any radix, by the definition.
    #[inline(always)]
    unsafe fn naive(self) {
        let Pass { radix, rest, stride, ref roots, .. } = *self.pass;
        let simd = self.simd;
        // SAFETY: rows read and written are below `radix·rest·stride`, the length of the transform.
        unsafe {
            for p in 0..rest {
                for q in 0..stride {
                    for column in (0..WIDTH).step_by(lane::count::<S>()) {
                        let at = |row: usize| row * ROW + column;
                        for k in 0..radix {
                            let mut sum = self.load(at(q + stride * p));
                            for j in 1..radix {
                                let turned = 2 * (j * k % radix);
                                let w =
                                    Complex { re: lane::splat(simd, roots[turned]), im: lane::splat(simd, roots[turned + 1]) };
                                sum = add(simd, sum, turn(simd, w, self.load(at(q + stride * (p + rest * j)))));
                            }
                            let y = if k > 0 { turn(simd, self.twiddle(p, k), sum) } else { sum };
                            self.store(at(q + stride * (radix * p + k)), y);
                        }
                    }
                }
            }
        }
    }
}
