//! Agents that stay where they are, on a line or in the plane.

use super::{Features, Observation, Patch, Seen, Swarm};
use crate::Real;
use crate::actuate::{Bumps1d, Force1d, Force2d, SumBumps};
use crate::config::{ObserveConfig, SwarmConfig};
use crate::limit::{Crowd, Saturate};
use crate::place::lattice::{cell_middles, most_even};
use crate::sense::{Compress, Observe1d, Observe2d, PositionFeatures, RingView, places};
use cinoc_pde::Grid;
use cinoc_tape::Var;
use std::f64::consts::PI;
use std::sync::Arc;

/// Agents that push (a Gaussian bump) from the middle of a cell of their own. `Observe` is how they see, `Force` how they push.
pub struct Still<Observe, Force> {
    lengths: Vec<Real>,
    staggered: bool,
    patch: Patch,
    observe: Observe,
    compress: Option<Arc<Compress>>,
    fourier: Arc<PositionFeatures>,
    share: Option<Arc<Crowd>>,
    saturate: Arc<Saturate>,
    force: Force,
}

/// Agents that stay where they are on a line.
pub type StillLine = Still<(Arc<Observe1d>, RingView), (Arc<Bumps1d>, Arc<SumBumps>)>;

/// Agents that stay where they are in the plane.
pub type StillPlane = Still<Arc<Observe2d>, Arc<Force2d>>;

/// How agents see a field.
pub trait Look: Send + Sync {
    /// What agents at `xi` see.
    fn look<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Seen<'t>;
}

impl Look for Arc<Observe2d> {
    fn look<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Seen<'t> {
        Seen::Patches(z.tape().record(self, [z, target, xi]))
    }
}

impl Look for (Arc<Observe1d>, RingView) {
    /// In two steps where the places never change.
    fn look<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Seen<'t> {
        if xi.stands() && self.1.fits() {
            Seen::Linear(self.1.observe(z, target, xi))
        } else {
            Seen::Patches(z.tape().record(&self.0, [z, target, xi]))
        }
    }
}

/// How agents push a field.
pub trait Push: Send + Sync {
    /// The force of actions `[batch, agents, 1]` of agents at `xi`.
    fn push<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t>;
}

impl Push for Arc<Force2d> {
    fn push<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        action.tape().record(self, [action, xi])
    }
}

impl Push for (Arc<Bumps1d>, Arc<SumBumps>) {
    /// In two steps: the first depends on the places alone, which never change.
    fn push<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        action.tape().record(&self.1, [action, places(xi).apply(&self.0)])
    }
}

impl StillLine {
    /// Agents on `grid`.
    pub fn new(grid: &Grid, swarm: &SwarmConfig, observe: &ObserveConfig) -> Self {
        let bumps = Bumps1d(Force1d::new(grid, swarm.sigma, scale(grid, swarm)));
        let force = (Arc::new(bumps), Arc::new(SumBumps));
        let plain = Arc::new(Observe1d::new(grid, observe));
        let view = RingView::new(&plain);
        Self::with(grid, swarm, observe, Patch::Line(2 * observe.points), (plain, view), force)
    }
}

impl StillPlane {
    /// Agents on `grid`.
    pub fn new(grid: &Grid, swarm: &SwarmConfig, observe: &ObserveConfig) -> Self {
        let patch = Patch::Image { height: observe.points, width: observe.points, channels: 3 };
        let force = Arc::new(Force2d::new(grid, swarm.sigma, scale(grid, swarm)));
        Self::with(grid, swarm, observe, patch, Arc::new(Observe2d::new(grid, observe)), force)
    }
}

/// What a bump is multiplied by.
fn scale(grid: &Grid, swarm: &SwarmConfig) -> f64 {
    let mass = (2.0 * PI * swarm.sigma * swarm.sigma).powf(0.5 * grid.dimensions() as f64);
    if swarm.kernel == "unit-mass" { 1.0 / mass } else { 1.0 }
}

impl<Observe, Force> Still<Observe, Force> {
    fn with(grid: &Grid, swarm: &SwarmConfig, settings: &ObserveConfig, patch: Patch, observe: Observe, force: Force) -> Self {
        Self {
            lengths: grid.lengths.clone(),
            staggered: swarm.staggered,
            patch,
            observe,
            compress: (settings.compress > 0.0).then(|| Arc::new(Compress::new(settings.compress * settings.gain))),
            fourier: Arc::new(PositionFeatures::of(grid, settings)),
            share: Crowd::of(grid, swarm),
            saturate: Arc::new(Saturate::new(vec![swarm.u_limit as Real])),
            force,
        }
    }
}

impl<Observe: Look, Force: Push> Swarm for Still<Observe, Force> {
    fn dimensions(&self) -> usize {
        self.lengths.len()
    }

    fn action_width(&self) -> usize {
        1
    }

    fn features(&self) -> Features {
        Features { patch: self.patch, shared: false, position: 8 * self.dimensions() }
    }

    fn start(&self, agents: usize) -> Vec<Real> {
        if self.staggered { most_even(&self.lengths, agents) } else { cell_middles(&self.lengths, agents) }
    }

    fn observe<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Observation<'t> {
        let observation = Observation { view: self.observe.look(z, target, xi), position: xi.apply(&self.fourier) };
        match &self.compress {
            Some(compress) => Observation { view: Seen::Patches(observation.patch().apply(compress)), ..observation },
            None => observation,
        }
    }

    fn share<'t>(&self, strength: Var<'t>, xi: Var<'t>) -> Var<'t> {
        self.share.as_ref().map_or(strength, |share| strength.tape().record(share, [strength, xi]))
    }

    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t> {
        raw.tape().record(&self.saturate, [raw, strength])
    }

    fn actuate<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        self.force.push(action, xi)
    }

    fn moves(&self) -> bool {
        false
    }

    fn advance<'t>(&self, xi: Var<'t>, _: Var<'t>) -> Var<'t> {
        xi
    }
}
