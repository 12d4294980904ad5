//! What training learns from: instances, and what is done to them so that a policy also knows other places and strengths.

use crate::random::{Rng, Stream, Use};
use crate::recipe::Train;
use crate::rollout::Batch;
use crate::{Problem, Real};

/// Fills a shard of the batch of an update.
pub fn fill(batch: &mut Batch, problem: &Problem, train: &Train, seed: u64, update: usize, shard: usize) {
    batch.clear();
    let places = problem.swarm.start(problem.agents);
    for i in shard * train.shard..((shard + 1) * train.shard).min(train.batch) {
        let mirrored = train.mirror && i % 2 == 1;
        let index = update * train.batch + i - usize::from(mirrored);
        let mut rng = Rng::new(seed, Stream::Train, index as u64);
        let mut instance = problem.task.sample(&mut rng, Use::Training);
        if mirrored {
            instance.start.iter_mut().chain(&mut instance.target).for_each(|z| *z = -*z);
        }
        batch.push(&instance.start, &instance.target, &places);
        disturb(problem, train, &mut rng, batch);
    }
}

/// Moves, weakens or kills agents of the last instance of a batch.
fn disturb(problem: &Problem, train: &Train, rng: &mut Rng, batch: &mut Batch) {
    let Train { start_jitter, dropout, strength: [weakest, strongest], strength_share, .. } = *train;
    let coordinates = batch.agents * problem.swarm.dimensions();
    let lengths = &problem.stepper.grid().lengths;
    let last = batch.places.len() - coordinates;
    if start_jitter > 0.0 {
        for (i, xi) in batch.places[last..].iter_mut().enumerate() {
            let moved = *xi as f64 + rng.uniform(-start_jitter, start_jitter);
            *xi = (moved as Real).clamp(0.0, lengths[i % lengths.len()]);
        }
        problem.swarm.settle(&mut batch.places[last..]);
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
