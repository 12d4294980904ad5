//! Masking of failed agents.

use crate::Real;
use cinoc_tape::kernel::parallel;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};
use std::sync::{Arc, LazyLock};

/// A shared instance, so that recording allocates nothing.
static MASK_FAILED: LazyLock<Arc<MaskFailed>> = LazyLock::new(|| Arc::new(MaskFailed));

/// Sets the values of failed agents to zero: a memory or an action, `[batch, agents, h]`.
pub fn mask_failed<'t>(x: Var<'t>, strength: Var<'t>) -> Var<'t> {
    x.tape().record(&*MASK_FAILED, [x, strength])
}

/// Inputs: values `[batch, agents, h]`, strength `[batch, agents]`; output: the values, zero for failed agents.
struct MaskFailed;

fn active(strength: Real) -> Real {
    if strength > 0.0 { 1.0 } else { 0.0 }
}

impl Op for MaskFailed {
    fn name(&self) -> &'static str {
        "mask_failed"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0].rows(), x[1].count(), "mask_failed: {:?}, strength {:?}", x[0], x[1]);
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let width = x.shape(0).last();
        parallel::rows(y, width, 2 * width, |first, y| {
            let from = x[0][first * width..].chunks_exact(width);
            for ((y, from), strength) in y.chunks_exact_mut(width).zip(from).zip(&x[1][first..]) {
                let factor = active(*strength);
                y.iter_mut().zip(from).for_each(|(y, from)| *y = factor * from);
            }
        });
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let width = x.shape(0).last();
        let Some(bar) = bars.get(0) else { return };
        for (m, (bar, y_bar)) in bar.chunks_exact_mut(width).zip(y_bar.chunks_exact(width)).enumerate() {
            let factor = active(x[1][m]);
            bar.iter_mut().zip(y_bar).for_each(|(bar, y_bar)| *bar += factor * y_bar);
        }
    }

    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        let active = x[1].step().repeat(x[0].shape().last());
        Some(x[0] * active.reshape(x[0].shape()))
    }
}
