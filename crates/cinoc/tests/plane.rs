//! Observations and forces of a swarm on a rectangle against reference implementations.

use cinoc::Real;
use cinoc::internal::actuate::{Force2d, Kernel, Push};
use cinoc::internal::sense::{Observe2d, Window};
use cinoc_pde::Grid;
use cinoc_tape::check::{assert_derivative, noise};
use cinoc_tape::{Arena, Tape};
use std::sync::Arc;

fn window(points: usize, window: f64) -> Window {
    Window { gain: 1.5, ..Window::new(points, window) }
}

fn patch(grid: &Grid, settings: &Window, z: &[Real], target: &[Real], xi: &[Real]) -> Vec<Real> {
    let observe = Arc::new(Observe2d::new(grid, settings));
    let tape = Tape::new(Arena::default(), &[]);
    let shape = [1, grid.nodes[0], grid.nodes[1]];
    let xi = tape.constant([1, xi.len() / 2, 2], xi);
    tape.record(&observe, [tape.constant(shape, z), tape.constant(shape, target), xi]).value()
}

/// Patch of one agent, sample by sample.
fn reference_patch(grid: &Grid, settings: &Window, z: &[Real], target: &[Real], xi: &[Real]) -> Vec<f64> {
    let (nodes, periodic) = (&grid.nodes, &grid.periodic);
    let wrap = |i: i64, axis: usize| {
        let n = nodes[axis] as i64;
        if periodic[axis] { i.rem_euclid(n) as usize } else { i.clamp(0, n - 1) as usize }
    };
    let e = |i: i64, j: i64| {
        let k = wrap(i, 0) * nodes[1] + wrap(j, 1);
        settings.gain * (z[k] as f64 - target[k] as f64)
    };
    // Both neighbours inside, or the node itself for one outside, over the distance between the two.
    let slope = |i: i64, n: usize, axis: usize, at: &dyn Fn(i64) -> f64| {
        let (low, high) = if periodic[axis] { (i - 1, i + 1) } else { ((i - 1).max(0), (i + 1).min(n as i64 - 1)) };
        settings.window * (at(high) - at(low)) / ((high - low) as f64 * grid.spacing(axis))
    };
    let node = |i: i64, j: i64| -> [f64; 3] {
        let (i, j) = (wrap(i, 0) as i64, wrap(j, 1) as i64);
        [e(i, j), slope(i, nodes[0], 0, &|i| e(i, j)), slope(j, nodes[1], 1, &|j| e(i, j))]
    };
    let h = settings.window / (settings.points - 1) as f64;
    let sample = |axis: usize, j: usize| {
        let x = xi[axis] as f64 + (j as f64 - 0.5 * (settings.points - 1) as f64) * h;
        let t = x / grid.spacing(axis);
        let t = if periodic[axis] { t } else { t.clamp(0.0, (nodes[axis] - 1) as f64) };
        (t.floor() as i64, t - t.floor())
    };
    let mut seen = Vec::new();
    for (j, k) in (0..settings.points).flat_map(|j| (0..settings.points).map(move |k| (j, k))) {
        let ((x, a), (y, b)) = (sample(0, j), sample(1, k));
        for c in 0..3 {
            let along = |x: i64| (1.0 - b) * node(x, y)[c] + b * node(x, y + 1)[c];
            seen.push((1.0 - a) * along(x) + a * along(x + 1));
        }
    }
    seen
}

/// Walls and periodic axes.
const ENDS: [[bool; 2]; 4] = [[false, false], [true, true], [true, false], [false, true]];

fn plane(nodes: [usize; 2], lengths: [Real; 2], periodic: [bool; 2]) -> Grid {
    Grid { periodic: periodic.to_vec(), ..Grid::plane(nodes, lengths, false) }
}

/// Rectangles with walls and periodic axes, samples one cell apart or not, windows larger than a periodic axis.
fn views() -> Vec<(Grid, Window)> {
    ENDS.into_iter()
        .flat_map(|periodic| {
            let cell = if periodic[0] { 1.0 / 12.0 } else { 1.0 / 11.0 };
            let square = plane([12, 12], [1.0, 1.0], periodic);
            let oblong = plane([9, 14], [1.0, 1.25], periodic);
            [
                (square.clone(), window(6, 5.0 * cell)),
                (square, window(20, 19.0 * cell)),
                (oblong.clone(), window(5, 0.31)),
                (oblong, window(13, 0.17)),
            ]
        })
        .collect()
}

#[test]
fn observation_agrees_with_the_reference() {
    for (grid, settings) in views() {
        let (z, target) = (noise(grid.count(), 1), noise(grid.count(), 2));
        let positions: [[f64; 2]; 5] = [[0.41, 0.77], [0.0, 0.0], [1.0, 1.0], [0.03, 0.98], [0.999, 0.5]];
        let xi: Vec<Real> = positions.iter().flat_map(|p| [p[0] as Real, (p[1] * grid.lengths[1] as f64) as Real]).collect();
        let seen = patch(&grid, &settings, &z, &target, &xi);
        let size = settings.points * settings.points * 3;
        for (m, seen) in seen.chunks_exact(size).enumerate() {
            let expected = reference_patch(&grid, &settings, &z, &target, &xi[2 * m..2 * m + 2]);
            let limit = if cfg!(double) { 1e-12 } else { 2e-4 };
            for (k, (a, b)) in seen.iter().zip(&expected).enumerate() {
                assert!((*a as f64 - b).abs() < limit, "{grid:?} {settings:?} agent {m}, number {k}: {a} not {b}");
            }
        }
    }
}

