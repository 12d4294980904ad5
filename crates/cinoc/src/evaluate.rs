//! Scores on held-out instances, with any number of agents and with failures.
//!
//! ```
//! let problem = cinoc::problem("heat1d")?.with(&["physics.ticks=60"])?;
//! let policy = cinoc::pretrained("heat1d")?;
//! let report = problem.evaluate(&policy).instances(4).failures(0.25).run()?;
//! assert!(report.ratio < 1.0 && report.diverged == 0);
//! # Ok::<(), cinoc::Error>(())
//! ```

use crate::env::Env;
use crate::number;
use crate::place::Placement;
use crate::policy::{Policy, ZeroControl};
use crate::random::{Rng, Stream};
use crate::ranks::Ranks;
use crate::rollout::InitialCondition;
use crate::task::{Reduction, Task};
use crate::threads::Threads;
use crate::{Error, Problem, Real, budget};
use cinoc_tape::Params;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Number of instances computed together by one thread.
#[doc(hidden)]
pub const SHARD: usize = 8;

/// Number of resamples of a bootstrap interval.
const RESAMPLES: u64 = 2000;

/// The instances to score, and their agents.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub struct Request {
    /// Number of agents per instance.
    pub agents: usize,
    /// Number of instances.
    pub instances: usize,
    /// Seed of the instances.
    pub seed: u64,
    /// Stream of the instances: held-out ones for reports.
    pub stream: Stream,
    /// Fraction of the agents that fail.
    pub fail: f64,
    /// Time of the failures, as a fraction of the ticks up to the score.
    pub fail_at: f64,
    /// Initial positions; random ones depend on the seed and the instance.
    pub places: Placement,
    /// Custom initial fields; instance i takes number i, modulo their count.
    pub starts: Vec<Vec<Real>>,
    /// Custom target fields, likewise.
    pub targets: Vec<Vec<Real>>,
}

impl Request {
    /// Creates a request for held-out instances of a seed, without failures.
    pub fn test(agents: usize, instances: usize, seed: u64) -> Self {
        let (places, starts, targets) = Default::default();
        Self { agents, instances, seed, stream: Stream::Test, fail: 0.0, fail_at: 0.5, places, starts, targets }
    }

    /// Returns the number of agents that fail in each instance.
    pub fn failed_agents(&self) -> usize {
        (self.fail * self.agents as f64).round() as usize
    }

    /// Returns the first tick (from 0) at which they are inactive.
    pub fn failed_from(&self, problem: &Problem) -> usize {
        (self.fail_at * problem.task.scored_at(problem.ticks) as f64) as usize
    }

    /// Returns the initial condition of instance `index`.
    pub fn beginning(&self, problem: &Problem, index: usize) -> InitialCondition {
        let mut beginning = InitialCondition::drawn(problem, self.agents, self.seed, self.stream, index);
        if self.places != Placement::Lattice {
            let mut rng = Rng::new(self.seed, Stream::Places, index as u64);
            beginning.positions = problem.swarm.start_at(self.places, self.agents, &problem.stepper.grid().lengths, &mut rng);
        }
        if self.fail > 0.0 {
            beginning = beginning.with_failures(self.agents, self.fail, self.failed_from(problem), self.seed, index);
        }
        if let Some(start) = self.starts.get(index % self.starts.len().max(1)) {
            beginning.start.clone_from(start);
        }
        if let Some(target) = self.targets.get(index % self.targets.len().max(1)) {
            beginning.target.clone_from(target);
        }
        beginning
    }
}

/// Scores of a set of instances.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Scores {
    /// Measures of each instance. A diverged one has the worst value: infinity, or minus infinity for a distance to be
    /// kept.
    pub measures: Vec<Vec<f64>>,
    /// Mean effort of each instance, infinite if it diverged.
    pub efforts: Vec<f64>,
    /// Number of diverged instances.
    pub diverged: usize,
}

