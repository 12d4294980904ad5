//! Scores on held-out instances: other numbers of agents, failures.

use crate::env::Env;
use crate::number;
use crate::place::Places;
use crate::policy::{Idle, Policy};
use crate::random::{Rng, Stream};
use crate::ranks::Ranks;
use crate::rollout::Beginning;
use crate::task::{Reduction, Task};
use crate::threads::Threads;
use crate::{Error, Problem, Real, memory};
use cinoc_tape::Params;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Instances rolled out together by one thread.
pub const SHARD: usize = 8;

/// Resamples of a bootstrap interval.
const RESAMPLES: u64 = 2000;

/// What to score.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Agents per instance.
    pub agents: usize,
    /// How many instances.
    pub instances: usize,
    /// Seed of the instances.
    pub seed: u64,
    /// Which instances: held-out ones for reports.
    pub stream: Stream,
    /// Share of the agents that die.
    pub fail: f64,
    /// When they die, as a share of the ticks up to the score.
    pub fail_at: f64,
    /// Where agents start; random places depend on the seed and the instance.
    pub places: Places,
    /// Start fields of one's own, one after the other; instance i takes the i-th, and the first again after the last.
    pub starts: Vec<Vec<Real>>,
    /// Target fields of one's own, likewise.
    pub targets: Vec<Vec<Real>>,
}

impl Request {
    /// Held-out instances of a seed, with everybody alive.
    pub fn test(agents: usize, instances: usize, seed: u64) -> Self {
        let (places, starts, targets) = Default::default();
        Self { agents, instances, seed, stream: Stream::Test, fail: 0.0, fail_at: 0.5, places, starts, targets }
    }

    /// How many agents die in each instance.
    pub fn dead(&self) -> usize {
        (self.fail * self.agents as f64).round() as usize
    }

    /// The tick (from 0) from which on they do nothing.
    pub fn dead_from(&self, problem: &Problem) -> usize {
        (self.fail_at * problem.task.scored_at(problem.ticks) as f64) as usize
    }

