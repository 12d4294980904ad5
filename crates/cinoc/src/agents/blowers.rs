//! Mobile agents on a plane that blow.

use super::{Advance, Features, Observation, Patch, Seen, Swarm};
use crate::Real;
use crate::actuate::Flow2d;
use crate::config::{ObserveConfig, SwarmConfig};
use crate::limit::{Crowd, SaturateLength};
use crate::sense::{Compress, Directions, Observe2d, ObserveField, PositionFeatures};
use cinoc_pde::Grid;
use cinoc_pde::calculus::Moments;
use cinoc_tape::Var;
use std::f64::consts::PI;
use std::sync::Arc;

/// A rectangle by its lowest and highest corner.
#[derive(Clone, Copy, Debug)]
pub struct Rectangle {
    /// Lowest coordinates.
    pub low: [f64; 2],
    /// Highest coordinates.
    pub high: [f64; 2],
}

/// Agents on a plane with walls that blow in the direction they move in: the action is the velocity. They add nothing to the field.
///
/// All agents of an instance share one view of the whole field, or each sees only what is around it; each knows its own place and where
/// the centroids of the density and of the target lie from there.
pub struct BlowingPlane {
    start: Rectangle,
    view: View,
    compress: Option<Arc<Compress>>,
    fourier: Arc<PositionFeatures>,
    moments: Arc<Moments>,
    directions: Arc<Directions>,
    share: Option<Arc<Crowd>>,
    saturate: Arc<SaturateLength>,
    flow: Arc<Flow2d>,
    advance: Arc<Advance>,
}

/// What of the field is seen.
enum View {
    /// All of it, once per instance.
    Field(Arc<ObserveField>),
    /// So many samples along each axis around each agent.
    Patch(Arc<Observe2d>, usize),
}

impl BlowingPlane {
    /// Agents on `grid` that start inside `start`, stay inside `home`, blow `gain·v` and move by `step·v` per tick.
    pub fn new(
        grid: &Grid,
        swarm: &SwarmConfig,
        observe: &ObserveConfig,
        start: Rectangle,
        home: Rectangle,
        gain: f64,
        step: f64,
    ) -> Self {
        let real = |corner: [f64; 2]| corner.map(|x| x as Real).to_vec();
        Self {
            start,
            view: View::Field(Arc::new(ObserveField::new(grid, observe.gain))),
            compress: (observe.compress > 0.0).then(|| Arc::new(Compress::new(observe.compress * observe.gain))),
            fourier: Arc::new(PositionFeatures::new(&grid.lengths, PI)),
            moments: Arc::new(Moments::new(grid)),
            directions: Arc::new(Directions),
            share: Crowd::of(grid, swarm),
            saturate: Arc::new(SaturateLength::new(swarm.v_limit)),
            flow: Arc::new(Flow2d::new(grid, swarm.sigma, gain)),
            advance: Arc::new(Advance::new(step as Real, real(home.low), real(home.high))),
        }
    }

    /// The same agents, each of which sees only what is around it.
    pub fn seeing_patches(mut self, grid: &Grid, observe: &ObserveConfig) -> Self {
        self.view = View::Patch(Arc::new(Observe2d::new(grid, observe)), observe.points);
        self
    }
}

impl Swarm for BlowingPlane {
    fn dimensions(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        2
    }

    fn features(&self) -> Features {
        let (patch, shared) = match &self.view {
            View::Field(field) => (field.image(), true),
            View::Patch(_, points) => (Patch::Image { height: *points, width: *points, channels: 3 }, false),
        };
        Features { patch, shared, position: 2 * 8 + Directions::COUNT }
    }

    fn start(&self, agents: usize) -> Vec<Real> {
        let side = (1..).find(|side| side * side >= agents).expect("a square at least as large");
        let at = |axis: usize, i: usize| {
            let (low, high) = (self.start.low[axis], self.start.high[axis]);
            (low + (high - low) * i as f64 / (side - 1).max(1) as f64) as Real
        };
        (0..agents).flat_map(|m| [at(0, m / side), at(1, m % side)]).collect()
    }

    fn observe<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Observation<'t> {
        let tape = z.tape();
        let mut patch = match &self.view {
            View::Field(field) => tape.record(field, [z, target]),
            View::Patch(around, _) => tape.record(around, [z, target, xi]),
        };
        if let Some(compress) = &self.compress {
            patch = patch.apply(compress);
        }
        let directions = tape.record(&self.directions, [xi, z.apply(&self.moments), target.apply(&self.moments)]);
        let view = if matches!(self.view, View::Field(_)) { Seen::Shared(patch) } else { Seen::Patches(patch) };
        Observation { view, position: xi.apply(&self.fourier).join(directions) }
    }

    fn share<'t>(&self, strength: Var<'t>, xi: Var<'t>) -> Var<'t> {
        self.share.as_ref().map_or(strength, |share| strength.tape().record(share, [strength, xi]))
    }

    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t> {
        raw.tape().record(&self.saturate, [raw, strength])
    }

    fn actuate<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        action.tape().record(&self.flow, [action, xi])
    }

    fn advance<'t>(&self, xi: Var<'t>, action: Var<'t>) -> Var<'t> {
        xi.tape().record(&self.advance, [xi, action])
    }
}
