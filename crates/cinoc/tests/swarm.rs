//! Fused operations of the swarm and the cost against reference implementations, failed agents, and permutations of
//! agents.

mod common;

use cinoc::Real;
use cinoc::evaluate::{Request, scores};
use cinoc::internal::actuate::{Actuate, Force1d, Kernel, Push, StillForce1d};
use cinoc::internal::agents::Advance;
use cinoc::internal::limit::Saturate;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::registry::Parts;
use cinoc::internal::sense::{Observe1d, PositionFeatures, RingView, Visible, Window};
use cinoc::internal::threads::Threads;
use cinoc::policy::{Context, ZeroControl};
use cinoc::rollout::{Decide, Noise, State, TickInputs, tick};
use cinoc::task::{Acceleration, Collision, Effort, Margin, SquaredError};
use cinoc_pde::Grid;
use cinoc_tape::check::{assert_derivative, noise, pull_back};
use cinoc_tape::{Arena, Shape, Tape, Var};
use common::{agree, config, parts, problem};
use std::sync::Arc;

fn window(points: usize, window: f64, gain: f64) -> Window {
    Window { gain, ..Window::new(points, window) }
}

fn positions(count: usize, seed: u64) -> Vec<Real> {
    noise(count, seed).iter().map(|x| 0.5 + 0.45 * x).collect()
}

#[test]
fn force_is_a_sum_of_gaussians() {
    for (grid, kernel) in [(Grid::walls(21, 1.0), Kernel::Peak), (Grid::periodic(21, 1.0), Kernel::UnitMass)] {
        let push = Push { sigma: 0.1, kernel };
        let (force, scale) = (Arc::new(Force1d::new(&grid, &push)), push.scale(1));
        let x: Vec<Real> = grid.positions(0).iter().map(|&x| x as Real).collect();
        let point = vec![(Shape::new(&[2, 3, 2]), noise(12, 1)), (Shape::new(&[2, 3, 1]), positions(6, 2))];
        let ring = grid.is_periodic();
        agree(point, &|v| v[0].tape().record(&force, [v[0], v[1]]), &|v| {
            let tape = v[0].tape();
            let (u, xi) = (v[0].columns(0, 1).reshape([6]).repeat(21), v[1].reshape([6]).repeat(21));
            let mut d = tape.zeros([6, 21]) + tape.constant([21], &x) - xi;
            if ring {
                let image: Vec<Real> = d.value().iter().map(|d| d.round()).collect();
                d = d - tape.constant([6, 21], &image);
            }
            let bumps = u * (d.square() * -50.0).exp() * scale as Real;
            // Sum over the three agents of each instance.
            let rows = |b: usize| (0..3).map(move |m| bumps.reshape([126]).columns((3 * b + m) * 21, (3 * b + m + 1) * 21));
            let sum = |b| rows(b).reduce(|a, c| a + c).unwrap();
            sum(0).join(sum(1)).reshape([2, 21])
        });
    }
}

#[test]
fn bumps_summed_later_give_the_same_force() {
    for grid in [Grid::walls(21, 1.0), Grid::periodic(32, 1.0)] {
        let push = Push { sigma: 0.1, kernel: Kernel::UnitMass };
        let (whole, still) = (Arc::new(Force1d::new(&grid, &push)), StillForce1d::new(&grid, &push));
        let point = vec![(Shape::new(&[2, 3, 2]), noise(12, 1)), (Shape::new(&[2, 3, 1]), positions(6, 2))];
        agree(point, &|v| still.force(v[0], v[1]), &|v| v[0].tape().record(&whole, [v[0], v[1]]));
        // Equal positions in both instances.
        let point = vec![(Shape::new(&[2, 3, 2]), noise(12, 1)), (Shape::new(&[1, 3, 1]), positions(3, 2))];
        agree(point, &|v| still.force(v[0], v[1]), &|v| {
            let both = v[1].reshape([3]).join(v[1].reshape([3])).reshape([2, 3, 1]);
            v[0].tape().record(&whole, [v[0], both])
        });
    }
}

