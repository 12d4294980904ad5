//! The goal of a sequence of actions and its gradient, for several instances in parallel.

use cinoc::rollout::{Control, GradientTargets, InitialCondition, Loss, Outcome, Rollout, Scene, TickCotangents};
use cinoc::task::mean_square;
use cinoc::{Error, Problem, Real};
use serde::{Deserialize, Serialize};

/// Minimised quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Score of the task.
    Score,
    /// Training cost.
    Cost,
}

/// Offset of the goal before its logarithm: far below the rounding error of a score.
const FLOOR: f64 = 1e-30;

/// Share of a limit to which given actions are clipped: at the limit itself the unknown is infinite.
const INSIDE: f64 = 0.999;

/// Bytes of recorded ticks that are kept; beyond, each tick is recomputed in the backward pass.
const KEPT: f64 = 256e6;

/// Objective of a search. The unknowns of an instance are `x` with action = limit·tanh(x), `[ticks, agents, k]`, so
/// that every point satisfies the limits.
pub struct Objective<'p> {
    problem: &'p Problem,
    goal: Goal,
    ticks: usize,
    agents: usize,
    limits: Vec<f64>,
    rollout: Rollout,
    beginnings: Vec<InitialCondition>,
    /// Last applied and pending actions and levels of tanks, of a plan that starts within an episode.
    underway: Option<[Vec<Real>; 3]>,
    actions: Vec<Real>,
    /// `z − target` after each tick that counts.
    errors: Vec<Vec<Real>>,
    totals: Vec<f64>,
    cotangents: Vec<Real>,
    target: Vec<Real>,
}

impl<'p> Objective<'p> {
    /// Creates an objective over the first `ticks` ticks.
    pub fn new(problem: &'p Problem, goal: Goal, ticks: usize, agents: usize, instances: usize) -> Result<Self, Error> {
        if goal == Goal::Score && problem.task.square_in_score(1, 1).is_none() {
            let expected = format!("cost: the score of {} has no derivative", problem.name);
            return Err(Error::bad("goal", "score", expected));
        }
        let nodes = problem.stepper.state_count() as f64;
        let tick = 8.0 * nodes + problem.stepper.workspace()[0] as f64 + 100.0 * agents as f64;
        let keep = size_of::<Real>() as f64 * tick * (ticks * instances) as f64 <= KEPT;
        Ok(Self {
            problem,
            goal,
            ticks,
            agents,
            limits: problem.swarm.limits().iter().map(|limit| *limit as f64).collect(),
            rollout: Rollout::new(ticks, 1, keep, agents),
            beginnings: Vec::new(),
            underway: None,
            actions: Vec::new(),
            errors: vec![Vec::new(); ticks + 1],
            totals: Vec::new(),
            cotangents: Vec::new(),
            target: Vec::new(),
        })
    }

    /// Returns the number of ticks that matter to a goal: those after the score do not.
    pub fn ticks_of(problem: &Problem, goal: Goal) -> usize {
        if goal == Goal::Score { problem.task.scored_at(problem.ticks) } else { problem.ticks }
    }

    /// Returns the number of unknowns of one instance.
    pub fn unknowns(&self) -> usize {
        self.ticks * self.agents * self.limits.len()
    }

    /// Sets the instances of the following evaluations.
    pub fn begin(&mut self, beginnings: Vec<InitialCondition>) {
        self.beginnings = beginnings;
        self.fill(0..self.beginnings.len());
    }

    /// Sets the single instance of the following evaluations, within an episode, with its last and pending actions and
    /// its levels of tanks. The future is planned without noise.
    pub fn proceed(&mut self, now: InitialCondition, previous: &[Real], pending: &[Real], stock: &[Real]) {
        self.rollout.batch.quiet = true;
        self.underway = Some([previous, pending, stock].map(<[Real]>::to_vec));
        self.begin(vec![now]);
    }

    fn fill(&mut self, which: std::ops::Range<usize>) {
        self.rollout.batch.clear();
        self.beginnings[which].iter().for_each(|beginning| self.rollout.batch.begin(beginning));
        if let Some([previous, pending, stock]) = &self.underway {
            self.rollout.batch.previous.clone_from(previous);
            self.rollout.batch.pending.clone_from(pending);
            self.rollout.batch.stock.clone_from(stock);
        }
        self.target.clone_from(&self.rollout.batch.target);
    }

    /// Converts unknowns to actions.
    pub fn actions(&self, x: &[f64]) -> Vec<Real> {
        x.iter().zip(self.limits.iter().cycle()).map(|(x, limit)| (limit * x.tanh()) as Real).collect()
    }

    /// Converts actions to unknowns, clipped slightly inside the limits.
    pub fn unknowns_of(&self, actions: &[Real]) -> Vec<f64> {
        let inside = |(action, limit): (&Real, &f64)| (*action as f64 / limit).clamp(-INSIDE, INSIDE).atanh();
        actions.iter().zip(self.limits.iter().cycle()).map(inside).collect()
    }

