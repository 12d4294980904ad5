//! The cost of agents coming close to discs.

use crate::Real;
use crate::geometry::Discs;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Mean over agents and discs of `relu(r + margin − |ξ − c|)²`. Inputs: positions `[batch, agents, 2]` and, if discs
/// move, ticks made `[batch]`; output `[batch]`.
pub struct Obstacle {
    /// The discs.
    pub discs: Discs,
    /// Distance from a disc's edge below which there is a cost.
    pub margin: Real,
}

impl Obstacle {
    /// Calls `f(agent, depth, outward)` for each agent too close to a disc.
    fn near(&self, xi: &[Real], tick: Real, mut f: impl FnMut(usize, Real, [Real; 2])) {
        for (m, &xi) in xi.as_chunks::<2>().0.iter().enumerate() {
            for disc in self.discs.at(tick) {
                let bearing = disc.bearing(xi);
                if bearing.gap < self.margin {
                    f(m, self.margin - bearing.gap, bearing.outward);
                }
            }
        }
    }

    /// Returns the number of ticks that instance `i` has made.
    fn tick(&self, x: &Inputs, i: usize) -> Real {
        if self.discs.moving() { x[1][i] } else { 0.0 }
    }

    fn terms(&self, agents: usize) -> Real {
        (agents * self.discs.count()) as Real
    }
}

impl Op for Obstacle {
    fn name(&self) -> &'static str {
        "obstacle"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let &[batch, _, 2] = x[0].sizes() else { panic!("obstacle: positions {:?}", x[0]) };
        Shape::new(&[batch])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let agents = x.shape(0).sizes()[1];
        for (i, (y, xi)) in y.iter_mut().zip(x[0].chunks_exact(2 * agents)).enumerate() {
            *y = 0.0;
            self.near(xi, self.tick(x, i), |_, depth, _| *y += depth * depth);
            *y /= self.terms(agents);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let agents = x.shape(0).sizes()[1];
        let Some(bar) = bars.get(0) else { return };
        let each = bar.chunks_exact_mut(2 * agents).zip(x[0].chunks_exact(2 * agents)).zip(y_bar).enumerate();
        for (i, ((bar, xi), y_bar)) in each {
            let factor = -2.0 * y_bar / self.terms(agents);
            self.near(xi, self.tick(x, i), |m, depth, outward| {
                for c in 0..2 {
                    bar[2 * m + c] += factor * depth * outward[c];
                }
            });
        }
    }
}
