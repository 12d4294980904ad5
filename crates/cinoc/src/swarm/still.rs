//! Agents that stay where they are, on a line or in the plane.

use super::lattice::{cell_middles, staggered};
use super::{Compress, Features, Force1d, Force2d, Fourier, Observation, Observe1d, Observe2d, Patch, Saturate, Share, Swarm};
use crate::Real;
use crate::config::{ObserveConfig, SwarmConfig};
use cinoc_pde::Grid;
use cinoc_tape::{Op, Var};
use std::f64::consts::PI;
use std::sync::Arc;

/// Agents that push (a Gaussian bump) from the middle of a cell of their own. `Observe` is how they see, `Force` how they push.
pub struct Still<Observe, Force> {
    lengths: Vec<Real>,
    staggered: bool,
    patch: Patch,
    observe: Arc<Observe>,
    compress: Option<Arc<Compress>>,
    fourier: Arc<Fourier>,
    share: Option<Arc<Share>>,
    saturate: Arc<Saturate>,
    force: Arc<Force>,
}

/// Agents that stay where they are on a line.
pub type StillLine = Still<Observe1d, Force1d>;

/// Agents that stay where they are in the plane.
pub type StillPlane = Still<Observe2d, Force2d>;

impl StillLine {
    /// Agents on `grid`.
    pub fn new(grid: &Grid, swarm: &SwarmConfig, observe: &ObserveConfig) -> Self {
        let force = Force1d::new(grid, swarm.sigma, scale(grid, swarm));
        Self::with(grid, swarm, observe, Patch::Line(2 * observe.points), Observe1d::new(grid, observe), force)
    }
}

impl StillPlane {
    /// Agents on `grid`.
    pub fn new(grid: &Grid, swarm: &SwarmConfig, observe: &ObserveConfig) -> Self {
        let patch = Patch::Image { height: observe.points, width: observe.points, channels: 3 };
        let force = Force2d::new(grid, swarm.sigma, scale(grid, swarm));
        Self::with(grid, swarm, observe, patch, Observe2d::new(grid, observe), force)
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
            observe: Arc::new(observe),
            compress: (settings.compress > 0.0).then(|| Arc::new(Compress::new(settings.compress * settings.gain))),
            fourier: Arc::new(Fourier::of(grid, settings)),
            share: Share::of(grid, swarm),
            saturate: Arc::new(Saturate::new(vec![swarm.u_limit as Real])),
            force: Arc::new(force),
        }
    }
}

impl<Observe: Op + 'static, Force: Op + 'static> Swarm for Still<Observe, Force> {
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
        if self.staggered { staggered(&self.lengths, agents) } else { cell_middles(&self.lengths, agents) }
    }

    fn observe<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Observation<'t> {
        let mut patch = z.tape().record(&self.observe, [z, target, xi]);
        if let Some(compress) = &self.compress {
            patch = patch.apply(compress);
        }
        Observation { patch, position: xi.apply(&self.fourier) }
    }

    fn share<'t>(&self, strength: Var<'t>, xi: Var<'t>) -> Var<'t> {
        self.share.as_ref().map_or(strength, |share| strength.tape().record(share, [strength, xi]))
    }

    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t> {
        raw.tape().record(&self.saturate, [raw, strength])
    }

    fn actuate<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        action.tape().record(&self.force, [action, xi])
    }

    fn moves(&self) -> bool {
        false
    }

    fn advance<'t>(&self, xi: Var<'t>, _: Var<'t>) -> Var<'t> {
        xi
    }
}