#[test]
fn observation_wraps_around_periodic_axes() {
    for (grid, settings) in views() {
        let (z, target) = (noise(grid.count(), 1), noise(grid.count(), 2));
        let times = |axis: usize, times: Real| if grid.periodic[axis] { times * grid.lengths[axis] } else { 0.0 };
        let [a, b, c] = [[0.0, 0.0], [1.0, 1.0], [-1.0, -2.0]]
            .map(|[x, y]| patch(&grid, &settings, &z, &target, &[0.01 + times(0, x), 0.4 + times(1, y)]));
        for k in 0..a.len() {
            assert!((a[k] - b[k]).abs() < 2e-4 && (a[k] - c[k]).abs() < 2e-4);
        }
    }
}

#[test]
fn observation_has_the_right_derivative() {
    // Cells are wide and samples lie away from nodes: a finite difference never crosses a kink.
    for periodic in ENDS {
        let cell = if periodic[0] { 1.0 / 8.0 } else { 1.0 / 7.0 };
        for (points, spacing) in [(4, 1.0), (5, 0.5), (3, 2.0)] {
            // Cells are square.
            let lengths = [0, 1].map(|axis: usize| (cell * if periodic[axis] { 8.0 } else { 7.0 }) as Real);
            let grid = plane([8, 8], lengths, periodic);
            let observe = Arc::new(Observe2d::new(&grid, &window(points, (points - 1) as f64 * spacing * cell)));
            let xi: Vec<Real> = [0.25, 3.75, 5.25, 6.75, 2.25, 0.75, 6.75, 6.25].iter().map(|t| (t * cell) as Real).collect();
            let (z, target) = (noise(128, 1), noise(128, 2));
            assert_derivative(&[(&[2, 8, 8], &z), (&[2, 8, 8], &target), (&[2, 2, 2], &xi)], |v| {
                v[0].tape().record(&observe, [v[0], v[1], v[2]])
            });
        }
    }
}

#[test]
fn the_derivative_through_the_position_can_be_disabled() {
    let grid = Grid::plane([8, 8], [1.0, 1.0], false);
    let settings = Window { through_position: false, ..window(4, 0.3) };
    let observe = Arc::new(Observe2d::new(&grid, &settings));
    let point = vec![([1, 8, 8].into(), noise(64, 1)), ([1, 1, 2].into(), vec![0.4, 0.6])];
    let (_, bars) = cinoc_tape::check::pull_back(
        &point,
        &|v| v[0].tape().record(&observe, [v[0], v[0].tape().zeros([1, 8, 8]), v[1]]),
        Some(&noise(48, 3)),
    );
    assert_eq!(bars[1], vec![0.0, 0.0]);
    assert!(bars[0].iter().any(|b| b.abs() > 0.1));
}

/// Force of several agents, node by node.
fn reference_force(grid: &Grid, sigma: f64, action: &[Real], xi: &[Real]) -> Vec<f64> {
    let distance = |x: f64, xi: Real, axis: usize| {
        let (d, length) = (x - xi as f64, grid.lengths[axis] as f64);
        if grid.periodic[axis] { d - length * (d / length).round() } else { d }
    };
    let mut force = vec![0.0; grid.count()];
    for (a, xi) in action.chunks_exact(3).zip(xi.chunks_exact(2)) {
        for (i, x) in grid.positions(0).iter().enumerate() {
            for (j, y) in grid.positions(1).iter().enumerate() {
                let square = distance(*x, xi[0], 0).powi(2) + distance(*y, xi[1], 1).powi(2);
                force[i * grid.nodes[1] + j] += a[0] as f64 * (-square / (2.0 * sigma * sigma)).exp();
            }
        }
    }
    force
}

#[test]
fn force_is_a_sum_of_gaussians() {
    // Bumps that reach everywhere, and bumps that reach few nodes, on grids of one and of several groups of lanes.
    for (nodes, sigma) in [([9, 14], 0.15), ([50, 70], 0.01), ([50, 70], 0.03), ([40, 64], 0.15)] {
        for periodic in ENDS {
            let grid = plane(nodes, [1.0, 1.25], periodic);
            let force = Arc::new(Force2d::new(&grid, &Push { sigma, kernel: Kernel::Peak }));
            let positions = [[0.4, 0.7], [0.0, 0.0], [1.0, 1.25], [0.01, 1.2], [0.98, 0.02], [0.52, 0.61]];
            let (action, xi) = (noise(18, 1), positions.as_flattened());
            let tape = Tape::new(Arena::default(), &[]);
            let found = tape.record(&force, [tape.constant([1, 6, 3], &action), tape.constant([1, 6, 2], xi)]).value();
            let expected = reference_force(&grid, sigma, &action, xi);
            let limit = if cfg!(double) { 1e-14 } else { 2e-5 };
            for (k, (a, b)) in found.iter().zip(&expected).enumerate() {
                assert!((*a as f64 - b).abs() < limit, "{grid:?} σ {sigma}, node {k}: {a} not {b}");
            }
        }
    }
}

#[test]
fn force_has_the_right_derivative() {
    for periodic in ENDS {
        // Narrow bumps: the kink where the nearest image changes is negligible.
        let grid = plane([9, 20], [1.0, 1.25], periodic);
        let force = Arc::new(Force2d::new(&grid, &Push { sigma: 0.1, kernel: Kernel::UnitMass }));
        let xi: Vec<Real> = noise(12, 2).iter().map(|x| 0.55 + 0.5 * x).collect();
        assert_derivative(&[(&[2, 3, 3], &noise(18, 1)), (&[2, 3, 2], &xi)], |v| v[0].tape().record(&force, [v[0], v[1]]));
    }
}
