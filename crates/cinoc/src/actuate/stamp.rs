//! Forces of agents on the cells near them: a disc, or the cell that an agent is in.

use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Shape of a stamp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StampShape {
    /// Cells whose centres are within a radius; the edge is one cell wide, so that it changes smoothly with the position.
    Disc(f64),
    /// The cell that the agent is in. It has no derivative by the position.
    Cell,
}

/// Force of `u` on the cells of each agent, `u` the first component of its action.
/// Inputs: actions `[batch, agents, k]`, positions `[batch, agents, d]`; output `[batch, nodes…]`.
pub struct Stamp {
    nodes: Vec<usize>,
    spacing: Vec<Real>,
    lengths: Vec<Real>,
    periodic: Vec<bool>,
    /// Radius, and width of the edge; `None` for a single cell.
    disc: Option<[Real; 2]>,
}

/// Largest number of axes.
const AXES: usize = 3;

impl Stamp {
    /// Creates the force on `grid`.
    pub fn new(grid: &Grid, shape: StampShape) -> Self {
        let spacing: Vec<f64> = (0..grid.dimensions()).map(|axis| grid.spacing(axis)).collect();
        let edge = spacing.iter().copied().fold(f64::INFINITY, f64::min);
        Self {
            nodes: grid.nodes.clone(),
            spacing: spacing.iter().map(|h| *h as Real).collect(),
            lengths: grid.lengths.clone(),
            periodic: grid.periodic.clone(),
            disc: match shape {
                StampShape::Disc(radius) => Some([radius as Real, edge as Real]),
                StampShape::Cell => None,
            },
        }
    }

    /// First node along an axis and the number of nodes that an agent may reach; nodes beyond a periodic end are those at
    /// the other.
    fn reach(&self, axis: usize, xi: Real) -> (i64, i64) {
        let (n, at) = (self.nodes[axis] as i64, xi / self.spacing[axis]);
        let Some([radius, edge]) = self.disc else {
            let nearest = at.round() as i64;
            return (if self.periodic[axis] { nearest } else { nearest.clamp(0, n - 1) }, 1);
        };
        let cells = (radius + 0.5 * edge) / self.spacing[axis];
        let (first, last) = ((at - cells).ceil() as i64, (at + cells).floor() as i64);
        match self.periodic[axis] {
            true if last - first >= n => (at.round() as i64 - n / 2, n),
            true => (first, (last - first + 1).max(0)),
            false => (first.max(0), (last.min(n - 1) - first.max(0) + 1).max(0)),
        }
    }

    /// Calls `visit` for each cell of an agent with its weight and the derivative of the weight by the position.
    fn each(&self, xi: &[Real], mut visit: impl FnMut(usize, Real, [Real; AXES])) {
        let d = self.nodes.len();
        // A position that is not a number makes the field so, and the episode ends.
        if xi.iter().any(|x| !x.is_finite()) {
            return visit(0, Real::NAN, [0.0; AXES]);
        }
        let (mut first, mut count, mut centre) = ([0; AXES], [1; AXES], [0.0; AXES]);
        for axis in 0..d {
            let length = self.lengths[axis];
            centre[axis] = if self.periodic[axis] { xi[axis] - length * (xi[axis] / length).floor() } else { xi[axis] };
            (first[axis], count[axis]) = self.reach(axis, centre[axis]);
        }
        for cell in 0..count.iter().product::<i64>() {
            let step = [cell / (count[1] * count[2]), cell / count[2] % count[1], cell % count[2]];
            let (mut node, mut apart, mut square) = (0, [0.0; AXES], 0.0);
            for axis in 0..d {
                let (i, n) = (first[axis] + step[axis], self.nodes[axis] as i64);
                node = node * self.nodes[axis] + i.rem_euclid(n) as usize;
                apart[axis] = i as Real * self.spacing[axis] - centre[axis];
                square += apart[axis] * apart[axis];
            }
            let Some([radius, edge]) = self.disc else {
                visit(node, 1.0, [0.0; AXES]);
                continue;
            };
            let distance = square.sqrt();
            // From 0 outside of the edge to 1 inside, with a continuous derivative.
            let inside = ((radius - distance) / edge + 0.5).clamp(0.0, 1.0);
            if inside > 0.0 {
                let slope = if distance > 0.0 { 6.0 * inside * (1.0 - inside) / (edge * distance) } else { 0.0 };
                visit(node, inside * inside * (3.0 - 2.0 * inside), apart.map(|apart| slope * apart));
            }
        }
    }

