//! The training loop: sample → gradient of each shard → sum in the order of shards → clip and Adam → validate.

mod adam;
mod sample;
mod schedule;

pub use adam::Adam;
pub use schedule::rate;

use crate::evaluate::{self, Request};
use crate::policy::Policy;
use crate::random::{Rng, Stream};
use crate::ranks::Ranks;
use crate::recipe::Train;
use crate::registry::Parts;
use crate::rollout::{Control, Loss, Outcome, Rollout, Wanted};
use crate::threads::Threads;
use crate::{Error, Problem, Real, memory};
use cinoc_tape::Params;
use std::sync::Arc;

/// The parameters that scored best on the validation instances.
#[derive(Clone, Debug)]
pub struct Best {
    /// Mean score.
    pub score: f64,
    /// After how many updates.
    pub update: usize,
    /// The parameter vector.
    pub theta: Vec<Real>,
}

/// What one update did.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Updates done so far.
    pub update: usize,
    /// Mean cost of the batch, before the update.
    pub cost: f64,
    /// Its terms, weighted.
    pub terms: Vec<f64>,
    /// Norm of the gradient before clipping.
    pub gradient: f64,
    /// Learning rate.
    pub rate: f64,
    /// Mean score on the validation instances, when it was measured.
    pub validation: Option<f64>,
}

/// A training run in memory.
pub struct Trainer {
    /// What is controlled.
    pub problem: Arc<Problem>,
    /// What is trained.
    pub policy: Box<dyn Policy>,
    /// How.
    pub train: Train,
    /// Its parameters.
    pub params: Params,
    /// Seed of everything random.
    pub seed: u64,
    /// Updates done so far.
    pub update: usize,
    /// Best parameters so far.
    pub best: Option<Best>,
    /// The optimiser.
    pub adam: Adam,
    /// Exponential moving average of the parameters.
    pub average: Params,
    /// A clock, in seconds, for [`Trainer::shard_seconds`]; there need not be one (browsers have another).
    pub clock: Option<fn() -> f64>,
    shards: Vec<Shard>,
    gradient: Vec<Real>,
    threads: Threads,
}

/// Some instances of a batch, worked on together.
struct Shard {
    rollout: Rollout,
    outcome: Outcome,
    /// How long it took, by the trainer's clock.
    seconds: f64,
    /// Weight of each instance in the mean over the batch.
    share: f64,
}

impl Trainer {
    /// A fresh run; its shards are spread over threads and ranks.
    pub fn new(parts: Parts, seed: u64, threads: Threads) -> Result<Self, Error> {
        let Parts { problem, policy, train } = parts;
        knows(&*policy, &train)?;
        let count = train.batch.div_ceil(train.shard);
        let own = threads.ranks().own(count);
        // What all ranks on this machine hold together.
        let here = own.len().saturating_mul(threads.ranks().here()).min(count);
        afford(&problem, &*policy, &train, here)?;
        let params = policy.init(&mut Rng::new(seed, Stream::Init, 0));
        let (ticks, agents) = (training_ticks(&problem, &train), problem.agents);
        let (keep, rematerialise) = keeps(&problem, &*policy, &params, &train, here);
        let shard = |_| Shard {
            rollout: Rollout::new(ticks, train.segment, keep, agents).rematerialise(rematerialise).hold(train.hold),
            share: 0.0,
            seconds: 0.0,
            outcome: Outcome::Finished,
        };
        let shards = own.map(shard).collect();
        let adam = Adam::new(params.theta().len());
        let (gradient, average) = (vec![0.0; params.theta().len()], params.clone());
        let (best, clock) = (None, None);
        Ok(Self { problem, policy, train, params, seed, update: 0, best, adam, average, clock, shards, gradient, threads })
    }

    /// Whether all updates are done.
    pub fn finished(&self) -> bool {
        self.update >= self.train.updates
    }

    /// One update, and a validation where it is due.
    pub fn step(&mut self) -> Result<Progress, Error> {
        let terms = self.gradient()?;
        let train = &self.train;
        let norm = self.gradient.iter().map(|&g| g as f64 * g as f64).sum::<f64>().sqrt();
        if !norm.is_finite() {
            return Err(Error::NotFinite { update: self.update + 1, what: "the gradient", place: String::new() });
        }
        let rate = rate(train, self.update);
        let scale = if norm > train.clip { train.clip / norm } else { 1.0 };
        self.adam.step(self.params.theta_mut(), &self.gradient, rate, scale);
        self.params.refresh();
        // EMA warm-up: the first parameters, far from any good ones, must not weigh for long.
        let past = train.average.min(self.update as f64 / (self.update as f64 + 10.0));
        for (mean, theta) in self.average.theta_mut().iter_mut().zip(self.params.theta()) {
            *mean = (past * *mean as f64 + (1.0 - past) * *theta as f64) as Real;
        }
        self.update += 1;
        let due = self.update.is_multiple_of(train.validate_every) || self.finished();
        let validation = if due { Some(self.validate()?) } else { None };
        Ok(Progress { update: self.update, cost: terms.iter().sum(), terms, gradient: norm, rate, validation })
    }

