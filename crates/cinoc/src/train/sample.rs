//! What training learns from: instances, and what is done to them so that a policy also knows other numbers of agents, places, strengths and deaths.

use crate::place::{WITHIN, cluster, scatter};
use crate::random::{Rng, Stream, Use};
use crate::recipe::Train;
use crate::rollout::Batch;
use crate::{Problem, Real};

/// Fills a shard of the batch of an update; the weight of each of its instances in the mean over the batch.
///
/// Every shard counts alike, whatever its agents: one with more agents than the problem has holds fewer instances, so that all take as long.
pub fn fill(batch: &mut Batch, problem: &Problem, train: &Train, seed: u64, update: usize, shard: usize) -> f64 {
    batch.clear();
    let all = shard * train.shard..((shard + 1) * train.shard).min(train.batch);
    batch.agents = agents(problem, train, seed, update * train.batch.div_ceil(train.shard) + shard);
    let fit = fit(all.len(), problem.agents, batch.agents);
    let places = problem.swarm.start(batch.agents);
    for i in all.clone().take(fit) {
        let mirrored = train.mirror && (i - all.start) % 2 == 1;
        let index = update * train.batch + i - usize::from(mirrored);
        let mut rng = Rng::new(seed, Stream::Train, index as u64);
        let mut instance = problem.task.sample(&mut rng, Use::Training);
        if mirrored {
            instance.start.iter_mut().chain(&mut instance.target).for_each(|z| *z = -*z);
        }
        batch.push(&instance.start, &instance.target, &places);
        batch.seed(Rng::seed(seed, Stream::Train, (update * train.batch + i) as u64));
        move_agents(problem, train, &mut rng, batch);
        weaken(problem, train, &mut rng, batch);
        kill(problem, train, &mut rng, batch);
    }
    all.len() as f64 / (fit * train.batch) as f64
}

/// How many of `all` instances a shard with so many agents holds, where a problem has its `own` number: two at the least, if there are two.
pub fn fit(all: usize, own: usize, agents: usize) -> usize {
    (all.saturating_mul(own) / agents).clamp(2.min(all), all)
}

/// How many agents a shard has.
fn agents(problem: &Problem, train: &Train, seed: u64, index: usize) -> usize {
    match train.agents.len() {
        0 => problem.agents,
        count => {
            let drawn = Rng::new(seed, Stream::Cardinality, index as u64).uniform(0.0, count as f64) as usize;
            train.agents[drawn.min(count - 1)]
        }
    }
}

/// Whether something happens that happens with this chance. Nothing is drawn for what never happens.
fn happens(rng: &mut Rng, chance: f64) -> bool {
    chance > 0.0 && rng.uniform(0.0, 1.0) < chance
}

/// Moves the agents of the last instance of a batch.
fn move_agents(problem: &Problem, train: &Train, rng: &mut Rng, batch: &mut Batch) {
    let d = problem.swarm.dimensions();
    let lengths: Vec<f64> = problem.stepper.grid().lengths.iter().map(|&length| length as f64).collect();
    let last = batch.places.len() - batch.agents * d;
    let places = &mut batch.places[last..];
    let mut moved = false;
    // A lattice of any number of agents can lie either way.
    if !train.agents.is_empty() && d == 2 && lengths[0] == lengths[1] && happens(rng, 0.5) {
        places.as_chunks_mut::<2>().0.iter_mut().for_each(|xi| xi.swap(0, 1));
        moved = true;
    }
    if happens(rng, train.clustered) {
        cluster(rng, &lengths, places);
        moved = true;
    } else if happens(rng, train.scattered) {
        scatter(rng, &[vec![0.0; d], lengths.clone()], WITHIN, places);
        moved = true;
    }
    let jitter = train.start_jitter;
    if jitter > 0.0 {
        for (i, xi) in places.iter_mut().enumerate() {
            *xi = ((*xi as f64 + rng.uniform(-jitter, jitter)) as Real).clamp(0.0, lengths[i % d] as Real);
        }
        moved = true;
    }
    if moved {
        problem.swarm.settle(places);
    }
}

/// Draws the strengths of the last instance of a batch.
fn weaken(problem: &Problem, train: &Train, rng: &mut Rng, batch: &mut Batch) {
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

/// Agents die latest at this share of an episode: later, nobody could learn from it.
const LATEST: f64 = 0.93;

/// Chance of each to die where single agents do.
const EACH: f64 = 0.3;

/// Lets agents of the last instance of a batch die; never all of them.
fn kill(problem: &Problem, train: &Train, rng: &mut Rng, batch: &mut Batch) {
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
        let places = &batch.places[batch.places.len() - agents * d..];
        let far = |i: usize| places[i * d..][..d].iter().zip(&at).map(|(a, b)| (a - b) * (a - b)).sum::<Real>();
        let mut order: Vec<usize> = (0..agents).collect();
        order.sort_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)));
        order[..count].iter().for_each(|&agent| batch.kill(agent, tick));
    } else {
        let spared = (rng.uniform(0.0, agents as f64) as usize).min(agents - 1);
        for agent in (0..agents).filter(|&agent| agent != spared) {
            if rng.uniform(0.0, 1.0) < EACH {
                batch.kill(agent, tick);
            }
        }
    }
}
