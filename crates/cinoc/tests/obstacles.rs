//! Keep-out discs: their cost, reported measures, observations, and the safety layer.

mod common;

use cinoc::env::Env;
use cinoc::internal::geometry::{Disc, Discs};
use cinoc::internal::limit::{Safety, SafetySettings};
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::registry::Parts;
use cinoc::internal::sense::Nearest;
use cinoc::internal::threads::Threads;
use cinoc::policy::ZeroControl;
use cinoc::problem::{Preset, Problem};
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Loss};
use cinoc::settings::Overlay;
use cinoc::task::{Obstacle, Reduction, Status};
use cinoc::{Error, Real, Registry, evaluate};
use cinoc_lab::inspect;
use cinoc_tape::check::{assert_derivative, noise, pull_back};
use cinoc_tape::{Arena, Shape, Tape};
use common::{config, parts, problem};
use std::sync::Arc;

/// Builds the paper's settings with changes that may be rejected.
fn attempt(name: &str, changes: &[&str]) -> Result<Problem, Error> {
    let registry = Registry::builtin();
    registry.build(&registry.config(name, Preset::Paper, &Overlay::from_pairs(changes)?)?)
}

fn discs() -> Discs {
    Discs::still(Disc::all(&[[0.3, 0.4, 0.1], [0.7, 0.6, 0.2]]))
}

/// Moving discs.
fn moving_discs() -> Discs {
    Discs::circling(Disc::all(&[[0.3, 0.4, 0.1], [0.7, 0.6, 0.2]]), 0.1, 8.0)
}

#[test]
fn the_cost_is_a_mean_over_agents_and_discs() {
    let obstacle = Arc::new(Obstacle { discs: discs(), margin: 0.05 });
    let point = vec![(Shape::new(&[1, 3, 2]), vec![0.3, 0.52, 0.7, 0.75, 0.3, 0.4])];
    let (cost, bars) = pull_back(&point, &|v| v[0].apply(&obstacle), Some(&[1.0]));
    let expected = (0.03f64.powi(2) + 0.1f64.powi(2) + 0.15f64.powi(2)) / 6.0;
    assert!((cost[0] as f64 - expected).abs() < 1e-8, "{} not {expected}", cost[0]);
    // Outwards from the disc; zero at its centre.
    let expected = [0.0, -2.0 * 0.03 / 6.0, 0.0, -2.0 * 0.1 / 6.0, 0.0, 0.0];
    bars[0].iter().zip(expected).for_each(|(a, b)| assert!((*a as f64 - b).abs() < 1e-6, "{a} not {b}"));
    let xi: Vec<Real> = noise(16, 3).iter().map(|x| 0.5 + 0.3 * x).collect();
    assert_derivative(&[(&[2, 4, 2], &xi)], |v| v[0].apply(&obstacle));
}

#[test]
fn violations_and_clearance_are_reported() {
    let problem = problem("heat2d_obstacles", &["physics.ticks=2"]);
    let names = problem.task.measures();
    assert_eq!(names, ["mse100", "mse", "violations", "violations_margin", "clearance", "too_close"]);
    assert_eq!((problem.task.reduction(0), problem.task.reduction(4)), (Reduction::Mean, Reduction::Smallest));
    let field = vec![0.0; 32 * 32];
    let mut measures = vec![0.0; 6];
    // One agent of two inside a disc, then one inside a margin.
    for (tick, xi) in [(1, [0.15, 0.45, 0.5, 0.9]), (2, [0.15, 0.4, 0.5, 0.9])] {
        let status = Status { tick, ticks: 2, start: &field, z: &field, target: &field, xi: &xi, begins: 0.0, thorough: false };
        problem.task.measure(&status, &mut measures);
    }
    let expected = [0.0, 0.0, 0.25, 0.5, -0.03, 0.0];
    measures.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{measures:?}"));
}

