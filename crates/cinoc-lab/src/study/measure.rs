//! Measurement of one case for one policy.

use super::{Case, UncontrolledScores};
use cinoc::evaluate::{Report, Request, compare, scores};
use cinoc::internal::number;
use cinoc::internal::threads::Threads;
use cinoc::run::Model;
use cinoc::settings::Overlay;
use cinoc::{Error, Problem, Registry};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A row of a table.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Row {
    /// Index of the case in the study.
    pub case: usize,
    /// Index of the policy.
    pub policy: usize,
    /// Training seed of the policy.
    pub trained: u64,
    /// Line of the plot.
    pub line: String,
    /// Position on the horizontal axis.
    pub x: f64,
    /// Measured value; usually the ratio of the mean score to the mean uncontrolled score of the same instances.
    #[serde(with = "number")]
    pub value: f64,
    /// Lower end of its 95 % interval over the instances, if there is one.
    #[serde(with = "number")]
    pub low: f64,
    /// Upper end of the interval.
    #[serde(with = "number")]
    pub high: f64,
    /// Mean effort: over ticks and agents, u² + 0.1·|v|².
    #[serde(with = "number")]
    pub effort: f64,
    /// Agents per instance.
    pub agents: usize,
    /// Number of instances.
    pub instances: usize,
    /// Mean score.
    #[serde(with = "number")]
    pub score: f64,
    /// Median score.
    #[serde(with = "number")]
    pub median: f64,
    /// 95th percentile of the scores.
    #[serde(with = "number", default = "unknown")]
    pub p95: f64,
    /// Worst score.
    #[serde(with = "number")]
    pub worst: f64,
    /// Mean uncontrolled score of the same instances.
    #[serde(with = "number")]
    pub uncontrolled: f64,
    /// Number of diverged episodes; they enter every mean with the worst possible score.
    pub diverged: usize,
}

/// The value of a number that older tables do not have.
fn unknown() -> f64 {
    f64::NAN
}

impl Row {
    /// Creates a row of a case with nothing measured yet.
    pub fn of(case: &Case, agents: usize, instances: usize) -> Self {
        let none = f64::NAN;
        Self {
            case: 0,
            policy: 0,
            trained: 0,
            line: case.line.clone(),
            x: case.x,
            value: none,
            low: none,
            high: none,
            effort: none,
            agents,
            instances,
            score: none,
            median: none,
            p95: none,
            worst: none,
            uncontrolled: none,
            diverged: 0,
        }
    }
}

/// A policy to be measured, and how to score it.
pub struct Bench<'a> {
    /// Registry that has its problem.
    pub registry: &'a Registry,
    /// The policy, with its training settings.
    pub model: &'a Model,
    /// Seed of the held-out instances.
    pub seed: u64,
    /// Number of instances; `None`: as in a report of the problem.
    pub instances: Option<usize>,
    /// Threads and ranks that share the work.
    pub threads: &'a Threads,
    /// Uncontrolled scores, shared with other policies.
    pub uncontrolled: &'a UncontrolledScores,
}

/// A prepared case: the policy with the settings of the case, and the instances.
pub struct Ready {
    /// The policy.
    pub model: Model,
    /// Its problem under the settings of the case.
    pub problem: Arc<Problem>,
    /// The instances.
    pub request: Request,
}

impl Bench<'_> {
    /// Prepares a case.
    pub fn ready(&self, case: &Case) -> Result<Ready, Error> {
        let Model { config, kind, params, seed, update, validation } = self.model;
        let (config, params) = (config.clone(), params.clone());
        let mut model = Model { config, params, kind: *kind, seed: *seed, update: *update, validation: *validation };
        model = model.with(self.registry, &Overlay::from_pairs(&case.used)?)?;
        if let Some(times) = case.enlarged {
            model.config = self.registry.enlarge(&model.config, times)?;
        }
        let (problem, _) = model.build(self.registry)?;
        let most = case.instances.unwrap_or(usize::MAX);
        let instances = self.instances.unwrap_or(problem.task.instances()).min(most);
        let agents = case.agents.unwrap_or(problem.agents);
        let &Case { fail, fail_at, places, .. } = case;
        let request = Request { fail, fail_at, places, ..Request::test(agents, instances, self.seed) };
        Ok(Ready { model, problem, request })
    }
}

/// Measures the ratio of the score of a case to the uncontrolled score of the same instances.
pub fn score(bench: &Bench, case: &Case) -> Result<Vec<Row>, Error> {
    let Ready { model, problem, request } = bench.ready(case)?;
    let uncontrolled_scores = bench.uncontrolled.of(&model.config, &problem, &request, bench.threads)?;
    let (_, policy) = model.build(bench.registry)?;
    let controlled = scores(&problem, &*policy, &model.params, &request, bench.threads)?;
    let Report { score, uncontrolled, ratio, ratio_95, effort, diverged, agents, instances, .. } =
        compare(&problem, "", &request, &controlled, &uncontrolled_scores);
    let (value, low, high) = (ratio, ratio_95.0, ratio_95.1);
    let (median, p95, worst, uncontrolled) = (score.median, score.p95, score.worst, uncontrolled.mean);
    let row = Row { value, low, high, effort, median, p95, worst, uncontrolled, diverged, ..Row::of(case, agents, instances) };
    Ok(vec![Row { score: score.mean, ..row }])
}
