//! The price of agents coming near each other.

use crate::Real;
use crate::geometry::near_pairs;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Mean over all M² ordered pairs of `relu(R − |ξᵢ−ξⱼ|)²`, an agent with itself counting as zero. Input `[batch, agents, d]`; output `[batch]`.
pub struct Collision {
    /// Distance `R` from which on agents do not mind each other.
    pub radius: Real,
}

impl Collision {
    /// Calls `f(i, j, R − distance, distance)` once for each pair that is too close.
    fn close_pairs(&self, xi: &[Real], d: usize, work: &mut [Real], mut f: impl FnMut(usize, usize, Real, Real)) {
        near_pairs(xi, d, self.radius, work, |i, j, squared| {
            let distance = squared.sqrt();
            f(i, j, self.radius - distance, distance);
        });
    }
}

impl Op for Collision {
    fn name(&self) -> &'static str {
        "collision"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let &[batch, _, _] = x[0].sizes() else { panic!("collision: positions {:?}", x[0]) };
        Shape::new(&[batch])
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        2 * x[0].sizes()[1]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], work: &mut [Real]) {
        let &[_, agents, d] = x.shape(0).sizes() else { unreachable!() };
        for (y, xi) in y.iter_mut().zip(x[0].chunks_exact(agents * d)) {
            *y = 0.0;
            self.close_pairs(xi, d, work, |_, _, gap, _| *y += 2.0 * gap * gap);
            *y /= (agents * agents) as Real;
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, work: &mut [Real]) {
        let &[_, agents, d] = x.shape(0).sizes() else { unreachable!() };
        let Some(bar) = bars.get(0) else { return };
        let each = bar.chunks_exact_mut(agents * d).zip(x[0].chunks_exact(agents * d)).zip(y_bar);
        for ((bar, xi), y_bar) in each {
            let factor = -4.0 * y_bar / (agents * agents) as Real;
            self.close_pairs(xi, d, work, |i, j, gap, distance| {
                // The direction from one agent to another at the same place is no direction: its derivative is zero.
                if distance > 0.0 {
                    for c in 0..d {
                        let push = factor * gap * (xi[i * d + c] - xi[j * d + c]) / distance;
                        bar[i * d + c] += push;
                        bar[j * d + c] -= push;
                    }
                }
            });
        }
    }
}