#[test]
fn the_smallest_clearance_of_all_instances_counts() {
    let problem = Arc::new(problem("heat2d_obstacles", &["physics.ticks=2"]));
    let scores = evaluate::Scores {
        measures: vec![vec![1.0, 2.0, 0.0, 0.1, 0.02], vec![3.0, 4.0, 0.2, 0.3, -0.01]],
        efforts: Vec::new(),
        diverged: 0,
    };
    let overall: Vec<f64> = (0..5).map(|k| scores.overall(&*problem.task, k)).collect();
    assert_eq!(overall, [2.0, 3.0, 0.1, 0.2, -0.01]);
    let zero = ZeroControl { action_width: 3 };
    let request = evaluate::Request::test(16, 3, 1);
    let row = evaluate::report(&problem, &zero, &Default::default(), "zero", &request, &Threads::single()).unwrap();
    // Immobile agents: 6 of 16 start inside a margin, none inside a disc.
    assert_eq!((row.measures["violations"], row.measures["violations_margin"]), (0.0, 6.0 / 16.0));
    assert!((row.measures["clearance"] - (0.0125f64.sqrt() - 0.08)).abs() < 1e-6);
}

#[test]
fn a_problem_with_obstacles_needs_some() {
    for changes in ["obstacles.discs=[]", "obstacles.discs=[[0.5, 0.5, 0.0]]"] {
        let message = attempt("heat2d_obstacles", &[changes]).err().expect("an error").to_string();
        assert!(message.contains("obstacles"), "{message}");
    }
    let moved = config("heat2d_obstacles", &["obstacles.discs=[[0.5, 0.5, 0.1]]"]);
    assert_eq!(Registry::builtin().read(&moved.to_toml(), "a test").unwrap(), moved);
}

#[test]
fn agents_observe_the_nearest_disc() {
    let nearest = Arc::new(Nearest::new(discs(), 0.01));
    let tape = Tape::new(Arena::default(), &[]);
    let seen = tape.constant([1, 2, 2], &[0.3, 0.6, 0.95, 0.6]).apply(&nearest).value();
    let expected = [(0.09f64 / 0.2).tanh(), 0.0, -1.0, (0.04f64 / 0.2).tanh(), -1.0, 0.0];
    seen.iter().zip(expected).for_each(|(a, b)| assert!((*a as f64 - b).abs() < 1e-5, "{seen:?}"));
    let xi = [0.25, 0.62, 0.93, 0.5, 0.41, 0.31, 0.72, 0.64, 0.6, 0.1];
    assert_derivative(&[(&[1, 5, 2], &xi)], |v| v[0].apply(&nearest));
    // At a centre the direction is zero.
    let (seen, bars) = pull_back(&vec![(Shape::new(&[1, 1, 2]), vec![0.3, 0.4])], &|v| v[0].apply(&nearest), Some(&[1.0; 3]));
    assert_eq!((&seen[1..], &bars[0][..]), (&[0.0, 0.0][..], &[0.0, 0.0][..]));
}

#[test]
fn disc_observations_join_the_position_features() {
    let Parts { problem, policy, .. } = parts(&config("heat2d_obstacles", &["obstacles.seen=true", "physics.ticks=3"]));
    assert_eq!(problem.swarm.features().position, 19);
    let params = policy.init(&mut Rng::new(1, Stream::Init, 0));
    let mut rollout = common::rollout(&problem, 2, 1, true);
    let episode = rollout.forward(&problem, Control::Policy(&*policy, &params), GradientTargets::PARAMS, &mut |_| {});
    let gradient = episode.backward(Loss::cost(1.0)).params;
    let trunk = params.slice("trunk0.w", gradient).unwrap();
    assert!(trunk[16 * 32..].iter().any(|g| g.abs() > 1e-9), "the new features are learned from");
}

