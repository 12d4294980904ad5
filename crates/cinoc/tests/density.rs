//! The density problem: fused operations against plain ones, cost, instances, uncontrolled scores.

mod common;

use cinoc::internal::actuate::Flow2d;
use cinoc::internal::limit::SaturateLength;
use cinoc::internal::random::{Rng, Split, Stream};
use cinoc::internal::registry::Parts;
use cinoc::internal::sense::{Directions, ObserveField, Patch, Visible};
use cinoc::internal::threads::Threads;
use cinoc::policy::{Context, ZeroControl};
use cinoc::task::MomentDistance;
use cinoc::{Real, evaluate};
use cinoc_pde::Grid;
use cinoc_pde::calculus::Moments;
use cinoc_tape::check::{Point, assert_derivative, noise, pull_back};
use cinoc_tape::{Arena, Shape, Tape};
use common::{agree, config, parts, problem};
use std::sync::Arc;

fn plane(nx: usize, ny: usize) -> Grid {
    Grid { nodes: vec![nx, ny], lengths: vec![1.0, 1.25], periodic: vec![false; 2] }
}

fn positions(agents: usize, seed: u64) -> Vec<Real> {
    noise(2 * agents, seed).iter().map(|x| 0.55 + 0.45 * x).collect()
}

#[test]
fn flow_is_a_sum_of_gaussians() {
    // Sizes that are not multiples of lanes or blocks, and an odd number of agents.
    let grid = plane(6, 19);
    for (agents, sigma) in [(1, 0.2), (3, 0.2), (4, 0.04)] {
        let flow = Arc::new(Flow2d::new(&grid, sigma, 0.3));
        let (x, y) = (grid.positions(0), grid.positions(1));
        let nodes: Vec<[Real; 2]> = x.iter().flat_map(|x| y.iter().map(|y| [*x as Real, *y as Real])).collect();
        let (nodes_x, nodes_y): (Vec<Real>, Vec<Real>) = nodes.iter().map(|n| (n[0], n[1])).unzip();
        let shape = Shape::new(&[2, agents, 2]);
        let point = vec![(shape, noise(4 * agents, 1)), (shape, positions(2 * agents, 2))];
        agree(point, &|v| v[0].tape().record(&flow, [v[0], v[1]]), &|v| {
            let (tape, count) = (v[0].tape(), nodes.len());
            let rows = |column: usize, of: usize| v[of].columns(column, column + 1).reshape([2 * agents]).repeat(count);
            let zeros = tape.zeros([2 * agents, count]);
            let d_x = zeros + tape.constant([count], &nodes_x) - rows(0, 1);
            let d_y = zeros + tape.constant([count], &nodes_y) - rows(1, 1);
            let bump = ((d_x.square() + d_y.square()) * (-0.5 / (sigma * sigma)) as Real).exp() * 0.3;
            let planes = [0, 1].map(|c| (rows(c, 0) * bump).reshape([2 * agents * count]));
            let sum = |b: usize, c: usize| {
                let each = (b * agents..(b + 1) * agents).map(|m| planes[c].columns(m * count, (m + 1) * count));
                each.reduce(|a, b| a + b).unwrap()
            };
            sum(0, 0).join(sum(0, 1)).join(sum(1, 0)).join(sum(1, 1)).reshape([2, 2, 6, 19])
        });
    }
}

#[test]
fn velocities_are_limited_in_length() {
    let saturate = Arc::new(SaturateLength::new(0.8));
    let raw = [0.3, -0.4, 3.0, 2.0, 0.9, -1.2, 5.0, 0.01];
    let tape = Tape::new(Arena::default(), &[]);
    let strength = [1.0, 1.0, 0.0, 1.0];
    let v = tape.record(&saturate, [tape.constant([1, 4, 2], &raw), tape.constant([1, 4], &strength)]).value();
    assert!((v[0] as f64 - 0.8 * 0.3f64.tanh()).abs() < 1e-6);
    assert!((v[2].hypot(v[3]) - 0.8).abs() < 1e-6, "shortened to the limit");
    assert!((v[3] as f64 / v[2] as f64 - 2f64.tanh() / 3f64.tanh()).abs() < 1e-6, "its direction kept");
    assert_eq!(&v[4..6], &[0.0, 0.0], "failed agents produce no wind");
    assert_derivative(&[(&[1, 4, 2], &[0.3, -0.4, 1.3, 1.1, 0.9, -1.2, 2.0, 0.2])], |v| {
        v[0].tape().record(&saturate, [v[0], v[0].tape().constant([1, 4], &[1.0, 0.7, 0.0, 2.0])])
    });
}