    /// Returns the goal of each instance under given actions, `[ticks, agents, k]` each.
    pub fn measure(&mut self, actions: &[Vec<Real>]) -> Vec<f64> {
        self.gather(actions.len(), |b, i| actions[b][i]);
        let finished = self.roll(false);
        let kept = |total: &f64| if finished { *total } else { f64::INFINITY };
        self.totals.iter().map(kept).collect()
    }

    /// Computes ln of the goal of each instance and its gradient with respect to the unknowns. The value of a diverged
    /// episode is infinite.
    pub fn evaluate(&mut self, points: &[&[f64]], values: &mut [f64], gradients: &mut [Vec<f64>]) {
        if self.try_evaluate(points, values, gradients) {
            return;
        }
        // One of them diverged; evaluated separately, the others are not affected.
        for b in 0..points.len() {
            self.fill(b..b + 1);
            let part = b..b + 1;
            if points.len() == 1 || !self.try_evaluate(&points[part.clone()], &mut values[part.clone()], &mut gradients[part]) {
                values[b] = f64::INFINITY;
                gradients[b].resize(self.unknowns(), 0.0);
            }
        }
        self.fill(0..points.len());
    }

    fn try_evaluate(&mut self, points: &[&[f64]], values: &mut [f64], gradients: &mut [Vec<f64>]) -> bool {
        let (size, k) = (points.len(), self.limits.len());
        let limits = self.limits.clone();
        self.gather(size, |b, i| (limits[i % k] * points[b][i].tanh()) as Real);
        if !self.roll(true) {
            return false;
        }
        for (value, total) in values.iter_mut().zip(&self.totals) {
            *value = (total + FLOOR).ln();
        }
        let each = self.agents * k;
        for (b, gradient) in gradients.iter_mut().enumerate() {
            // d ln(total) = d total / total, and d action = limit·(1 − tanh²)·d x.
            let scale = match self.goal {
                Goal::Score => 1.0,
                Goal::Cost => 1.0 / (self.totals[b] + FLOOR),
            };
            gradient.clear();
            gradient.extend(points[b].iter().enumerate().map(|(i, x)| {
                let bar = self.cotangents[(i / each * size + b) * each + i % each] as f64;
                scale * bar * limits[i % k] * (1.0 - x.tanh().powi(2))
            }));
        }
        true
    }

    /// Arranges the actions of each instance in the layout of a rollout.
    fn gather(&mut self, size: usize, action: impl Fn(usize, usize) -> Real) {
        let each = self.agents * self.limits.len();
        self.actions.clear();
        for tick in 0..self.ticks {
            for b in 0..size {
                self.actions.extend((0..each).map(|i| action(b, tick * each + i)));
            }
        }
    }

    /// Rolls out; stores the goal of each instance in `totals` and, if wanted, the gradient with respect to the actions
    /// (of the logarithm, for a score) in `cotangents`. Returns false if an episode diverged.
    fn roll(&mut self, derivative: bool) -> bool {
        let Self { problem, goal, rollout, target, actions, errors, totals, cotangents, .. } = self;
        let (problem, size) = (*problem, rollout.batch.size);
        let nodes = target.len() / size;
        // Weight of the squared error after a tick; zero for the cost, which the rollout accumulates.
        let weight = |tick: usize| match goal {
            Goal::Score if tick > 0 => problem.task.square_in_score(tick, problem.ticks).unwrap_or(0.0),
            _ => 0.0,
        };
        totals.clear();
        totals.resize(size, 0.0);
        let mut watch = |scene: &Scene| {
            let weight = weight(scene.tick);
            if weight != 0.0 {
                let each = scene.z.chunks_exact(nodes).zip(target.chunks_exact(nodes));
                totals.iter_mut().zip(each).for_each(|(total, (z, target))| *total += weight * mean_square(z, target));
                let errors = &mut errors[scene.tick];
                errors.clear();
                errors.extend(scene.z.iter().zip(&*target).map(|(z, target)| z - target));
            }
        };
        let wanted = GradientTargets { actions: derivative, ..GradientTargets::default() };
        let episode = rollout.forward(problem, Control::Actions(actions), wanted, &mut watch);
        let finished = episode.outcome == Outcome::Finished;
        if finished && derivative {
            let mut own = |at: &mut TickCotangents| {
                let weight = weight(at.tick);
                for (b, bar) in at.z.chunks_exact_mut(nodes).enumerate().filter(|_| weight != 0.0) {
                    let factor = 2.0 * weight / (nodes as f64 * (totals[b] + FLOOR));
                    let errors = &errors[at.tick][b * nodes..][..nodes];
                    bar.iter_mut().zip(errors).for_each(|(bar, error)| *bar = (factor * *error as f64) as Real);
                }
            };
            let loss = match goal {
                Goal::Score => Loss { own: Some(&mut own), ..Loss::default() },
                Goal::Cost => Loss::cost(1.0),
            };
            cotangents.clear();
            cotangents.extend_from_slice(episode.backward(loss).actions);
        }
        if *goal == Goal::Cost {
            for costs in rollout.costs.chunks_exact(size) {
                totals.iter_mut().zip(costs).for_each(|(total, cost)| *total += cost);
            }
        }
        finished && totals.iter().all(|total| total.is_finite())
    }
}
