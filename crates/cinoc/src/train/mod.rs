//! The training loop: sample → gradient of each shard → sum in the order of shards → clip and Adam → validate.

mod adam;
mod sample;
mod schedule;

#[doc(hidden)]
pub use adam::Adam;
#[doc(hidden)]
pub use schedule::rate;

use crate::evaluate::{self, Request};
use crate::policy::Policy;
use crate::random::{Rng, Stream};
use crate::ranks::Ranks;
use crate::recipe::Train;
use crate::registry::Parts;
use crate::rollout::{Control, GradientTargets, Loss, Outcome, Rollout};
use crate::threads::Threads;
use crate::{Error, Problem, Real, budget};
use cinoc_tape::Params;
use std::sync::Arc;

/// The parameters that scored best on the validation instances.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Best {
    /// Mean score.
    pub score: f64,
    /// Number of updates after which it was found.
    pub update: usize,
    /// Parameter vector.
    pub theta: Vec<Real>,
}

/// The result of one update.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Number of updates made.
    pub update: usize,
    /// Mean cost of the batch, before the update.
    pub cost: f64,
    /// Weighted terms of the cost.
    pub terms: Vec<f64>,
    /// Norm of the gradient before clipping.
    pub gradient: f64,
    /// Learning rate.
    pub rate: f64,
    /// Mean score on the validation instances, if it was measured.
    pub validation: Option<f64>,
}

/// A training run in memory.
///
/// ```
/// use cinoc::{Registry, Threads, train::Trainer};
///
/// let small = ["physics.ticks=8", "train.batch=2", "train.agents=[]", "train.validate_every=100"];
/// let config = cinoc::problem("heat1d")?.with(&small)?.config().clone();
/// let mut trainer = Trainer::new(Registry::builtin().parts(&config)?, 0, Threads::single())?;
/// assert_eq!(trainer.step()?.update, 1);
/// # Ok::<(), cinoc::Error>(())
/// ```
#[doc(hidden)]
pub struct Trainer {
    /// The problem.
    pub problem: Arc<Problem>,
    /// The policy.
    pub policy: Box<dyn Policy>,
    /// Settings of training.
    pub train: Train,
    /// Parameters of the policy.
    pub params: Params,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of updates made.
    pub update: usize,
    /// Best parameters so far.
    pub best: Option<Best>,
    /// The optimiser.
    pub adam: Adam,
    /// Exponential moving average of the parameters.
    pub average: Params,
    /// Variants of the problem, of which each shard takes one; none: the problem alone.
    variants: Vec<Arc<Problem>>,
    /// Variants that validation counts beside the problem.
    validation: Vec<Arc<Problem>>,
    /// A clock in seconds for [`Trainer::shard_seconds`], if any (browsers provide another).
    pub clock: Option<fn() -> f64>,
    shards: Vec<Shard>,
    gradient: Vec<Real>,
    threads: Threads,
}

/// Instances of a batch that are computed together.
struct Shard {
    rollout: Rollout,
    outcome: Outcome,
    /// Duration in seconds, by the trainer's clock.
    seconds: f64,
    /// Weight of each instance in the mean over the batch.
    share: f64,
    /// Variant of the problem in the last update, if there are variants.
    variant: Option<Arc<Problem>>,
}

impl Trainer {
    /// Starts a run; its shards are distributed over threads and ranks.
    pub fn new(parts: Parts, seed: u64, threads: Threads) -> Result<Self, Error> {
        let Parts { problem, policy, train, variants, validation } = parts;
        check_agents(&*policy, &train)?;
        let count = train.batch.div_ceil(train.shard);
        let own = threads.ranks().own(count);
        // Number of shards of all ranks on this machine.
        let here = own.len().saturating_mul(threads.ranks().here()).min(count);
        // The variant with the longest episodes needs the most memory.
        let longest = variants.iter().fold(&problem, |a, b| if b.ticks > a.ticks { b } else { a });
        afford(longest, &*policy, &train, here)?;
        let params = policy.init(&mut Rng::new(seed, Stream::Init, 0));
        let (ticks, agents) = (training_ticks(&problem, &train), problem.agents);
        let (keep, rematerialise) = memory_plan(longest, &*policy, &params, &train, here);
        let shard = |_| Shard {
            rollout: Rollout::new(ticks, train.segment, keep, agents)
                .rematerialise(rematerialise)
                .action_repeat(train.hold)
                .gradient_decay(train.gradient_decay),
            share: 0.0,
            seconds: 0.0,
            outcome: Outcome::Finished,
            variant: None,
        };
        let shards = own.map(shard).collect();
        let adam = Adam::new(params.theta().len());
        let (gradient, average) = (vec![0.0; params.theta().len()], params.clone());
        let (best, clock) = (None, None);
        Ok(Self {
            problem,
            policy,
            train,
            params,
            seed,
            update: 0,
            best,
            adam,
            average,
            variants,
            validation,
            clock,
            shards,
            gradient,
            threads,
        })
    }

