//! Scores on held-out instances: other numbers of agents, failures.

use crate::policy::{Policy, Uncontrolled};
use crate::random::{Rng, Stream};
use crate::rollout::{Outcome, Rollout};
use crate::task::{Reduction, Task, Use};
use crate::{Problem, Real};
use cinoc_tape::Params;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// Instances rolled out together by one thread.
const SHARD: usize = 8;

/// What to score.
#[derive(Clone, Debug)]
pub struct Request {
    /// Agents per instance.
    pub agents: usize,
    /// How many instances.
    pub instances: usize,
    /// Seed of the instances.
    pub seed: u64,
    /// Which instances: held-out ones for reports.
    pub stream: Stream,
    /// Share of the agents that die halfway to the score.
    pub fail: f64,
}

/// Scores of a set of instances.
#[derive(Clone, Debug)]
pub struct Scores {
    /// Each measure of each instance that did not diverge.
    pub measures: Vec<Vec<f64>>,
    /// Mean effort of each.
    pub efforts: Vec<f64>,
    /// How many diverged.
    pub diverged: usize,
}

impl Scores {
    /// Mean of measure `k`.
    pub fn mean(&self, k: usize) -> f64 {
        Summary::new(self.measures.iter().map(|m| m[k])).mean
    }

    /// What measure `k` comes to over all instances.
    pub fn overall(&self, task: &dyn Task, k: usize) -> f64 {
        match task.reduction(k) {
            Reduction::Mean => self.mean(k),
            Reduction::Smallest => self.measures.iter().map(|m| m[k]).fold(f64::INFINITY, f64::min),
        }
    }
}

/// Mean, standard deviation and median.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub std: f64,
    /// Median.
    pub median: f64,
}

impl Summary {
    /// Of some numbers; zeros where there are none.
    pub fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        let n = values.len();
        if n == 0 {
            return Self { mean: 0.0, std: 0.0, median: 0.0 };
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let std = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        values.sort_by(f64::total_cmp);
        let median = if n % 2 == 1 { values[n / 2] } else { 0.5 * (values[n / 2 - 1] + values[n / 2]) };
        Self { mean, std, median }
    }
}

/// A row of a report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Which problem.
    pub problem: String,
    /// Which model.
    pub model: String,
    /// Agents per instance.
    pub agents: usize,
    /// How many instances.
    pub instances: usize,
    /// Seed of the instances.
    pub seed: u64,
    /// Share of the agents that die halfway to the score.
    pub fail: f64,
    /// The score under control.
    pub score: Summary,
    /// The score of the same instances left alone.
    pub uncontrolled: Summary,
    /// Mean score over mean uncontrolled score.
    pub ratio: f64,
    /// Mean over ticks and agents of u² + 0.1·|v|².
    pub effort: f64,
    /// Every measure under control, by name.
    pub measures: BTreeMap<&'static str, f64>,
    /// How many episodes diverged; they are in no mean.
    pub diverged: usize,
}

/// Scores a policy and, on the same instances, no policy.
pub fn report(
    problem: &Problem,
    policy: &dyn Policy,
    params: &Params,
    model: &str,
    request: &Request,
    pool: &rayon::ThreadPool,
) -> Report {
    let controlled = scores(problem, policy, params, request, pool);
    let nobody = Uncontrolled { action_width: problem.swarm.action_width() };
    let free = scores(problem, &nobody, &Params::default(), request, pool);
    let score = Summary::new(controlled.measures.iter().map(|m| m[0]));
    let uncontrolled = Summary::new(free.measures.iter().map(|m| m[0]));
    Report {
        problem: problem.config.problem.clone(),
        model: model.to_owned(),
        agents: request.agents,
        instances: request.instances,
        seed: request.seed,
        fail: request.fail,
        score,
        uncontrolled,
        ratio: score.mean / uncontrolled.mean,
        effort: Summary::new(controlled.efforts.iter().copied()).mean,
        measures: problem.task.measures().iter().enumerate().map(|(k, n)| (*n, controlled.overall(&*problem.task, k))).collect(),
        diverged: controlled.diverged,
    }
}

/// Scores a policy.
pub fn scores(problem: &Problem, policy: &dyn Policy, params: &Params, request: &Request, pool: &rayon::ThreadPool) -> Scores {
    let shards = request.instances.div_ceil(SHARD);
    let parts: Vec<Scores> = pool.install(|| {
        let work = (0..shards).into_par_iter().map(|s| {
            let indices = (s * SHARD..((s + 1) * SHARD).min(request.instances)).collect();
            shard_scores(problem, policy, params, request, indices)
        });
        work.collect()
    });
    let mut all = Scores { measures: Vec::new(), efforts: Vec::new(), diverged: 0 };
    for part in parts {
        all.measures.extend(part.measures);
        all.efforts.extend(part.efforts);
        all.diverged += part.diverged;
    }
    all
}

/// Scores some instances; those that diverge are taken out and the rest is done again.
fn shard_scores(problem: &Problem, policy: &dyn Policy, params: &Params, request: &Request, mut indices: Vec<usize>) -> Scores {
    let mut diverged = 0;
    loop {
        let mut rollout = prepare(problem, request, &indices);
        let width = problem.task.measures().len();
        let mut measures = vec![vec![0.0; width]; indices.len()];
        let batch = rollout.batch.clone();
        let outcome = rollout.forward(problem, policy, params, false, &mut |scene| {
            if scene.tick > 0 {
                for (i, measures) in measures.iter_mut().enumerate() {
                    let mut moment = Rollout::moment(&batch, scene, problem.ticks, i);
                    moment.thorough = request.stream == Stream::Test;
                    problem.task.measure(&moment, measures);
                }
            }
        });
        let size = indices.len();
        if let Outcome::Diverged { .. } = outcome {
            let costs = &rollout.costs;
            let finite = |i: usize| costs.iter().skip(i).step_by(size).all(|c| c.is_finite());
            let mut i = 0;
            indices.retain(|_| {
                i += 1;
                finite(i - 1)
            });
            diverged += size - indices.len();
            if indices.is_empty() {
                return Scores { measures: Vec::new(), efforts: Vec::new(), diverged };
            }
            continue;
        }
        let effort = problem.task.terms().iter().position(|t| *t == "effort");
        let efforts = match effort {
            Some(k) => rollout.costs[k * size..][..size].iter().map(|c| c / problem.config.cost["effort"]).collect(),
            None => Vec::new(),
        };
        return Scores { measures, efforts, diverged };
    }
}

/// A rollout of the requested instances, tick by tick.
pub fn prepare(problem: &Problem, request: &Request, indices: &[usize]) -> Rollout {
    let mut rollout = Rollout::new(problem.ticks, 1, false, request.agents);
    let xi = problem.swarm.start(request.agents);
    let mut strength: Vec<Real> = Vec::new();
    for &index in indices {
        let mut rng = Rng::new(request.seed, request.stream, index as u64);
        let instance = problem.task.sample(&mut rng, Use::of(request.stream));
        rollout.batch.push(&instance.start, &instance.target, &xi);
        let dead = (request.fail * request.agents as f64).round() as usize;
        let start = strength.len();
        strength.resize(start + request.agents, 1.0);
        for agent in Rng::new(request.seed, Stream::Failure, index as u64).choose(dead, request.agents) {
            strength[start + agent] = 0.0;
        }
    }
    if request.fail > 0.0 {
        rollout.batch.failure = Some((problem.task.scored_at(problem.ticks) / 2, strength));
    }
    rollout
}
