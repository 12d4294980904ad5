//! Values of a field at points that move with agents.

use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Values of a field at given offsets from each agent, by linear interpolation along each of one to three axes. Points
/// beyond a wall are moved onto it.
/// Inputs: field `[batch, nodes…]`, positions `[batch, agents, d]`; output `[batch, agents, offsets]`.
pub struct Probe {
    nodes: Vec<usize>,
    /// Nodes per length.
    inverse: Vec<Real>,
    periodic: bool,
    offsets: Vec<Vec<Real>>,
}

/// Largest number of axes.
const AXES: usize = 3;

/// The nodes around a point along one axis, and the weight of the second; its derivative by the position.
#[derive(Clone, Copy, Default)]
struct Between {
    nodes: [usize; 2],
    weight: Real,
    slope: Real,
}

impl Probe {
    /// Creates the operation for offsets of as many coordinates as the grid has axes.
    pub fn new(grid: &Grid, offsets: &[Vec<Real>]) -> Self {
        Self {
            nodes: grid.nodes.clone(),
            inverse: (0..grid.dimensions()).map(|axis| (1.0 / grid.spacing(axis)) as Real).collect(),
            periodic: grid.periodic,
            offsets: offsets.to_vec(),
        }
    }

    fn between(&self, axis: usize, x: Real) -> Between {
        let (n, inverse) = (self.nodes[axis], self.inverse[axis]);
        let at = x * inverse;
        if self.periodic {
            let around = at - n as Real * (at / n as Real).floor();
            // A position that is too large to be resolved, or not a number, is that of the first node.
            let first = (around.max(0.0) as usize).min(n - 1);
            return Between { nodes: [first, (first + 1) % n], weight: around - first as Real, slope: inverse };
        }
        let top = (n - 1) as Real;
        let first = (at.max(0.0) as usize).min(n.max(2) - 2);
        let slope = if at >= 0.0 && at <= top { inverse } else { 0.0 };
        Between { nodes: [first, (first + 1).min(n - 1)], weight: at.clamp(0.0, top) - first as Real, slope }
    }

    /// The nodes around a point along each axis; one node along axes that the grid does not have.
    fn around(&self, xi: &[Real], offset: &[Real]) -> [Between; AXES] {
        let mut around = [Between::default(); AXES];
        for (axis, around) in around.iter_mut().enumerate().take(self.nodes.len()) {
            *around = self.between(axis, xi[axis] + offset[axis]);
        }
        around
    }

    /// Calls `visit` for each corner around a point with its node and the bits of its side along each axis.
    fn corners(&self, around: &[Between; AXES], mut visit: impl FnMut(usize, usize)) {
        let d = self.nodes.len();
        for sides in 0..1 << d {
            let node = (0..d).fold(0, |node, axis| node * self.nodes[axis] + around[axis].nodes[sides >> axis & 1]);
            visit(node, sides);
        }
    }

    /// Weight of a corner, with the factor of one axis replaced by its derivative if there is such an axis.
    fn weight(&self, around: &[Between; AXES], sides: usize, by: Option<usize>) -> Real {
        let factor = |axis: usize| {
            let (Between { weight, slope, .. }, upper) = (around[axis], sides >> axis & 1 == 1);
            match (by == Some(axis), upper) {
                (false, true) => weight,
                (false, false) => 1.0 - weight,
                (true, true) => slope,
                (true, false) => -slope,
            }
        };
        (0..self.nodes.len()).map(factor).product()
    }
}