    /// Where instance `index` begins.
    pub fn beginning(&self, problem: &Problem, index: usize) -> Beginning {
        let mut beginning = Beginning::drawn(problem, self.agents, self.seed, self.stream, index);
        if self.places != Places::Lattice {
            let mut rng = Rng::new(self.seed, Stream::Places, index as u64);
            beginning.places = problem.swarm.start_at(self.places, self.agents, &problem.stepper.grid().lengths, &mut rng);
        }
        if self.fail > 0.0 {
            beginning = beginning.failing(self.agents, self.fail, self.dead_from(problem), self.seed, index);
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
pub struct Scores {
    /// Each measure of each instance. One that diverged has the worst there is: infinite, or for a distance to be kept minus infinity.
    pub measures: Vec<Vec<f64>>,
    /// Mean effort of each, infinite where it diverged.
    pub efforts: Vec<f64>,
    /// How many diverged.
    pub diverged: usize,
}

impl Scores {
    /// Adds those of other instances behind them.
    pub fn extend(&mut self, others: Self) {
        self.measures.extend(others.measures);
        self.efforts.extend(others.efforts);
        self.diverged += others.diverged;
    }

    /// Those of all ranks, one after the other, with so many measures of each instance.
    fn gathered(self, ranks: &dyn Ranks, measures: usize) -> Result<Self, Error> {
        let Self { measures: own, efforts, diverged } = &self;
        let rows = own.iter().zip(efforts).flat_map(|(measures, effort)| measures.iter().copied().chain([*effort]));
        let all = ranks.numbers(&rows.collect::<Vec<f64>>())?;
        let diverged = ranks.numbers(&[*diverged as f64])?.iter().sum::<f64>() as usize;
        let (measures, efforts) = all.chunks_exact(measures + 1).map(|row| (row[..measures].to_vec(), row[measures])).unzip();
        Ok(Self { measures, efforts, diverged })
    }

    /// The score of each instance.
    pub fn scores(&self) -> impl Iterator<Item = f64> {
        self.measures.iter().map(|m| m[0])
    }

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
    /// 95 % are no larger.
    #[serde(serialize_with = "number::serialize")]
    pub p95: f64,
    /// The largest.
    #[serde(serialize_with = "number::serialize")]
    pub worst: f64,
}

impl Summary {
    /// Of some numbers; NaN where there are none.
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
    /// Where agents start.
    pub places: Places,
    /// Share of the agents that die.
    pub fail: f64,
    /// How many that are in each instance.
    pub dead: usize,
    /// The tick (from 0) from which on they do nothing.
    pub dead_from: usize,
    /// The score under control.
    pub score: Summary,
    /// The score of the same instances left alone.
    pub uncontrolled: Summary,
    /// Mean score over mean uncontrolled score of the same instances.
    #[serde(serialize_with = "number::serialize")]
    pub ratio: f64,
    /// Bootstrap interval of the ratio: 95 % of resamples of the instances lie between.
    pub ratio_95: Interval,
    /// Median over instances of score over uncontrolled score.
    #[serde(serialize_with = "number::serialize")]
    pub ratio_median: f64,
    /// Mean over ticks and agents of u² + 0.1·|v|².
    #[serde(serialize_with = "number::serialize")]
    pub effort: f64,
    /// Every measure under control, by name.
    #[serde(serialize_with = "numbers")]
    pub measures: BTreeMap<&'static str, f64>,
    /// How many episodes diverged. They are in every mean, with the worst score there is.
    pub diverged: usize,
}

/// A row of a report with the scores that it is made of.
#[derive(Clone, Debug, Serialize)]
pub struct Detailed {
    /// The row.
    #[serde(flatten)]
    pub report: Report,
    /// The score of each instance.
    #[serde(serialize_with = "list")]
    pub scores: Vec<f64>,
    /// The score of each, left alone.
    #[serde(serialize_with = "list")]
    pub uncontrolled_scores: Vec<f64>,
}

impl Detailed {
    /// Of the scores under control, and of those without.
    pub fn new(report: Report, controlled: &Scores, free: &Scores) -> Self {
        Self { report, scores: controlled.scores().collect(), uncontrolled_scores: free.scores().collect() }
    }
}

/// From one number to another.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub struct Interval(
    #[serde(serialize_with = "number::serialize")] pub f64,
    #[serde(serialize_with = "number::serialize")] pub f64,
);

/// Scores a policy and, on the same instances, no policy.
pub fn report(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    model: &str,
    request: &Request,
    threads: &Threads,
) -> Result<Report, Error> {
    let controlled = scores(problem, policy, params, request, threads)?;
    let nobody = Idle { action_width: problem.swarm.action_width() };
    let free = scores(problem, &nobody, &Params::default(), request, threads)?;
    Ok(compare(problem, model, request, &controlled, &free))
}

/// A row of a report, from the scores under control and those of the same instances left alone.
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
        dead: request.dead(),
        dead_from: request.dead_from(problem),
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

/// Score over uncontrolled score; not a number where the latter is not finite, since nothing is gained over what breaks down by itself.
fn ratio(score: f64, uncontrolled: f64) -> f64 {
    if uncontrolled.is_finite() { score / uncontrolled } else { f64::NAN }
}

/// The interval that holds 95 % of the ratios of means over instances drawn with replacement.
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

/// Scores a policy.
pub fn scores(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    request: &Request,
    threads: &Threads,
) -> Result<Scores, Error> {
    memory::afford(&format!("{} scores", request.instances), 500.0 * request.instances as f64)?;
    scores_of(problem, policy, params, request, 0..request.instances, threads)
}

/// Scores a policy on some of the instances of a request. Those of `SHARD` numbers in a row are computed together, so a range that begins and
/// ends at a multiple of it gives what all of them would.
pub fn scores_of(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    request: &Request,
    indices: Range<usize>,
    threads: &Threads,
) -> Result<Scores, Error> {
    decide(policy, request.agents, SHARD.min(indices.len()) * threads.count())?;
    let own = threads.ranks().own(indices.len().div_ceil(SHARD));
    let parts = threads.map(own.len(), |s| {
        let first = indices.start + (own.start + s) * SHARD;
        shard_scores(problem, policy, params, request, first..(first + SHARD).min(indices.end))
    });
    let mut all = Scores::default();
    parts.into_iter().try_for_each(|part| part.map(|part| all.extend(part)))?;
    all.gathered(threads.ranks(), problem.task.measures().len())
}

/// Refuses numbers of agents that a policy does not know, and decisions of so many instances at once that do not fit into memory.
pub fn decide(policy: &dyn Policy, agents: usize, instances: usize) -> Result<(), Error> {
    if let Some(only) = policy.fixed_agents().filter(|only| *only != agents) {
        let expected = format!("{only}: this policy sees everything and drives all agents at once, so it knows no other number");
        return Err(Error::bad("the number of agents", agents.to_string(), expected));
    }
    let numbers = policy.room(agents) as f64 * instances as f64;
    memory::afford(&format!("the decisions of {agents} agents"), size_of::<Real>() as f64 * numbers)
}

/// Scores some instances.
fn shard_scores(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    request: &Request,
    indices: Range<usize>,
) -> Result<Scores, Error> {
    let size = indices.len();
    let mut env = Env::new(problem.clone(), size, request.agents, Threads::one())?.thorough(request.stream == Stream::Test);
    env.reset(&vec![true; size], &mut |i| request.beginning(problem, indices.start + i));
    let effort = problem.task.terms().iter().position(|term| *term == "effort");
    let mut efforts = vec![0.0; size];
    env.run(policy, params, problem.ticks, &mut |env| {
        if let Some(term) = effort {
            let now = &env.last().terms[term * size..][..size];
            efforts.iter_mut().zip(now).for_each(|(sum, now)| *sum += *now as f64 / problem.ticks as f64);
        }
    });
    let mut scores = Scores::default();
    for (i, effort) in efforts.into_iter().enumerate() {
        let diverged = env.last().diverged[i];
        scores.diverged += usize::from(diverged);
        scores.efforts.push(if diverged { f64::INFINITY } else { effort });
        let worst = |k: usize| if problem.task.reduction(k) == Reduction::Smallest { f64::NEG_INFINITY } else { f64::INFINITY };
        let measures = env.measures(i).iter().enumerate();
        scores.measures.push(measures.map(|(k, value)| if diverged || value.is_nan() { worst(k) } else { *value }).collect());
    }
    Ok(scores)
}
