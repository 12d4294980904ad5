//! Values of a field at points around agents.

mod stencil;

use super::Lens;
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::{parallel, vectorise};
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use stencil::{ProbeAxis, Stencil};

/// Values of a field at points around each agent, and their slopes if asked for, by linear interpolation along each axis
/// of a line, a plane or a box. Points beyond a wall are moved onto it.
///
/// Slopes are central differences between nodes, one-sided at walls.
/// Inputs: field `[batch, nodes…]`, positions `[batch, agents, d]`; output `[batch, agents, values]`: the values at all
/// points, then the slopes along each axis in turn.
pub struct Probe {
    /// The last axes are those of the grid; others have one node.
    axes: [ProbeAxis; AXES],
    dimensions: usize,
    /// Offsets of the points in cells.
    offsets: Vec<[Real; AXES]>,
    /// Factors on the values and on the slopes per length; `None` without slopes.
    gain: Real,
    slope: Option<Real>,
    through_position: bool,
}

const AXES: usize = 3;

impl Probe {
    /// Creates the operation for the points of a lens; `slope` is the factor on slopes, if they are asked for.
    ///
    /// # Panics
    /// Unless the grid has one to three axes of positive length with at least two nodes each.
    pub fn new(grid: &Grid, lens: &Lens, gain: Real, slope: Option<Real>) -> Self {
        let (d, absent) = (grid.dimensions(), AXES.wrapping_sub(grid.dimensions()));
        assert!((1..=AXES).contains(&d), "agents observe a line, a plane or a box, not {d} dimensions");
        let fits = (0..d).all(|axis| grid.nodes[axis] > 1 && grid.lengths[axis] > 0.0);
        assert!(fits, "a view needs two nodes or more and a length above 0 along each axis: {grid:?}");
        let axes = [0, 1, 2].map(|axis| match axis >= absent {
            false => ProbeAxis { nodes: 1, periodic: false, inverse_dx: 0.0 },
            true => ProbeAxis {
                nodes: grid.nodes[axis - absent],
                periodic: grid.periodic[axis - absent],
                inverse_dx: (1.0 / grid.spacing(axis - absent)) as Real,
            },
        });
        let offset = |at: &Vec<Real>| {
            [0, 1, 2].map(|axis: usize| if axis >= absent { at[axis - absent] * axes[axis].inverse_dx } else { 0.0 })
        };
        let offsets = lens.offsets.iter().map(offset).collect();
        Self { axes, dimensions: d, offsets, gain, slope, through_position: true }
    }

    /// Propagates derivatives through the positions, or not.
    pub fn through_position(self, through_position: bool) -> Self {
        Self { through_position, ..self }
    }

    /// Values per agent.
    pub fn width(&self) -> usize {
        self.channels() * self.offsets.len()
    }

    /// The values, and one more channel for each slope.
    fn channels(&self) -> usize {
        1 + self.slope.map_or(0, |_| self.dimensions)
    }

    /// Index of the axis along which a channel is a slope; beyond all axes for the values themselves.
    fn axis_of(&self, channel: usize) -> usize {
        if channel == 0 { AXES } else { AXES - self.dimensions + channel - 1 }
    }

    fn factor(&self, channel: usize) -> Real {
        match (channel, self.slope) {
            (0, _) | (_, None) => self.gain,
            (_, Some(slope)) => slope * self.axes[self.axis_of(channel)].inverse_dx,
        }
    }

    fn stencils(&self, xi: &[Real], offset: &[Real; AXES]) -> [Stencil; AXES] {
        let absent = AXES - self.dimensions;
        [0, 1, 2].map(|axis: usize| {
            let at = if axis >= absent { xi[axis - absent] * self.axes[axis].inverse_dx } else { 0.0 };
            self.axes[axis].at(at + offset[axis])
        })
    }

    /// Calls `f` with the nodes around a point and their weights.
    #[inline(always)]
    fn each(&self, at: &[Stencil; AXES], weights: [&[Real; 4]; AXES], mut f: impl FnMut(usize, Real)) {
        let [_, ny, nz] = [0, 1, 2].map(|axis| self.axes[axis].nodes);
        for a in 0..4 {
            for b in 0..4 {
                let (plane, weight) = ((at[0].nodes[a] * ny + at[1].nodes[b]) * nz, weights[0][a] * weights[1][b]);
                if weight != 0.0 {
                    for c in 0..4 {
                        if weights[2][c] != 0.0 {
                            f(plane + at[2].nodes[c], weight * weights[2][c]);
                        }
                    }
                }
            }
        }
    }