    /// Returns true if all updates are made.
    pub fn finished(&self) -> bool {
        self.update >= self.train.updates
    }

    /// Makes one update, and a validation when due.
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
        // EMA warm-up: the first parameters, far from any good ones, must not dominate for long.
        let past = train.average.min(self.update as f64 / (self.update as f64 + 10.0));
        for (mean, theta) in self.average.theta_mut().iter_mut().zip(self.params.theta()) {
            *mean = (past * *mean as f64 + (1.0 - past) * *theta as f64) as Real;
        }
        self.update += 1;
        let due = self.update.is_multiple_of(train.validate_every) || self.finished();
        let validation = if due { Some(self.validate()?) } else { None };
        Ok(Progress { update: self.update, cost: terms.iter().sum(), terms, gradient: norm, rate, validation })
    }

    /// Computes the terms of the mean cost of the next batch, and the gradient in `self.gradient`.
    fn gradient(&mut self) -> Result<Vec<f64>, Error> {
        let Self { problem, policy, params, shards, threads, seed, update, train, clock, variants, .. } = self;
        let (problem, policy, params, train, variants) = (&**problem, &**policy, &*params, &*train, &*variants);
        let first = threads.ranks().own(train.batch.div_ceil(train.shard)).start;
        let (seed, update) = (*seed, *update);
        let now = || clock.map_or(0.0, |clock| clock());
        threads.for_each(shards, |s, shard| {
            let since = now();
            if !variants.is_empty() {
                shard.variant = Some(variants[sample::variant(variants.len(), train, seed, update, first + s)].clone());
            }
            let problem = shard.variant.as_deref().unwrap_or(problem);
            shard.rollout.set_ticks(training_ticks(problem, train));
            shard.share = sample::fill(&mut shard.rollout.batch, problem, train, seed, update, first + s);
            shard.rollout.clear_gradient();
            let episode = shard.rollout.forward(problem, Control::Policy(policy, params), GradientTargets::PARAMS, &mut |_| {});
            shard.outcome = episode.outcome;
            if episode.outcome == Outcome::Finished {
                episode.backward(Loss::cost(shard.share));
                if train.clip_shard > 0.0 {
                    let weight = shard.share * shard.rollout.batch.size as f64;
                    shard.rollout.limit_gradient(train.clip_shard * weight);
                }
            }
            shard.seconds = now() - since;
        });
        self.add_up(true)
    }

    /// Sums the results of the shards and returns the terms of the mean cost.
    fn add_up(&mut self, with_gradient: bool) -> Result<Vec<f64>, Error> {
        let ranks = self.threads.ranks();
        let terms = self.problem.task.terms().len();
        // Per shard: its part of the mean of each term, and the tick at which an episode diverged, or NaN.
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

    /// Scores the validation instances and keeps the best parameters.
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
            // A diverged episode has an infinite score, so it never counts as a good one.
            logarithms += scores.mean(0).ln();
        }
        for variant in &self.validation {
            let request = Request { stream: Stream::Validate, ..Request::test(variant.agents, *validate_instances, self.seed) };
            let scores = evaluate::scores(variant, &*self.policy, &self.average, &request, &self.threads)?;
            logarithms += scores.mean(0).ln();
        }
        let score = (logarithms / (cases.len() + self.validation.len()) as f64).exp();
        if self.best.as_ref().is_none_or(|best| score < best.score) {
            self.best = Some(Best { score, update: self.update, theta: self.average.theta().to_vec() });
        }
        Ok(score)
    }

    /// Returns the parameters to use: the best on validation, or the current ones before the first validation.
    pub fn chosen(&self) -> Params {
        let mut params = self.params.clone();
        if let Some(best) = &self.best {
            params.theta_mut().copy_from_slice(&best.theta);
            params.refresh();
        }
        params
    }

    /// Returns the parameters after the last update: their average, if one is kept.
    pub fn last(&self) -> Params {
        let mut params = self.average.clone();
        params.refresh();
        params
    }

    /// Returns the memory of recorded values, in bytes.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.rollout.bytes()).sum()
    }

    /// Returns the gradient of the last update, before clipping.
    pub fn last_gradient(&self) -> &[Real] {
        &self.gradient
    }

    /// Returns the ranks that the run is distributed over.
    pub fn ranks(&self) -> &dyn Ranks {
        self.threads.ranks()
    }

    /// Returns the duration of each shard of this rank in the last update, in seconds.
    pub fn shard_seconds(&self) -> impl Iterator<Item = f64> {
        self.shards.iter().map(|shard| shard.seconds)
    }

    /// Returns the number of agents and of instances of each shard of this rank in the last update.
    pub fn shard_sizes(&self) -> impl Iterator<Item = [usize; 2]> {
        self.shards.iter().map(|shard| [shard.rollout.batch.agents, shard.rollout.batch.size])
    }

    /// Calls `f` once on each of the run's threads.
    pub fn each_thread<T: Send>(&self, f: impl Fn() -> T + Sync) -> Vec<T> {
        self.threads.broadcast(f)
    }

    /// Does the work of one update without changing anything and returns its cost; for timing.
    pub fn time_update(&mut self) -> Result<f64, Error> {
        Ok(self.gradient()?.iter().sum())
    }

    /// Computes the cost of the last batch without its gradient; for timing.
    pub fn time_cost(&mut self) -> Result<f64, Error> {
        let Self { problem, policy, params, shards, threads, .. } = self;
        let (problem, policy, params) = (&**problem, &**policy, &*params);
        threads.for_each(shards, |_, shard| {
            let control = Control::Policy(policy, params);
            let problem = shard.variant.as_deref().unwrap_or(problem);
            shard.outcome = shard.rollout.forward(problem, control, GradientTargets::default(), &mut |_| {}).outcome;
        });
        Ok(self.add_up(false)?.iter().sum())
    }
}

