//! Slopes of a quadratic fitted to all samples of a window.

use super::Patch;
use crate::Real;
use cinoc_tape::kernel::{parallel, vectorise};
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};

/// Coefficients of x, y, x², xy and y².
type Terms = [Real; 5];

/// Replaces the slopes in a patch by those of the quadratic that fits the errors of all samples best, by least squares:
/// less sensitive to sensor noise than differences over one cell, and exact where the error is quadratic.
///
/// In coordinates from −½ to ½ across the window, as slopes in a patch are scaled, the terms x, y, x² − mean, xy and
/// y² − mean are orthogonal on the lattice of samples, so that each coefficient is a weighted sum of the errors. A line
/// has y only; two samples along an axis have no squares. Input and output: a patch `[batch, agents, p]`.
pub struct FittedSlopes {
    /// Coordinates of the samples along an axis.
    at: Vec<Real>,
    /// Their squares less the mean.
    squares: Vec<Real>,
    /// The same along x: of the rows of an image, zero on a line.
    rows: Vec<[Real; 2]>,
    /// Reciprocal sums of squares of the terms over all samples; zero for terms that are absent.
    weights: Terms,
    /// Number of values between two samples: 1 on a line, else the channels of an image.
    stride: usize,
}

impl FittedSlopes {
    /// Creates the operation for patches with `points` samples in all, if they consist of the error and its slopes in a
    /// window.
    pub fn new(patch: Patch, points: usize) -> Option<Self> {
        let (plane, n) = match patch {
            Patch::Line(count) if count == 2 * points => (false, points),
            Patch::Image { height, width, channels: 3 } if height == width && height * width == points => (true, height),
            _ => return None,
        };
        if n < 2 {
            return None;
        }
        let at: Vec<f64> = (0..n).map(|j| j as f64 / (n - 1) as f64 - 0.5).collect();
        let mean = at.iter().map(|s| s * s).sum::<f64>() / n as f64;
        let squares: Vec<f64> = at.iter().map(|s| if n > 2 { s * s - mean } else { 0.0 }).collect();
        let sum = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>();
        let (count, first, second) = (if plane { n as f64 } else { 1.0 }, sum(&at), sum(&squares));
        let weight = |sum: f64, present: bool| if present && sum > 0.0 { 1.0 / sum } else { 0.0 };
        let along = [weight(count * first, true), weight(count * second, n > 2)];
        let only = |x: f64| if plane { x } else { 0.0 };
        let weights = [only(along[0]), along[0], only(along[1]), only(weight(first * first, true)), along[1]];
        let real = |values: &[f64]| values.iter().map(|&x| x as Real).collect::<Vec<_>>();
        let rows = at.iter().zip(&squares).map(|(&x, &xx)| [x as Real, xx as Real]);
        Some(Self {
            rows: if plane { rows.collect() } else { vec![[0.0; 2]] },
            at: real(&at),
            squares: real(&squares),
            weights: weights.map(|x| x as Real),
            stride: if plane { 3 } else { 1 },
        })
    }

    /// Number of samples.
    fn samples(&self) -> usize {
        self.rows.len() * self.at.len()
    }

    /// Number of values in a patch.
    fn width(&self) -> usize {
        if self.stride == 1 { 2 * self.samples() } else { self.stride * self.samples() }
    }

    /// Coefficients of the quadratic that fits the errors of a patch.
    #[inline(always)]
    fn fit(&self, patch: &[Real]) -> Terms {
        let (n, mut sums) = (self.at.len(), [0.0; 5]);
        for (i, [x, xx]) in self.rows.iter().enumerate() {
            let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
            for j in 0..n {
                let error = patch[(i * n + j) * self.stride];
                total += error;
                first += self.at[j] * error;
                second += self.squares[j] * error;
            }
            let row = [x * total, first, xx * total, x * first, second];
            sums.iter_mut().zip(row).for_each(|(sum, term)| *sum += term);
        }
        std::array::from_fn(|k| self.weights[k] * sums[k])
    }

    /// Adds to the cotangents of the errors of a patch, given those of the coefficients.
    #[inline(always)]
    fn spread(&self, bars: Terms, patch_bar: &mut [Real]) {
        let n = self.at.len();
        let [x_bar, y_bar, xx_bar, xy_bar, yy_bar]: Terms = std::array::from_fn(|k| self.weights[k] * bars[k]);
        for (i, [x, xx]) in self.rows.iter().enumerate() {
            let (here, along) = (x_bar * x + xx_bar * xx, y_bar + xy_bar * x);
            for j in 0..n {
                patch_bar[(i * n + j) * self.stride] += here + along * self.at[j] + yy_bar * self.squares[j];
            }
        }
    }

