//! Mobile agents on an interval.

use super::{Advance, Features, Observation, Patch, Seen, Swarm};
use crate::Real;
use crate::actuate::Force1d;
use crate::config::{ObserveConfig, SwarmConfig};
use crate::limit::{Crowd, Saturate};
use crate::place::lattice::cell_middles;
use crate::sense::{Compress, Observe1d, PositionFeatures};
use cinoc_pde::Grid;
use cinoc_tape::Var;
use std::f64::consts::PI;
use std::sync::Arc;

/// Agents on `[0, 1]` that push (a Gaussian bump) and move.
pub struct MobileLine {
    config: SwarmConfig,
    points: usize,
    observe: Arc<Observe1d>,
    compress: Option<Arc<Compress>>,
    fourier: Arc<PositionFeatures>,
    share: Option<Arc<Crowd>>,
    saturate: Arc<Saturate>,
    force: Arc<Force1d>,
    advance: Arc<Advance>,
}

impl MobileLine {
    /// Agents on `grid`, acting every `tick_time`.
    pub fn new(grid: &Grid, swarm: &SwarmConfig, observe: &ObserveConfig, tick_time: f64) -> Self {
        let scale = if swarm.kernel == "unit-mass" { 1.0 / (2.0 * PI * swarm.sigma * swarm.sigma).sqrt() } else { 1.0 };
        Self {
            config: swarm.clone(),
            points: observe.points,
            observe: Arc::new(Observe1d::new(grid, observe)),
            compress: (observe.compress > 0.0).then(|| Arc::new(Compress::new(observe.compress * observe.gain))),
            fourier: Arc::new(PositionFeatures::of(grid, observe)),
            share: Crowd::of(grid, swarm),
            saturate: Arc::new(Saturate::new(vec![swarm.u_limit as Real, swarm.v_limit as Real])),
            force: Arc::new(Force1d::new(grid, swarm.sigma, scale)),
            advance: Arc::new(Advance::new(tick_time as Real, vec![0.0], grid.lengths.clone())),
        }
    }
}

impl Swarm for MobileLine {
    fn dimensions(&self) -> usize {
        1
    }

    fn action_width(&self) -> usize {
        2
    }

    fn features(&self) -> Features {
        Features { patch: Patch::Line(2 * self.points), shared: false, position: 8 }
    }

    fn start(&self, agents: usize) -> Vec<Real> {
        let SwarmConfig { start_margin, start_margin_other, .. } = self.config;
        if self.config.start_in_cells {
            return cell_middles(&[1.0], agents);
        }
        let margin = if agents == self.config.agents { start_margin } else { start_margin_other };
        let step = if agents > 1 { (1.0 - 2.0 * margin) / (agents - 1) as f64 } else { 0.0 };
        (0..agents).map(|i| (margin + i as f64 * step) as Real).collect()
    }

    fn observe<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Observation<'t> {
        let mut patch = z.tape().record(&self.observe, [z, target, xi]);
        if let Some(compress) = &self.compress {
            patch = patch.apply(compress);
        }
        Observation { view: Seen::Patches(patch), position: xi.apply(&self.fourier) }
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

    fn advance<'t>(&self, xi: Var<'t>, action: Var<'t>) -> Var<'t> {
        xi.tape().record(&self.advance, [xi, action])
    }
}
