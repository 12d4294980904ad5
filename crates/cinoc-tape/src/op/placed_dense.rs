//! A network layer whose weights differ from place to place.

use super::dense::bias_back;
use super::{Activation, Cotangents, Inputs, Op};
use crate::kernel::gemm::{Left, Right, Start, gemm, gemm_apart};
use crate::{Real, Shape};

/// `activation(xᵣ·wᵣ + b)` for each row r. Inputs: weights `[places·in, out]`, `b [out]`, the weights of each place transposed (a constant, for
/// the backward pass), `x [rows, in]`.
///
/// Row r is at place r modulo the number of places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedDense {
    /// What follows the linear part.
    pub activation: Activation,
}

/// Number of `x` among the inputs.
const X: usize = 3;

/// Sizes of one call.
struct Sizes {
    places: usize,
    /// Rows at each place.
    times: usize,
    k: usize,
    n: usize,
}

impl Sizes {
    fn of(x: &[Shape]) -> Self {
        let (k, n) = (x[X].last(), x[1].count());
        let places = x[0].rows() / k;
        Self { places, times: x[X].rows() / places, k, n }
    }
}

impl Op for PlacedDense {
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
        let Sizes { places, times, k, n } = Sizes::of(x.shapes());
        for place in 0..places {
            let (left, w) = (Left::rows(&x[X][place * k..], places * k), Right::columns(&x[0][place * k * n..], n, 0));
            gemm_apart(times, n, k, left, w, &mut y[place * n..], places * n, Start::Bias(&x[1]));
        }
        self.activation.apply(n, y, saved);
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let Sizes { places, times, k, n } = Sizes::of(x.shapes());
        let h_bar = self.activation.pull(n, y, y_bar, saved, scratch);
        if let Some((x_bar, fresh)) = bars.slot(X) {
            let start = if fresh { Start::Zero } else { Start::Add };
            for place in 0..places {
                let left = Left::rows(&h_bar[place * n..], places * n);
                let w_t = Right::columns(&x[2][place * k * n..], k, 0);
                gemm_apart(times, k, n, left, w_t, &mut x_bar[place * k..], places * k, start);
            }
        }
        if let Some(w_bar) = bars.get(0) {
            for place in 0..places {
                let left = Left::transposed(&x[X][place * k..], places * k);
                let part = &mut w_bar[place * k * n..][..k * n];
                gemm(k, n, times, left, Right::columns(h_bar, places * n, place * n), part, Start::Add);
            }
        }
        bias_back(h_bar, bars.slot(1));
    }
}
