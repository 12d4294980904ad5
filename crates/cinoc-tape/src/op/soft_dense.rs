//! Fused network layer on normalised inputs.

use super::{Cotangents, Inputs, Op};
use crate::kernel::gemm::{Left, Right, Start, gemm};
use crate::kernel::{math, vectorise};
use crate::pending_rows::FEW_ROWS;
use crate::{Real, Shape, Var};

/// `tanh(x/(‖x‖+1)·w + b)`, the norm taken over each row. Inputs as those of [`super::Dense`]: `w [in, out]`,
/// `b [out]`, `w` transposed (a constant, for the backward pass), `x [rows, in]`.
///
/// The normalisation is one factor per row, so it is applied to the products instead of the inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftDense;

/// Rows per chunk: few enough to stay in the cache beside the weights, enough to amortise reading the weights.
const CHUNK: usize = 24;

const X: usize = 3;

/// `a·b`
#[inline(always)]
fn dot(a: &[Real], b: &[Real]) -> Real {
    math::sum_pairs(a, b, |a, b| a * b)
}

/// Computes some rows: `y`, `products = x·w` and the norm of each row.
pub(super) fn forward(x: &[Real], w: &[Real], b: &[Real], y: &mut [Real], products: &mut [Real], norms: &mut [Real]) {
    let (rows, n) = (norms.len(), b.len());
    let k = w.len() / n;
    vectorise(
        #[inline(always)]
        || norms.iter_mut().zip(x.chunks_exact(k)).for_each(|(norm, row)| *norm = dot(row, row).sqrt()),
    );
    gemm(rows, n, k, Left::rows(x, k), Right::columns(w, n, 0), products, Start::Zero);
    vectorise(
        #[inline(always)]
        || {
            for ((y, p), norm) in y.chunks_exact_mut(n).zip(products.chunks_exact(n)).zip(norms) {
                let scale = 1.0 / (*norm + 1.0);
                for ((y, p), b) in y.iter_mut().zip(p).zip(b) {
                    *y = math::tanh(scale * p + b);
                }
            }
        },
    );
}

/// Turns the cotangent `h_bar` of `h = g·p + b`, `p = x·w`, `g = 1/(‖x‖+1)`, of some rows into that of `p` and starts
/// the cotangent of `x`,
///
/// `x̄ = w·(g·h̄) − g²·(p·h̄)/‖x‖·x`, with its second half (0 at x = 0); `set` overwrites `x_bar`.
pub(super) fn start_back(
    x: &[Real],
    products: &[Real],
    norms: &[Real],
    h_bar: &mut [Real],
    mut x_bar: Option<&mut [Real]>,
    set: bool,
) {
    let (k, n) = (x.len() / norms.len(), h_bar.len() / norms.len());
    vectorise(
        #[inline(always)]
        || {
            for (i, norm) in norms.iter().enumerate() {
                let h_bar = &mut h_bar[i * n..][..n];
                let g = 1.0 / (norm + 1.0);
                let along = if *norm > 0.0 { -g * g * dot(&products[i * n..][..n], h_bar) / norm } else { 0.0 };
                h_bar.iter_mut().for_each(|h_bar| *h_bar *= g);
                if let Some(x_bar) = &mut x_bar {
                    for (x_bar, x) in x_bar[i * k..][..k].iter_mut().zip(&x[i * k..][..k]) {
                        *x_bar = if set { along * x } else { *x_bar + along * x };
                    }
                }
            }
        },
    );
}

/// Computes the cotangent of `h` from that of `y = tanh(h)` and adds its sum over the rows to `b_bar`.
pub(super) fn tanh_back(y: &[Real], y_bar: &[Real], h_bar: &mut [Real], b_bar: Option<&mut [Real]>) {
    vectorise(
        #[inline(always)]
        || {
            for ((h_bar, y), y_bar) in h_bar.iter_mut().zip(y).zip(y_bar) {
                *h_bar = y_bar * (1.0 - y * y);
            }
            if let Some(b_bar) = b_bar {
                for row in h_bar.chunks_exact(b_bar.len()) {
                    b_bar.iter_mut().zip(row).for_each(|(b_bar, h_bar)| *b_bar += h_bar);
                }
            }
        },
    );
}

impl Op for SoftDense {
    fn name(&self) -> &'static str {
        "soft dense"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let (k, n) = (x[X].last(), x[1].count());
        let fits = x[0].sizes() == [k, n] && x[2].sizes() == [n, k];
        assert!(fits, "soft dense: input {:?}, weights {:?}, biases {:?}", x[X], x[0], x[1]);
        x[X].with_last(n)
    }

    /// Saved: the products `x·w`, then the norm of each row.
    fn saved(&self, x: &[Shape]) -> usize {
        x[X].rows() * (x[1].count() + 1)
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        x[X].rows().min(CHUNK) * x[1].count()
    }

    fn flops(&self, x: &[Shape]) -> usize {
        2 * x[X].rows() * x[0].count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], _: &mut [Real]) {
        let (rows, k, n) = (x.shape(X).rows(), x.shape(X).last(), x.shape(1).count());
        let (products, norms) = saved.split_at_mut(rows * n);
        for from in (0..rows).step_by(CHUNK) {
            let to = rows.min(from + CHUNK);
            let at = from * n..to * n;
            forward(&x[X][from * k..to * k], &x[0], &x[1], &mut y[at.clone()], &mut products[at], &mut norms[from..to]);
        }
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (rows, k, n) = (x.shape(X).rows(), x.shape(X).last(), x.shape(1).count());
        let (products, norms) = saved.split_at(rows * n);
        let fresh = bars.slot(X).is_some_and(|(_, fresh)| fresh);
        for from in (0..rows).step_by(CHUNK) {
            let to = rows.min(from + CHUNK);
            let (at, wide) = (from * n..to * n, from * k..to * k);
            let (x_rows, h_bar) = (&x[X][wide.clone()], &mut scratch[..(to - from) * n]);
            tanh_back(&y[at.clone()], &y_bar[at.clone()], h_bar, bars.get(1));
            let mut x_bar = bars.get(X).map(|x_bar| &mut x_bar[wide]);
            start_back(x_rows, &products[at], &norms[from..to], h_bar, x_bar.as_deref_mut(), fresh);
            if let Some(x_bar) = x_bar {
                gemm(to - from, k, n, Left::rows(h_bar, n), Right::columns(&x[2], k, 0), x_bar, Start::Add);
            }
            bars.add_rows(0, [k, n], x_rows, h_bar, rows < FEW_ROWS);
        }
    }

    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        Some((x[X].soft().matmul(x[0]) + x[1]).tanh())
    }
}