/// A safety layer with a long tick, so that finite differences need not be tiny.
fn layer(discs: Discs) -> Arc<Safety> {
    let settings = SafetySettings { clearance: 0.01, margin: 0.05, tick_time: 0.1, speed: 5.0, disc_speed: 0.0 };
    Arc::new(Safety::new(discs, &[1.0, 1.0], &settings))
}

#[test]
fn safety_changes_only_unsafe_velocities() {
    let tape = Tape::new(Arena::default(), &[]);
    let safe = |v: [Real; 2], xi: [Real; 2]| {
        let (action, xi) = (tape.constant([1, 1, 3], &[7.0, v[0], v[1]]), tape.constant([1, 1, 2], &xi));
        let found = tape.record(&layer(Discs::still(discs().discs()[..1].to_vec())), [action, xi]).value();
        assert_eq!(found[0], 7.0);
        [found[1], found[2]]
    };
    // Far away, moving away, or slow enough: unchanged to the bit.
    for (v, xi) in [([3.0, -2.0], [0.3, 0.05]), ([0.3, 2.0], [0.3, 0.52]), ([4.9, -0.04], [0.3, 0.52])] {
        assert_eq!(safe(v, xi), v);
    }
    // 0.01 from the clearance, one tick of 0.1: at most 0.05 inwards, unconstrained along the edge.
    let [x, y] = safe([1.5, -3.0], [0.3, 0.52]);
    assert!((x - 1.5).abs() < 1e-5 && (y + 0.05).abs() < 1e-5, "{x} {y}");
    // A velocity turned along the edge can exceed the actuator limits: it is shortened.
    let (sin, cos) = (0.35 as Real).sin_cos();
    let [x, y] = safe([5.0, 5.0], [0.3 + 0.12 * sin, 0.4 - 0.12 * cos]);
    assert!((x - 5.0).abs() < 1e-5 && y > 0.0 && y < 5.0, "{x} {y}");
}

#[test]
fn safety_has_the_right_derivative() {
    // Unconstrained; constrained; constrained, also by the other disc, and shortened; inside the clearance; constrained
    // by the other disc.
    let (sin, cos) = (0.35 as Real).sin_cos();
    let xi = [0.3, 0.05, 0.36, 0.51, 0.3 + 0.12 * sin, 0.4 - 0.12 * cos, 0.2, 0.44, 0.5, 0.75];
    let actions = [1.0, 2.0, -1.0, 0.5, -2.0, -3.0, 2.0, 4.7, 5.0, 1.0, 1.5, -1.0, 0.3, -1.0, 0.7];
    let layer = layer(discs());
    assert_derivative(&[(&[1, 5, 3], &actions), (&[1, 5, 2], &xi)], |v| v[0].tape().record(&layer, [v[0], v[1]]));
}

