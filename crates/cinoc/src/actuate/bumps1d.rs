//! Force of immobile agents on an interval: bumps computed once, summed in every tick.

use super::{Actuate, Force1d, Push};
use crate::Real;
use crate::geometry::shared_positions;
use cinoc_pde::Grid;
use cinoc_tape::kernel::math::sum_pairs;
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};
use std::sync::Arc;

/// Force of immobile agents on a line. The bumps depend on the positions alone, so they are loop-invariant; each tick
/// computes only their weighted sum.
pub struct StillForce1d {
    bumps: Arc<Bumps1d>,
    sum: Arc<SumBumps>,
}

impl StillForce1d {
    /// Creates the force on `grid`.
    ///
    /// # Panics
    /// Under the conditions of [`Force1d::new`].
    pub fn new(grid: &Grid, push: &Push) -> Self {
        Self { bumps: Arc::new(Bumps1d(Force1d::new(grid, push))), sum: Arc::new(SumBumps) }
    }
}

impl Actuate for StillForce1d {
    fn force<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        action.tape().record(&self.sum, [action, shared_positions(xi).apply(&self.bumps)])
    }
}

/// Bumps `b(x − ξᵢ)` of each agent at all nodes. Input: positions `[batch, agents, 1]`; output `[batch, agents, N]`.
pub struct Bumps1d(pub Force1d);

impl Op for Bumps1d {
    fn name(&self) -> &'static str {
        "bumps"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        x[0].with_last(self.0.nodes())
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        self.0.padded()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        vectorise(
            #[inline(always)]
            || {
                for (bump, xi) in y.chunks_exact_mut(self.0.nodes()).zip(x[0].chunks_exact(1)) {
                    self.0.instance(&[1.0], 1, xi, bump, scratch);
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let Some(xi_bar) = bars.get(0) else { return };
        for ((xi_bar, xi), bump_bar) in xi_bar.iter_mut().zip(&x[0]).zip(y_bar.chunks_exact(self.0.nodes())) {
            *xi_bar += self.0.slope(bump_bar, *xi, scratch);
        }
    }
}

/// Weighted sum of bumps, `f = Σᵢ uᵢ·bᵢ`. Inputs: actions `[batch, agents, k]`, whose first component is `u`, and bumps
/// `[batch, agents, N]`, or `[1, agents, N]` for all instances; output `[batch, N]`.
pub struct SumBumps;

impl Op for SumBumps {
    fn name(&self) -> &'static str {
        "force"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0].sizes()[1] == x[1].sizes()[1] && [1, x[0].sizes()[0]].contains(&x[1].sizes()[0]);
        assert!(fits, "force: actions {:?}, bumps {:?}", x[0], x[1]);
        Shape::new(&[x[0].sizes()[0], x[1].last()])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let &[_, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let nodes = x.shape(1).last();
        vectorise(
            #[inline(always)]
            || {
                y.fill(0.0);
                let instances = x[0].chunks_exact(agents * k).zip(x[1].chunks_exact(agents * nodes).cycle());
                for (f, (actions, bumps)) in y.chunks_exact_mut(nodes).zip(instances) {
                    for (action, bump) in actions.chunks_exact(k).zip(bumps.chunks_exact(nodes)) {
                        f.iter_mut().zip(bump).for_each(|(f, b)| *f += action[0] * b);
                    }
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let &[_, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let nodes = x.shape(1).last();
        if let Some(action_bar) = bars.get(0) {
            vectorise(
                #[inline(always)]
                || {
                    let instances = action_bar.chunks_exact_mut(agents * k).zip(x[1].chunks_exact(agents * nodes).cycle());
                    for ((actions, bumps), f_bar) in instances.zip(y_bar.chunks_exact(nodes)) {
                        for (action, bump) in actions.chunks_exact_mut(k).zip(bumps.chunks_exact(nodes)) {
                            action[0] += sum_pairs(bump, f_bar, |b, f| b * f);
                        }
                    }
                },
            );
        }
        if let Some(bump_bar) = bars.get(1) {
            let size = bump_bar.len();
            for (b, (actions, f_bar)) in x[0].chunks_exact(agents * k).zip(y_bar.chunks_exact(nodes)).enumerate() {
                let bumps = &mut bump_bar[b * agents * nodes % size..][..agents * nodes];
                for (bump, action) in bumps.chunks_exact_mut(nodes).zip(actions.chunks_exact(k)) {
                    bump.iter_mut().zip(f_bar).for_each(|(bump, f_bar)| *bump += action[0] * f_bar);
                }
            }
        }
    }
}
