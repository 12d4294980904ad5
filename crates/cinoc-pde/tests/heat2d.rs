//! Heat equation on a rectangle: exact modes, order, two half steps, adjoint.

use cinoc_pde::equation::Heat2d;
use cinoc_pde::{Grid, Real, Stepper};
use cinoc_tape::check::{assert_derivative, noise, pull_back};
use cinoc_tape::{Arena, Shape, Tape};
use std::f64::consts::PI;

/// The field after `steps` steps under a constant force.
fn run(stepper: &dyn Stepper, start: &[Real], force: &[Real], steps: usize) -> Vec<Real> {
    let nodes = &stepper.grid().nodes;
    let shape = [1, nodes[0], nodes[1]];
    let (mut memory, mut z) = (Arena::default(), start.to_vec());
    for _ in 0..steps {
        let tape = Tape::new(memory, &[]);
        z = stepper.step(tape.constant(shape, &z), tape.constant(shape, force)).value();
        memory = tape.into_arena();
    }
    z
}

/// `sin(aπx/Lx)·sin(bπy/Ly)`.
fn sines(nodes: [usize; 2], a: f64, b: f64) -> Vec<Real> {
    let [nx, ny] = nodes;
    let sine = |mode: f64, i: usize, n: usize| (mode * PI * i as f64 / (n - 1) as f64).sin();
    (0..nx).flat_map(|i| (0..ny).map(move |j| (sine(a, i, nx) * sine(b, j, ny)) as Real)).collect()
}

#[test]
fn modes_decay_by_the_schemes_own_factor() {
    let (nodes, lengths, nu, dt, steps) = ([32, 21], [1.0, 0.8], 0.2, 1e-3, 300);
    let heat = Heat2d::new(Grid::plane(nodes, lengths, false), nu, dt);
    for (a, b) in [(1.0, 1.0), (2.0, 1.0), (3.0, 5.0)] {
        let half = |mode: f64, axis: usize| {
            let cells = (nodes[axis] - 1) as f64;
            nu * dt * (cells / lengths[axis] as f64).powi(2) * (1.0 - (mode * PI / cells).cos())
        };
        let (sx, sy) = (half(a, 0), half(b, 1));
        let factor = ((1.0 - sx) * (1.0 - sy) / ((1.0 + sx) * (1.0 + sy))).powi(steps);
        let limit = if cfg!(double) { 1e-13 } else { 5e-6 };
        let start = sines(nodes, a, b);
        for (z, start) in run(&heat, &start, &vec![0.0; start.len()], steps as usize).iter().zip(&start) {
            assert!((*z as f64 - factor * *start as f64).abs() < limit, "mode {a},{b}: {z} not {}", factor * *start as f64);
        }
    }
}

/// Distance of the first mode from exp(−2νπ²t) at t = 0.2.
fn mode_error(nodes: usize, steps: usize) -> f64 {
    let (nu, t) = (0.2, 0.2);
    let heat = Heat2d::new(Grid::plane([nodes, nodes], [1.0, 1.0], false), nu, t / steps as f64);
    let start = sines([nodes, nodes], 1.0, 1.0);
    let centre = nodes / 2 * nodes + nodes / 2;
    let z = run(&heat, &start, &vec![0.0; start.len()], steps)[centre];
    (z as f64 / start[centre] as f64 - (-2.0 * nu * PI * PI * t).exp()).abs()
}

#[test]
#[cfg(double)]
fn second_order_in_time_and_space() {
    let order = |coarse: f64, fine: f64| (coarse / fine).log2();
    let in_space = order(mode_error(9, 2000), mode_error(17, 2000));
    assert!((in_space - 2.0).abs() < 0.05, "order in space {in_space}");
    // A start of several modes and a force that does not fit the grid's symmetry; the grid's own error is taken out.
    let nodes = [17, 13];
    let start: Vec<Real> = sines(nodes, 1.0, 2.0).iter().zip(sines(nodes, 3.0, 1.0)).map(|(a, b)| a + b).collect();
    let force: Vec<Real> = sines(nodes, 2.0, 1.0).iter().zip(sines(nodes, 1.0, 1.0)).map(|(a, b)| 3.0 * a - b).collect();
    let heat =
        |steps: usize| run(&Heat2d::new(Grid::plane(nodes, [1.0, 1.2], false), 0.2, 0.3 / steps as f64), &start, &force, steps);
    let finest = heat(2048);
    let far = |steps| heat(steps).iter().zip(&finest).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let in_time = order(far(16), far(32));
    assert!((in_time - 2.0).abs() < 0.05, "order in time {in_time}");
}

#[test]
fn error_is_small_at_working_resolution() {
    let error = mode_error(32, 200);
    assert!(error < 5e-4, "{error}");
}

