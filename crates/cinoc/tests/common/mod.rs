//! Small problems for tests.
#![allow(dead_code)]

use cinoc::Config;
use cinoc::config::Overlay;
use cinoc::problem::{Preset, Problem};
use cinoc::random::{Rng, Stream};
use cinoc::rollout::Rollout;
use cinoc::task::Use;

/// The paper's settings with changes, made cheaper where that is not what is tested: narrow convolutions, few substeps, short free runs.
pub fn config(problem: &str, changes: &[&str]) -> Config {
    let mut overlay = Overlay::default();
    changes.iter().for_each(|c| overlay.set(c).expect("a change"));
    let mut config = Problem::configure(problem, Preset::Paper, &overlay).expect("a configuration");
    cinoc::inspect::hasten(&mut config);
    config.policy.convolutions.iter_mut().for_each(|channels| *channels = 4);
    config.physics.get_mut("substeps").into_iter().for_each(|substeps| *substeps = 4.0);
    config
}

/// A rollout of the first `size` training instances.
pub fn rollout(problem: &Problem, size: usize, segment: usize, keep: bool) -> Rollout {
    let agents = problem.config.swarm.agents;
    let mut rollout = Rollout::new(problem.ticks, segment, keep, agents);
    let xi = problem.swarm.start(agents);
    for i in 0..size {
        let instance = problem.task.sample(&mut Rng::new(5, Stream::Train, i as u64), Use::Training);
        rollout.batch.push(&instance.start, &instance.target, &xi);
    }
    rollout
}