impl Scores {
    /// Appends the scores of other instances.
    pub fn extend(&mut self, others: Self) {
        self.measures.extend(others.measures);
        self.efforts.extend(others.efforts);
        self.diverged += others.diverged;
    }

    /// Gathers the scores of all ranks in order; each instance has `measures` measures.
    fn gathered(self, ranks: &dyn Ranks, measures: usize) -> Result<Self, Error> {
        let Self { measures: own, efforts, diverged } = &self;
        let rows = own.iter().zip(efforts).flat_map(|(measures, effort)| measures.iter().copied().chain([*effort]));
        let all = ranks.numbers(&rows.collect::<Vec<f64>>())?;
        let diverged = ranks.numbers(&[*diverged as f64])?.iter().sum::<f64>() as usize;
        let (measures, efforts) = all.chunks_exact(measures + 1).map(|row| (row[..measures].to_vec(), row[measures])).unzip();
        Ok(Self { measures, efforts, diverged })
    }

    /// Returns the score of each instance.
    #[doc(hidden)]
    pub fn scores(&self) -> impl Iterator<Item = f64> {
        self.measures.iter().map(|m| m[0])
    }

    /// Returns the mean of measure `k`.
    pub fn mean(&self, k: usize) -> f64 {
        Summary::new(self.measures.iter().map(|m| m[k])).mean
    }

    /// Returns measure `k` reduced over all instances.
    pub fn overall(&self, task: &dyn Task, k: usize) -> f64 {
        match task.reduction(k) {
            Reduction::Mean => self.mean(k),
            Reduction::Smallest => self.measures.iter().map(|m| m[k]).fold(f64::INFINITY, f64::min),
        }
    }
}

#[derive(Serialize)]
struct Number(#[serde(serialize_with = "number::serialize")] f64);

fn list<S: Serializer>(all: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(all.iter().map(|x| Number(*x)))
}

fn numbers<S: Serializer>(all: &BTreeMap<&'static str, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(all.iter().map(|(name, x)| (name, Number(*x))))
}

/// Mean, standard deviation, median and tail.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub struct Summary {
    /// Mean.
    #[serde(serialize_with = "number::serialize")]
    pub mean: f64,
    /// Standard deviation.
    #[serde(serialize_with = "number::serialize")]
    pub std: f64,
    /// Median.
    #[serde(serialize_with = "number::serialize")]
    pub median: f64,
    /// 95th percentile.
    #[serde(serialize_with = "number::serialize")]
    pub p95: f64,
    /// Maximum.
    #[serde(serialize_with = "number::serialize")]
    pub worst: f64,
}

impl Summary {
    /// Summarises numbers; all fields are NaN if there are none.
    ///
    /// ```
    /// let summary = cinoc::evaluate::Summary::new([1.0, 2.0, 6.0].into_iter());
    /// assert_eq!((summary.mean, summary.median, summary.worst), (3.0, 2.0, 6.0));
    /// ```
    #[doc(hidden)]
    pub fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        let n = values.len();
        if n == 0 {
            return Self { mean: f64::NAN, std: f64::NAN, median: f64::NAN, p95: f64::NAN, worst: f64::NAN };
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let std = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        values.sort_by(f64::total_cmp);
        let median = if n % 2 == 1 { values[n / 2] } else { 0.5 * (values[n / 2 - 1] + values[n / 2]) };
        let (p95, worst) = (values[(0.95 * (n - 1) as f64).ceil() as usize], values[n - 1]);
        Self { mean, std: if mean.is_finite() { std } else { f64::INFINITY }, median, p95, worst }
    }
}

