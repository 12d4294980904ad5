//! A network layer: product, bias, normalisation and activation in one operation.

use super::{Cotangents, Inputs, Op};
use crate::kernel::gemm::{Left, Start, gemm};
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

/// `activation(x·w + b)`. Inputs: `x [rows, in]`, `w [in, out]`, `b [out]`, and `w` transposed, a constant, for the backward pass.
#[derive(Clone, Copy, Debug)]
pub struct Dense {
    /// What follows the linear part.
    pub activation: Activation,
}

impl Op for Dense {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[1].sizes() == [x[0].last(), x[2].count()] && x[3].sizes() == [x[1].sizes()[1], x[1].sizes()[0]];
        assert!(fits, "dense: input {:?}, weights {:?}, biases {:?}", x[0], x[1], x[2]);
        x[0].with_last(x[2].count())
    }

    fn saved(&self, x: &[Shape]) -> usize {
        match self.activation {
            // The normalised rows and, behind them, 1/(‖h‖+1) of each.
            Activation::SoftTanh => x[0].rows() * (x[2].count() + 1),
            _ => 0,
        }
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        x[0].rows() * x[2].count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], _: &mut [Real]) {
        let (rows, k, n) = (x.shape(0).rows(), x.shape(0).last(), x.shape(2).count());
        gemm(rows, n, k, Left::rows(&x[0], k), &x[1], y, Start::Bias(&x[2]));
        match self.activation {
            Activation::Linear => {}
            Activation::Tanh => vectorise(
                #[inline(always)]
                || y.iter_mut().for_each(|y| *y = math::tanh(*y)),
            ),
            Activation::SoftTanh => {
                let (soft, scale) = saved.split_at_mut(rows * n);
                vectorise(
                    #[inline(always)]
                    || {
                        for i in 0..rows {
                            let (h, s) = (&mut y[i * n..][..n], &mut soft[i * n..][..n]);
                            scale[i] = 1.0 / (sum(h, h).sqrt() + 1.0);
                            for (h, s) in h.iter_mut().zip(s) {
                                *s = *h * scale[i];
                                *h = math::tanh(*s);
                            }
                        }
                    },
                );
            }
        }
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (rows, k, n) = (x.shape(0).rows(), x.shape(0).last(), x.shape(2).count());
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
                let (soft, scale) = saved.split_at(rows * n);
                vectorise(
                    #[inline(always)]
                    || {
                        for i in 0..rows {
                            let at = i * n..(i + 1) * n;
                            let (h_bar, s) = (&mut scratch[at.clone()], &soft[at.clone()]);
                            for ((h_bar, y), y_bar) in h_bar.iter_mut().zip(&y[at.clone()]).zip(&y_bar[at]) {
                                *h_bar = y_bar * (1.0 - y * y);
                            }
                            // s = h·g with g = 1/(‖h‖+1):  h̄ = g·s̄ − s·(s·s̄)/‖h‖, and 0 instead of the fraction at h = 0.
                            let g = scale[i];
                            let norm = 1.0 / g - 1.0;
                            let along = if norm > 0.0 { sum(s, h_bar) / norm } else { 0.0 };
                            h_bar.iter_mut().zip(s).for_each(|(h_bar, s)| *h_bar = g * *h_bar - along * s);
                        }
                    },
                );
                scratch
            }
        };
        if let Some((x_bar, fresh)) = bars.slot(0) {
            let start = if fresh { Start::Zero } else { Start::Add };
            gemm(rows, k, n, Left::rows(h_bar, n), &x[3], x_bar, start);
        }
        if let Some(w_bar) = bars.get(1) {
            gemm(k, n, rows, Left::transposed(&x[0], k), h_bar, w_bar, Start::Add);
        }
        if let Some(b_bar) = bars.get(2) {
            for row in h_bar.chunks_exact(n) {
                b_bar.iter_mut().zip(row).for_each(|(b_bar, h_bar)| *b_bar += h_bar);
            }
        }
    }
}

/// `Σ a·b` in sixteen running sums: a fixed order that vectorises.
#[inline(always)]
fn sum(a: &[Real], b: &[Real]) -> Real {
    let mut lanes = [0.0; 16];
    let (a16, a1) = a.as_chunks::<16>();
    let (b16, b1) = b.as_chunks::<16>();
    for (a, b) in a16.iter().zip(b16) {
        for i in 0..16 {
            lanes[i] += a[i] * b[i];
        }
    }
    let tail: Real = a1.iter().zip(b1).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<Real>() + tail
}
