//! Mobile agents on a rectangle.

use super::{Advance, Features, Observation, Patch, Seen, Swarm};
use crate::Real;
use crate::actuate::Force2d;
use crate::config::{ObserveConfig, SwarmConfig};
use crate::geometry::Disc;
use crate::limit::{Crowd, Safety, Saturate};
use crate::place::lattice::cell_middles;
use crate::sense::{Compress, Nearest, Observe2d, PositionFeatures};
use cinoc_pde::Grid;
use cinoc_tape::Var;
use std::f64::consts::PI;
use std::sync::Arc;

/// Agents on a rectangle that push (a Gaussian bump) and move.
pub struct MobilePlane {
    config: SwarmConfig,
    lengths: [Real; 2],
    tick_time: f64,
    points: usize,
    observe: Arc<Observe2d>,
    compress: Option<Arc<Compress>>,
    fourier: Arc<PositionFeatures>,
    share: Option<Arc<Crowd>>,
    saturate: Arc<Saturate>,
    force: Arc<Force2d>,
    advance: Arc<Advance>,
    nearest: Option<Arc<Nearest>>,
    safety: Option<Arc<Safety>>,
}

impl MobilePlane {
    /// Agents on `grid`, acting every `tick_time`.
    pub fn new(grid: &Grid, swarm: &SwarmConfig, observe: &ObserveConfig, tick_time: f64) -> Self {
        let scale = if swarm.kernel == "unit-mass" { 1.0 / (2.0 * PI * swarm.sigma * swarm.sigma) } else { 1.0 };
        let (u, v) = (swarm.u_limit as Real, swarm.v_limit as Real);
        Self {
            config: swarm.clone(),
            lengths: [grid.lengths[0], grid.lengths[1]],
            tick_time,
            points: observe.points,
            observe: Arc::new(Observe2d::new(grid, observe)),
            compress: (observe.compress > 0.0).then(|| Arc::new(Compress::new(observe.compress * observe.gain))),
            fourier: Arc::new(PositionFeatures::of(grid, observe)),
            share: Crowd::of(grid, swarm),
            saturate: Arc::new(Saturate::new(vec![u, v, v])),
            force: Arc::new(Force2d::new(grid, swarm.sigma, scale)),
            advance: Arc::new(Advance::new(tick_time as Real, vec![0.0; 2], grid.lengths.clone())),
            nearest: None,
            safety: None,
        }
    }

    /// Among discs: agents see the nearest one if `seen`, and cannot enter any if the configuration asks for safety.
    pub fn around(mut self, discs: &[Disc], margin: f64, seen: bool) -> Self {
        let SwarmConfig { clearance, v_limit, safety, .. } = self.config;
        self.nearest = seen.then(|| Arc::new(Nearest::new(discs.to_vec(), clearance)));
        let layer = || Safety::new(discs.to_vec(), clearance, margin, self.tick_time, v_limit, self.lengths);
        self.safety = safety.then(|| Arc::new(layer()));
        self
    }
}

impl Swarm for MobilePlane {
    fn dimensions(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        3
    }

    fn features(&self) -> Features {
        let patch = Patch::Image { height: self.points, width: self.points, channels: 3 };
        Features { patch, shared: false, position: 16 + self.nearest.iter().len() * Nearest::WIDTH }
    }

    /// In the middles of cells, or on the first points, row by row, of the smallest square lattice that holds them all.
    fn start(&self, agents: usize) -> Vec<Real> {
        let SwarmConfig { start_margin, start_margin_other, .. } = self.config;
        let margin = if agents == self.config.agents { start_margin } else { start_margin_other };
        let side = (1..).find(|side| side * side >= agents).expect("a square above any number");
        let step = if side > 1 { (1.0 - 2.0 * margin) / (side - 1) as f64 } else { 0.0 };
        let place = |i: usize, axis: usize| ((margin + i as f64 * step) * self.lengths[axis] as f64) as Real;
        let mut xi: Vec<Real> = match self.config.start_in_cells {
            true => cell_middles(&self.lengths, agents),
            false => (0..agents).flat_map(|i| [place(i / side, 0), place(i % side, 1)]).collect(),
        };
        self.settle(&mut xi);
        xi
    }

    fn observe<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> Observation<'t> {
        let mut patch = z.tape().record(&self.observe, [z, target, xi]);
        if let Some(compress) = &self.compress {
            patch = patch.apply(compress);
        }
        let mut position = xi.apply(&self.fourier);
        if let Some(nearest) = &self.nearest {
            position = position.join(xi.apply(nearest));
        }
        Observation { view: Seen::Patches(patch), position }
    }

    fn share<'t>(&self, strength: Var<'t>, xi: Var<'t>) -> Var<'t> {
        self.share.as_ref().map_or(strength, |share| strength.tape().record(share, [strength, xi]))
    }

    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t> {
        raw.tape().record(&self.saturate, [raw, strength])
    }

    fn filter<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        match &self.safety {
            Some(safety) => action.tape().record(safety, [action, xi]),
            None => action,
        }
    }

    fn settle(&self, xi: &mut [Real]) {
        if let Some(safety) = &self.safety {
            safety.settle(xi);
        }
    }

    fn actuate<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        action.tape().record(&self.force, [action, xi])
    }

    fn advance<'t>(&self, xi: Var<'t>, action: Var<'t>) -> Var<'t> {
        xi.tape().record(&self.advance, [xi, action])
    }
}
