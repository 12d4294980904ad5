//! Transport of a density: against a simple version, exact motion and spreading, order, mass, positivity, adjoints.

use cinoc_pde::calculus::{Diffuse, Displacement, Transport, TransportScheme};
use cinoc_pde::equation::Transport2d;
use cinoc_pde::{Grid, Real, Stepper};
use cinoc_tape::check::{assert_derivative, compare, noise};
use cinoc_tape::{Arena, Tape};
use std::sync::Arc;

const SCHEMES: [TransportScheme; 2] = [TransportScheme::Conservative, TransportScheme::Backward];

/// Round-off of a sum over a plane.
const ROUND: f64 = if cfg!(double) { 1e-13 } else { 2e-5 };

fn plane(nx: usize, ny: usize) -> Grid {
    Grid { nodes: vec![nx, ny], lengths: vec![(nx - 1) as Real, (ny - 1) as Real], periodic: vec![false; 2] }
}

/// A Gaussian of width `width` cells.
fn blob(grid: &Grid, centre: [f64; 2], width: f64) -> Vec<Real> {
    let ny = grid.nodes[1];
    let at = |n: usize| {
        let (x, y) = ((n / ny) as f64 - centre[0], (n % ny) as f64 - centre[1]);
        (-(x * x + y * y) / (2.0 * width * width)).exp() as Real
    };
    (0..grid.count()).map(at).collect()
}

/// Mass, centroid and variance along each axis, in cells.
fn moments(grid: &Grid, z: &[Real]) -> (f64, [f64; 2], [f64; 2]) {
    let ny = grid.nodes[1];
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        z.iter().enumerate().map(|(n, &z)| z as f64 * f((n / ny) as f64, (n % ny) as f64)).sum()
    };
    let mass = sum(&|_, _| 1.0);
    let centre = [sum(&|x, _| x) / mass, sum(&|_, y| y) / mass];
    let variance = [sum(&|x, _| (x - centre[0]).powi(2)) / mass, sum(&|_, y| (y - centre[1]).powi(2)) / mass];
    (mass, centre, variance)
}

/// The density after some steps under a flow held constant.
fn run(stepper: &dyn Stepper, start: &[Real], flow: &[Real], steps: usize) -> Vec<Real> {
    let [nx, ny] = stepper.grid().nodes[..] else { panic!("a plane") };
    let (mut memory, mut z) = (Arena::default(), start.to_vec());
    for _ in 0..steps {
        let tape = Tape::new(memory, &[]);
        z = stepper.step(tape.constant([1, nx, ny], &z), tape.constant([1, 2, nx, ny], flow)).value();
        memory = tape.into_arena();
    }
    z
}

/// A uniform flow.
fn uniform(grid: &Grid, x: Real, y: Real) -> Vec<Real> {
    [vec![x; grid.count()], vec![y; grid.count()]].concat()
}

fn once(grid: &Grid, scheme: TransportScheme, z: &[Real], shift: &[Real]) -> Vec<Real> {
    let (transport, tape) = (Arc::new(Transport::new(grid, scheme)), Tape::new(Arena::default(), &[]));
    let [nx, ny] = grid.nodes[..] else { panic!("a plane") };
    let batch = z.len() / grid.count();
    tape.record(&transport, [tape.constant([batch, nx, ny], z), tape.constant([batch, 2, nx, ny], shift)]).value()
}

