//! Tracking: the field is driven to a target and held there.

use super::{
    Acceleration, Collision, Effort, FinalError, Instance, Margin, Obstacle, Reduction, SquaredError, Status, Task, Transition,
};
use crate::geometry::{Disc, Discs, near_pairs};
use crate::random::{Rng, Split};
use crate::{Error, Real, settings};
use cinoc_pde::Grid;
use cinoc_pde::sampler::GaussianProcess;
use cinoc_tape::Var;
use std::sync::Arc;

/// Transformation of a Gaussian process to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Identity; the process is zero at the walls.
    Bridge,
    /// `exp(2g)·sin²(πx)`, divided by its maximum: a population density.
    Density,
}

settings! {
    /// Distribution of initial fields and targets: independent Gaussian processes, zero at the walls.
    pub struct TrackingData {
        /// Correlation length of the initial field.
        start_length: f64 = 1e-3..=1e3,
        /// Correlation length of the target.
        target_length: f64 = 1e-3..=1e3,
        /// Training only: fraction of instances that start part of the way to the target.
        nearer: f64 = 0.0..=1.0,
    }
}

/// Number of nodes along an axis above which fields must be smooth.
const FINE: usize = 384;

/// Largest length of the domain in correlation lengths then: it limits the number of modes (about 2.6 each) whose
/// covariance is decomposed.
const WAVES: f64 = 150.0;

impl TrackingData {
    /// Rejects fields whose covariance on `nodes` nodes would take minutes to decompose.
    pub fn check(&self, nodes: usize, length: f64) -> Result<(), Error> {
        for (key, value) in [("data.start_length", self.start_length), ("data.target_length", self.target_length)] {
            let least = length / WAVES;
            if nodes > FINE && value < least {
                return Err(Error::bad(key, value.to_string(), format!("{least} or more on more than {FINE} nodes")));
            }
        }
        Ok(())
    }
}

settings! {
    /// Weights of a tracking cost; every term is a mean over ticks, space, agents or pairs.
    pub struct TrackingCost {
        /// Weight of the mean of (z − z*)².
        track: f64 = 0.0..=1e9,
        /// Weight of the mean of u² + 0.1·|v|².
        effort: f64 = 0.0..=1e9,
        /// Weight of agents within 2 % of the domain's length of a wall.
        bound: f64 = 0.0..=1e9,
        /// Weight of agents closer to each other than the radius.
        collide: f64 = 0.0..=1e9,
        /// Weight of changes of velocity between ticks.
        accel: f64 = 0.0..=1e9,
        /// Distance of agents below which they incur a collision cost.
        radius: f64 = 1e-9..=1e3,
        /// Weight of ln(e + floor), e being the final mean of (z − z*)²; it rewards reducing small errors further.
        #[absent = 0.0]
        final_log: f64 = 0.0..=1e9,
        /// That floor: error below which there is little further reward.
        #[absent = 5e-7]
        final_floor: f64 = 1e-30..=1e3,
        /// Weight of the fourth root of e, which emphasises large errors.
        #[absent = 0.0]
        final_root: f64 = 0.0..=1e9,
    }
}

impl Default for TrackingCost {
    /// The paper's settings on an interval.
    fn default() -> Self {
        Self {
            track: 5.0,
            effort: 1e-3,
            bound: 100.0,
            collide: 1.0,
            accel: 0.1,
            radius: 0.05,
            final_log: 0.0,
            final_floor: 5e-7,
            final_root: 0.0,
        }
    }
}

/// Terms of every tracking cost.
const TERMS: [&str; 5] = ["track", "effort", "bound", "collide", "accel"];

/// Index of the acceleration, which needs two ticks.
const ACCELERATION: usize = 4;

/// Term of the final error, which counts once.
const FINAL: &str = "final";

/// A measure of a tracking task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    /// Error at tick 100.
    Early,
    /// Final error.
    Last,
    /// Fraction of agent-ticks inside a disc.
    Inside,
    /// Fraction of agent-ticks inside a disc or its margin.
    InsideMargin,
    /// Smallest distance of any agent to a disc.
    Clearance,
    /// Fraction of agent-ticks with another agent within the collision radius.
    TooClose,
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Self::Early => "mse100",
            Self::Last => "mse",
            Self::Inside => "violations",
            Self::InsideMargin => "violations_margin",
            Self::Clearance => "clearance",
            Self::TooClose => "too_close",
        }
    }
}

