//! Relaxation of a memory towards its input, with one rate per number.

use crate::Real;
use cinoc_tape::kernel::parallel;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};
use std::sync::{Arc, LazyLock};

/// A shared instance, so that recording allocates nothing.
static RELAX: LazyLock<Arc<Relax>> = LazyLock::new(|| Arc::new(Relax));

/// Returns `s + rate·(x − s)`; `s` and `x` are `[.., h]`, `rate` is a constant `[h]`.
pub fn relax<'t>(s: Var<'t>, x: Var<'t>, rate: Var<'t>) -> Var<'t> {
    s.tape().record(&*RELAX, [s, x, rate])
}

struct Relax;

impl Op for Relax {
    fn name(&self) -> &'static str {
        "relax"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[0] == x[1] && x[2].sizes() == [x[0].last()], "relax: {:?}, {:?}, rates {:?}", x[0], x[1], x[2]);
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let width = x[2].len();
        parallel::rows(y, width, 2 * width, |first, y| {
            let [s, now] = [0, 1].map(|i| x[i][first * width..].chunks_exact(width));
            for (y, (s, now)) in y.chunks_exact_mut(width).zip(s.zip(now)) {
                for j in 0..width {
                    y[j] = s[j] + x[2][j] * (now[j] - s[j]);
                }
            }
        });
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        assert!(!bars.wanted(2), "relax: rates are constants");
        let rates = &x[2];
        for input in 0..2 {
            let Some(bar) = bars.get(input) else { continue };
            for (bar, y_bar) in bar.chunks_exact_mut(rates.len()).zip(y_bar.chunks_exact(rates.len())) {
                for j in 0..rates.len() {
                    bar[j] += if input == 0 { 1.0 - rates[j] } else { rates[j] } * y_bar[j];
                }
            }
        }
    }

    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        Some(x[0] + (x[1] - x[0]) * x[2])
    }
}
