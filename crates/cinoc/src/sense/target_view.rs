//! View of the target: its value, its slopes, and the feedforward force that holds it.

use super::Instrument;
use crate::Real;
use crate::geometry::{Tiles, cells_of_chunk};
use cinoc_pde::Grid;
use cinoc_tape::kernel::parallel;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};
use std::sync::Arc;

/// Physics of the feedforward force that holds a field, `−νΔz − ρz(1−z)`, as agents assume it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Holding {
    /// Diffusivity ν.
    pub nu: f64,
    /// Growth rate ρ.
    pub rho: f64,
}

/// Target `z*`, `∂z*/4` along each axis and half the force that holds `z*`, at each agent; the force also half a window
/// before and behind along each axis.
pub struct TargetView {
    fields: Arc<TargetChannels>,
    at: Arc<TargetSamples>,
}

impl TargetView {
    /// Creates the view for agents on `grid`, which has walls, with windows of width `window`.
    ///
    /// # Panics
    /// On a ring or a torus, and in more than two dimensions.
    pub fn new(grid: &Grid, window: f64, holding: Holding) -> Self {
        assert!(grid.has_walls() && grid.dimensions() <= 2, "the target view needs an interval or a rectangle with walls");
        let layout = Layout::new(grid);
        let fields = TargetChannels { layout: layout.clone(), nu: holding.nu as Real, rho: holding.rho as Real };
        Self {
            fields: Arc::new(fields),
            at: Arc::new(TargetSamples { layout, reach: (0.5 * window) as Real, tiles: Tiles::new(grid) }),
        }
    }

    /// Values per agent.
    pub fn count(&self) -> usize {
        self.at.count()
    }

    /// Instruments from which an agent derives this: the target, its slopes, the force that holds it.
    pub fn instruments(&self) -> [Instrument; 3] {
        let (d, reach, TargetChannels { nu, rho, .. }) = (self.fields.layout.d, self.at.reach, &*self.fields);
        let growth = if *rho != 0.0 { format!(" - {rho} z*(1 - z*)") } else { String::new() };
        let points = match d {
            1 => format!("here, {reach} behind and {reach} ahead"),
            _ => format!("here, {reach} behind and ahead along x, and behind and ahead along y"),
        };
        let holding = format!(
            "the force that would hold the target, -{nu} Laplacian(z*){growth}, {points} (at the wall, if that lies beyond it)"
        );
        [
            Instrument::new("target", 1, "the target z* at the agent, in the unit of the field"),
            Instrument::new("target_slope", d, "the slope of z* there, along each axis"),
            Instrument::new("holding", 1 + 2 * d, holding),
        ]
    }

    /// Converts observed values to readings of the instruments.
    pub fn readings<'t>(&self, shown: Var<'t>) -> [Var<'t>; 3] {
        let d = self.fields.layout.d;
        let slope = shown.columns(1, 1 + d) * (1.0 / PER_SLOPE);
        [shown.columns(0, 1), slope, shown.columns(1 + d, self.count()) * (1.0 / PER_FORCE)]
    }

    /// Converts readings of the instruments to observed values.
    pub fn shown<'t>(&self, [target, slope, holding]: [Var<'t>; 3]) -> Var<'t> {
        target.join(slope * PER_SLOPE).join(holding * PER_FORCE)
    }

    /// Returns the view of `target` for agents at `xi`. The part independent of positions is computed once for all
    /// ticks.
    pub fn observe<'t>(&self, target: Var<'t>, xi: Var<'t>) -> Var<'t> {
        target.tape().record(&self.at, [target.apply(&self.fields), xi])
    }
}

/// Factors on slopes and on the force, which bring them to the magnitude of the target.
const PER_SLOPE: Real = 0.25;
const PER_FORCE: Real = 0.5;

/// Nodes of a line or a rectangle, the last axis fastest; a line is a rectangle of one column.
#[derive(Clone)]
struct Layout {
    d: usize,
    nodes: [usize; 2],
    inverse_dx: [Real; 2],
}

impl Layout {
    fn new(grid: &Grid) -> Self {
        let axis = |c: usize| (c < grid.dimensions()).then(|| (grid.nodes[c], (1.0 / grid.spacing(c)) as Real));
        let [x, y] = [0, 1].map(|c| axis(c).unwrap_or((1, 0.0)));
        Self { d: grid.dimensions(), nodes: [x.0, y.0], inverse_dx: [x.1, y.1] }
    }

