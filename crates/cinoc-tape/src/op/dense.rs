//! Fused network layer: product, bias, normalisation and activation.

use super::{Cotangents, Inputs, Op};
use crate::kernel::gemm::{Left, Right, Start, gemm};
use crate::kernel::{math, parallel, vectorise};
use crate::{Real, Shape, Var};

/// Activation function of `h = x·w + b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `h`
    Linear,
    /// `tanh(h)`
    Tanh,
    /// `tanh(h/(‖h‖+1))`, the norm taken over each row
    SoftTanh,
}

impl Activation {
    /// Count of numbers saved for the backward pass of `rows` rows.
    pub(super) fn saved(self, rows: usize) -> usize {
        match self {
            // 1/(‖h‖+1) of each row. The normalised rows follow from the result: recomputing them is cheaper than
            // loading them.
            Self::SoftTanh => rows,
            _ => 0,
        }
    }

    /// Applies the activation in place to rows of `n` numbers.
    pub(super) fn apply(self, n: usize, y: &mut [Real], saved: &mut [Real]) {
        match self {
            Self::Linear => {}
            Self::Tanh => vectorise(
                #[inline(always)]
                || y.iter_mut().for_each(|y| *y = math::tanh(*y)),
            ),
            Self::SoftTanh => {
                vectorise(
                    #[inline(always)]
                    || {
                        for (h, scale) in y.chunks_exact_mut(n).zip(saved) {
                            let g = 1.0 / (math::sum_pairs(h, h, |a, b| a * b).sqrt() + 1.0);
                            *scale = g;
                            // ‖g·h‖ < 1, so a short polynomial suffices.
                            h.iter_mut().for_each(|h| *h = math::tanh_small(*h * g));
                        }
                    },
                );
            }
        }
    }

    /// Returns the result by primitive operations.
    fn of(self, h: Var<'_>) -> Var<'_> {
        match self {
            Self::Linear => h,
            Self::Tanh => h.tanh(),
            Self::SoftTanh => h.soft().tanh(),
        }
    }

    /// Returns the cotangent of `h` from that of the result, in `room` unless they are equal.
    pub(super) fn pull<'a>(self, n: usize, y: &[Real], y_bar: &'a [Real], saved: &[Real], room: &'a mut [Real]) -> &'a [Real] {
        match self {
            Self::Linear => return y_bar,
            Self::Tanh => {
                vectorise(
                    #[inline(always)]
                    || {
                        for ((h_bar, y), y_bar) in room.iter_mut().zip(y).zip(y_bar) {
                            *h_bar = y_bar * (1.0 - y * y);
                        }
                    },
                );
            }
            Self::SoftTanh => {
                vectorise(
                    #[inline(always)]
                    || {
                        let rows = y.chunks_exact(n).zip(y_bar.chunks_exact(n)).zip(saved);
                        for (h_bar, ((y, y_bar), g)) in room.chunks_exact_mut(n).zip(rows) {
                            // s = h·g with g = 1/(‖h‖+1):  h̄ = g·s̄ − s·(s·s̄)/‖h‖, and 0 instead of the fraction at h
                            // = 0.
                            let along = math::sum_pairs(y, y_bar, |y, y_bar| math::atanh_small(y) * (y_bar * (1.0 - y * y)));
                            let norm = 1.0 / g - 1.0;
                            let along = if norm > 0.0 { along / norm } else { 0.0 };
                            for ((h_bar, y), y_bar) in h_bar.iter_mut().zip(y).zip(y_bar) {
                                *h_bar = math::fma(*g, y_bar * (1.0 - y * y), -along * math::atanh_small(*y));
                            }
                        }
                    },
                );
            }
        }
        room
    }
}

/// Adds the sum of the rows of `h_bar` to the cotangent of a bias, or the rows themselves to a bias per row.
pub(super) fn bias_back(h_bar: &[Real], b_bar: Option<(&mut [Real], bool)>) {
    let Some((b_bar, fresh)) = b_bar else { return };
    if fresh && b_bar.len() == h_bar.len() {
        return b_bar.copy_from_slice(h_bar);
    }
    vectorise(
        #[inline(always)]
        || {
            if fresh {
                b_bar.fill(0.0);
            }
            for row in h_bar.chunks_exact(b_bar.len()) {
                b_bar.iter_mut().zip(row).for_each(|(b_bar, h_bar)| *b_bar += h_bar);
            }
        },
    );
}

/// `activation(x·w + b)`. Inputs: `w [in, out]`, `b [out]` or `[rows, out]`, `w` transposed (a constant, for the
/// backward pass), then `x [rows, in]`.
///
/// `x` may consist of several pieces, treated as joined along the last axis without a copy. It may have fewer columns
/// than `w` has rows; it then uses those from `first` on. Two such layers, the result of one being the `b` of the
/// other, equal one layer on joined inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dense {
    /// Activation function.
    pub activation: Activation,
    /// The row of `w` for the first column of `x`.
    pub first: usize,
}

/// Index of the first piece of `x` among the inputs.
const X: usize = 3;

