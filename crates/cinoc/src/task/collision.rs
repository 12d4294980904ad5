//! The cost of agents coming close to each other.

use crate::Real;
use crate::geometry::{Runs, near_pairs};
use cinoc_tape::kernel::parallel;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Number of agents from which the sum is computed by cells, distributed over threads, instead of by pairs. Only the
/// order of its terms differs.
const MANY: usize = 8192;

/// Mean over all M² ordered pairs of `relu(R − |ξᵢ−ξⱼ|)²`, an agent with itself counting as zero. Input `[batch,
/// agents, d]`; output `[batch]`.
pub struct Collision {
    /// Distance `R` beyond which pairs cost nothing.
    pub radius: Real,
}

impl Collision {
    /// Calls `f(i, j, R − distance, distance)` once for each pair closer than `R`.
    fn close_pairs(&self, xi: &[Real], d: usize, work: &mut [Real], mut f: impl FnMut(usize, usize, Real, Real)) {
        near_pairs(xi, d, self.radius, work, |i, j, squared| {
            let distance = squared.sqrt();
            f(i, j, self.radius - distance, distance);
        });
    }
}

impl Collision {
    /// Returns `Σ (R − distance)²` over all ordered pairs closer than `R`.
    fn by_cells(&self, runs: &Runs) -> Real {
        let [x, y] = [&*runs.xi[0], &*runs.xi[1]];
        let per_cell = x.len().div_ceil(runs.cells());
        parallel::sum(runs.cells(), 16 * per_cell * per_cell, |cells| {
            let mut sum = 0.0;
            for cell in cells {
                let (own, beside) = runs.around(cell);
                for (i, j) in own.flat_map(|i| beside.runs().iter().flat_map(move |run| run.clone().map(move |j| (i, j)))) {
                    let squared = (x[i] - x[j]).powi(2) + (y[i] - y[j]).powi(2);
                    if i != j && squared < self.radius * self.radius {
                        sum += (self.radius - squared.sqrt()).powi(2);
                    }
                }
            }
            sum
        })
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
        let agents = x[0].sizes()[1];
        if agents < MANY { 2 * agents } else { Runs::work(agents) }
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], work: &mut [Real]) {
        let &[_, agents, d] = x.shape(0).sizes() else { unreachable!() };
        for (y, xi) in y.iter_mut().zip(x[0].chunks_exact(agents * d)) {
            *y = if agents < MANY {
                let mut sum = 0.0;
                self.close_pairs(xi, d, work, |_, _, gap, _| sum += 2.0 * gap * gap);
                sum
            } else {
                self.by_cells(&Runs::new(xi, d, self.radius, &[None; 2], work))
            };
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
                // Agents at the same position have no direction to each other: the derivative is zero.
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

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc_tape::check::noise;

    #[test]
    fn cells_have_the_sum_of_pairs() {
        for d in [1, 2] {
            let agents = 700;
            let xi = noise(agents * d, 3);
            let collision = Collision { radius: if d == 1 { 0.01 } else { 0.1 } };
            let (mut pairs, mut work) = (0.0, vec![0.0; Runs::work(agents)]);
            collision.close_pairs(&xi, d, &mut work, |_, _, gap, _| pairs += 2.0 * gap * gap);
            let cells = collision.by_cells(&Runs::new(&xi, d, collision.radius, &[None; 2], &mut work));
            assert!(pairs > 0.0 && (cells - pairs).abs() < 1e-4 * pairs, "{cells} not {pairs}");
        }
    }
}