    /// Channels at each node: value, slopes, force.
    fn channels(&self) -> usize {
        2 + self.d
    }

    fn count(&self) -> usize {
        self.nodes[0] * self.nodes[1]
    }

    /// Index distance of neighbours along an axis.
    fn step(&self, axis: usize) -> usize {
        if axis == 0 { self.nodes[1] } else { 1 }
    }
}

/// Channels of the target at all nodes. Input: the target `[batch, nodes…]`; output `[batch, nodes·channels]`.
struct TargetChannels {
    layout: Layout,
    nu: Real,
    rho: Real,
}

impl TargetChannels {
    /// Calls `f(channel, source, factor)` for each term of a channel at `node` that is linear in the field.
    fn stencil(&self, node: usize, mut f: impl FnMut(usize, usize, Real)) {
        let Layout { d, nodes, inverse_dx, .. } = &self.layout;
        let index = [node / nodes[1], node % nodes[1]];
        f(0, node, 1.0);
        for axis in 0..*d {
            let (step, i, last, per) = (self.layout.step(axis), index[axis], nodes[axis] - 1, inverse_dx[axis]);
            // One-sided differences at walls.
            let (after, before) = (if i < last { node + step } else { node }, if i > 0 { node - step } else { node });
            let slope = PER_SLOPE * per / if i > 0 && i < last { 2.0 } else { 1.0 };
            f(1 + axis, after, slope);
            f(1 + axis, before, -slope);
            // At walls the curvature is that of the neighbour.
            let centre = if i == 0 {
                node + step
            } else if i == last {
                node - step
            } else {
                node
            };
            let curvature = -PER_FORCE * self.nu * per * per;
            f(1 + d, centre + step, curvature);
            f(1 + d, centre - step, curvature);
            f(1 + d, centre, -2.0 * curvature);
        }
    }
}

impl Op for TargetChannels {
    fn name(&self) -> &'static str {
        "target"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let batch = x[0].sizes()[0];
        assert_eq!(x[0].count(), batch * self.layout.count(), "target: field {:?}", x[0]);
        Shape::new(&[batch, self.layout.count() * self.layout.channels()])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let (count, channels) = (self.layout.count(), self.layout.channels());
        for (z, y) in x[0].chunks_exact(count).zip(y.chunks_exact_mut(count * channels)) {
            parallel::rows(y, channels, 16 * channels, |first, y| {
                y.fill(0.0);
                for (i, y) in y.chunks_exact_mut(channels).enumerate() {
                    let node = first + i;
                    self.stencil(node, |channel, source, factor| y[channel] += factor * z[source]);
                    y[channels - 1] -= PER_FORCE * self.rho * z[node] * (1.0 - z[node]);
                }
            });
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let (count, channels) = (self.layout.count(), self.layout.channels());
        let Some(bar) = bars.get(0) else { return };
        for (b, (bar, y_bar)) in bar.chunks_exact_mut(count).zip(y_bar.chunks_exact(count * channels)).enumerate() {
            for (node, y_bar) in y_bar.chunks_exact(channels).enumerate() {
                self.stencil(node, |channel, source, factor| bar[source] += factor * y_bar[channel]);
                bar[node] -= PER_FORCE * self.rho * (1.0 - 2.0 * x[0][b * count + node]) * y_bar[channels - 1];
            }
        }
    }
}

/// Channels at the agents. Inputs: fields `[batch, nodes·channels]`, positions `[batch, agents, d]`; output
/// `[batch, agents, channels + 2d]`.
struct TargetSamples {
    layout: Layout,
    reach: Real,
    tiles: Tiles,
}

/// Nodes around a position with their weights and the derivatives of these along each axis.
struct Corners([(usize, Real, [Real; 2]); 4]);

impl TargetSamples {
    fn count(&self) -> usize {
        self.layout.channels() + 2 * self.layout.d
    }