/// Tick at which published tables of long episodes report the error.
const EARLY: usize = 100;

/// Tracking with mobile agents on an interval or a rectangle: initial field and target are independent random fields.
pub struct Tracking {
    start: GaussianProcess,
    target: GaussianProcess,
    profile: Profile,
    window: Vec<f64>,
    /// Fraction of training instances that start part of the way to the target.
    nearer: f64,
    terms: Vec<&'static str>,
    /// Weight of each term.
    weights: Vec<f64>,
    measures: Vec<Measure>,
    names: Vec<&'static str>,
    error: Arc<SquaredError>,
    effort: Arc<Effort>,
    margin: Arc<Margin>,
    collision: Arc<Collision>,
    acceleration: Arc<Acceleration>,
    last: Option<Arc<FinalError>>,
    obstacle: Option<Arc<Obstacle>>,
    /// Margin around discs that is measured in addition.
    keep_away: f64,
}

impl Tracking {
    /// Creates the task for fields on `grid`.
    pub fn new(grid: &Grid, data: &TrackingData, cost: &TrackingCost, profile: Profile) -> Self {
        let mut efforts = vec![0.1; 1 + grid.dimensions()];
        efforts[0] = 1.0;
        let (mut terms, mut weights) = (TERMS.to_vec(), vec![cost.track, cost.effort, cost.bound, cost.collide, cost.accel]);
        let last = FinalError { log: cost.final_log as Real, floor: cost.final_floor as Real, root: cost.final_root as Real };
        let last = (cost.final_log > 0.0 || cost.final_root > 0.0).then(|| Arc::new(last));
        if last.is_some() {
            terms.push(FINAL);
            weights.push(1.0);
        }
        Self {
            start: GaussianProcess::on(grid, data.start_length),
            target: GaussianProcess::on(grid, data.target_length),
            profile,
            window: grid.positions(0).iter().map(|x| (std::f64::consts::PI * x / grid.lengths[0] as f64).sin().powi(2)).collect(),
            nearer: data.nearer,
            weights,
            terms,
            last,
            measures: vec![Measure::Last],
            names: vec![Measure::Last.name()],
            error: Arc::new(SquaredError),
            effort: Arc::new(Effort { weights: efforts }),
            margin: Arc::new(Margin::inside(&grid.lengths)),
            collision: Arc::new(Collision { radius: cost.radius as Real }),
            acceleration: Arc::new(Acceleration),
            obstacle: None,
            keep_away: 0.0,
        }
    }

    /// Makes the error at tick 100 (or at the end of a shorter episode) the score, as in published tables; the final
    /// error comes second.
    pub fn scored_early(mut self) -> Self {
        self.measures.insert(0, Measure::Early);
        self.named()
    }

    /// Adds discs to keep out of, with a margin.
    pub fn around(mut self, discs: Discs, weight: f64, margin: f64) -> Self {
        self.terms.push("obstacle");
        self.weights.push(weight);
        self.keep_away = margin;
        self.measures.extend([Measure::Inside, Measure::InsideMargin, Measure::Clearance, Measure::TooClose]);
        self.obstacle = Some(Arc::new(Obstacle { discs, margin: margin as Real }));
        self.named()
    }

    fn named(mut self) -> Self {
        self.names = self.measures.iter().map(|measure| measure.name()).collect();
        self
    }

    /// Returns the distance of each agent to the edge of the nearest disc.
    fn gaps(&self, xi: &[Real], tick: usize) -> impl Iterator<Item = f64> {
        let discs = self.obstacle.iter().flat_map(move |obstacle| obstacle.discs.at(tick as Real));
        let gap = move |xi: [Real; 2]| discs.clone().map(|disc| disc.bearing(xi).gap as f64).fold(f64::INFINITY, f64::min);
        xi.as_chunks::<2>().0.iter().map(move |xi| gap(*xi))
    }

    /// Returns the fraction of agents closer to a disc than `margin`.
    fn share(&self, xi: &[Real], tick: usize, margin: f64) -> f64 {
        self.gaps(xi, tick).filter(|gap| *gap < margin).count() as f64 / (xi.len() / 2) as f64
    }

