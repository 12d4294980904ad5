//! Agents that talk: messages reach neighbours one tick later, unless they are lost.

mod common;

use cinoc::env::Env;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::sense::Hear;
use cinoc::internal::threads::Threads;
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Rollout};
use cinoc::settings::Overlay;
use cinoc::{Real, Registry};
use cinoc_lab::inspect;
use cinoc_pde::Grid;
use cinoc_tape::{Arena, Tape};
use common::{names, parts, with_policy};
use std::sync::Arc;

/// Three agents on a line and four on a ring: each hears the nearest active one to the left and to the right.
#[test]
fn neighbours_are_heard() {
    let heard = |grid: &Grid, xi: &[Real], strength: &[Real], arrivals: &[Real]| -> Vec<Real> {
        let (hear, agents) = (Arc::new(Hear::new(grid)), xi.len());
        let tape = Tape::new(Arena::default(), &[]);
        let messages: Vec<Real> = (0..agents).flat_map(|m| [m as Real + 1.0, -(m as Real) - 1.0]).collect();
        let inputs = [
            tape.constant([1, agents, 2], &messages),
            tape.constant([1, agents, 1], xi),
            tape.constant([1, agents], strength),
            tape.constant([1, agents, 2], arrivals),
        ];
        tape.record(&hear, inputs).value().chunks_exact(2).map(|pair| pair[0]).collect()
    };
    let line = Grid::walls(10, 1.0);
    // Agent 2 is the leftmost.
    assert_eq!(heard(&line, &[0.5, 0.9, 0.1], &[1.0; 3], &[1.0; 6]), [3.0, 2.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(heard(&line, &[0.5, 0.9, 0.1], &[0.0, 1.0, 1.0], &[1.0; 6]), [3.0, 2.0, 3.0, 0.0, 0.0, 2.0]);
    assert_eq!(heard(&line, &[0.5, 0.9, 0.1], &[1.0; 3], &[0.0, 1.0, 1.0, 1.0, 1.0, 0.0]), [0.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
    let ring = Grid::periodic(10, 1.0);
    assert_eq!(heard(&ring, &[0.1, 0.4, 0.6, 0.9], &[1.0; 4], &[1.0; 8]), [4.0, 2.0, 1.0, 3.0, 2.0, 4.0, 3.0, 1.0]);
}

const TALK: [&str; 3] = ["policy.messages=3", "swarm.lost.messages=0.3", "swarm.delay=1"];

#[test]
fn the_gradient_passes_through_messages() {
    for name in ["heat1d", "heat2d", "ks1d"] {
        let mut config = with_policy(name, &["physics.ticks=6"], "recurrent");
        let changes = Overlay::from_pairs(TALK.iter().chain(&["train.batch=3"])).expect("changes");
        config = Registry::builtin().change(&config, &changes).expect("settings");
        let found = inspect::sweep(&Registry::builtin(), &config, 6, &[1e-1, 1e-2, 1e-3, 1e-4]).expect("finite");
        let best = found.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
        assert!(best < if cfg!(double) { 1e-6 } else { 2e-2 }, "{name}: {found:?}");
    }
}

/// An environment and a rollout draw the same losses, and what is lost matters.
#[test]
fn environments_and_rollouts_hear_the_same() {
    for name in names() {
        let end = |lost: &str| {
            let mut settings = with_policy(name, &["physics.ticks=6", lost], "recurrent");
            let talk = Overlay::from_pairs(["policy.messages=2", "policy.output_scale=1.0"]).expect("changes");
            settings = Registry::builtin().change(&settings, &talk).expect("settings");
            let (parts, agents) = (parts(&settings), 5);
            let params = parts.policy.init(&mut Rng::new(2, Stream::Init, 0));
            let begin = || InitialCondition::drawn(&parts.problem, agents, 4, Stream::Train, 0);
            let mut env = Env::new(parts.problem.clone(), 1, agents, Threads::single()).expect("a small environment");
            env.reset(&[true], &mut |_| begin());
            env.run(&*parts.policy, &params, 6, &mut |_| {});
            let mut rollout = Rollout::new(6, 1, false, agents);
            rollout.batch.begin(&begin());
            let control = Control::Policy(&*parts.policy, &params);
            rollout.forward(&parts.problem, control, GradientTargets::default(), &mut |_| {});
            assert!(env.field(0) == rollout.end().0, "{name}, {lost}");
            env.field(0).to_vec()
        };
        assert!(end("swarm.lost.messages=0.5") != end("swarm.lost.messages=0"), "{name}");
    }
}
