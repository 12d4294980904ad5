//! Gaps to neighbours, which tell an agent how large its share of the field is.

mod cells;
mod line;
mod plane;

use super::instrument::{Domain, Instrument, Source};
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};
use line::GapsOnLine;
use plane::GapsInPlane;

/// Distances to the nearest active agent, in units of `unit`: on a line to the left and to the right, in the plane in
/// eight sectors of 45° centred on axes and diagonals. If a wall is nearer, along the middle of the sector, the
/// distance to the wall. A periodic axis has no walls: an empty sector without a wall gives the length of the domain,
/// the largest of its periodic axes.
///
/// Inputs: positions `[batch, agents, d]`, strength `[batch, agents]` (0: failed); output `[batch, agents, 2 or 8]`.
pub struct Gaps {
    space: Space,
    per_unit: Real,
    domain: Domain,
}

/// Geometry of the domain.
enum Space {
    Line(GapsOnLine),
    Plane(GapsInPlane),
}

impl Gaps {
    /// Creates the operation for agents on `grid`.
    ///
    /// # Panics
    /// In more than two dimensions.
    pub fn new(grid: &Grid, unit: f64) -> Self {
        let space = match grid.dimensions() {
            1 => Space::Line(GapsOnLine { length: grid.lengths[0], ring: grid.periodic[0] }),
            2 => Space::Plane(GapsInPlane::new([grid.lengths[0], grid.lengths[1]], [grid.periodic[0], grid.periodic[1]])),
            d => panic!("gaps need a line or a plane, not {d} dimensions"),
        };
        Self { space, per_unit: (1.0 / unit) as Real, domain: Domain::of(grid) }
    }

    /// Values per agent.
    pub fn count(&self) -> usize {
        if matches!(self.space, Space::Line(_)) { 2 } else { plane::SECTORS }
    }
}

impl Gaps {
    /// Scratch size for `agents` agents.
    pub(super) fn work(&self, agents: usize) -> usize {
        if matches!(self.space, Space::Line(_)) { agents } else { GapsInPlane::work(agents) }
    }

    /// Computes the gaps of one instance, not yet in units, and the agents that end them; negative at walls.
    pub(super) fn neighbours(&self, xi: &[Real], strength: &[Real], gaps: &mut [Real], ends: &mut [Real], work: &mut [Real]) {
        match &self.space {
            Space::Line(line) => line.gaps(xi, strength, gaps, ends, work),
            Space::Plane(plane) => plane.gaps(xi, strength, gaps, ends, work),
        }
    }

    /// Instrument from which an agent derives this.
    pub fn instrument(&self) -> Instrument {
        let wall = "the distance to the wall, along the middle of that direction, if it is nearer or there is none";
        let otherwise = match (self.domain.is_periodic(), self.domain.has_walls()) {
            (true, _) => "the length of the domain if there is none".into(),
            (_, true) => wall.to_owned(),
            _ => format!("{wall}; along the periodic axis, its length if there is none"),
        };
        let about = match self.space {
            Space::Line(_) => format!("distance to the next active agent to the left and to the right; {otherwise}"),
            Space::Plane(_) => format!(
                "distance to the nearest active agent in each of eight sectors of 45 degrees, the first centred on the x axis, the third on the y axis; {otherwise}"
            ),
        };
        Instrument::new("gap", self.count(), about).with_source(Source::Gaps(self.domain.clone()))
    }

    /// Converts observed values to the reading of the instrument.
    pub fn reading<'t>(&self, shown: Var<'t>) -> Var<'t> {
        shown * (1.0 / self.per_unit)
    }

    /// Converts a reading of the instrument to observed values.
    pub fn shown<'t>(&self, reading: Var<'t>) -> Var<'t> {
        reading * self.per_unit
    }
}

impl Op for Gaps {
    fn name(&self) -> &'static str {
        "gaps"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let d = if matches!(self.space, Space::Line(_)) { 1 } else { 2 };
        assert!(x[0].last() == d && x[0].rows() == x[1].count(), "gaps: positions {:?}, strength {:?}", x[0], x[1]);
        x[0].with_last(self.count())
    }

    fn saved(&self, x: &[Shape]) -> usize {
        x[0].rows() * self.count()
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        self.work(x[0].sizes()[1])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], ends: &mut [Real], work: &mut [Real]) {
        let &[_, agents, d] = x.shape(0).sizes() else { unreachable!() };
        let each = agents * self.count();
        let instances = x[0].chunks_exact(agents * d).zip(x[1].chunks_exact(agents));
        for ((xi, strength), (y, ends)) in instances.zip(y.chunks_exact_mut(each).zip(ends.chunks_exact_mut(each))) {
            self.neighbours(xi, strength, y, ends, work);
        }
        y.iter_mut().for_each(|gap| *gap *= self.per_unit);
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], ends: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let &[_, agents, d] = x.shape(0).sizes() else { unreachable!() };
        let each = agents * self.count();
        let Some(bar) = bars.get(0) else { return };
        let instances = x[0].chunks_exact(agents * d).zip(bar.chunks_exact_mut(agents * d));
        for ((xi, bar), (y_bar, ends)) in instances.zip(y_bar.chunks_exact(each).zip(ends.chunks_exact(each))) {
            match &self.space {
                Space::Line(line) => line.back(y_bar, ends, self.per_unit, bar),
                Space::Plane(plane) => plane.back(xi, y_bar, ends, self.per_unit, bar),
            }
        }
    }
}