    /// The terms of the mean cost of the next batch; the gradient is left in `self.gradient`.
    fn gradient(&mut self) -> Result<Vec<f64>, Error> {
        let Self { problem, policy, params, shards, threads, seed, update, train, clock, .. } = self;
        let (problem, policy, params, train) = (&**problem, &**policy, &*params, &*train);
        let first = threads.ranks().own(train.batch.div_ceil(train.shard)).start;
        let (seed, update) = (*seed, *update);
        let now = || clock.map_or(0.0, |clock| clock());
        threads.for_each(shards, |s, shard| {
            let since = now();
            shard.share = sample::fill(&mut shard.rollout.batch, problem, train, seed, update, first + s);
            shard.rollout.clear_gradient();
            let episode = shard.rollout.forward(problem, Control::Policy(policy, params), Wanted::PARAMS, &mut |_| {});
            shard.outcome = episode.outcome;
            if episode.outcome == Outcome::Finished {
                episode.backward(Loss::cost(shard.share));
            }
            shard.seconds = now() - since;
        });
        self.add_up(true)
    }

    /// Adds up what the shards found; the terms of the mean cost.
    fn add_up(&mut self, with_gradient: bool) -> Result<Vec<f64>, Error> {
        let ranks = self.threads.ranks();
        let terms = self.problem.task.terms().len();
        // Of each shard: its part of the mean of each term, and the tick at which an episode diverged, or none.
        let mut reports = Vec::with_capacity(self.shards.len() * (terms + 1));
        for Shard { rollout, outcome, share, .. } in &self.shards {
            let size = rollout.batch.size;
            reports.extend((0..terms).map(|term| rollout.costs[term * size..][..size].iter().sum::<f64>() * share));
            reports.push(match outcome {
                Outcome::Diverged { tick } => *tick as f64,
                Outcome::Finished => f64::NAN,
            });
        }
        let reports = ranks.numbers(&reports)?;
        let mut total = vec![0.0; terms];
        for report in reports.chunks_exact(terms + 1) {
            if !report[terms].is_nan() {
                let place = format!(" at tick {}", report[terms]);
                return Err(Error::NotFinite { update: self.update + 1, what: "the cost", place });
            }
            total.iter_mut().zip(report).for_each(|(sum, part)| *sum += part);
        }
        if with_gradient {
            let own: Vec<&[Real]> = self.shards.iter().map(|shard| shard.rollout.gradient()).collect();
            ranks.add_up(&own, &mut self.gradient)?;
        }
        Ok(total)
    }

    /// Scores the validation instances and remembers the best parameters.
    fn validate(&mut self) -> Result<f64, Error> {
        self.average.refresh();
        let Train { validate_instances, validate_agents, validate_fail, .. } = &self.train;
        let own = [self.problem.agents];
        let agents = if validate_agents.is_empty() { &own[..] } else { validate_agents };
        let mut cases: Vec<(usize, f64)> = agents.iter().map(|&agents| (agents, 0.0)).collect();
        if *validate_fail > 0.0 {
            cases.push((self.problem.agents, *validate_fail));
        }
        let mut logarithms = 0.0;
        for &(agents, fail) in &cases {
            let request = Request { stream: Stream::Validate, fail, ..Request::test(agents, *validate_instances, self.seed) };
            let scores = evaluate::scores(&self.problem, &*self.policy, &self.average, &request, &self.threads)?;
            // A diverged episode has an infinite score: it never counts as a good one.
            logarithms += scores.mean(0).ln();
        }
        let score = (logarithms / cases.len() as f64).exp();
        if self.best.as_ref().is_none_or(|best| score < best.score) {
            self.best = Some(Best { score, update: self.update, theta: self.average.theta().to_vec() });
        }
        Ok(score)
    }

    /// The parameters to be used: the best on validation, or the present ones before the first validation.
    pub fn chosen(&self) -> Params {
        let mut params = self.params.clone();
        if let Some(best) = &self.best {
            params.theta_mut().copy_from_slice(&best.theta);
            params.refresh();
        }
        params
    }

    /// The parameters as they are after the last update: their average, where one is kept.
    pub fn last(&self) -> Params {
        let mut params = self.average.clone();
        params.refresh();
        params
    }

    /// Bytes of recorded values.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.rollout.bytes()).sum()
    }

    /// The gradient of the last update, before clipping.
    pub fn last_gradient(&self) -> &[Real] {
        &self.gradient
    }

    /// The ranks that it is spread over.
    pub fn ranks(&self) -> &dyn Ranks {
        self.threads.ranks()
    }

    /// How many seconds each shard of this rank took in the last update, by the clock of this trainer.
    pub fn shard_seconds(&self) -> impl Iterator<Item = f64> {
        self.shards.iter().map(|shard| shard.seconds)
    }

    /// How many agents each shard of this rank had in the last update, and how many instances.
    pub fn shard_sizes(&self) -> impl Iterator<Item = [usize; 2]> {
        self.shards.iter().map(|shard| [shard.rollout.batch.agents, shard.rollout.batch.size])
    }

    /// Calls `f` once on each of the run's threads.
    pub fn each_thread<T: Send>(&self, f: impl Fn() -> T + Sync) -> Vec<T> {
        self.threads.broadcast(f)
    }

    /// Does the work of one update without changing anything, and gives its cost: to be timed.
    pub fn time_update(&mut self) -> Result<f64, Error> {
        Ok(self.gradient()?.iter().sum())
    }

    /// The same without the gradient, for the batch of the last update.
    pub fn time_cost(&mut self) -> Result<f64, Error> {
        let Self { problem, policy, params, shards, threads, .. } = self;
        let (problem, policy, params) = (&**problem, &**policy, &*params);
        threads.for_each(shards, |_, shard| {
            let control = Control::Policy(policy, params);
            shard.outcome = shard.rollout.forward(problem, control, Wanted::default(), &mut |_| {}).outcome;
        });
        Ok(self.add_up(false)?.iter().sum())
    }
}

