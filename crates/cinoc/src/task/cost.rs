//! Terms of a stage cost: each a mean over space, agents or pairs, never a sum.

use crate::Real;
use cinoc_tape::kernel::math::sum_pairs;
use cinoc_tape::kernel::parallel;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::ops::Range;

/// Iterates over the parts of an array that belong to each instance.
fn each(x: &[Real], batch: usize) -> impl Iterator<Item = &[Real]> {
    x.chunks_exact(x.len() / batch)
}

fn batch_of(x: &[Shape]) -> Shape {
    Shape::new(&x[0].sizes()[..1])
}

/// Mean over the grid of `(z − z*)²`. Inputs: `z`, `z*`, both `[batch, …]`; output `[batch]`.
pub struct SquaredError;

impl Op for SquaredError {
    fn name(&self) -> &'static str {
        "squared error"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0], x[1], "squared error");
        batch_of(x)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let batch = y.len();
        for ((y, z), target) in y.iter_mut().zip(each(&x[0], batch)).zip(each(&x[1], batch)) {
            let sum = parallel::sum(z.len(), 1, |part| sum_pairs(&z[part.clone()], &target[part], |z, t| (z - t) * (z - t)));
            *y = sum / z.len() as Real;
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let size = x[0].len() / y_bar.len();
        for (input, sign) in [(0, 2.0), (1, -2.0)] {
            let Some(bar) = bars.get(input) else { continue };
            for (b, bar) in bar.chunks_exact_mut(size).enumerate() {
                let factor = sign * y_bar[b] / size as Real;
                let (z, target) = (&x[0][b * size..][..size], &x[1][b * size..][..size]);
                for i in 0..size {
                    bar[i] += factor * (z[i] - target[i]);
                }
            }
        }
    }
}

/// Mean over agents of `Σ_c w_c·a_c²` over the components of an action. Input `[batch, agents, k]`; output `[batch]`.
pub struct Effort {
    /// Weight of each component.
    pub weights: Vec<Real>,
}

impl Op for Effort {
    fn name(&self) -> &'static str {
        "effort"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0].last(), self.weights.len(), "effort: actions {:?}", x[0]);
        batch_of(x)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let (batch, k) = (y.len(), self.weights.len());
        for (y, actions) in y.iter_mut().zip(each(&x[0], batch)) {
            let of_agent = |action: &[Real]| action.iter().zip(&self.weights).map(|(a, w)| w * a * a).sum::<Real>();
            let some = |part: Range<usize>| actions[part.start * k..part.end * k].chunks_exact(k).map(of_agent).sum::<Real>();
            let sum = parallel::sum(actions.len() / k, 4 * k, some);
            *y = sum * k as Real / actions.len() as Real;
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let (size, k) = (x[0].len() / y_bar.len(), self.weights.len());
        let Some(bar) = bars.get(0) else { return };
        for ((bar, actions), y_bar) in bar.chunks_exact_mut(size).zip(x[0].chunks_exact(size)).zip(y_bar) {
            let factor = 2.0 * y_bar * k as Real / size as Real;
            for (bar, action) in bar.chunks_exact_mut(k).zip(actions.chunks_exact(k)) {
                for c in 0..k {
                    bar[c] += factor * self.weights[c] * action[c];
                }
            }
        }
    }
}

/// Mean over agents of `relu(low − ξ)² + relu(ξ − high)²`, summed over components. Input `[batch, agents, d]`; output
/// `[batch]`.
pub struct Margin {
    /// Lower and upper bound along each axis.
    edges: Vec<[Real; 2]>,
}

impl Margin {
    /// Creates the margin of 2 % of the domain at each wall.
    pub fn inside(lengths: &[Real]) -> Self {
        let edge = |share: f64, length: Real| (share * length as f64) as Real;
        Self { edges: lengths.iter().map(|&length| [edge(0.02, length), edge(0.98, length)]).collect() }
    }

    /// Returns the signed excess over the bounds along axis `c`.
    fn excess(&self, c: usize, xi: Real) -> Real {
        let [low, high] = self.edges[c];
        (xi - high).max(0.0) - (low - xi).max(0.0)
    }

    /// Returns the signed excess of each coordinate of positions `[.., d]`.
    fn each<'a>(&'a self, xi: &'a [Real]) -> impl Iterator<Item = Real> + 'a {
        xi.iter().enumerate().map(|(i, &xi)| self.excess(i % self.edges.len(), xi))
    }
}

impl Op for Margin {
    fn name(&self) -> &'static str {
        "margin"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0].last(), self.edges.len(), "margin: positions {:?}", x[0]);
        batch_of(x)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let agents = x.shape(0).sizes()[1] as Real;
        let batch = y.len();
        for (y, xi) in y.iter_mut().zip(each(&x[0], batch)) {
            let d = self.edges.len();
            let some =
                |part: Range<usize>| self.each(&xi[part.start * d..part.end * d]).map(|excess| excess * excess).sum::<Real>();
            *y = parallel::sum(xi.len() / d, 4 * d, some) / agents;
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let (size, agents) = (x[0].len() / y_bar.len(), x.shape(0).sizes()[1] as Real);
        let Some(bar) = bars.get(0) else { return };
        for ((bar, xi), y_bar) in bar.chunks_exact_mut(size).zip(x[0].chunks_exact(size)).zip(y_bar) {
            let factor = 2.0 * y_bar / agents;
            bar.iter_mut().zip(self.each(xi)).for_each(|(bar, excess)| *bar += factor * excess);
        }
    }
}

/// Mean over agents of `|v_t − v_{t−1}|²`. Inputs: this action and the previous one, `[batch, agents, k]`; the velocity
/// is all but the first component.
pub struct Acceleration;

impl Op for Acceleration {
    fn name(&self) -> &'static str {
        "acceleration"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0], x[1], "acceleration");
        batch_of(x)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let &[batch, agents, k] = x.shape(0).sizes() else { panic!("acceleration: actions {:?}", x.shape(0)) };
        for ((y, now), before) in y.iter_mut().zip(each(&x[0], batch)).zip(each(&x[1], batch)) {
            let sum = parallel::sum(agents, 4 * k, |part| {
                let [now, before] = [now, before].map(|all| all[part.start * k..part.end * k].chunks_exact(k));
                now.zip(before).fold(0.0, |sum, (now, before)| {
                    sum + now[1..].iter().zip(&before[1..]).map(|(a, b)| (a - b) * (a - b)).sum::<Real>()
                })
            });
            *y = sum / agents as Real;
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let &[_, agents, k] = x.shape(0).sizes() else { unreachable!() };
        for (input, sign) in [(0, 2.0), (1, -2.0)] {
            let Some(bar) = bars.get(input) else { continue };
            let actions = x[0].chunks_exact(k).zip(x[1].chunks_exact(k));
            for (m, (bar, (now, before))) in bar.chunks_exact_mut(k).zip(actions).enumerate() {
                let factor = sign * y_bar[m / agents] / agents as Real;
                for c in 1..k {
                    bar[c] += factor * (now[c] - before[c]);
                }
            }
        }
    }
}