#[test]
fn views_and_directions() {
    let grid = plane(5, 7);
    let (field, moments) = (Arc::new(ObserveField::new(&grid, 2.0)), Arc::new(Moments::new(&grid)));
    let (z, target) = (noise(70, 1), noise(70, 2));
    let tape = Tape::new(Arena::default(), &[]);
    let seen = tape.record(&field, [tape.constant([2, 5, 7], &z), tape.constant([2, 5, 7], &target)]);
    assert_eq!(seen.shape().sizes(), &[2, 105]);
    let seen = seen.value();
    let e = |b: usize, i: usize, j: usize| 2.0 * (z[b * 35 + i * 7 + j] - target[b * 35 + i * 7 + j]);
    for (b, i, j) in [(0, 0, 0), (1, 2, 3), (1, 4, 6), (0, 3, 0), (0, 0, 5)] {
        let pixel = &seen[105 * b + 3 * (7 * i + j)..][..3];
        let slope = |low: Real, high: Real, cells: usize| (high - low) / cells as Real;
        let (left, right) = (i.saturating_sub(1), (i + 1).min(4));
        let (below, above) = (j.saturating_sub(1), (j + 1).min(6));
        let by_x = slope(e(b, left, j), e(b, right, j), right - left);
        let by_y = slope(e(b, i, below), e(b, i, above), above - below);
        for (seen, expected) in pixel.iter().zip([e(b, i, j), by_x, by_y]) {
            assert!((seen - expected).abs() < 1e-6, "({b}, {i}, {j}): {pixel:?}");
        }
    }
    assert_derivative(&[(&[2, 5, 7], &z), (&[2, 5, 7], &target)], |v| v[0].tape().record(&field, [v[0], v[1]]));

    let density: Vec<Real> = z.iter().map(|z| 1.2 + z).collect();
    let goal: Vec<Real> = target.iter().map(|z| 1.2 + z).collect();
    let directions = Arc::new(Directions);
    assert_derivative(&[(&[2, 3, 2], &positions(6, 3)), (&[2, 5, 7], &density), (&[2, 5, 7], &goal)], |v| {
        v[0].tape().record(&directions, [v[0], v[1].apply(&moments), v[2].apply(&moments)])
    });
    let at = tape.constant([1, 1, 2], &[0.5, 0.25]);
    let (here, there) = (tape.constant([1, 4], &[1.0, 0.5, 0.25, 0.1]), tape.constant([1, 4], &[1.0, 0.8, 0.65, 0.1]));
    let found = tape.record(&directions, [at, here, there]).value();
    for (found, expected) in found.iter().zip([0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.4, 0.6, 0.8, 0.5]) {
        assert!((found - expected).abs() < 1e-5, "{found} not {expected}");
    }
}

#[test]
fn one_view_serves_all_agents() {
    let Parts { problem, policy, .. } = parts(&config("density2d", &["physics.nodes_x=6", "physics.nodes_y=8"]));
    let params = policy.init(&mut Rng::new(2, Stream::Init, 0));
    let tape = Tape::new(Arena::default(), params.shared());
    let theta = params.leaves(&tape, false);
    let density: Vec<Real> = noise(96, 1).iter().map(|z| 1.0 + z).collect();
    let (z, target) = (tape.constant([2, 6, 8], &density), tape.constant([2, 6, 8], &noise(96, 2)));
    let act = |agents: usize, xi: &[Real]| {
        let seen = problem.swarm.observe(&Visible::new(
            z,
            target,
            tape.constant([2, agents, 2], xi),
            tape.constant([2, agents], &vec![1.0; 2 * agents]),
        ));
        let action = policy.act(&theta, &seen, &Context::default()).raw;
        assert_eq!(action.shape().sizes(), &[2, agents, 2]);
        action.value()
    };
    let many = act(2, &[0.2, 0.3, 0.7, 0.6, 0.4, 0.9, 0.5, 0.5]);
    let swapped = act(2, &[0.7, 0.6, 0.2, 0.3, 0.5, 0.5, 0.4, 0.9]);
    let alone = act(1, &[0.2, 0.3, 0.4, 0.9]);
    let close = |a: &[Real], b: &[Real]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(close(&many[..2], &swapped[2..4]) && close(&many[2..4], &swapped[..2]), "agents are interchangeable");
    assert!(close(&many[..2], &alone[..2]) && close(&many[4..6], &alone[2..]), "and independent of their number");
}

