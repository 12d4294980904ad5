//! A network layer: product, bias, normalisation and activation in one operation.

use super::{Cotangents, Inputs, Op};
use crate::kernel::gemm::{Left, Right, Start, gemm};
use crate::kernel::{math, vectorise};
use crate::{Real, Shape};

/// What follows `h = x·w + b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `h`
    Linear,
    /// `tanh(h)`
    Tanh,
    /// `tanh(h/(‖h‖+1))`, the norm taken over each row
    SoftTanh,
}

/// `activation(x·w + b)`. Inputs: `w [in, out]`, `b [out]`, `w` transposed (a constant, for the backward pass), then `x [rows, in]`.
///
/// `x` may come in several pieces, which count as joined along the last axis without being copied.
#[derive(Clone, Copy, Debug)]
pub struct Dense {
    /// What follows the linear part.
    pub activation: Activation,
}

/// Number of the first piece of `x` among the inputs.
const X: usize = 3;

impl Op for Dense {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let inputs: usize = x[X..].iter().map(Shape::last).sum();
        let fits = x[0].sizes() == [inputs, x[1].count()] && x[2].sizes() == [x[1].count(), inputs];
        assert!(fits, "dense: inputs {:?}, weights {:?}, biases {:?}", &x[X..], x[0], x[1]);
        assert!(x[X..].iter().all(|piece| piece.rows() == x[X].rows()), "dense: inputs {:?}", &x[X..]);
        x[X].with_last(x[1].count())
    }

    fn saved(&self, x: &[Shape]) -> usize {
        match self.activation {
            // 1/(‖h‖+1) of each row. The normalised rows follow from the result: computing them again is cheaper than fetching them.
            Activation::SoftTanh => x[X].rows(),
            _ => 0,
        }
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        x[X].rows() * x[1].count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], _: &mut [Real]) {
        let (rows, n) = (x.shape(X).rows(), x.shape(1).count());
        let mut first = 0;
        for piece in X..x.count() {
            let k = x.shape(piece).last();
            let start = if first == 0 { Start::Bias(&x[1]) } else { Start::Add };
            gemm(rows, n, k, Left::rows(&x[piece], k), Right::columns(&x[0][first * n..], n, 0), y, start);
            first += k;
        }
        match self.activation {
            Activation::Linear => {}
            Activation::Tanh => vectorise(
                #[inline(always)]
                || y.iter_mut().for_each(|y| *y = math::tanh(*y)),
            ),
            Activation::SoftTanh => {
                vectorise(
                    #[inline(always)]
                    || {
                        for (h, scale) in y.chunks_exact_mut(n).zip(saved) {
                            let g = 1.0 / (math::sum_pairs(h, h, |a, b| a * b).sqrt() + 1.0);
                            *scale = g;
                            // ‖g·h‖ < 1, so a short polynomial does.
                            h.iter_mut().for_each(|h| *h = math::tanh_small(*h * g));
                        }
                    },
                );
            }
        }
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (rows, n) = (x.shape(X).rows(), x.shape(1).count());
        let h_bar: &[Real] = match self.activation {
            Activation::Linear => y_bar,
            Activation::Tanh => {
                vectorise(
                    #[inline(always)]
                    || {
                        for ((h_bar, y), y_bar) in scratch.iter_mut().zip(y).zip(y_bar) {
                            *h_bar = y_bar * (1.0 - y * y);
                        }
                    },
                );
                scratch
            }
            Activation::SoftTanh => {
                vectorise(
                    #[inline(always)]
                    || {
                        let rows = y.chunks_exact(n).zip(y_bar.chunks_exact(n)).zip(saved);
                        for (h_bar, ((y, y_bar), g)) in scratch.chunks_exact_mut(n).zip(rows) {
                            // s = h·g with g = 1/(‖h‖+1):  h̄ = g·s̄ − s·(s·s̄)/‖h‖, and 0 instead of the fraction at h = 0.
                            let along = math::sum_pairs(y, y_bar, |y, y_bar| math::atanh_small(y) * (y_bar * (1.0 - y * y)));
                            let norm = 1.0 / g - 1.0;
                            let along = if norm > 0.0 { along / norm } else { 0.0 };
                            for ((h_bar, y), y_bar) in h_bar.iter_mut().zip(y).zip(y_bar) {
                                *h_bar = math::fma(*g, y_bar * (1.0 - y * y), -along * math::atanh_small(*y));
                            }
                        }
                    },
                );
                scratch
            }
        };
        let inputs = x.shape(0).sizes()[0];
        let mut first = 0;
        for piece in X..x.count() {
            let k = x.shape(piece).last();
            if let Some((x_bar, fresh)) = bars.slot(piece) {
                let start = if fresh { Start::Zero } else { Start::Add };
                gemm(rows, k, n, Left::rows(h_bar, n), Right::columns(&x[2], inputs, first), x_bar, start);
            }
            if let Some(w_bar) = bars.get(0) {
                let part = &mut w_bar[first * n..(first + k) * n];
                gemm(k, n, rows, Left::transposed(&x[piece], k), Right::columns(h_bar, n, 0), part, Start::Add);
            }
            first += k;
        }
        if let Some(b_bar) = bars.get(1) {
            vectorise(
                #[inline(always)]
                || {
                    for row in h_bar.chunks_exact(n) {
                        b_bar.iter_mut().zip(row).for_each(|(b_bar, h_bar)| *b_bar += h_bar);
                    }
                },
            );
        }
    }
}
