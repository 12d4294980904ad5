//! Small problems for tests.
#![allow(dead_code)]

use cinoc::config::Overlay;
use cinoc::problem::{Preset, Problem};
use cinoc::random::{Rng, Stream};
use cinoc::rollout::Rollout;
use cinoc::task::Use;
use cinoc::{Config, Real};
use cinoc_tape::check::{Function, Point, noise, pull_back};

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

/// Value and cotangents of two ways to compute the same.
pub fn agree(point: Point, fused: &Function, plain: &Function) {
    let count = pull_back(&point, plain, None).0.len();
    let y_bar = noise(count, 77);
    let ((a, a_bars), (b, b_bars)) = (pull_back(&point, fused, Some(&y_bar)), pull_back(&point, plain, Some(&y_bar)));
    let limit = if cfg!(feature = "f64") { 1e-12 } else { 3e-5 };
    let close = |a: &[Real], b: &[Real]| {
        let size = b.iter().fold(1.0, |m: Real, b| m.max(b.abs()));
        assert!(a.iter().zip(b).all(|(a, b)| ((a - b).abs() as f64) < limit * size as f64), "{a:?}\n{b:?}");
    };
    close(&a, &b);
    a_bars.iter().zip(&b_bars).for_each(|(a, b)| close(a, b));
}