    /// Writes the slopes of a quadratic to a patch.
    #[inline(always)]
    fn slopes(&self, [x_term, y_term, xx_term, xy_term, yy_term]: Terms, patch: &mut [Real]) {
        let n = self.at.len();
        for (i, [x, _]) in self.rows.iter().enumerate() {
            let (down, along) = (x_term + 2.0 * xx_term * x, y_term + xy_term * x);
            for j in 0..n {
                let (y, sample) = (self.at[j], i * n + j);
                let slope = along + 2.0 * yy_term * y;
                if self.stride == 1 {
                    patch[n + j] = slope;
                } else {
                    patch[sample * self.stride + 1] = down + xy_term * y;
                    patch[sample * self.stride + 2] = slope;
                }
            }
        }
    }

    /// Adjoint of [`slopes`](Self::slopes): cotangents of the coefficients.
    #[inline(always)]
    fn gather(&self, patch_bar: &[Real]) -> Terms {
        let (n, mut bars) = (self.at.len(), [0.0; 5]);
        for (i, [x, _]) in self.rows.iter().enumerate() {
            for j in 0..n {
                let (y, sample) = (self.at[j], i * n + j);
                let [down, along] = match self.stride {
                    1 => [0.0, patch_bar[n + j]],
                    stride => [patch_bar[sample * stride + 1], patch_bar[sample * stride + 2]],
                };
                let terms = [down, along, 2.0 * x * down, y * down + x * along, 2.0 * y * along];
                bars.iter_mut().zip(terms).for_each(|(bar, term)| *bar += term);
            }
        }
        bars
    }
}