#[test]
fn both_schemes_agree_with_their_definition() {
    let (nx, ny) = (5, 19);
    let grid = plane(nx, ny);
    let (z, shift) = (noise(2 * nx * ny, 1), noise(4 * nx * ny, 2));
    for scheme in SCHEMES {
        let ours = once(&grid, scheme, &z, &shift);
        let mut plain = vec![0.0; z.len()];
        for b in 0..2 {
            for n in 0..nx * ny {
                let s = [shift[2 * b * nx * ny + n] as f64, shift[(2 * b + 1) * nx * ny + n] as f64];
                let sign = if scheme == TransportScheme::Conservative { 1.0 } else { -1.0 };
                // The place that is reached, or that is come from, held inside the domain; then its four nodes.
                let x = ((n / ny) as f64 + sign * s[0]).clamp(0.0, (nx - 1) as f64);
                let y = ((n % ny) as f64 + sign * s[1]).clamp(0.0, (ny - 1) as f64);
                let (i, j) = ((x as usize).min(nx - 2), (y as usize).min(ny - 2));
                for (a, c) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let weight = (1.0 - (x - (i + a) as f64).abs()) * (1.0 - (y - (j + c) as f64).abs());
                    let (here, there) = (b * nx * ny + n, b * nx * ny + (i + a) * ny + j + c);
                    let (from, to) = if scheme == TransportScheme::Conservative { (here, there) } else { (there, here) };
                    plain[to] += weight * z[from] as f64;
                }
            }
        }
        for (a, b) in ours.iter().zip(&plain) {
            assert!((*a as f64 - b).abs() < 0.1 * ROUND, "{scheme:?}: {a} not {b}");
        }
    }
}

#[test]
fn one_scheme_is_the_transpose_of_the_other() {
    let grid = plane(8, 21);
    let (a, b, shift) = (noise(168, 1), noise(168, 2), noise(336, 3));
    let back: Vec<Real> = shift.iter().map(|s| -s).collect();
    let dot = |a: &[Real], b: &[Real]| a.iter().zip(b).map(|(a, b)| *a as f64 * *b as f64).sum::<f64>();
    let forwards = dot(&b, &once(&grid, TransportScheme::Conservative, &a, &shift));
    let backwards = dot(&a, &once(&grid, TransportScheme::Backward, &b, &back));
    assert!((forwards - backwards).abs() < 10.0 * ROUND, "{forwards} {backwards}");
}

#[test]
fn a_uniform_flow_carries_a_blob_and_spreads_it_by_a_known_amount() {
    let (grid, steps) = (plane(84, 90), 60);
    let (start, flow) = (blob(&grid, [32.0, 54.0], 4.0), [0.3, -0.25]);
    let (_, from, before) = moments(&grid, &start);
    for scheme in SCHEMES {
        for rate in [0.0, 0.01] {
            let stepper = Transport2d::new(grid.clone(), [0.1, 0.0], rate, scheme);
            let z = run(&stepper, &start, &uniform(&grid, flow[0] as Real - 0.1, flow[1] as Real), steps);
            let (_, to, after) = moments(&grid, &z);
            for axis in 0..2 {
                let moved = (to[axis] - from[axis]) / steps as f64;
                assert!((moved - flow[axis]).abs() < 1e-5, "{scheme:?}: moves by {moved}, not {}", flow[axis]);
                // Linear interpolation at s spreads by s(1−s) cells², diffusion by twice its rate, each step.
                let spread = (after[axis] - before[axis]) / steps as f64;
                let expected = flow[axis].abs() * (1.0 - flow[axis].abs()) + 2.0 * rate;
                assert!((spread - expected).abs() < 1e-5, "{scheme:?}: spreads by {spread}, not {expected}");
            }
        }
    }
}

#[test]
fn transport_is_first_order() {
    // One motion on finer and finer grids, at the same Courant number.
    for scheme in SCHEMES {
        let error = |n: usize| {
            let (scale, steps) = (n as f64 / 24.0, n / 2);
            let grid = plane(n, n);
            let stepper = Transport2d::new(grid.clone(), [0.3, 0.2], 0.0, scheme);
            let z = run(&stepper, &blob(&grid, [9.0 * scale, 10.0 * scale], 2.5 * scale), &uniform(&grid, 0.0, 0.0), steps);
            let exact = blob(&grid, [9.0 * scale + 0.3 * steps as f64, 10.0 * scale + 0.2 * steps as f64], 2.5 * scale);
            z.iter().zip(&exact).map(|(a, b)| (a - b).abs() as f64).sum::<f64>() / grid.count() as f64
        };
        let (coarse, fine) = (error(192), error(384));
        let order = (coarse / fine).log2();
        assert!((order - 1.0).abs() < 0.1, "{scheme:?}: order {order}");
    }
}