impl Op for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0].sizes()[1..] == self.nodes && x[0].sizes()[0] == x[1].sizes()[0] && x[1].last() == self.nodes.len();
        assert!(fits, "probe: field {:?}, positions {:?}", x[0], x[1]);
        x[1].with_last(self.offsets.len())
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let (d, agents, nodes) = (self.nodes.len(), x.shape(1).sizes()[1], x.shape(0).count() / x.shape(0).sizes()[0]);
        for (m, (y, xi)) in y.chunks_exact_mut(self.offsets.len()).zip(x[1].chunks_exact(d)).enumerate() {
            let field = &x[0][m / agents * nodes..][..nodes];
            for (y, offset) in y.iter_mut().zip(&self.offsets) {
                let (around, mut sum) = (self.around(xi, offset), 0.0);
                self.corners(&around, |node, sides| sum += self.weight(&around, sides, None) * field[node]);
                *y = sum;
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let (d, agents, nodes) = (self.nodes.len(), x.shape(1).sizes()[1], x.shape(0).count() / x.shape(0).sizes()[0]);
        let points = || y_bar.chunks_exact(self.offsets.len()).zip(x[1].chunks_exact(d)).enumerate();
        if let Some(bar) = bars.get(0) {
            for (m, (y_bar, xi)) in points() {
                let bar = &mut bar[m / agents * nodes..][..nodes];
                for (y_bar, offset) in y_bar.iter().zip(&self.offsets) {
                    let around = self.around(xi, offset);
                    self.corners(&around, |node, sides| bar[node] += self.weight(&around, sides, None) * y_bar);
                }
            }
        }
        if let Some(bar) = bars.get(1) {
            for (m, (y_bar, xi)) in points() {
                let field = &x[0][m / agents * nodes..][..nodes];
                for (y_bar, offset) in y_bar.iter().zip(&self.offsets) {
                    let around = self.around(xi, offset);
                    for (axis, bar) in bar[m * d..(m + 1) * d].iter_mut().enumerate() {
                        self.corners(&around, |node, sides| {
                            *bar += self.weight(&around, sides, Some(axis)) * field[node] * y_bar
                        });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc_tape::check::{assert_derivative, noise};
    use cinoc_tape::{Arena, Tape};
    use std::sync::Arc;

    #[test]
    fn linear_fields_are_exact_and_ends_are_walls_or_meet() {
        let grid = Grid::plane([5, 9], [1.0, 4.0], false);
        let field: Vec<Real> = (0..45).map(|i| 0.25 * (i / 9) as Real - 0.5 * (i % 9) as Real + 3.0).collect();
        let probe = Arc::new(Probe::new(&grid, &[vec![0.0, 0.0], vec![0.1, 0.5]]));
        let tape = Tape::new(Arena::default(), &[]);
        let xi = [0.3, 1.7, 1.0, 4.0, 7.0, -1.0];
        let seen = tape.record(&probe, [tape.constant([1, 5, 9], &field), tape.constant([1, 3, 2], &xi)]).value();
        let exact = |x: Real, y: Real| x.clamp(0.0, 1.0) - y.clamp(0.0, 4.0) + 3.0;
        for (i, seen) in seen.iter().enumerate() {
            let [x, y] = [xi[i / 2 * 2], xi[i / 2 * 2 + 1]];
            let offset = (i % 2) as Real;
            assert!((seen - exact(x + 0.1 * offset, y + 0.5 * offset)).abs() < 1e-5, "{i}: {seen}");
        }
        let ring = Arc::new(Probe::new(&Grid::periodic(4, 1.0), &[vec![0.0]]));
        let (z, xi) = (tape.constant([1, 4], &[0.0, 1.0, 2.0, 3.0]), tape.constant([1, 3, 1], &[0.875, -0.125, 1.125]));
        assert_eq!(tape.record(&ring, [z, xi]).value(), [1.5, 1.5, 0.5]);
    }

    #[test]
    fn the_derivative_is_exact() {
        for grid in [Grid::periodic(6, 1.0), Grid::plane([5, 4], [1.0, 1.0], false), Grid::torus([5, 4], [1.0, 1.0])] {
            let (d, n) = (grid.dimensions(), grid.count());
            // Away from nodes, where the interpolation has kinks.
            let steps: Vec<Real> = (0..d).map(|axis| grid.spacing(axis) as Real).collect();
            let at = |i: usize| ((i % 3) as Real + 0.4) * steps[i % d];
            let xi: Vec<Real> = (0..2 * 3 * d).map(at).collect();
            let probe = Arc::new(Probe::new(&grid, &[vec![0.0; d], steps.iter().map(|h| -1.3 * h).collect()]));
            let sizes = [&[2], &grid.nodes[..]].concat();
            let z = noise(2 * n, 4);
            assert_derivative(&[(&sizes, &z), (&[2, 3, d], &xi)], |v| v[0].tape().record(&probe, [v[0], v[1]]));
        }
    }
}