    /// Weighted sum of the nodes around a point.
    #[inline(always)]
    fn sum(&self, field: &[Real], at: &[Stencil; AXES], weights: [&[Real; 4]; AXES]) -> Real {
        let mut sum = 0.0;
        self.each(at, weights, |node, weight| sum += weight * field[node]);
        sum
    }
}

impl Op for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let nodes = self.axes[AXES - self.dimensions..].iter().map(|axis| axis.nodes);
        let batch = x[1].sizes()[0];
        let fits = x[1].last() == self.dimensions && x[0].sizes().iter().copied().eq(std::iter::once(batch).chain(nodes));
        assert!(fits, "probe: field {:?}, positions {:?}", x[0], x[1]);
        x[1].with_last(self.width())
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let (&[batch, agents, d], points) = (x.shape(1).sizes(), self.offsets.len()) else { unreachable!() };
        let nodes = x[0].len() / batch;
        parallel::rows(y, self.width(), 20 * self.width(), |first, y| {
            vectorise(
                #[inline(always)]
                || {
                    for (m, y) in y.chunks_exact_mut(self.width()).enumerate() {
                        let m = first + m;
                        let field = &x[0][m / agents * nodes..][..nodes];
                        for (p, offset) in self.offsets.iter().enumerate() {
                            let at = self.stencils(&x[1][m * d..][..d], offset);
                            for channel in 0..self.channels() {
                                let own = self.axis_of(channel);
                                let weights = [0, 1, 2].map(|axis| at[axis].weights(axis == own));
                                y[channel * points + p] = self.factor(channel) * self.sum(field, &at, weights);
                            }
                        }
                    }
                },
            );
        });
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let (&[batch, agents, d], points) = (x.shape(1).sizes(), self.offsets.len()) else { unreachable!() };
        let nodes = x[0].len() / batch;
        for m in 0..batch * agents {
            for (p, offset) in self.offsets.iter().enumerate() {
                let at = self.stencils(&x[1][m * d..][..d], offset);
                for channel in 0..self.channels() {
                    let own = self.axis_of(channel);
                    let weights = [0, 1, 2].map(|axis| at[axis].weights(axis == own));
                    let bar = self.factor(channel) * y_bar[m * self.width() + channel * points + p];
                    if let Some(field_bar) = bars.get(0) {
                        let field_bar = &mut field_bar[m / agents * nodes..][..nodes];
                        self.each(&at, weights, |node, weight| field_bar[node] += weight * bar);
                    }
                    let Some(xi_bar) = bars.get(1).filter(|_| self.through_position) else { continue };
                    let field = &x[0][m / agents * nodes..][..nodes];
                    for c in 0..d {
                        let axis = AXES - d + c;
                        let mut changed = weights;
                        changed[axis] = at[axis].change(axis == own);
                        xi_bar[m * d + c] += bar * self.axes[axis].inverse_dx * self.sum(field, &at, changed);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sense::{Observe1d, Observe2d, Window};
    use cinoc_tape::check::{assert_derivative, compare, noise, pull_back};
    use std::sync::Arc;

    const LENGTHS: [Real; 3] = [1.0, 0.8, 1.5];
    const WALLS: [bool; 3] = [false; 3];
    const RINGS: [bool; 3] = [true; 3];
    const MIXED: [bool; 3] = [false, true, false];

    fn grid(d: usize, periodic: [bool; 3]) -> Grid {
        Grid { nodes: [7, 6, 9][..d].to_vec(), lengths: LENGTHS[..d].to_vec(), periodic: periodic[..d].to_vec() }
    }

    fn probe(grid: &Grid, window: &Window) -> Arc<Probe> {
        let lens = Lens::new(grid, window.points, window.window);
        Arc::new(Probe::new(grid, &lens, window.gain as Real, Some((window.gain * window.window) as Real)))
    }

    /// Positions in the domain, at its sides and beyond.
    fn positions(d: usize) -> Vec<Real> {
        let inside = noise(5 * d, 2).iter().enumerate().map(|(i, x)| (0.5 + 0.55 * x) * LENGTHS[i % d]).collect::<Vec<_>>();
        [inside, vec![0.0; d], LENGTHS[..d].to_vec()].concat()
    }

    /// On a line and in the plane the values are those of the other views, whose slopes are in another order in the plane.
    #[test]
    fn values_are_those_of_the_views_on_a_line_and_in_the_plane() {
        for (d, periodic) in [(1, WALLS), (1, RINGS), (2, WALLS), (2, RINGS), (2, MIXED)] {
            let (grid, window) = (grid(d, periodic), Window { gain: 1.7, ..Window::new(3, 0.45) });
            let field = [1, grid.nodes[0], if d == 2 { grid.nodes[1] } else { 1 }];
            let count = grid.count();
            let point = vec![
                (Shape::new(&field[..1 + d]), noise(count, 1)),
                (Shape::new(&field[..1 + d]), noise(count, 4)),
                (Shape::new(&[1, 7, d]), positions(d)),
            ];
            let probe = probe(&grid, &window);
            let (found, _) = pull_back(&point, &|v| v[0].tape().record(&probe, [v[0] - v[1], v[2]]), None);
            let (expected, _) = match d {
                1 => {
                    let view = Arc::new(Observe1d::new(&grid, &window));
                    pull_back(&point, &|v| v[0].tape().record(&view, [v[0], v[1], v[2]]), None)
                }
                _ => {
                    let view = Arc::new(Observe2d::new(&grid, &window));
                    pull_back(&point, &|v| v[0].tape().record(&view, [v[0], v[1], v[2]]), None)
                }
            };
            let (points, width) = (window.points.pow(d as u32), probe.width());
            for (i, found) in found.iter().enumerate() {
                let (m, channel, p) = (i / width, i % width / points, i % points);
                // The other views move an agent beyond a wall onto it first.
                if (0..d).any(|c| !periodic[c] && !(0.0..=LENGTHS[c]).contains(&point[2].1[m * d + c])) {
                    continue;
                }
                let other = if d == 1 { expected[i] } else { expected[m * width + p * (1 + d) + channel] };
                assert!((found - other).abs() < 2e-5, "{d} axes, periodic {periodic:?}, value {i}: {found}, not {other}");
            }
        }
    }

    #[test]
    fn linear_fields_are_exact_in_a_box() {
        let (grid, window) = (grid(3, WALLS), Window::new(3, 0.3));
        let at = |i: usize, axis: usize| {
            let stride: usize = grid.nodes[axis + 1..].iter().product();
            (i / stride % grid.nodes[axis]) as f64 * grid.spacing(axis)
        };
        let z: Vec<Real> = (0..grid.count()).map(|i| (2.0 * at(i, 0) - at(i, 1) + 0.5 * at(i, 2)) as Real).collect();
        let point = vec![(Shape::new(&[1, 7, 6, 9]), z), (Shape::new(&[1, 2, 3]), vec![0.4, 0.3, 0.7, 0.0, 0.8, 0.75])];
        let probe = probe(&grid, &window);
        let (found, _) = pull_back(&point, &|v| v[0].tape().record(&probe, [v[0], v[1]]), None);
        for (i, found) in found.iter().enumerate() {
            let (m, channel, p) = (i / 108, i % 108 / 27, i % 27);
            let along = |axis: usize| {
                let offset = 0.15 * ((p / [9, 3, 1][axis] % 3) as f64 - 1.0);
                (point[1].1[3 * m + axis] as f64 + offset).clamp(0.0, LENGTHS[axis] as f64)
            };
            let value = 2.0 * along(0) - along(1) + 0.5 * along(2);
            let expected = [value, 2.0 * 0.3, -0.3, 0.5 * 0.3][channel];
            assert!((*found as f64 - expected).abs() < 1e-5, "value {i}: {found}, not {expected}");
        }
    }

    #[test]
    fn derivatives_are_exact() {
        for (d, periodic) in [(1, WALLS), (2, RINGS), (2, MIXED), (3, WALLS), (3, RINGS), (3, MIXED)] {
            let (grid, field) = (grid(d, periodic), [2, 7, 6, 9]);
            let probe = probe(&grid, &Window { gain: 0.5, ..Window::new(2, 0.1) });
            // Away from nodes and walls, where the slope along the position jumps.
            let position = |i: usize| ((0.5 + 2.0 * (i % 3) as f64) * grid.spacing(i % d)) as Real;
            let xi: Vec<Real> = (0..2 * 3 * d).map(position).collect();
            let field = &field[..1 + d];
            let values = noise(field.iter().product(), 3);
            assert_derivative(&[(field, &values), (&[2, 3, d], &xi)], |v| v[0].tape().record(&probe, [v[0], v[1]]));
            // Linear in the field: central differences of any step are exact.
            let point = vec![(Shape::new(field), values)];
            let agreement =
                compare(&point, &|v| v[0].tape().record(&probe, [v[0], v[0].tape().constant([2, 3, d], &xi)]), 1.0, 4);
            assert!(agreement.error < 1e-4, "{agreement:?}");
        }
    }
}
