//! Linear-quadratic regulators as policies.

use cinoc::evaluate::{Request, scores};
use cinoc::internal::threads::Threads;
use cinoc::problem::Preset;
use cinoc::rollout::InitialCondition;
use cinoc::settings::Overlay;
use cinoc::{Registry, internal::random::Stream};
use cinoc_lab::classical::{Filter, Linearised, Local, Lqr, Readings, Trials, tuned, windows};
use nalgebra::{DMatrix, DVector};

/// Weight of an effort so large that pushes stay far below their limit.
const MILD: f64 = 1e-3;

/// The score of a regulator agrees with that of its matrices: field and target of each instance stepped by A, B, K and F.
/// Soft limits take half a percent of such pushes.
#[test]
fn a_regulator_scores_as_its_matrices() {
    let registry = Registry::builtin();
    let config = registry.open("heat1d", Preset::Tuned, &Overlay::default()).unwrap();
    let trials = Trials { instances: 8, seed: 7, threads: &Threads::single() };
    let found = tuned(&registry, &config, &[MILD], Readings::Whole, &trials, &mut |_| {}).unwrap();
    let problem = registry.build(&config).unwrap();
    let plant = Linearised::of(&problem, problem.agents).unwrap();
    let Lqr { feedback, feedforward } = Lqr::design(&plant, MILD).unwrap();
    let mut sum = 0.0;
    for i in 0..8 {
        let start = InitialCondition::drawn(&problem, problem.agents, 7, Stream::Test, i);
        let (mut z, target) = (field(&start.start), field(&start.target));
        let forward = &feedforward * &target;
        for _ in 0..problem.ticks {
            z = &plant.field * &z + &plant.pushes * (&forward - &feedback * &z);
        }
        sum += (z - target).norm_squared() / plant.field.nrows() as f64;
    }
    let expected = sum / 8.0;
    assert!((found.score / expected - 1.0).abs() < 0.03, "{} instead of {expected}", found.score);
}

fn field(z: &[cinoc::Real]) -> DVector<f64> {
    DVector::from_iterator(z.len(), z.iter().map(|&x| f64::from(x)))
}

/// A ring of chaos is regulated by the gains of its linearisation, and the choice among weights is the best one.
#[test]
fn the_best_weight_is_chosen_and_the_model_can_be_stored() {
    let registry = Registry::builtin();
    let config = registry.open("heat1d", Preset::Tuned, &Overlay::from_pairs(["physics.ticks=100"]).unwrap()).unwrap();
    let mut tried = Vec::new();
    let threads = Threads::single();
    let trials = Trials { instances: 4, seed: 1, threads: &threads };
    let best = tuned(&registry, &config, &[1e-2, 1e-5], Readings::Whole, &trials, &mut |one| tried.push(one.score)).unwrap();
    assert_eq!(tried.len(), 2);
    assert_eq!(best.score, tried.iter().copied().fold(f64::INFINITY, f64::min));
    let again = cinoc::run::Model::from_bytes(&registry, &best.model.bytes(), std::path::Path::new("lqr")).unwrap();
    let (problem, policy) = again.build(&registry).unwrap();
    let request = Request::test(problem.agents, 4, 1);
    assert_eq!(scores(&problem, &*policy, &again.params, &request, &threads).unwrap().mean(0), best.score);
}

#[test]
fn agents_that_carry_a_density_have_no_regulator() {
    let registry = Registry::builtin();
    let config = registry.open("density2d", Preset::Tuned, &Overlay::default()).unwrap();
    let trials = Trials { instances: 1, seed: 0, threads: &Threads::single() };
    let refused = tuned(&registry, &config, &[1.0], Readings::Whole, &trials, &mut |_| {}).err().unwrap();
    assert!(refused.to_string().contains("at rest"), "{refused}");
}