#[test]
fn agents_start_on_a_lattice() {
    let problem = problem("density2d", &[]);
    let start = |agents: usize| problem.swarm.start(agents).chunks(2).map(|x| (x[0], x[1])).collect::<Vec<_>>();
    let nine = start(9);
    for (m, expected) in [(0, (0.15, 0.15)), (1, (0.15, 0.575)), (3, (0.5, 0.15)), (8, (0.85, 1.0))] {
        assert!((nine[m].0 - expected.0).abs() < 1e-6 && (nine[m].1 - expected.1).abs() < 1e-6, "{m}: {:?}", nine[m]);
    }
    assert_eq!((start(7).as_slice(), start(1).as_slice()), (&nine[..7], &nine[..1]));
}

#[test]
fn moments_know_the_way_where_pointwise_errors_do_not() {
    // Two blobs that do not overlap: the derivative of a cost with respect to moving the first one towards the second.
    let grid = plane(32, 40);
    let blob = |x: f64, y: f64| -> Vec<Real> {
        let (xs, ys) = (grid.positions(0), grid.positions(1));
        let bump = |a: f64, b: f64| (-((a - x).powi(2) + (b - y).powi(2)) / (2.0 * 0.04 * 0.04)).exp();
        xs.iter().flat_map(|a| ys.iter().map(move |b| bump(*a, *b))).map(|z| if z < 1e-8 { 0.0 } else { z as Real }).collect()
    };
    let (start, target) = (blob(0.25, 0.3), blob(0.75, 0.95));
    let (moments, distance) = (Arc::new(Moments::new(&grid)), Arc::new(MomentDistance));
    let equation =
        cinoc_pde::equation::Transport2d::new(grid.clone(), [0.0; 2], 0.0, cinoc_pde::calculus::TransportScheme::Conservative);
    let push = vec![0.003; 2 * grid.count()];
    let shape = Shape::new(&[1, 2, 32, 40]);
    let by_push = |point: &Point, matching: bool| -> (Real, Real) {
        let (value, bars) = pull_back(
            point,
            &|v| {
                let tape = v[0].tape();
                let z = cinoc_pde::Stepper::step(&equation, tape.constant([1, 32, 40], &start), v[0]);
                let goal = tape.constant([1, 32, 40], &target);
                if matching {
                    tape.record(&distance, [z.apply(&moments), goal.apply(&moments)])
                } else {
                    (z - goal).square().mean_keeping(1)
                }
            },
            Some(&[1.0]),
        );
        (value[0], bars[0].iter().sum())
    };
    let (near, far) = (vec![(shape, push.clone())], vec![(shape, push.iter().map(|q| 0.5 * q).collect())]);
    let (w, w_slope) = by_push(&near, true);
    let (mse, mse_slope) = by_push(&near, false);
    // Along the diagonal, the centroid approaches by (0.5 + 0.65)/0.82 per unit, minus a little as the blob spreads.
    let nearer = (0.5 + 0.65) / 0.5f64.hypot(0.65);
    assert!((w_slope as f64) < -0.8 * nearer, "{w_slope}, at best {}", -nearer);
    assert!(by_push(&far, true).0 > w);
    // The pointwise error changes only because a blob spreads while it moves: it decreases equally by moving away.
    let away = vec![(shape, push.iter().map(|q| -q).collect::<Vec<Real>>())];
    let (mse_away, mse_away_slope) = by_push(&away, false);
    assert!((mse - mse_away).abs() < 1e-3 * mse && (mse_slope + mse_away_slope).abs() < 0.05 * mse_slope.abs());
}

#[test]
fn moment_distance_has_right_derivatives() {
    let distance = Arc::new(MomentDistance);
    let (a, b) = ([5.0, 0.3, 0.4, 0.1, 5.0, 0.6, 0.1, 0.2], [4.0, 0.7, 0.8, 0.12, 3.0, 0.5, 0.9, 0.1]);
    assert_derivative(&[(&[2, 4], &a), (&[2, 4], &b)], |v| v[0].tape().record(&distance, [v[0], v[1]]));
    let same = vec![(Shape::new(&[2, 4]), a.to_vec()), (Shape::new(&[2, 4]), a.to_vec())];
    let (value, bars) = pull_back(&same, &|v| v[0].tape().record(&distance, [v[0], v[1]]), Some(&[1.0, 1.0]));
    assert!(value.iter().chain(&bars[0]).chain(&bars[1]).all(|x| *x == 0.0), "at the target the gradient is zero");
}

