//! Drive the field to a target and keep it there.

use super::{Acceleration, After, Collision, Effort, Instance, Margin, Moment, SquaredError, Task, Use};
use crate::Real;
use crate::config::{Numbers, number};
use crate::random::Rng;
use cinoc_pde::Grid;
use cinoc_pde::sampler::GaussianProcess;
use cinoc_tape::Var;
use std::sync::Arc;

const TERMS: [&str; 5] = ["track", "effort", "bound", "collide", "accel"];

/// How a Gaussian process becomes a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// As it is, zero at the walls.
    Bridge,
    /// `exp(2g)·sin²(πx)`, divided by its maximum: a population density.
    Density,
}

/// Tracking with mobile agents on an interval: start and target are independent random fields.
pub struct Tracking {
    start: GaussianProcess,
    target: GaussianProcess,
    profile: Profile,
    window: Vec<f64>,
    /// Weight of each term.
    weights: [f64; TERMS.len()],
    /// Share of training instances that start part of the way to the target.
    nearer: f64,
    error: Arc<SquaredError>,
    effort: Arc<Effort>,
    margin: Arc<Margin>,
    collision: Arc<Collision>,
    acceleration: Arc<Acceleration>,
}

impl Tracking {
    /// Fields on `grid`; `data` holds the correlation lengths, `cost` the weights.
    pub fn new(grid: &Grid, data: &Numbers, cost: &Numbers, profile: Profile) -> Self {
        let x = grid.positions(0);
        Self {
            start: GaussianProcess::new(&x, number(data, "start_length")),
            target: GaussianProcess::new(&x, number(data, "target_length")),
            profile,
            window: x.iter().map(|x| (std::f64::consts::PI * x).sin().powi(2)).collect(),
            weights: TERMS.map(|term| number(cost, term)),
            nearer: number(data, "nearer"),
            error: Arc::new(SquaredError),
            effort: Arc::new(Effort { weights: vec![1.0, 0.1] }),
            margin: Arc::new(Margin { low: 0.02, high: 0.98 }),
            collision: Arc::new(Collision { radius: number(cost, "radius") as Real }),
            acceleration: Arc::new(Acceleration),
        }
    }

    fn field(&self, process: &GaussianProcess, rng: &mut Rng) -> Vec<f64> {
        let g = process.bridge(&rng.normals(process.modes()));
        match self.profile {
            Profile::Bridge => g,
            Profile::Density => {
                let mut z: Vec<f64> = g.iter().zip(&self.window).map(|(g, w)| (2.0 * g).exp() * w).collect();
                let peak = z.iter().copied().fold(0.0, f64::max);
                z.iter_mut().for_each(|z| *z /= peak);
                let last = z.len() - 1;
                (z[0], z[last]) = (0.0, 0.0);
                z
            }
        }
    }
}

impl Task for Tracking {
    fn sample(&self, rng: &mut Rng, purpose: Use) -> Instance {
        let mut start = self.field(&self.start, rng);
        let target = self.field(&self.target, rng);
        if purpose == Use::Training && rng.uniform(0.0, 1.0) < self.nearer {
            let part = rng.uniform(0.0, 1.0);
            start.iter_mut().zip(&target).for_each(|(s, t)| *s = t + part * (*s - t));
        }
        let real = |x: Vec<f64>| x.into_iter().map(|x| x as Real).collect();
        Instance { start: real(start), target: real(target) }
    }

    fn terms(&self) -> &[&'static str] {
        &TERMS
    }

    fn weight(&self, term: usize, tick: usize, ticks: usize) -> f64 {
        let accelerating = self.terms()[term] == "accel";
        match self.weights[term] {
            _ if accelerating && tick == 1 => 0.0,
            weight if accelerating => weight / (ticks - 1) as f64,
            weight => weight / ticks as f64,
        }
    }

    fn cost<'t>(&self, after: &After<'t>, add: &mut dyn FnMut(Var<'t>)) {
        let tape = after.z.tape();
        add(tape.record(&self.error, [after.z, after.target]));
        add(after.action.apply(&self.effort));
        add(after.xi.apply(&self.margin));
        add(after.xi.apply(&self.collision));
        add(tape.record(&self.acceleration, [after.action, after.previous]));
    }

    fn measures(&self) -> &[&'static str] {
        &["mse"]
    }

    fn measure(&self, moment: &Moment, measures: &mut [f64]) {
        if moment.tick == moment.ticks {
            measures[0] = mean_square(moment.z, moment.target);
        }
    }
}

/// Mean over the grid of `(z − z*)²`.
pub fn mean_square(z: &[Real], target: &[Real]) -> f64 {
    z.iter().zip(target).map(|(z, t)| ((z - t) as f64).powi(2)).sum::<f64>() / z.len() as f64
}
