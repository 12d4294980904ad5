//! Memory, observation of the target and of gaps: derivatives, and training with them.

use cinoc::internal::random::Stream;
use cinoc::internal::sense::{Gaps, Holding, TargetView};
use cinoc::internal::threads::Threads;
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use cinoc::task::FinalError;
use cinoc::train::Trainer;
use cinoc::{Config, Real, Registry, env};
use cinoc_lab::inspect;
use cinoc_pde::Grid;
use cinoc_tape::check::{Point, compare, noise};
use cinoc_tape::{Arena, Shape, Tape};
use std::sync::Arc;

const STEP: f64 = if cfg!(double) { 1e-7 } else { 2e-4 };
const LIMIT: f64 = if cfg!(double) { 1e-6 } else { 2e-2 };

/// Returns positions all over a domain.
fn places(count: usize, lengths: &[Real]) -> Vec<Real> {
    noise(count, 11).iter().enumerate().map(|(i, x)| (0.5 + 0.45 * x) * lengths[i % lengths.len()]).collect()
}

/// Returns the median error over five random directions, as some cross a kink.
fn error(point: &Point, f: &cinoc_tape::check::VarFn) -> f64 {
    let mut errors: Vec<f64> = (0..5).map(|seed| compare(point, f, STEP, seed).error).collect();
    errors.sort_by(f64::total_cmp);
    errors[2]
}

#[test]
fn gaps_have_the_right_derivative() {
    let grids = [
        Grid::walls(30, 1.5),
        Grid::periodic(32, 7.0),
        Grid::plane([12, 12], [1.0, 1.2], false),
        Grid::torus([16, 16], [3.0, 3.0]),
    ];
    for grid in grids {
        // With many agents some pair is close to a change of sector, where a gap jumps: steps have to be small.
        let many = if cfg!(double) { 60 } else { 9 };
        for agents in [1, 2, many] {
            let gaps = Arc::new(Gaps::new(&grid, 0.25));
            let (d, alive) = (grid.dimensions(), vec![1.0; 2 * agents]);
            let point = vec![(Shape::new(&[2, agents, d]), places(2 * agents * d, &grid.lengths))];
            let found = error(&point, &|v| v[0].tape().record(&gaps, [v[0], v[0].tape().constant([2, agents], &alive)]) * 0.1);
            assert!(found < LIMIT, "{agents} agents on {grid:?}: {found}");
        }
    }
}