    /// Computes bilinear weights, clamped at the walls; beyond them the derivatives are zero.
    fn corners(&self, xi: &[Real], axis: usize, offset: Real) -> Corners {
        let Layout { d, nodes, inverse_dx } = &self.layout;
        let (mut at, mut part, mut free) = ([0; 2], [0.0; 2], [0.0; 2]);
        for c in 0..*d {
            let last = (nodes[c] - 1) as Real;
            let t = (xi[c] + if c == axis { offset } else { 0.0 }) * inverse_dx[c];
            let inside = t.max(0.0).min(last);
            at[c] = (inside as usize).min(nodes[c] - 2);
            part[c] = inside - at[c] as Real;
            free[c] = if t >= 0.0 && t <= last { inverse_dx[c] } else { 0.0 };
        }
        let corner = |n: usize| {
            let side = [n & 1, n >> 1];
            let weight = |c: usize| if side[c] == 1 { part[c] } else { 1.0 - part[c] };
            let slope = |c: usize| if side[c] == 1 { free[c] } else { -free[c] };
            // A line has only one column.
            if *d == 1 && side[1] == 1 {
                return (0, 0.0, [0.0; 2]);
            }
            let node = (at[0] + side[0]) * nodes[1] + at[1] + side[1];
            if *d == 1 {
                (node, weight(0), [slope(0), 0.0])
            } else {
                (node, weight(0) * weight(1), [slope(0) * weight(1), weight(0) * slope(1)])
            }
        };
        Corners([0, 1, 2, 3].map(corner))
    }

    /// Calls `f(value, channel, corners)` for every value that an agent at `xi` observes.
    fn each(&self, xi: &[Real], mut f: impl FnMut(usize, usize, &Corners)) {
        let channels = self.layout.channels();
        let here = self.corners(xi, 0, 0.0);
        (0..channels).for_each(|channel| f(channel, channel, &here));
        for axis in 0..self.layout.d {
            for (side, offset) in [-self.reach, self.reach].into_iter().enumerate() {
                f(channels + 2 * axis + side, channels - 1, &self.corners(xi, axis, offset));
            }
        }
    }
}

impl Op for TargetSamples {
    fn name(&self) -> &'static str {
        "target at agents"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[1].last() == self.layout.d && x[0].sizes()[0] == x[1].sizes()[0];
        assert!(fits, "target at agents: fields {:?}, positions {:?}", x[0], x[1]);
        x[1].with_last(self.count())
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        self.tiles.work(x[1].sizes()[1])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], work: &mut [Real]) {
        let (agents, d, channels) = (x.shape(1).sizes()[1], self.layout.d, self.layout.channels());
        let size = self.layout.count() * channels;
        let instances = y.chunks_exact_mut(agents * self.count()).zip(x[1].chunks_exact(agents * d));
        for ((y, xi), fields) in instances.zip(x[0].chunks_exact(size)) {
            let order = self.tiles.order(xi, d, work);
            let cells = cells_of_chunk(&order, agents, 16 * self.count());
            parallel::for_each_part(order.scatter(y, self.count(), cells), |_, mut rows| {
                for slot in rows.positions() {
                    let y = rows.row(slot);
                    self.each(&xi[order.get(slot) * d..], |k, channel, Corners(corners)| {
                        y[k] = corners.iter().map(|(node, weight, _)| weight * fields[node * channels + channel]).sum();
                    });
                }
            });
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let (agents, d, channels) = (x.shape(1).sizes()[1], self.layout.d, self.layout.channels());
        let size = self.layout.count() * channels;
        if let Some(bar) = bars.get(1) {
            let rows = x[1].chunks_exact(d).zip(y_bar.chunks_exact(self.count()));
            for (m, (bar, (xi, y_bar))) in bar.chunks_exact_mut(d).zip(rows).enumerate() {
                let fields = &x[0][m / agents * size..][..size];
                self.each(xi, |k, channel, Corners(corners)| {
                    for (node, _, slopes) in corners {
                        bar.iter_mut()
                            .zip(slopes)
                            .for_each(|(bar, slope)| *bar += y_bar[k] * slope * fields[node * channels + channel]);
                    }
                });
            }
        }
        if let Some(bar) = bars.get(0) {
            for (m, (xi, y_bar)) in x[1].chunks_exact(d).zip(y_bar.chunks_exact(self.count())).enumerate() {
                let fields = &mut bar[m / agents * size..][..size];
                self.each(xi, |k, channel, Corners(corners)| {
                    corners.iter().for_each(|(node, weight, _)| fields[node * channels + channel] += weight * y_bar[k]);
                });
            }
        }
    }
}