#[test]
fn blobs_are_apart_and_whole() {
    let problem = problem("density2d", &[]);
    let moments = Moments::new(problem.stepper.grid());
    let mut ratio: f64 = 1.0;
    for i in 0..50 {
        let instance = problem.task.sample(&mut Rng::new(3, Stream::Test, i), Split::Test);
        assert!(instance.start.iter().chain(&instance.target).all(|z| *z == 0.0 || *z >= 1e-20));
        let (start, target) = (moments.measure(&instance.start), moments.measure(&instance.target));
        // Centres are at least 0.25 apart; walls at 0.2 (1.43 of the largest sigma) cut blobs and shift their centroids
        // by up to 0.031.
        let apart = (start[1] - target[1]).hypot(start[2] - target[2]);
        assert!(apart > 0.188 && apart < 1.1, "{apart}");
        ratio = ratio.max((start[0] / target[0] - 1.0).abs());
    }
    assert!(ratio > 0.01, "walls cut start and target differently: the mass to be kept is that of the start");
}

#[test]
fn uncontrolled_levels_are_those_of_the_population() {
    for (scheme, drift) in [("conservative", 0.0..1e-4), ("backward", 0.02..0.1)] {
        let problem = Arc::new(problem("density2d", &[&format!("physics.scheme={scheme}")]));
        let zero = ZeroControl { action_width: 2 };
        let request = evaluate::Request { stream: Stream::Validate, ..evaluate::Request::test(1, 48, 1) };
        let scores = evaluate::scores(&problem, &zero, &Default::default(), &request, &Threads::new(0).unwrap()).unwrap();
        assert!((0.024..0.034).contains(&scores.mean(0)), "{scheme}: mean square error {}", scores.mean(0));
        assert!((0.29..0.38).contains(&scores.mean(1)), "{scheme}: distance {}", scores.mean(1));
        assert!(drift.contains(&scores.mean(2)), "{scheme}: mass drift {}", scores.mean(2));
    }
}

#[test]
fn agents_may_see_patches_instead() {
    let problem = problem("density2d", &["observe.view=\"patch\"", "policy.stride=1", "policy.branch=[32]"]);
    let features = problem.swarm.features();
    assert_eq!(features.patch, Patch::Image { height: 12, width: 12, channels: 3 });
    assert!(!features.shared);
    // For a plane: the error, and its slopes times the width of the window.
    let (x, y) = (problem.stepper.grid().positions(0), problem.stepper.grid().positions(1));
    let z: Vec<Real> = x.iter().flat_map(|x| y.iter().map(move |y| (0.2 + 0.5 * x + 0.3 * y) as Real)).collect();
    let tape = Tape::new(Arena::default(), &[]);
    let (field, target) = (tape.constant([1, 64, 80], &z), tape.zeros([1, 64, 80]));
    let seen =
        problem.swarm.observe(&Visible::new(field, target, tape.constant([1, 1, 2], &[0.5, 0.6]), tape.constant([1, 1], &[1.0])));
    assert_eq!(seen.patch().shape().sizes(), &[1, 1, 432]);
    let (seen, h) = (seen.patch().value(), 1.0 / 63.0);
    for (n, pixel) in seen.chunks_exact(3).enumerate() {
        let [x, y] = [(n / 12, 0.5), (n % 12, 0.6)].map(|(i, centre)| centre + (i as f64 - 5.5) * h);
        let expected = [0.2 + 0.5 * x + 0.3 * y, 0.5 * 11.0 * h, 0.3 * 11.0 * h];
        assert!(pixel.iter().zip(expected).all(|(a, b)| (*a as f64 - b).abs() < 2e-5), "{n}: {pixel:?} not {expected:?}");
    }
    for (part, error) in cinoc_lab::inspect::parts(&problem) {
        assert!(error < if cfg!(double) { 1e-5 } else { 2e-2 }, "{part}: {error:.1e}");
    }
}

#[test]
fn a_pointwise_error_joins_the_cost_where_it_has_a_weight() {
    let [plain, tracked] = [0.0, 2.0].map(|w| problem("density2d", &[&format!("cost.track={w}")]).task);
    assert_eq!((plain.terms().len(), tracked.terms().len()), (6, 7));
    assert_eq!(tracked.terms()[6], "track");
    let weights: f64 = (1..=150).map(|tick| tracked.weight(6, tick, 150)).sum();
    assert!((weights - 3.0 * 2.0).abs() < 1e-9 && tracked.weight(6, 150, 150) > 4.0, "{weights}");
}