#[test]
fn only_the_conservative_scheme_keeps_mass_in_a_diverging_flow() {
    let (n, rate, steps) = (110, 0.004, 100);
    let (grid, middle) = (plane(n, n), n as f64 / 2.0);
    let start = blob(&grid, [middle, middle], 8.0);
    let along = |i: usize| (rate * (i as f64 - middle)) as Real;
    let flow: Vec<Real> = (0..n * n).map(|i| along(i / n)).chain((0..n * n).map(|i| along(i % n))).collect();
    let gain = |scheme| {
        let z = run(&Transport2d::new(grid.clone(), [0.0, 0.0], 0.01, scheme), &start, &flow, steps);
        assert!(z.iter().all(|z| *z >= 0.0));
        moments(&grid, &z).0 / moments(&grid, &start).0
    };
    assert!((gain(TransportScheme::Conservative) - 1.0).abs() < ROUND, "{}", gain(TransportScheme::Conservative));
    // ∇·q = 2·rate, so that ρ_t + q·∇ρ = 0 lets mass grow like exp(2·rate·t); a few per cent more where the flow
    // changes its sign.
    let expected = (2.0 * rate * steps as f64).exp();
    assert!(
        (gain(TransportScheme::Backward) / expected - 1.0).abs() < 0.04,
        "{} not {expected}",
        gain(TransportScheme::Backward)
    );
}

#[test]
fn walls_keep_what_would_leave() {
    let grid = plane(12, 17);
    let start = blob(&grid, [6.0, 8.0], 2.0);
    for flow in [[9.0, 0.0], [-9.0, 0.0], [0.0, 9.0], [-3.0, -3.0]] {
        let stepper = Transport2d::new(grid.clone(), flow, 0.0, TransportScheme::Conservative);
        let z = run(&stepper, &start, &uniform(&grid, 0.0, 0.0), 200);
        let (mass, centre, _) = moments(&grid, &z);
        assert!((mass / moments(&grid, &start).0 - 1.0).abs() < ROUND);
        for axis in 0..2 {
            let wall = (grid.nodes[axis] - 1) as f64;
            if flow[axis] != 0.0 {
                let expected = if flow[axis] > 0.0 { wall } else { 0.0 };
                assert!((centre[axis] - expected).abs() < 1e-3, "{flow:?}: {centre:?}");
            }
        }
        // The backward scheme holds the place it comes from inside: no value appears that was not there.
        let stepper = Transport2d::new(grid.clone(), flow, 0.0, TransportScheme::Backward);
        let back = run(&stepper, &vec![0.7; grid.count()], &uniform(&grid, 0.0, 0.0), 5);
        assert!(back.iter().all(|z| (z - 0.7).abs() < 1e-6));
    }
}

#[test]
fn diffusion_keeps_mass_and_decays_waves_by_a_known_factor() {
    let (n, rate) = (40, 0.2);
    let grid = plane(n, n);
    let diffuse = Arc::new(Diffuse::new(&grid, rate));
    // Cosines with nodes in the middle of cells are the eigenvectors between reflecting walls.
    let wave = |k: f64, i: usize| (k * std::f64::consts::PI * (i as f64 + 0.5) / n as f64).cos();
    let start: Vec<Real> = (0..n * n).map(|i| (1.0 + 0.5 * wave(3.0, i / n) * wave(2.0, i % n)) as Real).collect();
    let tape = Tape::new(Arena::default(), &[]);
    let z = tape.constant([1, n, n], &start).apply(&diffuse).value();
    let sine = |k: f64| (k * std::f64::consts::PI / (2.0 * n as f64)).sin().powi(2);
    let factor = 1.0 - 4.0 * rate * (sine(3.0) + sine(2.0));
    for (i, z) in z.iter().enumerate() {
        let expected = 1.0 + 0.5 * factor * wave(3.0, i / n) * wave(2.0, i % n);
        assert!((*z as f64 - expected).abs() < 0.1 * ROUND);
    }
}

