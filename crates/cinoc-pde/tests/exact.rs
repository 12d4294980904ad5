//! Solvers against exact solutions, for their order, and for their adjoints.

use cinoc_pde::equation::{FisherKpp, Heat1d};
use cinoc_pde::{Grid, Real, Stepper};
use cinoc_tape::check::{assert_derivative, noise};
use cinoc_tape::{Arena, Tape};
use std::f64::consts::PI;

/// Field after `steps` uncontrolled steps.
fn run(stepper: &dyn Stepper, start: &[Real], steps: usize) -> Vec<Real> {
    let zero = vec![0.0; start.len()];
    let mut memory = Arena::default();
    let mut z = start.to_vec();
    for _ in 0..steps {
        let tape = Tape::new(memory, &[]);
        z = stepper.step(tape.constant([1, z.len()], &z), tape.constant([1, z.len()], &zero)).value();
        memory = tape.into_arena();
    }
    z
}

fn sine(nodes: usize, mode: f64) -> Vec<Real> {
    (0..nodes).map(|i| (mode * PI * i as f64 / (nodes - 1) as f64).sin() as Real).collect()
}

/// Distance of the amplitude of the first heat mode is from exp(−νπ²t) at t = 0.3.
fn mode_error(nodes: usize, steps: usize) -> f64 {
    let (nu, t) = (0.2, 0.3);
    let heat = Heat1d::new(Grid::walls(nodes, 1.0), nu, t / steps as f64);
    let z = run(&heat, &sine(nodes, 1.0), steps);
    (z[nodes / 2] as f64 / sine(nodes, 1.0)[nodes / 2] as f64 - (-nu * PI * PI * t).exp()).abs()
}

#[test]
fn heat_modes_decay_by_the_schemes_own_factor() {
    let (nodes, nu, dt, steps) = (100, 0.2, 1e-3, 300);
    let heat = Heat1d::new(Grid::walls(nodes, 1.0), nu, dt);
    for mode in [1.0, 2.0, 5.0] {
        let dx = 1.0 / (nodes - 1) as f64;
        let s = nu * dt / (dx * dx) * (1.0 - (mode * PI * dx).cos());
        let factor = ((1.0 - s) / (1.0 + s)).powi(steps as i32);
        let limit = if cfg!(double) { 1e-13 } else { 5e-6 };
        for (z, start) in run(&heat, &sine(nodes, mode), steps).iter().zip(sine(nodes, mode)) {
            assert!((*z as f64 - factor * start as f64).abs() < limit);
        }
    }
}

#[test]
#[cfg(double)]
fn heat_is_second_order_in_time_and_space() {
    let order = |coarse: f64, fine: f64| (coarse / fine).log2();
    let in_space = order(mode_error(17, 4000), mode_error(33, 4000));
    assert!((in_space - 2.0).abs() < 0.05, "order in space {in_space}");
    // The error of the spatial grid is taken out by comparing with many steps on the same grid.
    let floor = |steps| {
        let heat = |steps: usize| run(&Heat1d::new(Grid::walls(65, 1.0), 0.2, 0.3 / steps as f64), &sine(65, 1.0), steps)[32];
        (heat(steps) - heat(4096)).abs()
    };
    let in_time = order(floor(8), floor(16));
    assert!((in_time - 2.0).abs() < 0.05, "order in time {in_time}");
}

#[test]
fn heat_error_is_small_at_working_resolution() {
    assert!(mode_error(100, 300) < 1e-4);
}

#[test]
fn fisher_fronts_run_at_the_known_speed() {
    // A front far from both walls: speed 2√(νρ), approached from below like 1 − 3/(2·…t) (Bramson), so a few per cent
    // are allowed.
    let (nodes, length, nu, rho, dt) = (2001, 40.0, 0.1, 4.0, 2e-3);
    let equation = FisherKpp::new(Grid::walls(nodes, length), nu, rho, dt);
    let dx = length as f64 / (nodes - 1) as f64;
    let start: Vec<Real> = (0..nodes).map(|i| if i > 0 && (i as f64 * dx) < 4.0 { 1.0 } else { 0.0 }).collect();
    let front = |z: &[Real]| z.iter().rposition(|&z| z > 0.5).expect("a front") as f64 * dx;
    let early = run(&equation, &start, 5000);
    let late = run(&equation, &early, 5000);
    let speed = (front(&late) - front(&early)) / (5000.0 * dt);
    let theory = 2.0 * (nu * rho).sqrt();
    assert!((speed / theory - 1.0).abs() < 0.05, "speed {speed}, theory {theory}");
}

#[test]
fn walls_stay_at_zero_and_are_constants() {
    let grid = Grid::walls(12, 1.0);
    for stepper in [&Heat1d::new(grid.clone(), 0.2, 1e-3) as &dyn Stepper, &FisherKpp::new(grid.clone(), 0.005, 3.0, 1e-3)] {
        let z = run(stepper, &[0.5; 12], 3);
        assert_eq!((z[0], z[11]), (0.0, 0.0));
    }
}

#[test]
fn adjoints() {
    let grid = Grid::walls(11, 1.0);
    let inner = |seed: u64| -> Vec<Real> { noise(22, seed).iter().map(|x| 0.5 + 0.3 * x).collect() };
    let heat = Heat1d::new(grid.clone(), 0.2, 1e-2);
    let fisher = FisherKpp::new(grid, 0.005, 3.0, 1e-2);
    assert_derivative(&[(&[2, 11], &inner(1)), (&[2, 11], &inner(2))], |x| heat.step(x[0], x[1]));
    assert_derivative(&[(&[2, 11], &inner(1)), (&[2, 11], &inner(2))], |x| fisher.step(fisher.step(x[0], x[1]), x[1]));
}

#[test]
fn heat_step_agrees_with_its_plain_version() {
    // (1 + r) z' − (r/2)(neighbours) = (1 − r) z + (r/2)(neighbours) + dt·f, checked by inserting the result.
    let (nodes, nu, dt) = (9, 0.2, 1e-2);
    let heat = Heat1d::new(Grid::walls(nodes, 1.0), nu, dt);
    let (mut z, f) = (noise(nodes, 5), noise(nodes, 6));
    (z[0], z[nodes - 1]) = (0.0, 0.0);
    let tape = Tape::new(Arena::default(), &[]);
    let next = heat.step(tape.constant([1, nodes], &z), tape.constant([1, nodes], &f)).value();
    let r = (nu * dt * 64.0) as Real;
    for i in 1..nodes - 1 {
        let left = (1.0 + r) * next[i] - r / 2.0 * (next[i - 1] + next[i + 1]);
        let right = (1.0 - r) * z[i] + r / 2.0 * (z[i - 1] + z[i + 1]) + dt as Real * f[i];
        assert!((left - right).abs() < 1e-6);
    }
}