#[test]
fn a_view_in_two_steps_is_the_view_in_one() {
    let settings = window(20, 0.31, 1.5);
    let plain = Arc::new(Observe1d::new(&Grid::periodic(24, 2.0), &settings));
    let view = RingView::new(&plain);
    let regular: Vec<Real> = vec![0.0, 0.155, 0.16, 1.0, 1.844, 1.9999];
    let shifted: Vec<Real> = regular.iter().map(|x| x + 0.0003).collect();
    // Equal positions in all instances, and different ones.
    for second in [&regular, &shifted] {
        let xi = [regular.clone(), second.clone()].concat();
        let point = vec![(Shape::new(&[2, 24]), noise(48, 1)), (Shape::new(&[2, 24]), noise(48, 2))];
        agree(point, &|v| view.observe(v[0], v[1], v[0].tape().constant([2, 6, 1], &xi)).patch(), &|v| {
            v[0].tape().record(&plain, [v[0], v[1], v[0].tape().constant([2, 6, 1], &xi)])
        });
    }
}

#[test]
fn observation_samples_linear_fields_exactly() {
    let grid = Grid::walls(100, 1.0);
    let settings = window(20, 0.08, 1.0);
    let observe = Arc::new(Observe1d::new(&grid, &settings));
    let tape = Tape::new(Arena::default(), &[]);
    let z: Vec<Real> = grid.positions(0).iter().map(|x| (3.0 * x) as Real).collect();
    let xi = tape.constant([1, 2, 1], &[0.4, 0.0]);
    let seen = tape.record(&observe, [tape.constant([1, 100], &z), tape.zeros([1, 100]), xi]).value();
    for j in 0..20 {
        let offset = (j as f64 - 9.5) * 0.08 / 19.0;
        assert!((seen[j] as f64 - 3.0 * (0.4 + offset)).abs() < 1e-5);
        assert!((seen[20 + j] as f64 - 3.0 * 0.08).abs() < 1e-4, "the change of the error across the window");
        assert!((seen[40 + j] as f64 - 3.0 * offset.max(0.0)).abs() < 1e-5, "clamped at the wall");
    }
}

#[test]
fn observation_wraps_around_a_ring() {
    let settings = window(5, 0.28, 1.0);
    let observe = Arc::new(Observe1d::new(&Grid::periodic(16, 1.0), &settings));
    let z = noise(16, 4);
    let at = |xi: Real| {
        let tape = Tape::new(Arena::default(), &[]);
        let xi = tape.constant([1, 1, 1], &[xi]);
        tape.record(&observe, [tape.constant([1, 16], &z), tape.zeros([1, 16]), xi]).value()
    };
    for (a, b) in at(0.01).iter().zip(at(1.01)) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
    assert_derivative(&[(&[1, 16], &z), (&[1, 2, 1], &[0.03, 0.52])], |v| {
        v[0].tape().record(&observe, [v[0], v[0].tape().zeros([1, 16]), v[1]])
    });
}

#[test]
fn gain_scales_the_observation() {
    let grid = Grid::walls(30, 1.0);
    let see = |gain: f64| {
        let observe = Arc::new(Observe1d::new(&grid, &window(6, 0.1, gain)));
        let tape = Tape::new(Arena::default(), &[]);
        let xi = tape.constant([1, 1, 1], &[0.41]);
        tape.record(&observe, [tape.constant([1, 30], &noise(30, 8)), tape.constant([1, 30], &noise(30, 9)), xi]).value()
    };
    see(1.0).iter().zip(see(3.0)).for_each(|(a, b)| assert!((3.0 * a - b).abs() < 1e-4));
}

