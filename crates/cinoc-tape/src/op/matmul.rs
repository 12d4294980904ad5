//! Matrix product.

use super::{Cotangents, Inputs, Op};
use crate::kernel::gemm::{Left, Right, Start, gemm};
use crate::{Real, Shape};

/// `[rows, k]·[k, n]`; leading axes of the first factor count as rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatMul;

impl Op for MatMul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[1].sizes().len() == 2 && x[0].last() == x[1].sizes()[0], "matmul: {:?} by {:?}", x[0], x[1]);
        x[0].with_last(x[1].last())
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        x[1].count()
    }

    fn flops(&self, x: &[Shape]) -> usize {
        2 * x[0].rows() * x[1].count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let (k, n) = (x.shape(0).last(), x.shape(1).last());
        gemm(x.shape(0).rows(), n, k, Left::rows(&x[0], k), Right::columns(&x[1], n, 0), y, Start::Zero);
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (rows, k, n) = (x.shape(0).rows(), x.shape(0).last(), x.shape(1).last());
        if let Some(a_bar) = bars.get(0) {
            for i in 0..k {
                for j in 0..n {
                    scratch[j * k + i] = x[1][i * n + j];
                }
            }
            gemm(rows, k, n, Left::rows(y_bar, n), Right::columns(scratch, k, 0), a_bar, Start::Add);
        }
        if let Some(b_bar) = bars.get(1) {
            gemm(k, n, rows, Left::transposed(&x[0], k), Right::columns(y_bar, n, 0), b_bar, Start::Add);
        }
    }
}