/// A row of a report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Name of the problem.
    pub problem: String,
    /// Name of the model.
    pub model: String,
    /// Number of agents per instance.
    pub agents: usize,
    /// Number of instances.
    pub instances: usize,
    /// Seed of the instances.
    pub seed: u64,
    /// Initial positions.
    pub places: Placement,
    /// Fraction of the agents that fail.
    pub fail: f64,
    /// Number of failing agents in each instance.
    pub dead: usize,
    /// First tick (from 0) at which they are inactive.
    pub dead_from: usize,
    /// Score under control.
    pub score: Summary,
    /// Score of the same instances without control.
    pub uncontrolled: Summary,
    /// Mean score over mean uncontrolled score of the same instances.
    #[serde(serialize_with = "number::serialize")]
    pub ratio: f64,
    /// 95 % bootstrap interval of the ratio, over resamples of the instances.
    pub ratio_95: Interval,
    /// Median over instances of the score divided by the uncontrolled score.
    #[serde(serialize_with = "number::serialize")]
    pub ratio_median: f64,
    /// Mean over ticks and agents of u² + 0.1·|v|².
    #[serde(serialize_with = "number::serialize")]
    pub effort: f64,
    /// Measures under control, by name.
    #[serde(serialize_with = "numbers")]
    pub measures: BTreeMap<&'static str, f64>,
    /// Number of diverged episodes. Every mean includes them, with the worst score.
    pub diverged: usize,
}

/// A row of a report with the scores of the individual instances.
#[derive(Clone, Debug, Serialize)]
#[doc(hidden)]
pub struct Detailed {
    /// The row.
    #[serde(flatten)]
    #[doc(hidden)]
    pub report: Report,
    /// Score of each instance.
    #[serde(serialize_with = "list")]
    #[doc(hidden)]
    pub scores: Vec<f64>,
    /// Score of each instance without control.
    #[serde(serialize_with = "list")]
    pub uncontrolled_scores: Vec<f64>,
}

impl Detailed {
    /// Combines a report with the scores under control and without.
    #[doc(hidden)]
    pub fn new(report: Report, controlled: &Scores, free: &Scores) -> Self {
        Self { report, scores: controlled.scores().collect(), uncontrolled_scores: free.scores().collect() }
    }
}

/// An interval: lower and upper bound.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub struct Interval(
    #[serde(serialize_with = "number::serialize")] pub f64,
    #[serde(serialize_with = "number::serialize")] pub f64,
);

/// Scores a policy, and zero control on the same instances.
#[doc(hidden)]
pub fn report(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    model: &str,
    request: &Request,
    threads: &Threads,
) -> Result<Report, Error> {
    let controlled = scores(problem, policy, params, request, threads)?;
    let zero = ZeroControl { action_width: problem.swarm.action_width() };
    let free = scores(problem, &zero, &Params::default(), request, threads)?;
    Ok(compare(problem, model, request, &controlled, &free))
}

/// Creates a row of a report from the scores under control and without.
#[doc(hidden)]
pub fn compare(problem: &Problem, model: &str, request: &Request, controlled: &Scores, free: &Scores) -> Report {
    let pairs: Vec<(f64, f64)> = controlled.scores().zip(free.scores()).collect();
    let (score, uncontrolled) = (Summary::new(controlled.scores()), Summary::new(free.scores()));
    Report {
        problem: problem.name.clone(),
        model: model.to_owned(),
        agents: request.agents,
        instances: request.instances,
        seed: request.seed,
        places: request.places,
        fail: request.fail,
        dead: request.failed_agents(),
        dead_from: request.failed_from(problem),
        score,
        uncontrolled,
        ratio: ratio(score.mean, uncontrolled.mean),
        ratio_95: bootstrap(&pairs, request.seed),
        ratio_median: Summary::new(pairs.iter().map(|(a, b)| ratio(*a, *b))).median,
        effort: Summary::new(controlled.efforts.iter().copied()).mean,
        measures: problem.task.measures().iter().enumerate().map(|(k, n)| (*n, controlled.overall(&*problem.task, k))).collect(),
        diverged: controlled.diverged,
    }
}

/// Returns the score divided by the uncontrolled score; NaN if the latter is not finite, since an improvement over
/// divergence has no magnitude.
fn ratio(score: f64, uncontrolled: f64) -> f64 {
    if uncontrolled.is_finite() { score / uncontrolled } else { f64::NAN }
}