#[test]
fn cost_terms_match_their_definitions() {
    let shape = Shape::new(&[2, 4, 2]);
    let (a, b) = (noise(16, 1), noise(16, 2));
    let error = Arc::new(SquaredError);
    agree(vec![(shape, a.clone()), (shape, b.clone())], &|v| v[0].tape().record(&error, [v[0], v[1]]), &|v| {
        (v[0] - v[1]).square().mean_keeping(1)
    });
    let effort = Arc::new(Effort { weights: vec![1.0, 0.1] });
    agree(vec![(shape, a.clone())], &|v| v[0].apply(&effort), &|v| {
        let weights = v[0].tape().constant([2], &[1.0, 0.1]);
        (v[0].square() * weights).sum_keeping(1) * 0.25
    });
    let margin = Arc::new(Margin::inside(&[0.5, 0.8]));
    agree(vec![(shape, a.clone())], &|v| v[0].apply(&margin), &|v| {
        let outside = |axis: usize, low: Real, high: Real| {
            let x = v[0].columns(axis, axis + 1);
            ((x - high).relu().square() + (-x + low).relu().square()).sum_keeping(1) * 0.25
        };
        outside(0, 0.01, 0.49) + outside(1, 0.016, 0.784)
    });
    let acceleration = Arc::new(Acceleration);
    agree(vec![(shape, a), (shape, b)], &|v| v[0].tape().record(&acceleration, [v[0], v[1]]), &|v| {
        (v[0].columns(1, 2) - v[1].columns(1, 2)).square().sum_keeping(1) * 0.25
    });
}

#[test]
fn collisions_count_ordered_pairs() {
    let collision = Arc::new(Collision { radius: 0.3 });
    let point = vec![(Shape::new(&[1, 3, 2]), vec![0.1, 0.1, 0.2, 0.15, 0.8, 0.8])];
    agree(point, &|v| v[0].apply(&collision), &|v| {
        let flat = v[0].reshape([6]);
        let d = flat.columns(0, 2) - flat.columns(2, 4);
        let gap = (-(d.square().sum().sqrt()) + 0.3).relu();
        gap.square() * (2.0 / 9.0)
    });
    // Two coincident agents: a cost, but zero derivative.
    let (cost, bars) = pull_back(&vec![(Shape::new(&[1, 2, 1]), vec![0.5, 0.5])], &|v| v[0].apply(&collision), Some(&[1.0]));
    assert!((cost[0] - 0.045).abs() < 1e-6);
    assert_eq!(bars[0], vec![0.0, 0.0]);
}

#[test]
fn collisions_of_many_agents_are_those_of_all_pairs() {
    // Crowds and clusters, on a line and in the plane, some of them outside the unit square or all coincident.
    for (agents, d, spread, radius) in
        [(65, 1, 0.5, 0.02), (200, 2, 0.5, 0.08), (300, 2, 3.0, 0.11), (150, 2, 0.01, 0.3), (90, 1, 0.5, 2.0), (70, 2, 0.0, 0.1)]
    {
        let xi: Vec<Real> = noise(agents * d, 5).iter().map(|x| 0.5 + spread as Real * x).collect();
        let collision = Arc::new(Collision { radius: radius as Real });
        let (cost, bars) = pull_back(&vec![(Shape::new(&[1, agents, d]), xi.clone())], &|v| v[0].apply(&collision), Some(&[1.0]));
        let (mut sum, mut slopes) = (0.0, vec![0.0; agents * d]);
        for (i, j) in (0..agents).flat_map(|i| (0..agents).map(move |j| (i, j))).filter(|(i, j)| i != j) {
            let apart: Vec<f64> = (0..d).map(|c| xi[i * d + c] as f64 - xi[j * d + c] as f64).collect();
            let distance = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
            let gap = (radius as Real as f64 - distance).max(0.0);
            sum += gap * gap;
            for c in (0..d).filter(|_| distance > 0.0) {
                slopes[i * d + c] -= 4.0 * gap * apart[c] / distance;
            }
        }
        let pairs = (agents * agents) as f64;
        let limit = if cfg!(double) { 1e-12 } else { 2e-5 };
        assert!(
            sum > 0.0 && (cost[0] as f64 - sum / pairs).abs() < limit * sum / pairs,
            "{agents} agents: {} not {}",
            cost[0],
            sum / pairs
        );
        let largest = slopes.iter().fold(1e-30, |m: f64, s| m.max(s.abs()));
        for (a, b) in bars[0].iter().zip(&slopes) {
            assert!((*a as f64 * pairs - b).abs() < limit * largest, "{agents} agents: {} not {b}", *a as f64 * pairs);
        }
    }
}