#[test]
fn gaps_on_a_line_are_what_they_seem() {
    let see = |grid: &Grid, xi: &[Real], strength: &[Real]| {
        let tape = Tape::new(Arena::default(), &[]);
        let (gaps, agents) = (Arc::new(Gaps::new(grid, 0.5)), xi.len());
        tape.record(&gaps, [tape.constant([1, agents, 1], xi), tape.constant([1, agents], strength)]).value()
    };
    let near = |a: Vec<Real>, b: &[Real]| {
        assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5), "{a:?} instead of {b:?}");
    };
    let (interval, ring) = (Grid::walls(11, 1.0), Grid::periodic(16, 1.0));
    // In units of one half. Failed agents observe, but are not observed.
    near(see(&interval, &[0.5, 0.1, 0.75], &[1.0, 1.0, 1.0]), &[0.8, 0.5, 0.2, 0.8, 0.5, 0.5]);
    near(see(&interval, &[0.5, 0.1, 0.75], &[0.0, 1.0, 1.0]), &[0.8, 0.5, 0.2, 1.3, 1.3, 0.5]);
    near(see(&ring, &[0.5, 0.1, 0.75], &[1.0, 1.0, 1.0]), &[0.8, 0.5, 0.7, 0.8, 0.5, 0.7]);
    near(see(&ring, &[0.5, 0.1, 0.75], &[0.0, 1.0, 0.0]), &[0.8, 1.2, 2.0, 2.0, 1.3, 0.7]);
    // Of two agents at the same position one is left and one is right.
    near(see(&interval, &[0.5, 0.5], &[1.0, 1.0]), &[1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn the_target_is_seen_with_the_right_derivative() {
    for (grid, holding) in [
        (Grid::walls(30, 1.0), Holding { nu: 0.02, rho: 3.0 }),
        (Grid::plane([12, 14], [1.0, 1.2], false), Holding { nu: 0.02, rho: 0.0 }),
    ] {
        let (d, view) = (grid.dimensions(), TargetView::new(&grid, 0.3, holding));
        let mut field = vec![2];
        field.extend(&grid.nodes);
        let target = noise(2 * grid.count(), 5).iter().map(|x| 0.5 + 0.2 * x).collect();
        let point = vec![(Shape::new(&field), target), (Shape::new(&[2, 5, d]), places(10 * d, &grid.lengths))];
        let found = error(&point, &|v| view.observe(v[0], v[1]) * 0.1);
        assert!(found < LIMIT, "{grid:?}: {found}");
    }
}

#[test]
fn a_parabola_is_held_by_its_curvature() {
    let grid = Grid::walls(101, 1.0);
    let z: Vec<Real> = (0..101).map(|i| (i as Real / 100.0) * (1.0 - i as Real / 100.0)).collect();
    let tape = Tape::new(Arena::default(), &[]);
    let view = TargetView::new(&grid, 0.2, Holding { nu: 0.5, rho: 0.0 });
    let seen = view.observe(tape.constant([1, 101], &z), tape.constant([1, 2, 1], &[0.3, 1.0])).value();
    // z, z'/4, −νz''/2 here and half a window to both sides; beyond a wall, the value at the wall.
    let expected = [0.21, 0.1, 0.5, 0.5, 0.5, 0.0, -0.2475, 0.5, 0.5, 0.5];
    assert!(seen.iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-3), "{seen:?}");
}

#[test]
fn the_final_error_has_the_right_derivative() {
    let last = Arc::new(FinalError { log: 0.1, floor: 1e-3, root: 2.0 });
    let found = error(&vec![(Shape::new(&[3]), vec![0.2, 0.05, 0.7])], &|v| v[0].apply(&last));
    assert!(found < LIMIT, "{found}");
}

/// All features at once: memory, observations, varying numbers of agents, failures, action repeat.
fn config(problem: &str, more: &[&str]) -> Config {
    let settings = [
        "policy.kind=\"recurrent\"",
        "policy.memory=5",
        "observe.gaps=0.3",
        "observe.points=6",
        "train.hold=2",
        "train.batch=6",
        "train.shard=3",
        "train.deaths=1.0",
        "train.blocks=0.5",
        "train.clustered=0.5",
        "train.scattered=0.5",
        "train.strength_each=0.3",
        "train.strength_many=2.0",
        "train.agents=[3, 5, 24]",
    ];
    let changes = Overlay::from_pairs(settings.iter().chain(more)).expect("pairs");
    Registry::builtin().config(problem, Preset::Tuned, &changes).expect("settings")
}

const TRACKING: [&str; 3] = ["observe.target=true", "cost.final_log=0.1", "cost.final_root=1.0"];

#[test]
fn the_gradient_of_everything_is_right() {
    let registry = Registry::builtin();
    let gated = ["policy.memory_gate=true", "policy.own_push=true"];
    for (problem, more) in [("heat1d", &gated[..]), ("heat1d", &[]), ("fkpp1d", &[]), ("heat2d", &[])] {
        let config = config(problem, &[&TRACKING[..], more].concat());
        let found = inspect::sweep(&registry, &config, 8, &[1e-2, 1e-3, 1e-4, 1e-5]).expect("finite");
        let best = found.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
        let limit = if cfg!(double) { 1e-6 } else { 2e-2 };
        assert!(best < limit, "{problem}: {found:?}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let registry = Registry::builtin();
    let config = config("heat1d", &[&TRACKING[..], &["physics.ticks=12", "train.validate_agents=[3, 9]"]].concat());
    let train = |threads: usize| {
        let parts = registry.parts(&config).expect("settings");
        let mut trainer = Trainer::new(parts, 1, Threads::new(threads).expect("threads")).expect("memory");
        (0..4).for_each(|_| drop(trainer.step().expect("finite")));
        trainer.params.theta().to_vec()
    };
    let one = train(1);
    assert!(one.iter().all(|x| x.is_finite()));
    assert_eq!(one, train(2));
    assert_eq!(one, train(3));
}

#[test]
fn the_policy_can_be_replayed() {
    let registry = Registry::builtin();
    for problem in ["heat1d", "heat2d"] {
        let parts = registry.parts(&config(problem, &TRACKING)).expect("settings");
        let params = parts.policy.init(&mut cinoc::internal::random::Rng::new(3, Stream::Init, 0));
        env::assert_replayable(&parts.problem, &*parts.policy, &params);
    }
}