#[test]
fn displacements_are_shortened_to_half_a_cell() {
    let grid = Grid { nodes: vec![3, 2], lengths: vec![1.0, 0.25], periodic: vec![false; 2] };
    let displacement = Arc::new(Displacement::new(&grid, [0.0, 0.005]));
    let tape = Tape::new(Arena::default(), &[]);
    let flow = tape.constant([1, 2, 3, 2], &[0.0, 0.1, 0.6, -0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.395, 3.0, -9.0]);
    let shift = flow.apply(&displacement).value();
    let root = 0.5 / (1.2f64 * 1.2 + 0.02 * 0.02).sqrt();
    let expected = [0.0, 0.2, 1.2 * root, 0.0, 0.0, 0.0];
    for (n, expected) in expected.into_iter().enumerate().filter(|(n, _)| *n != 3) {
        assert!((shift[n] as f64 - expected).abs() < 1e-6, "{n}: {} not {expected}", shift[n]);
    }
    for n in 0..6 {
        assert!(shift[n].hypot(shift[6 + n]) < 0.500_001, "{n}");
    }
    assert_eq!(shift[9] > 0.0, shift[3] < 0.0, "the direction is kept");
}

#[test]
fn adjoints() {
    let (nx, ny) = (4, 18);
    let (grid, count) = (plane(nx, ny), 2 * nx * ny);
    let density: Vec<Real> = noise(count, 1).iter().map(|x| 0.6 + 0.4 * x).collect();
    // Away from the kinks at zero and at half a cell.
    let shift: Vec<Real> = noise(2 * count, 2).iter().map(|s| 0.3 * s + 0.1 * s.signum()).collect();
    let flow: Vec<Real> = noise(2 * count, 3).iter().enumerate().map(|(n, s)| s * if n % 5 < 2 { 3.0 } else { 0.2 }).collect();
    let displacement = Arc::new(Displacement::new(&grid, [0.0, 0.01]));
    assert_derivative(&[(&[2, 2, nx, ny], &flow)], |v| v[0].apply(&displacement));
    let diffuse = Arc::new(Diffuse::new(&grid, 0.1));
    assert_derivative(&[(&[2, nx, ny], &density)], |v| v[0].apply(&diffuse));
    let mixed: Vec<Real> = noise(count, 4).iter().map(|x| x + 0.1 * x.signum()).collect();
    let slow = Arc::new(Diffuse::new(&grid, 0.0));
    assert_derivative(&[(&[2, nx, ny], &mixed)], |v| v[0].apply(&slow));
    for scheme in SCHEMES {
        let transport = Arc::new(Transport::new(&grid, scheme));
        assert_derivative(&[(&[2, nx, ny], &density), (&[2, 2, nx, ny], &shift)], |v| {
            v[0].tape().record(&transport, [v[0], v[1]])
        });
        let stepper = Transport2d::new(grid.clone(), [0.0, 0.02], 0.05, scheme);
        assert_derivative(&[(&[2, nx, ny], &density), (&[2, 2, nx, ny], &shift)], |v| {
            stepper.step(stepper.step(v[0], v[1]), v[1])
        });
    }
}

#[test]
fn air_that_stands_still_can_be_set_in_motion() {
    // At zero displacement the schemes have a kink; the derivative there is the mean of both sides, not zero.
    let grid = plane(5, 5);
    for scheme in SCHEMES {
        let transport = Arc::new(Transport::new(&grid, scheme));
        let (density, point) = (blob(&grid, [1.0, 2.0], 1.0), vec![([1, 2, 5, 5].into(), vec![0.0; 50])]);
        let found =
            compare(&point, &|v| v[0].tape().record(&transport, [v[0].tape().constant([1, 5, 5], &density), v[0]]), 1e-3, 1);
        assert!(found.exact.abs() > 0.01 && found.error < 5e-3, "{found:?}");
    }
}
