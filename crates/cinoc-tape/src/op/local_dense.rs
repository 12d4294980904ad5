//! Locally connected network layer.

use super::dense::bias_back;
use super::{Activation, Cotangents, Inputs, Op};
use crate::kernel::gemm::{Left, Right, Start, gemm, gemm_strided};
use crate::{Real, Shape};

/// `activation(xᵣ·wᵣ + b)` for each row r, with weights that differ between positions. Inputs: weights
/// `[positions·in, out]`, `b [out]`, the weights of each position transposed (a constant, for the backward pass),
/// `x [rows, in]`.
///
/// Row r is at position r modulo the number of positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalDense {
    /// Activation function.
    pub activation: Activation,
}

/// Index of `x` among the inputs.
const X: usize = 3;

/// Sizes of one call.
struct Sizes {
    positions: usize,
    /// Rows at each position.
    times: usize,
    k: usize,
    n: usize,
}

impl Sizes {
    fn of(x: &[Shape]) -> Self {
        let (k, n) = (x[X].last(), x[1].count());
        let positions = x[0].rows() / k;
        Self { positions, times: x[X].rows() / positions, k, n }
    }
}

impl Op for LocalDense {
    fn name(&self) -> &'static str {
        "placed dense"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let k = x[X].last();
        let whole = x[0].rows().is_multiple_of(k) && x[X].rows().is_multiple_of(x[0].rows() / k);
        let fits = whole && x[0].last() == x[1].count() && x[2].last() == k && x[2].count() == x[0].count();
        assert!(fits, "placed dense: input {:?}, weights {:?}, biases {:?}", x[X], x[0], x[1]);
        x[X].with_last(x[1].count())
    }

    fn saved(&self, x: &[Shape]) -> usize {
        self.activation.saved(x[X].rows())
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        x[X].rows() * x[1].count()
    }

    fn flops(&self, x: &[Shape]) -> usize {
        2 * x[X].count() * x[1].count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], _: &mut [Real]) {
        let Sizes { positions, times, k, n } = Sizes::of(x.shapes());
        for position in 0..positions {
            let (left, w) = (Left::rows(&x[X][position * k..], positions * k), Right::columns(&x[0][position * k * n..], n, 0));
            gemm_strided(times, n, k, left, w, &mut y[position * n..], positions * n, Start::Bias(&x[1]));
        }
        self.activation.apply(n, y, saved);
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let Sizes { positions, times, k, n } = Sizes::of(x.shapes());
        let h_bar = self.activation.pull(n, y, y_bar, saved, scratch);
        if let Some((x_bar, fresh)) = bars.slot(X) {
            let start = if fresh { Start::Zero } else { Start::Add };
            for position in 0..positions {
                let left = Left::rows(&h_bar[position * n..], positions * n);
                let w_t = Right::columns(&x[2][position * k * n..], k, 0);
                gemm_strided(times, k, n, left, w_t, &mut x_bar[position * k..], positions * k, start);
            }
        }
        if let Some(w_bar) = bars.get(0) {
            for position in 0..positions {
                let left = Left::transposed(&x[X][position * k..], positions * k);
                let part = &mut w_bar[position * k * n..][..k * n];
                gemm(k, n, times, left, Right::columns(h_bar, positions * n, position * n), part, Start::Add);
            }
        }
        bias_back(h_bar, bars.slot(1));
    }
}