impl Op for FittedSlopes {
    fn name(&self) -> &'static str {
        "slopes"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0].last(), self.width(), "slopes of {:?}", x[0]);
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let width = self.width();
        parallel::rows(y, width, 4 * width, |first, y| {
            vectorise(
                #[inline(always)]
                || {
                    for (y, patch) in y.chunks_exact_mut(width).zip(x[0][first * width..].chunks_exact(width)) {
                        y.copy_from_slice(patch);
                        self.slopes(self.fit(patch), y);
                    }
                },
            );
        });
    }

    fn vjp(&self, _: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let Some(x_bar) = bars.get(0) else { return };
        let (width, samples) = (self.width(), self.samples());
        vectorise(
            #[inline(always)]
            || {
                for (x_bar, y_bar) in x_bar.chunks_exact_mut(width).zip(y_bar.chunks_exact(width)) {
                    for sample in 0..samples {
                        x_bar[sample * self.stride] += y_bar[sample * self.stride];
                    }
                    self.spread(self.gather(y_bar), x_bar);
                }
            },
        );
    }

    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        let (tape, shape, samples, width) = (x[0].tape(), x[0].shape(), self.samples(), self.width());
        let unit = |k: usize| std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 });
        // The two linear maps, from the errors to the coefficients and from these to the slopes, by columns and rows.
        let (mut fit, mut slopes) = (vec![0.0; samples * 5], Vec::new());
        for k in 0..5 {
            let mut patch = vec![0.0; width];
            self.spread(unit(k), &mut patch);
            (0..samples).for_each(|i| fit[i * 5 + k] = patch[i * self.stride]);
            self.slopes(unit(k), &mut patch);
            let values =
                patch.iter().enumerate().filter(|(i, _)| if self.stride == 1 { *i >= samples } else { !i.is_multiple_of(3) });
            slopes.extend(values.map(|(_, slope)| slope));
        }
        let (fit, slopes) = (tape.constant([samples, 5], &fit), tape.constant([5, width - samples], &slopes));
        if self.stride == 1 {
            let errors = x[0].columns(0, samples);
            return Some(errors.join(errors.matmul(fit).matmul(slopes)));
        }
        let all = shape.rows() * samples;
        let errors = x[0].reshape([all, self.stride]).columns(0, 1);
        let slopes = errors.reshape(shape.with_last(samples)).matmul(fit).matmul(slopes);
        Some(errors.join(slopes.reshape([all, 2])).reshape(shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc_tape::check::{assert_derivative, compare, noise, pull_back};
    use cinoc_tape::{Arena, Tape};
    use std::sync::Arc;

    const LIMIT: Real = if cfg!(double) { 1e-12 } else { 2e-5 };

    fn fitted(patch: &[Real], op: &Arc<FittedSlopes>) -> Vec<Real> {
        let shape = Shape::new(&[1, 1, patch.len()]);
        pull_back(&vec![(shape, patch.to_vec())], &|v| v[0].apply(op), None).0
    }

    fn line(n: usize) -> Arc<FittedSlopes> {
        Arc::new(FittedSlopes::new(Patch::Line(2 * n), n).expect("a line"))
    }

    fn plane(n: usize) -> Arc<FittedSlopes> {
        Arc::new(FittedSlopes::new(Patch::Image { height: n, width: n, channels: 3 }, n * n).expect("an image"))
    }

    fn coordinate(j: usize, n: usize) -> Real {
        j as Real / (n - 1) as Real - 0.5
    }

    #[test]
    fn slopes_of_a_quadratic_on_a_line_are_exact() {
        for n in [2, 3, 8, 20] {
            let curve = if n > 2 { -1.7 } else { 0.0 };
            let at = |j: usize| coordinate(j, n);
            let error = |s: Real| 0.4 + 1.3 * s + curve * s * s;
            // Slopes in the input are ignored.
            let patch: Vec<Real> = (0..n).map(|j| error(at(j))).chain(noise(n, 3)).collect();
            let found = fitted(&patch, &line(n));
            assert_eq!(found[..n], patch[..n]);
            for j in 0..n {
                assert!((found[n + j] - (1.3 + 2.0 * curve * at(j))).abs() < LIMIT, "{n} samples: {found:?}");
            }
        }
    }

    #[test]
    fn slopes_of_a_quadratic_in_the_plane_are_exact() {
        for n in [2, 3, 8, 12] {
            let curve: [Real; 2] = if n > 2 { [-1.7, 0.6] } else { [0.0; 2] };
            let at = |i: usize| [coordinate(i / n, n), coordinate(i % n, n)];
            let error = |[x, y]: [Real; 2]| 0.4 + 1.3 * x - 0.8 * y + curve[0] * x * x + 2.1 * x * y + curve[1] * y * y;
            let other = noise(2 * n * n, 4);
            let patch: Vec<Real> = (0..n * n).flat_map(|i| [error(at(i)), other[2 * i], other[2 * i + 1]]).collect();
            for (i, found) in fitted(&patch, &plane(n)).chunks_exact(3).enumerate() {
                let [x, y] = at(i);
                let slopes = [1.3 + 2.0 * curve[0] * x + 2.1 * y, -0.8 + 2.1 * x + 2.0 * curve[1] * y];
                assert_eq!(found[0], patch[3 * i]);
                assert!((0..2).all(|c| (found[1 + c] - slopes[c]).abs() < LIMIT), "{n} samples: {found:?}, not {slopes:?}");
            }
        }
    }

    /// On other errors the residual is orthogonal to all terms: no quadratic fits better.
    #[test]
    fn the_fit_is_that_of_least_squares() {
        let (n, op) = (7, plane(7));
        let patch = noise(3 * n * n, 5);
        let [cx, cy, cxx, cxy, cyy] = op.fit(&patch);
        let mean = (0..n * n).map(|i| patch[3 * i]).sum::<Real>() / (n * n) as Real;
        let mut sums = [0.0; 6];
        for i in 0..n * n {
            let ([x, xx], y, yy) = (op.rows[i / n], op.at[i % n], op.squares[i % n]);
            let left = patch[3 * i] - mean - cx * x - cy * y - cxx * xx - cxy * x * y - cyy * yy;
            sums.iter_mut().zip([1.0, x, y, x * x, x * y, y * y]).for_each(|(sum, term)| *sum += left * term);
        }
        assert!(sums.iter().all(|sum| sum.abs() < LIMIT), "{sums:?}");
    }

    #[test]
    fn derivatives_are_exact_and_pass_by_the_slopes_of_the_input() {
        for (op, width) in [(line(2), 4), (line(9), 18), (plane(2), 12), (plane(5), 75)] {
            assert_derivative(&[(&[2, 3, width], &noise(6 * width, 1))], |v| v[0].apply(&op));
            let point = vec![(Shape::new(&[1, 1, width]), noise(width, 2))];
            let (_, bars) = pull_back(&point, &|v| v[0].apply(&op), Some(&noise(width, 3)));
            let slope = |i: usize| if op.stride == 1 { i >= width / 2 } else { !i.is_multiple_of(3) };
            assert!((0..width).all(|i| slope(i) == (bars[0][i] == 0.0)), "{:?}", bars[0]);
            // The map is linear: central differences of any step are exact.
            let agreement = compare(&point, &|v| v[0].apply(&op), 1.0, 4);
            assert!(agreement.error < LIMIT as f64, "{agreement:?}");
        }
    }

    #[test]
    fn plain_operations_give_the_same() {
        for (op, width) in [(line(2), 4), (line(20), 40), (plane(2), 12), (plane(8), 192)] {
            let values = noise(2 * width, 6);
            let tape = Tape::new(Arena::default(), &[]).primitives_only(true);
            let plain = tape.input([1, 2, width], &values).apply(&op).value();
            for (values, plain) in values.chunks_exact(width).zip(plain.chunks_exact(width)) {
                let found = fitted(values, &op);
                assert!(plain.iter().zip(&found).all(|(a, b)| (a - b).abs() < LIMIT), "{plain:?}, {found:?}");
            }
        }
    }

    #[test]
    fn other_patches_have_no_slopes() {
        assert!(FittedSlopes::new(Patch::Line(8), 8).is_none() && FittedSlopes::new(Patch::Line(2), 1).is_none());
        assert!(FittedSlopes::new(Patch::Image { height: 4, width: 5, channels: 3 }, 20).is_none());
    }
}