/// Returns the 95 % bootstrap interval of the ratio of means.
fn bootstrap(pairs: &[(f64, f64)], seed: u64) -> Interval {
    let resample = |r: u64| {
        let mut rng = Rng::new(seed, Stream::Bootstrap, r);
        let draw = |_| pairs[(rng.uniform(0.0, pairs.len() as f64) as usize).min(pairs.len() - 1)];
        let (a, b) = (0..pairs.len()).map(draw).fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
        ratio(a, b)
    };
    let mut all: Vec<f64> = (0..RESAMPLES).map(resample).collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all[(share * (all.len() - 1) as f64).round() as usize];
    Interval(at(0.025), at(0.975))
}

/// Scores a policy on all instances of a request.
#[doc(hidden)]
pub fn scores(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    request: &Request,
    threads: &Threads,
) -> Result<Scores, Error> {
    budget::check(&format!("{} scores", request.instances), 500.0 * request.instances as f64)?;
    scores_of(problem, policy, params, request, 0..request.instances, threads)
}

/// Scores a policy on some instances of a request. Blocks of `SHARD` consecutive instances are computed together, so a
/// range aligned to multiples of `SHARD` gives the same bits as the whole.
#[doc(hidden)]
pub fn scores_of(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    request: &Request,
    indices: Range<usize>,
    threads: &Threads,
) -> Result<Scores, Error> {
    check_policy(policy, request.agents, SHARD.min(indices.len()) * threads.count())?;
    let own = threads.ranks().own(indices.len().div_ceil(SHARD));
    let parts = threads.map(own.len(), |s| {
        let first = indices.start + (own.start + s) * SHARD;
        shard_scores(problem, policy, params, request, first..(first + SHARD).min(indices.end))
    });
    let mut all = Scores::default();
    parts.into_iter().try_for_each(|part| part.map(|part| all.extend(part)))?;
    all.gathered(threads.ranks(), problem.task.measures().len())
}

/// Rejects a number of agents that the policy does not support, and decisions for `instances` instances that do not fit
/// into memory.
#[doc(hidden)]
pub fn check_policy(policy: &dyn Policy, agents: usize, instances: usize) -> Result<(), Error> {
    if let Some(only) = policy.fixed_agents().filter(|only| *only != agents) {
        let expected = format!("{only}: this policy drives all agents at once and supports no other number");
        return Err(Error::bad("the number of agents", agents.to_string(), expected));
    }
    let numbers = policy.room(agents) as f64 * instances as f64;
    budget::check(&format!("the decisions of {agents} agents"), size_of::<Real>() as f64 * numbers)
}

/// Scores one shard.
fn shard_scores(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    request: &Request,
    indices: Range<usize>,
) -> Result<Scores, Error> {
    let size = indices.len();
    let mut env = Env::new(problem.clone(), size, request.agents, Threads::single())?
        .with_expensive_measures(request.stream == Stream::Test);
    env.reset(&vec![true; size], &mut |i| request.beginning(problem, indices.start + i));
    let effort = problem.task.terms().iter().position(|term| *term == "effort");
    let mut efforts = vec![0.0; size];
    env.run(policy, params, problem.ticks, &mut |env| {
        if let Some(term) = effort {
            let now = &env.last_step().terms[term * size..][..size];
            efforts.iter_mut().zip(now).for_each(|(sum, now)| *sum += *now as f64 / problem.ticks as f64);
        }
    });
    let mut scores = Scores::default();
    for (i, effort) in efforts.into_iter().enumerate() {
        let diverged = env.last_step().diverged[i];
        scores.diverged += usize::from(diverged);
        scores.efforts.push(if diverged { f64::INFINITY } else { effort });
        let worst = |k: usize| if problem.task.reduction(k) == Reduction::Smallest { f64::NEG_INFINITY } else { f64::INFINITY };
        let measures = env.measures(i).iter().enumerate();
        scores.measures.push(measures.map(|(k, value)| if diverged || value.is_nan() { worst(k) } else { *value }).collect());
    }
    Ok(scores)
}