#[test]
fn motion_limits_and_features_have_right_derivatives() {
    let (fourier, advance) =
        (Arc::new(PositionFeatures::new(&[1.0, 1.25], 3.0)), Arc::new(Advance::new(0.1, vec![0.0], vec![1.0])));
    let around = Advance::new(0.1, vec![0.0, 0.0], vec![1.0, 2.0]).around(&[true, false]);
    let around = Arc::new(around);
    let saturate = Arc::new(Saturate::new(vec![4.0, 2.0]));
    assert_derivative(&[(&[1, 3, 2], &positions(6, 3))], |v| v[0].apply(&fourier));
    assert_derivative(&[(&[1, 3, 1], &positions(3, 4)), (&[1, 3, 2], &noise(6, 5))], |v| {
        v[0].tape().record(&advance, [v[0], v[1]])
    });
    let (xi, v) = ([0.95, 1.95, 0.05, 0.05, 0.5, 0.5], [1.0, 1.0, -1.0, -1.0, 1.0, -1.0]);
    assert_derivative(&[(&[1, 3, 2], &xi), (&[1, 3, 2], &v)], |v| v[0].tape().record(&around, [v[0], v[1]]));
    let tape = Tape::new(Arena::default(), &[]);
    let moved = tape.record(&around, [tape.constant([1, 3, 2], &xi), tape.constant([1, 3, 2], &v)]).value();
    let expected = [0.05, 2.0, 0.95, 0.0, 0.6, 0.4];
    assert!(moved.iter().zip(expected).all(|(a, b): (&Real, Real)| (a - b).abs() < 1e-6), "{moved:?}");
    assert_derivative(&[(&[1, 3, 2], &noise(6, 6))], |v| {
        v[0].tape().record(&saturate, [v[0], v[0].tape().constant([1, 3], &[1.0, 0.0, 2.0])])
    });
    let features = |v: &[Var<'_>]| v[0].apply(&fourier).value();
    let tape = Tape::new(Arena::default(), &[]);
    let found = features(&[tape.constant([1, 1, 2], &[0.3, 0.5])]);
    for (k, times) in [1.0, 2.0, 4.0, 8.0].into_iter().enumerate() {
        assert!((found[k] as f64 - (3.0 * times * 0.3f64).sin()).abs() < 1e-5);
        assert!((found[12 + k] as f64 - (3.0 / 1.25 * times * 0.5f64).cos()).abs() < 1e-5);
    }
}

#[test]
fn failed_agents_neither_push_nor_move() {
    let problem = problem("heat1d", &["physics.ticks=2"]);
    let tape = Tape::new(Arena::default(), &[]);
    let raw = tape.constant([1, 3, 2], &[0.5; 6]);
    let action = problem.swarm.saturate(raw, tape.constant([1, 3], &[1.0, 0.0, 1.0]));
    assert_eq!(&action.value()[2..4], &[0.0, 0.0]);
    let (z, xi) = (tape.zeros([1, 100]), tape.constant([1, 3, 1], &[0.2, 0.5, 0.8]));
    let given = TickInputs {
        start: z,
        target: tape.zeros([1, 100]),
        strength: tape.constant([1, 3], &[1.0, 0.0, 1.0]),
        now: None,
        action_repeat: 1,
        noise: Noise::default(),
        ages: None,
        arrivals: None,
    };
    let state = State { z, xi, previous: tape.zeros([1, 3, 2]), pending: None, memory: None, held: None, stock: None };
    let state = tick(&problem, Decide::Action(action), state, given, &mut |_| {});
    let moved = state.xi.value();
    assert!(moved[0] > 0.2 && moved[1] == 0.5 && moved[2] > 0.8);
    let without_failed =
        problem.swarm.actuate(tape.constant([1, 2, 2], &[1.0; 4]), tape.constant([1, 2, 1], &[0.2, 0.8])).value();
    let with_failed = problem
        .swarm
        .actuate(tape.constant([1, 3, 2], &[1.0, 1.0, 0.0, 0.0, 1.0, 1.0]), tape.constant([1, 3, 1], &[0.2, 0.5, 0.8]));
    assert_eq!(without_failed, with_failed.value());
}

#[test]
fn agents_are_exchangeable() {
    let Parts { problem, policy, .. } = parts(&config("fkpp1d", &["physics.ticks=2"]));
    let params = policy.init(&mut Rng::new(2, Stream::Init, 0));
    let tape = Tape::new(Arena::default(), params.shared());
    let theta = params.leaves(&tape, false);
    let (z, target) = (tape.constant([1, 100], &positions(100, 1)), tape.constant([1, 100], &positions(100, 2)));
    let act = |xi: &[Real]| {
        let seen =
            problem.swarm.observe(&Visible::new(z, target, tape.constant([1, 3, 1], xi), tape.constant([1, 3], &[1.0; 3])));
        policy.act(&theta, &seen, &Context::default()).raw.value()
    };
    let (a, b) = (act(&[0.2, 0.5, 0.9]), act(&[0.9, 0.2, 0.5]));
    assert_eq!(&a[..4], &b[2..]);
    assert_eq!(&a[4..], &b[..2]);
}

/// White noise on every node in the window of `heat1d`, eight cells wide: slopes over one cell have 1.9 times the noise
/// of fitted ones over the whole window, and 4.2 times at its middle.
#[test]
fn fitted_slopes_amplify_noise_less() {
    let (nodes, agents, points) = (100, 8, 20);
    let sums = ["observe.fitted_slopes=false", "observe.fitted_slopes=true"].map(|fitted| {
        let problem = problem("heat1d", &[fitted]);
        assert_eq!(problem.swarm.points(), points);
        let mut sums = [0.0f64; 2];
        for seed in 0..200 {
            let (z, tape) = (Rng::new(seed, Stream::Noise, 0).normals(nodes), Tape::new(Arena::default(), &[]));
            let z: Vec<Real> = z.iter().map(|z| *z as Real).collect();
            // Windows are inside the walls.
            let xi: Vec<Real> = noise(agents, seed).iter().map(|x| 0.5 + 0.4 * x).collect();
            let (z, target) = (tape.constant([1, nodes], &z), tape.zeros([1, nodes]));
            let (xi, strength) = (tape.constant([1, agents, 1], &xi), tape.constant([1, agents], &[1.0; 8]));
            let seen = problem.swarm.observe(&Visible::new(z, target, xi, strength)).patch().value();
            for slopes in seen.chunks_exact(2 * points).map(|patch| &patch[points..]) {
                let square = |slopes: &[Real]| slopes.iter().map(|slope| (*slope as f64).powi(2)).sum::<f64>();
                sums[0] += square(slopes);
                sums[1] += square(&slopes[points / 2 - 1..=points / 2]);
            }
        }
        sums
    });
    let [everywhere, middle] = [0, 1].map(|k| (sums[0][k] / sums[1][k]).sqrt());
    println!("noise of slopes over one cell, in units of that of fitted ones: {everywhere:.2}, in the middle {middle:.2}");
    assert!(everywhere > 1.5 && middle > 3.0, "{everywhere} {middle}");
}

#[test]
fn uncontrolled_levels_are_those_of_the_population() {
    // Means over thousands of instances: heat1d 0.48 to 0.50, fkpp1d 0.122, heat2d 0.21 at tick 100 and 0.112 at tick
    // 300.
    for (name, instances, levels) in [
        ("heat1d", 800, &[(0.40, 0.58)][..]),
        ("fkpp1d", 800, &[(0.112, 0.132)]),
        ("heat2d", 400, &[(0.16, 0.26), (0.085, 0.14)]),
    ] {
        let problem = Arc::new(problem(name, &[]));
        let zero = ZeroControl { action_width: problem.swarm.action_width() };
        let request = Request::test(1, instances, 1);
        let scores = scores(&problem, &zero, &Default::default(), &request, &Threads::new(0).unwrap()).unwrap();
        for (k, (low, high)) in levels.iter().enumerate() {
            assert!((*low..*high).contains(&scores.mean(k)), "{name}: {}", scores.mean(k));
        }
    }
}