#[test]
fn a_steady_force_leads_to_the_steady_state() {
    // ν·(2π²)·z = f for the first mode, with the grid's own eigenvalue in place of 2π².
    let nodes = [20, 20];
    let heat = Heat2d::new(Grid::plane(nodes, [1.0, 1.0], false), 0.2, 1e-2);
    let force = sines(nodes, 1.0, 1.0);
    let eigenvalue = 4.0 * 19.0 * 19.0 * (1.0 - (PI / 19.0).cos());
    let z = run(&heat, &vec![0.0; 400], &force, 1000);
    z.iter().zip(&force).for_each(|(z, f)| assert!((*z as f64 - *f as f64 / (0.2 * eigenvalue)).abs() < 2e-6));
}

#[test]
fn agrees_with_two_half_steps() {
    // Both half steps of the definition, solved by many sweeps of Gauss–Seidel.
    let (nx, ny, nu, dt) = (9, 7, 0.2, 1e-2);
    let heat = Heat2d::new(Grid::plane([nx, ny], [1.0, 0.9], false), nu, dt);
    let (z, f) = (noise(nx * ny, 5), noise(nx * ny, 6));
    let rate = [nu * dt * 64.0, nu * dt * (6.0f64 / 0.9).powi(2)];
    let inner = |i: usize, j: usize| i > 0 && j > 0 && i < nx - 1 && j < ny - 1;
    let at = |z: &[f64], i: usize, j: usize| if inner(i, j) { z[i * ny + j] } else { 0.0 };
    let beside = |z: &[f64], i: usize, j: usize, axis: usize| match axis {
        0 => at(z, i - 1, j) + at(z, i + 1, j),
        _ => at(z, i, j - 1) + at(z, i, j + 1),
    };
    let half = |z: &[f64], axis: usize| {
        let (r, other) = (rate[axis], rate[1 - axis]);
        let mut next = vec![0.0; nx * ny];
        for _ in 0..200 {
            for (i, j) in (1..nx - 1).flat_map(|i| (1..ny - 1).map(move |j| (i, j))) {
                let explicit = (1.0 - other) * at(z, i, j) + other / 2.0 * beside(z, i, j, 1 - axis);
                let known = explicit + dt / 2.0 * f[i * ny + j] as f64;
                next[i * ny + j] = (known + r / 2.0 * beside(&next, i, j, axis)) / (1.0 + r);
            }
        }
        next
    };
    let start: Vec<f64> = z.iter().map(|&z| z as f64).collect();
    let expected = half(&half(&start, 0), 1);
    let limit = if cfg!(double) { 1e-14 } else { 1e-6 };
    run(&heat, &z, &f, 1).iter().zip(&expected).for_each(|(a, b)| assert!((*a as f64 - b).abs() < limit, "{a} {b}"));
}

#[test]
fn adjoint() {
    // More than sixteen rows, so that a whole group and a remainder are swept; two instances.
    let (shape, count) = ([2, 23, 6], 2 * 23 * 6);
    let heat = Heat2d::new(Grid::plane([23, 6], [1.0, 0.5], false), 0.2, 1e-2);
    assert_derivative(&[(&shape, &noise(count, 1)), (&shape, &noise(count, 2))], |x| heat.step(heat.step(x[0], x[1]), x[1]));
    // The step is linear: ⟨w, S(z, f)⟩ = ⟨Sᵀw, (z, f)⟩.
    let point = vec![(Shape::new(&shape), noise(count, 3)), (Shape::new(&shape), noise(count, 4))];
    let w = noise(count, 5);
    let (y, bars) = pull_back(&point, &|x| heat.step(x[0], x[1]), Some(&w));
    let dot = |a: &[Real], b: &[Real]| a.iter().zip(b).map(|(a, b)| *a as f64 * *b as f64).sum::<f64>();
    let (left, right) = (dot(&w, &y), dot(&bars[0], &point[0].1) + dot(&bars[1], &point[1].1));
    let limit = if cfg!(double) { 1e-13 } else { 1e-5 };
    assert!((left - right).abs() < limit * left.abs().max(1.0), "{left} {right}");
}

#[test]
fn walls_stay_at_zero_and_are_constants() {
    let (nx, ny) = (8, 9);
    let heat = Heat2d::new(Grid::plane([nx, ny], [1.0, 1.0], false), 0.2, 1e-3);
    let point = vec![(Shape::new(&[1, nx, ny]), vec![0.5; nx * ny]), (Shape::new(&[1, nx, ny]), vec![1.0; nx * ny])];
    let (y, bars) = pull_back(&point, &|x| heat.step(x[0], x[1]), Some(&vec![1.0; nx * ny]));
    for (i, j) in (0..nx).flat_map(|i| (0..ny).map(move |j| (i, j))) {
        if i == 0 || j == 0 || i == nx - 1 || j == ny - 1 {
            let k = i * ny + j;
            assert_eq!((y[k], bars[0][k], bars[1][k]), (0.0, 0.0, 0.0), "at {i},{j}");
        }
    }
}
