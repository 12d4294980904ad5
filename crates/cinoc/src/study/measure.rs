//! What one case gives for one policy.

use super::{Case, Free};
use crate::evaluate::{Report, Request, compare, scores};
use crate::number;
use crate::run::Model;
use crate::settings::Overlay;
use crate::threads::Threads;
use crate::{Error, Problem, Registry};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A row of a table.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Row {
    /// Which case of the study.
    pub case: usize,
    /// Which of the policies.
    pub policy: usize,
    /// Seed that it was trained with.
    pub trained: u64,
    /// Which line of the picture.
    pub line: String,
    /// Where on the horizontal axis.
    pub x: f64,
    /// What the study asks for; most often the mean score over the mean score of the same instances left alone.
    #[serde(with = "number")]
    pub value: f64,
    /// Its 95 % interval over the instances, where there is one.
    #[serde(with = "number")]
    pub low: f64,
    /// The upper end.
    #[serde(with = "number")]
    pub high: f64,
    /// Mean effort: over ticks and agents, u² + 0.1·|v|².
    #[serde(with = "number")]
    pub effort: f64,
    /// Agents per instance.
    pub agents: usize,
    /// How many instances.
    pub instances: usize,
    /// Mean score.
    #[serde(with = "number")]
    pub score: f64,
    /// Median score.
    #[serde(with = "number")]
    pub median: f64,
    /// The worst score.
    #[serde(with = "number")]
    pub worst: f64,
    /// Mean score of the same instances left alone.
    #[serde(with = "number")]
    pub uncontrolled: f64,
    /// How many episodes diverged; they are in every mean, with the worst score there is.
    pub diverged: usize,
}

impl Row {
    /// A case with nothing measured yet.
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
            worst: none,
            uncontrolled: none,
            diverged: 0,
        }
    }
}

/// A policy on the bench, and how it is to be scored.
pub struct Bench<'a> {
    /// Knows its problem.
    pub registry: &'a Registry,
    /// The policy, with the settings that it was trained with.
    pub model: &'a Model,
    /// Seed of the held-out instances.
    pub seed: u64,
    /// How many of them; None: as many as a report of the problem takes.
    pub instances: Option<usize>,
    /// Threads and ranks that share the work.
    pub threads: &'a Threads,
    /// Scores without it, which other policies have left or will use.
    pub free: &'a Free,
}

/// A case made ready: the policy under the settings of its use, and the instances.
pub struct Ready {
    /// The policy.
    pub model: Model,
    /// Its problem under the settings of the case.
    pub problem: Arc<Problem>,
    /// The instances.
    pub request: Request,
}

impl Bench<'_> {
    /// Makes a case ready.
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

/// The score of a case over that of the same instances left alone.
pub fn score(bench: &Bench, case: &Case) -> Result<Vec<Row>, Error> {
    let Ready { model, problem, request } = bench.ready(case)?;
    let free = bench.free.of(&model.config, &problem, &request, bench.threads)?;
    let (_, policy) = model.build(bench.registry)?;
    let controlled = scores(&problem, &*policy, &model.params, &request, bench.threads)?;
    let Report { score, uncontrolled, ratio, ratio_95, effort, diverged, agents, instances, .. } =
        compare(&problem, "", &request, &controlled, &free);
    let (value, low, high) = (ratio, ratio_95.0, ratio_95.1);
    let (median, worst, uncontrolled) = (score.median, score.worst, uncontrolled.mean);
    let row = Row { value, low, high, effort, median, worst, uncontrolled, diverged, ..Row::of(case, agents, instances) };
    Ok(vec![Row { score: score.mean, ..row }])
}
