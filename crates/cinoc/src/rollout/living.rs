//! What is left to the living.

use crate::Real;
use cinoc_tape::kernel::crew;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};
use std::sync::{Arc, LazyLock};

/// One and the same operation for all: recording it allocates nothing.
static LIVING: LazyLock<Arc<Living>> = LazyLock::new(|| Arc::new(Living));

/// What each agent has, `[batch, agents, h]`: memory, or an action; and nothing for the dead.
pub fn living<'t>(x: Var<'t>, strength: Var<'t>) -> Var<'t> {
    x.tape().record(&*LIVING, [x, strength])
}

/// What each agent has, and nothing for the dead. Inputs: numbers `[batch, agents, h]`, strength `[batch, agents]`; output: as the first.
struct Living;

fn alive(strength: Real) -> Real {
    if strength > 0.0 { 1.0 } else { 0.0 }
}

impl Op for Living {
    fn name(&self) -> &'static str {
        "living"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0].rows(), x[1].count(), "living: {:?}, strength {:?}", x[0], x[1]);
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let width = x.shape(0).last();
        crew::rows(y, width, 2 * width, |first, y| {
            let from = x[0][first * width..].chunks_exact(width);
            for ((y, from), strength) in y.chunks_exact_mut(width).zip(from).zip(&x[1][first..]) {
                let factor = alive(*strength);
                y.iter_mut().zip(from).for_each(|(y, from)| *y = factor * from);
            }
        });
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let width = x.shape(0).last();
        let Some(bar) = bars.get(0) else { return };
        for (m, (bar, y_bar)) in bar.chunks_exact_mut(width).zip(y_bar.chunks_exact(width)).enumerate() {
            let factor = alive(x[1][m]);
            bar.iter_mut().zip(y_bar).for_each(|(bar, y_bar)| *bar += factor * y_bar);
        }
    }

    fn plain<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        let alive = x[1].step().repeat(x[0].shape().last());
        Some(x[0] * alive.reshape(x[0].shape()))
    }
}
