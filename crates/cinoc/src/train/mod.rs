//! The training loop: shards of instances on threads, summed in a fixed order, then clip and Adam.

mod adam;
mod schedule;

pub use adam::Adam;
pub use schedule::rate;

use crate::config::TrainConfig;
use crate::evaluate::{self, Request};
use crate::policy::Policy;
use crate::random::{Rng, Stream};
use crate::rollout::{Batch, Outcome, Rollout};
use crate::task::Use;
use crate::{Error, Problem, Real};
use cinoc_tape::Params;
use rayon::prelude::*;

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
    pub problem: Problem,
    /// What is trained.
    pub policy: Box<dyn Policy>,
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
    /// Running mean of the parameters.
    pub average: Params,
    shards: Vec<Rollout>,
    gradient: Vec<Real>,
    threads: rayon::ThreadPool,
}

/// A pool of threads; 0 takes as many as there are cores.
pub fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
}

impl Trainer {
    /// A fresh run.
    pub fn new(problem: Problem, seed: u64, threads: usize) -> Result<Self, Error> {
        let policy = problem.policy()?;
        let params = policy.init(&mut Rng::new(seed, Stream::Init, 0));
        let train = &problem.config.train;
        let (ticks, agents) = (training_ticks(&problem), problem.config.swarm.agents);
        let count = train.batch.div_ceil(train.shard);
        let (keep, thrifty) = keeps(&problem, &*policy, &params, count);
        let shards = (0..count).map(|_| Rollout::new(ticks, train.segment, keep, agents).rematerialise(thrifty)).collect();
        let adam = Adam::new(params.theta().len());
        let gradient = vec![0.0; params.theta().len()];
        let average = params.clone();
        Ok(Self { problem, policy, params, seed, update: 0, best: None, adam, average, shards, gradient, threads: pool(threads) })
    }

    /// Whether all updates are done.
    pub fn finished(&self) -> bool {
        self.update >= self.problem.config.train.updates
    }

    /// One update, and a validation where it is due.
    pub fn step(&mut self) -> Result<Progress, Error> {
        let (cost, terms) = self.gradient()?;
        let train = &self.problem.config.train;
        let norm = self.gradient.iter().map(|&g| g as f64 * g as f64).sum::<f64>().sqrt();
        if !norm.is_finite() {
            return Err(Error::NotFinite { update: self.update + 1, what: "the gradient", place: String::new() });
        }
        let rate = rate(train, self.update);
        let scale = if norm > train.clip { train.clip / norm } else { 1.0 };
        self.adam.step(self.params.theta_mut(), &self.gradient, rate, scale);
        self.params.refresh();
        // The first parameters are forgotten sooner than later ones.
        let past = train.average.min(self.update as f64 / (self.update as f64 + 10.0));
        for (mean, theta) in self.average.theta_mut().iter_mut().zip(self.params.theta()) {
            *mean = (past * *mean as f64 + (1.0 - past) * *theta as f64) as Real;
        }
        self.update += 1;
        let due = self.update.is_multiple_of(train.validate_every) || self.finished();
        let validation = due.then(|| self.validate());
        Ok(Progress { update: self.update, cost, terms, gradient: norm, rate, validation })
    }

    /// Mean cost of the next batch and its terms; the gradient is left in `self.gradient`.
    fn gradient(&mut self) -> Result<(f64, Vec<f64>), Error> {
        let Self { problem, policy, params, shards, threads, seed, update, .. } = self;
        let (problem, policy, params, seed, update) = (&*problem, &**policy, &*params, *seed, *update);
        let train = &problem.config.train;
        let progress = (update as f64 / train.updates as f64).min(1.0);
        let reach = (1.0 + progress * (train.approach - 1.0)) as Real;
        let outcomes: Vec<Outcome> = threads.install(|| {
            let work = shards.par_iter_mut().enumerate().map(|(s, shard)| {
                shard.batch.clear();
                let xi = problem.swarm.start(problem.config.swarm.agents);
                for i in s * train.shard..((s + 1) * train.shard).min(train.batch) {
                    let mirrored = train.mirror && i % 2 == 1;
                    let index = update * train.batch + i - usize::from(mirrored);
                    let mut rng = Rng::new(seed, Stream::Train, index as u64);
                    let mut instance = problem.task.sample(&mut rng, Use::Training);
                    if mirrored {
                        instance.start.iter_mut().chain(&mut instance.target).for_each(|z| *z = -*z);
                    }
                    if reach < 1.0 {
                        instance
                            .start
                            .iter_mut()
                            .zip(&instance.target)
                            .for_each(|(z, target)| *z = target + reach * (*z - target));
                    }
                    shard.batch.push(&instance.start, &instance.target, &xi);
                    disturb(problem, &mut rng, &mut shard.batch);
                }
                let outcome = shard.forward(problem, policy, params, true, &mut |_| {});
                if outcome == Outcome::Finished {
                    shard.bars.clear_shared();
                    shard.backward(problem, policy, params, 1.0 / train.batch as f64);
                }
                outcome
            });
            work.collect()
        });
        for outcome in outcomes {
            if let Outcome::Diverged { tick } = outcome {
                return Err(Error::NotFinite { update: update + 1, what: "the cost", place: format!(" at tick {tick}") });
            }
        }
        // Always shard by shard: the sum does not depend on which thread was first.
        self.gradient.fill(0.0);
        let mut terms = vec![0.0; problem.task.terms().len()];
        for shard in &self.shards {
            self.gradient.iter_mut().zip(&*shard.bars.shared).for_each(|(g, s)| *g += s);
            let size = shard.batch.size;
            for (term, sum) in terms.iter_mut().enumerate() {
                *sum += shard.costs[term * size..][..size].iter().sum::<f64>() / train.batch as f64;
            }
        }
        Ok((terms.iter().sum(), terms))
    }

