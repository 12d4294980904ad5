//! The memory of the living.

use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};
use std::sync::{Arc, LazyLock};

/// One and the same operation for all: recording it allocates nothing.
static REMEMBER: LazyLock<Arc<Remember>> = LazyLock::new(|| Arc::new(Remember));

/// What each agent remembers, `[batch, agents, h]`, and nothing for the dead.
pub fn remember<'t>(memory: Var<'t>, strength: Var<'t>) -> Var<'t> {
    memory.tape().record(&*REMEMBER, [memory, strength])
}

/// What each agent remembers, and nothing for the dead. Inputs: memory `[batch, agents, h]`, strength `[batch, agents]`; output: memory.
struct Remember;

fn alive(strength: Real) -> Real {
    if strength > 0.0 { 1.0 } else { 0.0 }
}

impl Op for Remember {
    fn name(&self) -> &'static str {
        "remember"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0].rows(), x[1].count(), "remember: memory {:?}, strength {:?}", x[0], x[1]);
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let width = x.shape(0).last();
        for (m, (y, memory)) in y.chunks_exact_mut(width).zip(x[0].chunks_exact(width)).enumerate() {
            let factor = alive(x[1][m]);
            y.iter_mut().zip(memory).for_each(|(y, memory)| *y = factor * memory);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let width = x.shape(0).last();
        let Some(bar) = bars.get(0) else { return };
        for (m, (bar, y_bar)) in bar.chunks_exact_mut(width).zip(y_bar.chunks_exact(width)).enumerate() {
            let factor = alive(x[1][m]);
            bar.iter_mut().zip(y_bar).for_each(|(bar, y_bar)| *bar += factor * y_bar);
        }
    }
}
