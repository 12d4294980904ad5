//! Views of a field and knowledge of one's place, put together.

use super::{Directions, Features, Nearest, Observation, Observe1d, Observe2d, ObserveField, Patch, PositionFeatures};
use super::{RingView, Sense, Window};
use crate::geometry::Disc;
use cinoc_pde::Grid;
use cinoc_pde::calculus::Moments;
use cinoc_tape::Var;
use std::sync::Arc;

/// What an agent sees of the field (through a window around it, or all of it) and what it knows of its place.
pub struct Sight {
    view: View,
    position: Arc<PositionFeatures>,
    more: More,
}

/// What of the field is seen.
enum View {
    /// Samples of a line around each agent; in two steps where agents never move.
    Line(Arc<Observe1d>, RingView),
    /// An image around each agent.
    Plane(Arc<Observe2d>),
    /// All of it, once per instance.
    Whole(Arc<ObserveField>),
}

/// What an agent knows besides the features of its position.
enum More {
    Nothing,
    /// Where the nearest disc is.
    Disc(Arc<Nearest>),
    /// Where the centroids of the field and of the target are.
    Centroids(Arc<Moments>, Arc<Directions>),
}

impl Sight {
    /// Through a window around each agent, on a line or in the plane.
    ///
    /// # Panics
    /// In more than two dimensions, and where [`Observe1d::new`] or [`Observe2d::new`] does.
    pub fn around(grid: &Grid, window: &Window) -> Self {
        let view = match grid.dimensions() {
            1 => {
                let line = Arc::new(Observe1d::new(grid, window));
                let ring = RingView::new(&line);
                View::Line(line, ring)
            }
            2 => View::Plane(Arc::new(Observe2d::new(grid, window))),
            d => panic!("agents see on a line or in the plane; a view in {d} dimensions is yet to be written"),
        };
        Self { view, position: Arc::new(PositionFeatures::of(grid, window.position)), more: More::Nothing }
    }

    /// All of a plane with walls, once for all agents of an instance; `position`: whether each knows where in it it is.
    ///
    /// # Panics
    /// Where [`ObserveField::new`] does.
    pub fn whole(grid: &Grid, gain: f64, position: bool) -> Self {
        let view = View::Whole(Arc::new(ObserveField::new(grid, gain)));
        Self { view, position: Arc::new(PositionFeatures::of(grid, position)), more: More::Nothing }
    }

    /// Each agent also knows how far beyond its `clearance` the nearest disc is, and in which direction.
    ///
    /// # Panics
    /// Without discs.
    pub fn with_discs(self, discs: &[Disc], clearance: f64) -> Self {
        Self { more: More::Disc(Arc::new(Nearest::new(discs.to_vec(), clearance))), ..self }
    }

    /// Each agent also knows where the centroids of the field and of its target are.
    pub fn with_centroids(self, grid: &Grid) -> Self {
        Self { more: More::Centroids(Arc::new(Moments::new(grid)), Arc::new(Directions)), ..self }
    }
}

impl Sense for Sight {
    fn features(&self) -> Features {
        let (patch, shared) = match &self.view {
            View::Line(line, _) => (Patch::Line(line.seen()), false),
            View::Plane(plane) => (plane.image(), false),
            View::Whole(field) => (field.image(), true),
        };
        let more = match self.more {
            More::Nothing => 0,
            More::Disc(_) => Nearest::WIDTH,
            More::Centroids(..) => Directions::COUNT,
        };
        Features { patch, shared, position: self.position.count() + more }
    }

    fn observe<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Observation<'t> {
        let tape = z.tape();
        // The order of these operations is that in which their cotangents add up: another order would round otherwise.
        let position = || match &self.more {
            More::Nothing => xi.apply(&self.position),
            More::Disc(nearest) => xi.apply(&self.position).join(xi.apply(nearest)),
            More::Centroids(moments, directions) => {
                let directions = tape.record(directions, [xi, z.apply(moments), target.apply(moments)]);
                xi.apply(&self.position).join(directions)
            }
        };
        match &self.view {
            View::Line(_, ring) if xi.is_loop_invariant() && ring.fits() => {
                let view = ring.observe(z, target, xi);
                Observation::linear(view, position())
            }
            View::Line(line, _) => {
                let patch = tape.record(line, [z, target, xi]);
                Observation::new(patch, position())
            }
            View::Plane(plane) => {
                let patch = tape.record(plane, [z, target, xi]);
                Observation::new(patch, position())
            }
            View::Whole(field) => {
                let seen = tape.record(field, [z, target]);
                Observation::shared(seen, position())
            }
        }
    }
}