    /// Scores the validation instances and remembers the best parameters.
    fn validate(&mut self) -> f64 {
        self.average.refresh();
        let train = &self.problem.config.train;
        let trained = [self.problem.config.swarm.agents];
        let counts = if train.validate_agents.is_empty() { &trained[..] } else { &train.validate_agents };
        let mut logarithms = 0.0;
        for &agents in counts {
            let instances = train.validate_instances;
            let request = Request { agents, instances, seed: self.seed, stream: Stream::Validate, fail: 0.0 };
            let scores = evaluate::scores(&self.problem, &*self.policy, &self.average, &request, &self.threads);
            // A diverged episode must never count as a good one.
            logarithms += if scores.diverged > 0 { f64::INFINITY } else { scores.mean(0).ln() };
        }
        // The geometric mean: a factor counts the same at every number of agents.
        let score = (logarithms / counts.len() as f64).exp();
        if self.best.as_ref().is_none_or(|best| score < best.score) {
            self.best = Some(Best { score, update: self.update, theta: self.average.theta().to_vec() });
        }
        score
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

    /// Bytes of recorded values.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(Rollout::bytes).sum()
    }

    /// The gradient of the last update or rehearsal, before clipping.
    pub fn last_gradient(&self) -> &[Real] {
        &self.gradient
    }

    /// Calls `f` once on each of the run's threads.
    pub fn each_thread<T: Send>(&self, f: impl Fn() -> T + Sync) -> Vec<T> {
        self.threads.broadcast(|_| f())
    }

    /// Repeats the work of one update without changing anything: for timing. The loss alone, or with its gradient.
    pub fn rehearse(&mut self, with_gradient: bool) -> Result<f64, Error> {
        if with_gradient {
            return Ok(self.gradient()?.0);
        }
        let Self { problem, policy, params, shards, threads, .. } = self;
        let (problem, policy, params) = (&*problem, &**policy, &*params);
        threads.install(|| {
            shards.par_iter_mut().for_each(|shard| {
                shard.forward(problem, policy, params, false, &mut |_| {});
            });
        });
        Ok(self.shards.iter().flat_map(|s| &s.costs).sum::<f64>() / problem.config.train.batch as f64)
    }
}

/// What training does to the agents of the last instance of a batch, so that the policy also knows other places and strengths.
fn disturb(problem: &Problem, rng: &mut Rng, batch: &mut Batch) {
    let TrainConfig { start_jitter, dropout, strength: [weakest, strongest], strength_share, .. } = problem.config.train;
    let coordinates = batch.agents * problem.swarm.dimensions();
    let lengths = &problem.stepper.grid().lengths;
    let last = batch.xi.len() - coordinates;
    if start_jitter > 0.0 {
        for (i, xi) in batch.xi[last..].iter_mut().enumerate() {
            let moved = *xi as f64 + rng.uniform(-start_jitter, start_jitter);
            *xi = (moved as Real).clamp(0.0, lengths[i % lengths.len()]);
        }
        problem.swarm.settle(&mut batch.xi[last..]);
    }
    let first = batch.strength.len() - batch.agents;
    if strongest > weakest && rng.uniform(0.0, 1.0) < strength_share {
        batch.strength[first..].fill(rng.uniform(weakest.ln(), strongest.ln()).exp() as Real);
    }
    if dropout > 0.0 {
        for strength in &mut batch.strength[first..] {
            if rng.uniform(0.0, 1.0) < dropout {
                *strength = 0.0;
            }
        }
    }
}

/// Ticks of a training episode: the problem's, unless the recipe says fewer.
fn training_ticks(problem: &Problem) -> usize {
    match problem.config.train.ticks {
        0 => problem.ticks,
        ticks => ticks.min(problem.ticks),
    }
}

/// Whether all segments of all shards are kept, and whether thriftily: the fastest that fits into the memory that may be used.
fn keeps(problem: &Problem, policy: &dyn Policy, params: &Params, shards: usize) -> (bool, bool) {
    let train = &problem.config.train;
    let fits = |thrifty: bool| {
        let bytes = episode_bytes(problem, policy, params, train.shard.min(train.batch), thrifty) * shards;
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
pub fn episode_bytes(problem: &Problem, policy: &dyn Policy, params: &Params, size: usize, thrifty: bool) -> usize {
    let train = &problem.config.train;
    let ticks = training_ticks(problem);
    let segment = train.segment.min(ticks);
    let agents = problem.config.swarm.agents;
    let mut probe = Rollout::new(segment, segment, true, agents).rematerialise(thrifty);
    let xi = problem.swarm.start(agents);
    let zero = vec![0.0; problem.stepper.grid().count()];
    (0..size).for_each(|_| probe.batch.push(&zero, &zero, &xi));
    probe.forward(problem, policy, params, true, &mut |_| {});
    probe.bytes() * ticks.div_ceil(segment)
}