/// A predictor undoes a delay: from the tick in which its first push acts, the field is that of the regulator without
/// delay that starts there. A filter with little noise changes next to nothing.
#[test]
fn a_predictor_undoes_a_delay() {
    const DELAY: usize = 3;
    let problem = cinoc::problem("heat1d").unwrap();
    let plant = Linearised::of(problem.problem(), 4).unwrap();
    let (a, b, lqr) = (&plant.field, &plant.pushes, Lqr::design(&plant, 1e-6).unwrap());
    let nodes = a.nrows();
    let all = DMatrix::identity(nodes, nodes);
    let filter = Filter::design(&plant, &all, 1e-12, &all).unwrap();
    for filter in [None, Some(&filter)] {
        let controller = lqr.controller(&plant, filter, DELAY);
        let mut state = DVector::zeros(controller.next.nrows());
        let start = DVector::from_fn(nodes, |i, _| (0.07 * i as f64).sin());
        let target = DVector::from_fn(nodes, |i, _| (0.03 * i as f64).sin());
        let (mut z, mut pending) = (start.clone(), vec![DVector::zeros(b.ncols()); DELAY]);
        let mut expected = (0..DELAY).fold(start, |z, _| a * z);
        for tick in 0..200 {
            let seen = DVector::from_iterator(2 * nodes, z.iter().chain(&target).copied());
            pending.push(&controller.direct * &seen + &controller.recall * &state);
            state = &controller.input * &seen + &controller.next * state;
            z = a * z + b * pending.remove(0);
            if tick >= DELAY {
                expected = a * &expected + b * (&lqr.feedforward * &target - &lqr.feedback * &expected);
                assert!((&z - &expected).amax() < 1e-6, "tick {tick}: {:e}", (&z - &expected).amax());
            }
        }
    }
}

/// The variance of a filtered field is the one that the Riccati equation promises, below that of the readings.
#[test]
fn a_filter_reduces_noise() {
    let problem = cinoc::problem("heat1d").unwrap();
    let plant = Linearised::of(problem.problem(), 4).unwrap();
    let nodes = plant.field.nrows();
    let (noise, disturbance) = (0.01, DMatrix::identity(nodes, nodes) * 1e-6);
    let Filter { gain } = Filter::design(&plant, &DMatrix::identity(nodes, nodes), noise, &disturbance).unwrap();
    // Covariances of the error before and after a reading, iterated.
    let keep = DMatrix::identity(nodes, nodes) - &gain;
    let mut after = DMatrix::identity(nodes, nodes) * noise;
    for _ in 0..3000 {
        let before = &plant.field * &after * plant.field.transpose() + &disturbance;
        after = &keep * before * keep.transpose() + &gain * gain.transpose() * noise;
    }
    assert!((&after - &gain * noise).amax() < 1e-3 * after.amax(), "the covariance is gain × noise");
    assert!(after.trace() < 0.1 * noise * nodes as f64, "{} of {}", after.trace(), noise * nodes as f64);
}

/// An agent that is alone and sees everything is the centralised controller. Agents that see their windows decide by
/// nothing else.
#[test]
fn local_filters_read_their_windows() {
    let problem = cinoc::problem("heat1d").unwrap();
    let nodes = 100;
    let one = Linearised::of(problem.problem(), 1).unwrap();
    let (lqr, spread) = (Lqr::design(&one, 1e-6).unwrap(), DMatrix::identity(nodes, nodes));
    let whole = windows(problem.problem(), 1, 2.0);
    assert_eq!(whole[0].len(), nodes);
    let local = Local::design(&one, &whole, 0.01, 0.1, [&spread, &spread]).unwrap().controller(&lqr, &one, 2);
    let filter = Filter::design(&one, &spread, 0.01, &(&spread * 1e-8)).unwrap();
    let central = lqr.controller(&one, Some(&filter), 2);
    for (found, expected) in [(&local.direct, &central.direct), (&local.next, &central.next), (&local.input, &central.input)] {
        assert!((found - expected).amax() < 1e-5 * expected.amax(), "{}", (found - expected).amax());
    }
    let plant = Linearised::of(problem.problem(), 4).unwrap();
    let windows = windows(problem.problem(), 4, 0.14);
    let lqr = Lqr::design(&plant, 1e-6).unwrap();
    let Some(filters) = Local::design(&plant, &windows, 1e-4, 0.1, [&spread, &spread]) else { panic!("no filters") };
    let controller = filters.controller(&lqr, &plant, 0);
    for (row, &agent) in plant.owners.iter().enumerate() {
        for node in 0..nodes {
            let read = [node, nodes + node].map(|column| controller.direct[(row, column)] != 0.0);
            assert!(!read[0] && !read[1] || windows[agent].contains(&node), "agent {agent} reads node {node}");
        }
    }
    assert!(windows.iter().all(|window| (12..=18).contains(&window.len())), "{windows:?}");
}