/// Decisions of a training episode: one for each tick of the problem, unless the recipe says fewer ticks or holds each decision longer.
pub fn training_ticks(problem: &Problem, train: &Train) -> usize {
    let ticks = if train.ticks == 0 { problem.ticks } else { train.ticks.min(problem.ticks) };
    (ticks / train.hold).max(2)
}

/// Refuses other numbers of agents than the only one that a policy knows.
fn knows(policy: &dyn Policy, train: &Train) -> Result<(), Error> {
    let Some(only) = policy.fixed_agents() else { return Ok(()) };
    for (key, numbers) in [("train.agents", &train.agents), ("train.validate_agents", &train.validate_agents)] {
        if numbers.iter().any(|&agents| agents != only) {
            let expected = format!("[]: this policy drives {only} agents and knows no other number; --preset paper has it so");
            return Err(Error::bad(key, format!("{numbers:?}"), expected));
        }
    }
    Ok(())
}

/// Bytes that a recorded segment takes beside its numbers.
const SEGMENT: f64 = 600.0;

/// Refuses a batch of which so many shards, with their states and one recorded segment, do not fit into memory.
pub(crate) fn afford(problem: &Problem, policy: &dyn Policy, train: &Train, shards: usize) -> Result<(), Error> {
    let features = problem.swarm.features();
    // Shards with many agents hold fewer instances, but two at the least.
    let each = |agents: usize| sample::fit(train.shard, problem.agents, agents) * agents;
    let most = train.agents.iter().map(|&agents| each(agents)).max().unwrap_or(0).div_ceil(train.shard).max(problem.agents);
    let (nodes, agents) = (problem.stepper.grid().count() as f64, most as f64);
    let waiting = 1 + problem.swarm.disturbance().pending(train.hold);
    let state = nodes + agents * (problem.swarm.dimensions() + waiting * problem.swarm.action_width()) as f64;
    let seen = if features.shared { features.patch.count() as f64 } else { agents * features.patch.count() as f64 };
    let ticks = training_ticks(problem, train);
    let kept = state * ticks.div_ceil(train.segment) as f64;
    let [step, once] = problem.stepper.room().map(|numbers| numbers as f64);
    let tick = 8.0 * nodes + step + 2.0 * seen + 300.0 * agents + policy.room(most) as f64;
    let recorded = tick * train.segment.min(ticks) as f64;
    let what = format!("a batch of {} instances with {} agents over {ticks} ticks", train.batch, problem.agents);
    let numbers = shards.saturating_mul(train.shard).min(train.batch) as f64 * (kept + recorded);
    let each_shard = SEGMENT * ticks.div_ceil(train.segment) as f64 + size_of::<Real>() as f64 * once;
    memory::afford(&what, size_of::<Real>() as f64 * numbers + shards as f64 * each_shard)
}

/// Whether all segments of all shards are kept, and whether what can be computed again is not: the fastest that fits into the memory that may be used.
fn keeps(problem: &Problem, policy: &dyn Policy, params: &Params, train: &Train, shards: usize) -> (bool, bool) {
    let fits = |rematerialise: bool| {
        let bytes = episode_bytes(problem, policy, params, train, train.shard.min(train.batch), rematerialise) * shards;
        bytes <= train.memory_mb << 20
    };
    if fits(false) {
        (true, false)
    } else if fits(true) {
        (true, true)
    } else {
        // Each segment is computed again right before its backward sweep: there is no reason to compute parts of it a third time.
        (false, false)
    }
}

/// Bytes that recording a whole episode of `size` instances takes, from recording one segment.
pub fn episode_bytes(
    problem: &Problem,
    policy: &dyn Policy,
    params: &Params,
    train: &Train,
    size: usize,
    rematerialise: bool,
) -> usize {
    let ticks = training_ticks(problem, train);
    let segment = train.segment.min(ticks);
    let mut probe = Rollout::new(segment, segment, true, problem.agents).rematerialise(rematerialise);
    let (places, zero) = (problem.swarm.start(problem.agents), vec![0.0; problem.stepper.grid().count()]);
    (0..size).for_each(|_| probe.batch.push(&zero, &zero, &places));
    probe.forward(problem, Control::Policy(policy, params), Wanted::PARAMS, &mut |_| {});
    probe.bytes() * ticks.div_ceil(segment)
}