    fn count(&self) -> usize {
        self.nodes.iter().product()
    }
}

impl Op for Stamp {
    fn name(&self) -> &'static str {
        "stamp"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0].sizes()[..2] == x[1].sizes()[..2] && x[1].last() == self.nodes.len();
        assert!(fits, "stamp: actions {:?}, positions {:?}", x[0], x[1]);
        let mut sizes = [x[0].sizes()[0]; Shape::AXES];
        sizes[1..=self.nodes.len()].copy_from_slice(&self.nodes);
        Shape::new(&sizes[..=self.nodes.len()])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let &[_, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let (d, n) = (self.nodes.len(), self.count());
        y.fill(0.0);
        for (m, (action, xi)) in x[0].chunks_exact(k).zip(x[1].chunks_exact(d)).enumerate() {
            let field = &mut y[m / agents * n..][..n];
            self.each(xi, |node, weight, _| field[node] += weight * action[0]);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let &[_, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let (d, n) = (self.nodes.len(), self.count());
        if let Some(bar) = bars.get(0) {
            for (m, (bar, xi)) in bar.chunks_exact_mut(k).zip(x[1].chunks_exact(d)).enumerate() {
                let y_bar = &y_bar[m / agents * n..][..n];
                self.each(xi, |node, weight, _| bar[0] += weight * y_bar[node]);
            }
        }
        if let Some(bar) = bars.get(1) {
            for (m, (bar, xi)) in bar.chunks_exact_mut(d).zip(x[1].chunks_exact(d)).enumerate() {
                let (y_bar, u) = (&y_bar[m / agents * n..][..n], x[0][m * k]);
                self.each(xi, |node, _, slope| {
                    bar.iter_mut().zip(slope).for_each(|(bar, slope)| *bar += u * slope * y_bar[node]);
                });
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

    fn force(grid: &Grid, shape: StampShape, u: &[Real], xi: &[Real]) -> Vec<Real> {
        let tape = Tape::new(Arena::default(), &[]);
        let agents = u.len();
        let (u, xi) = (tape.constant([1, agents, 1], u), tape.constant([1, agents, grid.dimensions()], xi));
        tape.record(&Arc::new(Stamp::new(grid, shape)), [u, xi]).value()
    }

    #[test]
    fn a_cell_is_that_of_the_agent_and_a_disc_has_its_area() {
        let line = Grid::walls(6, 1.0);
        assert_eq!(force(&line, StampShape::Cell, &[2.0, 3.0], &[0.29, 1.0]), [0.0, 2.0, 0.0, 0.0, 0.0, 3.0]);
        assert_eq!(force(&Grid::periodic(5, 1.0), StampShape::Cell, &[1.0], &[0.95]), [1.0, 0.0, 0.0, 0.0, 0.0]);
        for grid in [Grid::plane([41, 41], [1.0, 1.0], false), Grid::torus([40, 40], [1.0, 1.0])] {
            let sum: Real = force(&grid, StampShape::Disc(0.2), &[1.0], &[0.51, 0.483]).iter().sum();
            assert!((sum / 1600.0 / (0.04 * std::f64::consts::PI as Real) - 1.0).abs() < 0.02, "{sum}");
        }
        let whole = force(&Grid::torus([8, 8], [1.0, 1.0]), StampShape::Disc(5.0), &[1.0], &[0.9, 0.1]);
        assert_eq!(whole, [1.0; 64]);
        assert!(force(&line, StampShape::Disc(0.1), &[1.0], &[Real::NAN])[0].is_nan());
    }

    #[test]
    fn the_derivative_is_exact() {
        // Edges that are wide beside the steps of the check.
        let grid = Grid::torus([5, 4], [10.0, 10.0]);
        let (u, xi) = (noise(4, 1), [0.2, 3.1, 5.3, 7.7, 2.4, 9.6, 7.1, 4.4]);
        let stamp = Arc::new(Stamp::new(&grid, StampShape::Disc(3.1)));
        assert_derivative(&[(&[2, 2, 1], &u), (&[2, 2, 2], &xi)], |v| v[0].tape().record(&stamp, [v[0], v[1]]));
    }
}