/// Smallest distance to a disc along the paths of agents that chase discs at full speed, straight or obliquely, and of
/// others that move at random.
fn closest_approach(changes: &[&str]) -> f64 {
    let config = config("heat2d_obstacles", &[&["obstacles.safety=true"], changes].concat());
    let problem = parts(&config).problem;
    let (agents, ticks) = (64, 300);
    let mut env = Env::new(problem.clone(), 1, agents, Threads::single()).expect("an environment");
    let mut rng = Rng::new(1, Stream::Test, 0);
    let mut closest = f64::INFINITY;
    for round in 0..20 {
        let mut beginning = InitialCondition::drawn(&problem, agents, 1, Stream::Test, round);
        beginning.positions.iter_mut().for_each(|x| *x = rng.uniform(0.0, 1.0) as Real);
        problem.swarm.settle(&mut beginning.positions);
        env.reset(&[true], &mut |_| beginning.clone());
        for tick in 0..ticks {
            let (before, after) = (problem.task.obstacles(tick), problem.task.obstacles(tick + 1));
            let from = env.positions(0).to_vec();
            let mut action = Vec::new();
            for (m, &at) in from.as_chunks::<2>().0.iter().enumerate() {
                let disc = before[(m + tick / 150) % before.len()];
                let towards = disc.bearing(at).outward.map(|n| -5.0 * n.signum());
                let random = [0; 2].map(|_| if rng.uniform(0.0, 1.0) < 0.5 { -5.0 } else { 5.0 });
                let straight = disc.bearing(at).outward.map(|n| -5.0 * n);
                let v = [towards, random, straight][m % 3];
                action.extend([0.0, v[0], v[1]]);
            }
            env.step(&action);
            assert!(env.action(0).iter().all(|v| v.abs() <= 5.0 + 1e-4), "within the actuators' limits");
            for (from, to) in from.as_chunks::<2>().0.iter().zip(env.positions(0).as_chunks::<2>().0) {
                // Along the whole path, not only at its end.
                for s in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    let between = |a: [Real; 2], b: [Real; 2]| [0, 1].map(|c| a[c] + s * (b[c] - a[c]));
                    let discs = before.iter().zip(&after).map(|(a, b)| Disc { centre: between(a.centre, b.centre), ..*a });
                    closest = discs.map(|disc| disc.bearing(between(*from, *to)).gap as f64).fold(closest, f64::min);
                }
            }
        }
    }
    closest
}

#[test]
fn no_agent_ever_enters_a_disc() {
    let closest = closest_approach(&[]);
    assert!(closest > 0.0049 && closest < 0.0055, "the closest approach was {closest}");
}

#[test]
fn no_agent_passes_a_gap_below_the_clearance() {
    // The gap between each disc and its wall is 0.07, below the clearance of 0.08.
    let closest = closest_approach(&["obstacles.clearance=0.08"]);
    assert!(closest > 0.0799 && closest < 0.0805, "the closest approach was {closest}");
}

#[test]
fn no_agent_enters_a_disc_that_moves() {
    for (changes, clearance) in [
        (&["obstacles.orbit=0.05", "obstacles.orbit_ticks=80"][..], 0.005),
        (&["obstacles.orbit=0.05", "obstacles.orbit_ticks=120", "obstacles.clearance=0.08"], 0.08),
    ] {
        let closest = closest_approach(changes);
        assert!(closest > clearance - 1e-4 && closest < clearance + 2e-3, "the closest approach was {closest}, not {clearance}");
    }
}

#[test]
fn moving_discs_follow_their_orbits() {
    let discs = moving_discs();
    let here: Vec<[Real; 2]> = discs.at(2.0).map(|disc| disc.centre).collect();
    // A quarter of an orbit; the second disc is half an orbit behind.
    for (found, expected) in here.iter().zip([[0.3, 0.5], [0.7, 0.5]]) {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b as Real).abs() < 1e-6), "{found:?}");
    }
    let xi = [0.25, 0.62, 0.93, 0.5, 0.41, 0.31, 0.72, 0.64, 0.6, 0.1, 0.3, 0.2];
    let (nearest, cost) =
        (Arc::new(Nearest::new(moving_discs(), 0.01)), Arc::new(Obstacle { discs: moving_discs(), margin: 0.2 }));
    assert_derivative(&[(&[2, 3, 2], &xi)], |v| v[0].tape().record(&nearest, [v[0], v[0].tape().constant([2], &[0.0, 3.0])]));
    assert_derivative(&[(&[2, 3, 2], &xi)], |v| v[0].tape().record(&cost, [v[0], v[0].tape().constant([2], &[0.0, 3.0])]));
    // Constrained by an approaching disc, moving away from one, and moving away obliquely at full speed.
    let actions = [1.0, 0.5, -0.9, 0.5, -2.0, -0.3, 2.0, 4.9, 4.8, 1.0, 1.5, -1.0, 0.3, -1.0, 0.7, 0.1, 4.9, -4.0];
    let layer = layer(moving_discs());
    assert_derivative(&[(&[2, 3, 3], &actions), (&[2, 3, 2], &xi)], |v| {
        v[0].tape().record(&layer, [v[0], v[1], v[0].tape().constant([2], &[0.0, 3.0])])
    });
}