/// Multiple of rows per chunk: whole blocks of the product for any number of columns.
const BLOCK: usize = 24;

/// Cost of a row of a product with an activation, in numbers of element-wise arithmetic.
fn cost(inputs: usize, outputs: usize) -> usize {
    (inputs / 64 + 1) * outputs
}

impl Dense {
    /// Computes the rows of `y`, which start at row `first` of the result.
    fn compute_rows(&self, x: &Inputs, first: usize, y: &mut [Real], saved: &mut [Real]) {
        let n = x.shape(0).last();
        let (rows, at) = (y.len() / n, |piece: usize, k: usize| &x[piece][first * k..]);
        if n == 1 && x.shape(1).count() == 1 && x.count() == X + 1 {
            // With a single column most lanes of each vector would be idle.
            let k = x.shape(X).last();
            let w = &x[0][self.first..][..k];
            vectorise(
                #[inline(always)]
                || {
                    y.iter_mut()
                        .zip(at(X, k).chunks_exact(k))
                        .for_each(|(y, row)| *y = x[1][0] + math::sum_pairs(row, w, |x, w| x * w))
                },
            );
            return self.activation.apply(n, y, saved);
        }
        let mut start = if x.shape(1).count() == n { Start::Bias(&x[1]) } else { Start::From(at(1, n)) };
        let mut from = self.first;
        for piece in X..x.count() {
            let k = x.shape(piece).last();
            gemm(rows, n, k, Left::rows(at(piece, k), k), Right::columns(&x[0][from * n..], n, 0), y, start);
            (from, start) = (from + k, Start::Add);
        }
        self.activation.apply(n, y, saved);
    }
}

impl Op for Dense {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let y = x[X].with_last(x[0].last());
        let (n, k) = (y.last(), x[0].rows());
        let inputs: usize = x[X..].iter().map(Shape::last).sum();
        let fits = x[2].sizes() == [n, k] && self.first + inputs <= k && (x[1].sizes() == [n] || x[1] == y);
        let even = x[X..].iter().all(|piece| piece.rows() == y.rows());
        assert!(fits && even, "dense: inputs {:?} from {} on, weights {:?}, biases {:?}", &x[X..], self.first, x[0], x[1]);
        y
    }

    fn saved(&self, x: &[Shape]) -> usize {
        self.activation.saved(x[X].rows())
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        x[X].rows() * x[0].last()
    }

    fn flops(&self, x: &[Shape]) -> usize {
        2 * x[X].rows() * x[0].last() * x[X..].iter().map(Shape::last).sum::<usize>()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], _: &mut [Real]) {
        let (rows, n) = (x.shape(X).rows(), x.shape(0).last());
        let inputs: usize = x.shapes()[X..].iter().map(Shape::last).sum();
        let size = parallel::chunk_size(rows, cost(inputs, n), BLOCK);
        if saved.is_empty() {
            return parallel::for_each_part(parallel::chunks(y, size * n), |i, y| self.compute_rows(x, i * size, y, &mut []));
        }
        parallel::for_each_part((parallel::chunks(y, size * n), parallel::chunks(saved, size)), |i, (y, saved)| {
            self.compute_rows(x, i * size, y, saved)
        });
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (rows, n) = (x.shape(X).rows(), x.shape(0).last());
        let h_bar = self.activation.pull(n, y, y_bar, saved, scratch);
        let mut first = self.first;
        for piece in X..x.count() {
            let k = x.shape(piece).last();
            if let Some((x_bar, fresh)) = bars.slot(piece) {
                let start = if fresh { Start::Zero } else { Start::Add };
                let w_t = Right::columns(&x[2], x.shape(0).rows(), first);
                let size = parallel::chunk_size(rows, cost(n, k), BLOCK);
                parallel::for_each_part(parallel::chunks(x_bar, size * k), |i, x_bar| {
                    gemm(x_bar.len() / k, k, n, Left::rows(&h_bar[i * size * n..], n), w_t, x_bar, start);
                });
            }
            if let Some(w_bar) = bars.get(0) {
                let part = &mut w_bar[first * n..(first + k) * n];
                if n == 1 {
                    // Computed as a row, which fills vectors.
                    gemm(1, k, rows, Left::transposed(h_bar, 1), Right::columns(&x[piece], k, 0), part, Start::Add);
                } else {
                    gemm(k, n, rows, Left::transposed(&x[piece], k), Right::columns(h_bar, n, 0), part, Start::Add);
                }
            }
            first += k;
        }
        bias_back(h_bar, bars.slot(1));
    }

    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        let joined = x[X + 1..].iter().fold(x[X], |joined, piece| joined.join(*piece));
        let (n, k) = (x[0].shape().last(), joined.shape().last());
        let w = match self.first {
            0 if k == x[0].shape().rows() => x[0],
            first => x[0].reshape([x[0].shape().count()]).columns(first * n, (first + k) * n).reshape([k, n]),
        };
        Some(self.activation.of(joined.matmul(w) + x[1]))
    }
}
