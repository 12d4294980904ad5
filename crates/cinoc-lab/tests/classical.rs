//! Linear-quadratic regulators as policies.

use cinoc::evaluate::{Request, scores};
use cinoc::internal::threads::Threads;
use cinoc::problem::Preset;
use cinoc::rollout::InitialCondition;
use cinoc::settings::Overlay;
use cinoc::{Registry, internal::random::Stream};
use cinoc_lab::classical::{Linearised, Lqr, tuned};
use nalgebra::DVector;

/// Weight of an effort so large that pushes stay far below their limit.
const MILD: f64 = 1e-3;

/// The score of a regulator agrees with that of its matrices: field and target of each instance stepped by A, B, K and F.
/// Soft limits take half a percent of such pushes.
#[test]
fn a_regulator_scores_as_its_matrices() {
    let registry = Registry::builtin();
    let config = registry.open("heat1d", Preset::Tuned, &Overlay::default()).unwrap();
    let found = tuned(&registry, &config, &[MILD], 8, 7, &Threads::single(), &mut |_, _| {}).unwrap();
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
    let best = tuned(&registry, &config, &[1e-2, 1e-5], 4, 1, &threads, &mut |_, score| tried.push(score)).unwrap();
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
    let refused = tuned(&registry, &config, &[1.0], 1, 0, &Threads::single(), &mut |_, _| {}).err().unwrap();
    assert!(refused.to_string().contains("at rest"), "{refused}");
}