#[test]
fn starts_are_moved_out_of_discs_and_margins() {
    let [problem, plain] = [&["obstacles.safety=true"][..], &[]].map(|changes| problem("heat2d_obstacles", changes));
    let discs = problem.task.obstacles(0);
    let gap = |xi: [Real; 2]| discs.iter().map(|disc| disc.bearing(xi).gap).fold(Real::INFINITY, Real::min);
    for agents in [1, 16, 30, 100, 256, 1024] {
        let (start, regular) = (problem.swarm.start(agents), plain.swarm.start(agents));
        for (xi, before) in start.as_chunks::<2>().0.iter().zip(regular.as_chunks::<2>().0) {
            assert!(gap(*xi) >= 0.08, "{agents} agents: {xi:?} is {} from a disc", gap(*xi));
            assert!(xi.iter().all(|x| (0.0..=1.0).contains(x)));
            assert!(gap(*before) < 0.08 || xi == before, "others are not moved");
        }
    }
    // A centre has no direction. Between a disc and the wall there is less room than the margin; with a clearance of
    // that size no agent starts there.
    let narrow = common::problem("heat2d_obstacles", &["obstacles.safety=true", "obstacles.clearance=0.08"]);
    for (problem, clearance) in [(problem, 0.005), (narrow, 0.08)] {
        let mut xi = [0.01, 0.5, 0.15, 0.5, 0.5, 0.02, 0.16, 0.48];
        problem.swarm.settle(&mut xi);
        assert!(xi.as_chunks::<2>().0.iter().all(|xi| gap(*xi) >= clearance), "{xi:?}");
    }
}

#[test]
fn a_tick_with_safety_is_safe_and_differentiable() {
    // Agents start next to the discs, and an untrained policy moves them.
    let changes = ["obstacles.safety=true", "obstacles.margin=0.006", "obstacles.seen=true", "physics.ticks=60"];
    let config = config("heat2d_obstacles", &changes);
    let Parts { problem, policy, .. } = parts(&config);
    let request = evaluate::Request { fail: 0.3, ..evaluate::Request::test(100, 4, 1) };
    for seed in 0..3 {
        let params = policy.init(&mut Rng::new(seed, Stream::Init, 0));
        let scores = evaluate::scores(&problem, &*policy, &params, &request, &Threads::single()).unwrap();
        assert_eq!(scores.overall(&*problem.task, 2), 0.0, "violations");
        assert!(scores.overall(&*problem.task, 4) > 0.004, "clearance");
    }
    let sweep = inspect::sweep(&Registry::builtin(), &config, 6, &[1e-2, 1e-3, 1e-4, 1e-5]).unwrap();
    let best = sweep.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    assert!(best < if cfg!(double) { 1e-5 } else { 1e-2 }, "{sweep:?}");
}

#[test]
fn safety_needs_discs_with_room_around_them() {
    for (changes, words) in [
        (&["obstacles.safety=true", "obstacles.discs=[[0.05, 0.5, 0.08]]"][..], "inside the walls"),
        (&["obstacles.safety=true", "obstacles.discs=[[0.4, 0.5, 0.1], [0.6, 0.5, 0.09]]"], "apart"),
    ] {
        let message = attempt("heat2d_obstacles", changes).err().expect("an error").to_string();
        assert!(message.contains(words), "{message}");
        assert!(attempt("heat2d_obstacles", &changes[1..]).is_ok(), "without safety they are allowed");
    }
    for key in ["obstacles.safety", "obstacles.seen"] {
        let message = attempt("heat2d", &[&format!("{key}=true")]).err().expect("an error").to_string();
        assert!(message.contains("there is no setting") && message.contains(key), "{message}");
    }
}