/// Returns the number of decisions of a training episode: one per tick of the problem, unless the recipe has fewer
/// ticks or repeats actions.
#[doc(hidden)]
pub fn training_ticks(problem: &Problem, train: &Train) -> usize {
    let ticks = if train.ticks == 0 { problem.ticks } else { train.ticks.min(problem.ticks) };
    (ticks / train.hold).max(2)
}

/// Rejects numbers of agents that the policy does not support.
fn check_agents(policy: &dyn Policy, train: &Train) -> Result<(), Error> {
    let Some(only) = policy.fixed_agents() else { return Ok(()) };
    for (key, numbers) in [("train.agents", &train.agents), ("train.validate_agents", &train.validate_agents)] {
        if numbers.iter().any(|&agents| agents != only) {
            let expected = format!("[]: this policy drives {only} agents and no other number, as in the paper's preset");
            return Err(Error::bad(key, format!("{numbers:?}"), expected));
        }
    }
    Ok(())
}

/// Overhead of a recorded segment, in bytes.
const SEGMENT: f64 = 600.0;

/// Rejects a batch of which `shards` shards, with their states and one recorded segment, do not fit into memory.
#[doc(hidden)]
pub fn afford(problem: &Problem, policy: &dyn Policy, train: &Train, shards: usize) -> Result<(), Error> {
    let features = problem.swarm.features();
    // Shards with many agents hold fewer instances, but at least two.
    let each = |agents: usize| sample::fit(train.shard, problem.agents, agents) * agents;
    let most = train.agents.iter().map(|&agents| each(agents)).max().unwrap_or(0).div_ceil(train.shard).max(problem.agents);
    let (nodes, agents) = (problem.stepper.state_count() as f64, most as f64);
    let waiting = 1 + problem.swarm.disturbance().pending(train.hold);
    let state = nodes + agents * (problem.swarm.dimensions() + waiting * problem.swarm.action_width()) as f64;
    let seen = if features.shared { features.patch.count() as f64 } else { agents * features.patch.count() as f64 };
    let ticks = training_ticks(problem, train);
    let kept = state * ticks.div_ceil(train.segment) as f64;
    let [step, once] = problem.stepper.workspace().map(|numbers| numbers as f64);
    let tick = 8.0 * nodes + step + 2.0 * seen + 300.0 * agents + policy.room(most) as f64;
    let recorded = tick * train.segment.min(ticks) as f64;
    let what = format!("a batch of {} instances with {} agents over {ticks} ticks", train.batch, problem.agents);
    let numbers = shards.saturating_mul(train.shard).min(train.batch) as f64 * (kept + recorded);
    let each_shard = SEGMENT * ticks.div_ceil(train.segment) as f64 + size_of::<Real>() as f64 * once;
    budget::check(&what, size_of::<Real>() as f64 * numbers + shards as f64 * each_shard)
}

/// Returns whether all segments of all shards are kept, and whether cheap values are recomputed: the fastest choice
/// that fits into the memory setting.
fn memory_plan(problem: &Problem, policy: &dyn Policy, params: &Params, train: &Train, shards: usize) -> (bool, bool) {
    let fits = |rematerialise: bool| {
        let bytes = episode_bytes(problem, policy, params, train, train.shard.min(train.batch), rematerialise) * shards;
        bytes <= train.memory_mb << 20
    };
    if fits(false) {
        (true, false)
    } else if fits(true) {
        (true, true)
    } else {
        // Each segment is recomputed right before its backward sweep, so recomputing parts of it again would gain
        // nothing.
        (false, false)
    }
}

/// Returns the memory, in bytes, of a recorded episode of `size` instances, estimated from one segment.
#[doc(hidden)]
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
    let (positions, zero) = (problem.swarm.start(problem.agents), vec![0.0; problem.stepper.state_count()]);
    (0..size).for_each(|_| probe.batch.push(&zero, &zero, &positions));
    probe.forward(problem, Control::Policy(policy, params), GradientTargets::PARAMS, &mut |_| {});
    probe.bytes() * ticks.div_ceil(segment)
}
