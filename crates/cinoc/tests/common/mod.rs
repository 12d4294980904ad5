//! Small problems for tests.
#![allow(dead_code)]

use cinoc::internal::random::{Rng, Split, Stream};
use cinoc::internal::registry::Parts;
use cinoc::problem::{Preset, Problem};
use cinoc::rollout::Rollout;
use cinoc::settings::Overlay;
use cinoc::{Config, Real, Registry};
use cinoc_tape::check::{Point, VarFn, noise, pull_back};

/// The paper's settings with changes.
pub fn paper(problem: &str, changes: &[&str]) -> Config {
    let overlay = Overlay::from_pairs(changes).expect("changes");
    Registry::builtin().config(problem, Preset::Paper, &overlay).expect("a configuration")
}

/// The same, made cheaper where that is not what is tested: narrow convolutions, few substeps, short free runs.
pub fn config(problem: &str, changes: &[&str]) -> Config {
    let registry = Registry::builtin();
    let config = registry.shrink(&paper(problem, &[])).expect("a configuration");
    let mut all: Vec<&str> = Vec::new();
    if config.get("policy.convolutions").and_then(|list| list.as_array()).is_some_and(|list| !list.is_empty()) {
        all.push("policy.convolutions=[4, 4]");
    }
    if config.get("physics.substeps").is_some() {
        all.push("physics.substeps=4");
    }
    all.extend(changes);
    registry.change(&config, &Overlay::from_pairs(all).expect("changes")).expect("a configuration")
}

/// The same with another kind of policy.
pub fn with_policy(problem: &str, changes: &[&str], kind: &str) -> Config {
    let kind = Overlay::from_pairs([format!("policy.kind={kind}")]).expect("a change");
    Registry::builtin().change(&config(problem, changes), &kind).expect("a configuration")
}

/// Everything that a configuration describes.
pub fn parts(config: &Config) -> Parts {
    Registry::builtin().parts(config).expect("a problem")
}

/// A problem of [`config`].
pub fn problem(name: &str, changes: &[&str]) -> Problem {
    Registry::builtin().build(&config(name, changes)).expect("a problem")
}

/// Names of all problems.
pub fn names() -> Vec<&'static str> {
    Registry::builtin().problems().collect()
}

/// A rollout of the first `size` training instances.
pub fn rollout(problem: &Problem, size: usize, segment: usize, keep: bool) -> Rollout {
    let agents = problem.agents;
    let mut rollout = Rollout::new(problem.ticks, segment, keep, agents);
    let xi = problem.swarm.start(agents);
    for i in 0..size {
        let instance = problem.task.sample(&mut Rng::new(5, Stream::Train, i as u64), Split::Training);
        rollout.batch.push(&instance.start, &instance.target, &xi);
    }
    rollout
}

/// Value and cotangents of two ways to compute the same.
pub fn agree(point: Point, fused: &VarFn, plain: &VarFn) {
    let count = pull_back(&point, plain, None).0.len();
    let y_bar = noise(count, 77);
    let ((a, a_bars), (b, b_bars)) = (pull_back(&point, fused, Some(&y_bar)), pull_back(&point, plain, Some(&y_bar)));
    let limit = if cfg!(double) { 1e-12 } else { 3e-5 };
    let close = |a: &[Real], b: &[Real]| {
        let size = b.iter().fold(1.0, |m: Real, b| m.max(b.abs()));
        assert!(a.iter().zip(b).all(|(a, b)| ((a - b).abs() as f64) < limit * size as f64), "{a:?}\n{b:?}");
    };
    close(&a, &b);
    a_bars.iter().zip(&b_bars).for_each(|(a, b)| close(a, b));
}
