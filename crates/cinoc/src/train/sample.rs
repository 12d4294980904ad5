//! Training instances, randomised in the number of agents, positions, strengths and failures.

use crate::place::{WITHIN, cluster, scatter};
use crate::random::{Rng, Split, Stream};
use crate::recipe::Train;
use crate::rollout::Batch;
use crate::{Problem, Real};

/// Fills a shard of the batch of an update and returns the weight of each of its instances in the mean over the batch.
///
/// All shards have equal weight: one with more agents than the problem has holds fewer instances, so that all take
/// equally long.
pub fn fill(batch: &mut Batch, problem: &Problem, train: &Train, seed: u64, update: usize, shard: usize) -> f64 {
    batch.clear();
    let all = shard * train.shard..((shard + 1) * train.shard).min(train.batch);
    batch.agents = agents(problem, train, seed, update * train.batch.div_ceil(train.shard) + shard);
    let fit = fit(all.len(), problem.agents, batch.agents);
    let positions = problem.swarm.start(batch.agents);
    for i in all.clone().take(fit) {
        let mirrored = train.mirror && (i - all.start) % 2 == 1;
        let index = update * train.batch + i - usize::from(mirrored);
        let mut rng = Rng::new(seed, Stream::Train, index as u64);
        let mut instance = problem.task.sample(&mut rng, Split::Training);
        if mirrored {
            instance.start.iter_mut().chain(&mut instance.target).for_each(|z| *z = -*z);
        }
        batch.push(&instance.start, &instance.target, &positions);
        batch.seed(Rng::seed(seed, Stream::Train, (update * train.batch + i) as u64));
        jitter_positions(problem, train, &mut rng, batch);
        sample_strengths(problem, train, &mut rng, batch);
        fail_some(problem, train, &mut rng, batch);
        let [quietest, noisiest] = train.noise_factor;
        if noisiest > quietest {
            batch.scale_noise(rng.uniform(quietest.ln(), noisiest.ln()).exp());
        }
    }
    all.len() as f64 / (fit * train.batch) as f64
}

/// Returns the index of the variant, out of `count`, that a shard takes.
pub fn variant(count: usize, train: &Train, seed: u64, update: usize, shard: usize) -> usize {
    let index = update * train.batch.div_ceil(train.shard) + shard;
    (Rng::new(seed, Stream::Variant, index as u64).uniform(0.0, count as f64) as usize).min(count - 1)
}

/// Returns the number of instances, out of `all`, of a shard with `agents` agents if the problem has `own`: at least
/// two, if there are two.
pub fn fit(all: usize, own: usize, agents: usize) -> usize {
    (all.saturating_mul(own) / agents).clamp(2.min(all), all)
}

/// Samples the number of agents of a shard.
fn agents(problem: &Problem, train: &Train, seed: u64, index: usize) -> usize {
    match train.agents.len() {
        0 => problem.agents,
        count => {
            let drawn = Rng::new(seed, Stream::Cardinality, index as u64).uniform(0.0, count as f64) as usize;
            train.agents[drawn.min(count - 1)]
        }
    }
}

/// Returns true with a probability. Nothing is sampled for probability zero.
fn happens(rng: &mut Rng, chance: f64) -> bool {
    chance > 0.0 && rng.uniform(0.0, 1.0) < chance
}

/// Randomises the positions of the last instance of a batch.
fn jitter_positions(problem: &Problem, train: &Train, rng: &mut Rng, batch: &mut Batch) {
    let d = problem.swarm.dimensions();
    let lengths: Vec<f64> = problem.stepper.grid().lengths.iter().map(|&length| length as f64).collect();
    let last = batch.positions.len() - batch.agents * d;
    let positions = &mut batch.positions[last..];
    let mut moved = false;
    // A lattice of any number of agents may be transposed.
    if !train.agents.is_empty() && d == 2 && lengths[0] == lengths[1] && happens(rng, 0.5) {
        positions.as_chunks_mut::<2>().0.iter_mut().for_each(|xi| xi.swap(0, 1));
        moved = true;
    }
    if happens(rng, train.clustered) {
        cluster(rng, &lengths, positions);
        moved = true;
    } else if happens(rng, train.scattered) {
        scatter(rng, &[vec![0.0; d], lengths.clone()], WITHIN, positions);
        moved = true;
    }
    let jitter = train.start_jitter;
    if jitter > 0.0 {
        for (i, xi) in positions.iter_mut().enumerate() {
            *xi = ((*xi as f64 + rng.uniform(-jitter, jitter)) as Real).clamp(0.0, lengths[i % d] as Real);
        }
        moved = true;
    }
    if moved {
        problem.swarm.settle(positions);
    }
}

/// Samples the strengths of the last instance of a batch.
fn sample_strengths(problem: &Problem, train: &Train, rng: &mut Rng, batch: &mut Batch) {
    let Train { dropout, strength: [weakest, strongest], strength_share, strength_each, strength_many, .. } = *train;
    let first = batch.strength.len() - batch.agents;
    let strengths = &mut batch.strength[first..];
    if strongest > weakest && rng.uniform(0.0, 1.0) < strength_share {
        strengths.fill(rng.uniform(weakest.ln(), strongest.ln()).exp() as Real);
    }
    if strength_many > 1.0 && batch.agents > problem.agents {
        let factor = rng.uniform(0.0, strength_many.ln()).exp() as Real;
        strengths.iter_mut().for_each(|strength| *strength *= factor);
    }
    if strength_each > 0.0 {
        strengths.iter_mut().for_each(|strength| *strength *= rng.uniform(-strength_each, strength_each).exp() as Real);
    }
    if dropout > 0.0 {
        strengths.iter_mut().filter(|_| rng.uniform(0.0, 1.0) < dropout).for_each(|strength| *strength = 0.0);
    }
}

/// Latest failure, as a fraction of the episode: later ones teach nothing.
const LATEST: f64 = 0.93;

/// Probability of each agent to fail, if single agents do.
const EACH: f64 = 0.3;

/// Makes agents of the last instance of a batch fail, but never all of them.
fn fail_some(problem: &Problem, train: &Train, rng: &mut Rng, batch: &mut Batch) {
    if !happens(rng, train.deaths) || batch.agents < 2 {
        return;
    }
    let ticks = super::training_ticks(problem, train) * train.hold;
    let tick = rng.uniform(0.0, LATEST * ticks as f64) as usize;
    let agents = batch.agents;
    if happens(rng, train.blocks) {
        let count = ((rng.uniform(0.2, 0.45) * agents as f64).round() as usize).clamp(1, agents - 1);
        let d = problem.swarm.dimensions();
        let lengths = &problem.stepper.grid().lengths;
        let at: Vec<Real> = (0..d).map(|c| rng.uniform(0.0, lengths[c] as f64) as Real).collect();
        let positions = &batch.positions[batch.positions.len() - agents * d..];
        let far = |i: usize| positions[i * d..][..d].iter().zip(&at).map(|(a, b)| (a - b) * (a - b)).sum::<Real>();
        let mut order: Vec<usize> = (0..agents).collect();
        order.sort_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)));
        order[..count].iter().for_each(|&agent| batch.fail_agent(agent, tick));
    } else {
        let spared = (rng.uniform(0.0, agents as f64) as usize).min(agents - 1);
        for agent in (0..agents).filter(|&agent| agent != spared) {
            if rng.uniform(0.0, 1.0) < EACH {
                batch.fail_agent(agent, tick);
            }
        }
    }
}