    /// Returns the fraction of agents with another one within the collision radius.
    fn too_close(&self, xi: &[Real]) -> f64 {
        let agents = xi.len() / 2;
        let (mut near, mut work) = (vec![false; agents], vec![0.0; 2 * agents]);
        near_pairs(xi, 2, self.collision.radius, &mut work, |i, j, _| (near[i], near[j]) = (true, true));
        near.iter().filter(|near| **near).count() as f64 / agents as f64
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
    fn sample(&self, rng: &mut Rng, purpose: Split) -> Instance {
        let mut start = self.field(&self.start, rng);
        let target = self.field(&self.target, rng);
        if purpose == Split::Training && rng.uniform(0.0, 1.0) < self.nearer {
            let part = rng.uniform(0.0, 1.0);
            start.iter_mut().zip(&target).for_each(|(s, t)| *s = t + part * (*s - t));
        }
        let real = |x: Vec<f64>| x.into_iter().map(|x| x as Real).collect();
        Instance { start: real(start), target: real(target) }
    }

    fn obstacles(&self, tick: usize) -> Vec<Disc> {
        self.obstacle.iter().flat_map(|obstacle| obstacle.discs.at(tick as Real)).collect()
    }

    fn timed(&self) -> bool {
        self.obstacle.as_ref().is_some_and(|obstacle| obstacle.discs.moving())
    }

    fn terms(&self) -> &[&'static str] {
        &self.terms
    }

    fn weight(&self, term: usize, tick: usize, ticks: usize) -> f64 {
        let weight = self.weights[term];
        match term {
            ACCELERATION if tick == 1 => 0.0,
            ACCELERATION => weight / (ticks - 1) as f64,
            _ if self.terms[term] == FINAL => weight * f64::from(u8::from(tick == ticks)),
            _ => weight / ticks as f64,
        }
    }

    fn cost<'t>(&self, after: &Transition<'t>, add: &mut dyn FnMut(Var<'t>)) {
        let tape = after.z.tape();
        let error = tape.record(&self.error, [after.z, after.target]);
        add(error);
        add(after.action.apply(&self.effort));
        add(after.xi.apply(&self.margin));
        add(after.xi.apply(&self.collision));
        add(tape.record(&self.acceleration, [after.action, after.previous]));
        if let Some(last) = &self.last {
            add(error.apply(last));
        }
        if let Some(obstacle) = &self.obstacle {
            add(after.now.map_or_else(|| after.xi.apply(obstacle), |now| tape.record(obstacle, [after.xi, now])));
        }
    }

    fn measures(&self) -> &[&'static str] {
        &self.names
    }

    fn reduction(&self, measure: usize) -> Reduction {
        if self.measures[measure] == Measure::Clearance { Reduction::Smallest } else { Reduction::Mean }
    }

    fn scored_at(&self, ticks: usize) -> usize {
        if self.measures[0] == Measure::Early { EARLY.min(ticks) } else { ticks }
    }

    fn square_in_score(&self, tick: usize, ticks: usize) -> Option<f64> {
        Some(f64::from(u8::from(tick == self.scored_at(ticks))))
    }

    fn measure(&self, status: &Status, measures: &mut [f64]) {
        let Status { tick, ticks, .. } = *status;
        for (measure, value) in self.measures.iter().zip(measures) {
            match measure {
                Measure::Early if tick == EARLY.min(ticks) => *value = mean_square(status.z, status.target),
                Measure::Last if tick == ticks => *value = mean_square(status.z, status.target),
                Measure::Inside => *value += self.share(status.xi, tick, 0.0) / ticks as f64,
                Measure::InsideMargin => *value += self.share(status.xi, tick, self.keep_away) / ticks as f64,
                Measure::Clearance => {
                    *value = self.gaps(status.xi, tick).fold(if tick == 1 { f64::INFINITY } else { *value }, f64::min)
                }
                Measure::TooClose if status.thorough => *value += self.too_close(status.xi) / ticks as f64,
                Measure::Early | Measure::Last | Measure::TooClose => {}
            }
        }
    }
}

/// Returns the mean over the grid of `(z − z*)²`.
///
/// ```
/// assert_eq!(cinoc::task::mean_square(&[1.0, 3.0], &[1.0, 1.0]), 2.0);
/// ```
pub fn mean_square(z: &[Real], target: &[Real]) -> f64 {
    z.iter().zip(target).map(|(z, t)| ((z - t) as f64).powi(2)).sum::<f64>() / z.len() as f64
}
