//! Kuramoto–Sivashinsky on a ring.

mod common;

use cinoc_pde::equation::KuramotoSivashinsky1d;
use cinoc_pde::stepper::{CrankNicolsonEuler, Etdrk4, SpectralStepper, Substeps};
use cinoc_pde::{Grid, Real, Stepper};
use cinoc_tape::check::{assert_derivative, noise};
use common::{Golden, assert_same, difference, run};
use std::f64::consts::TAU;

const F64: bool = cfg!(double);

fn stepper() -> SpectralStepper {
    KuramotoSivashinsky1d::stepper(Grid::periodic(128, 22.0), 0.05)
}

/// A cosine of a mode.
fn wave(nodes: usize, mode: usize, amplitude: f64) -> Vec<Real> {
    (0..nodes).map(|i| (amplitude * (TAU * (mode * i) as f64 / nodes as f64).cos()) as Real).collect()
}

fn linear(mode: usize, length: f64) -> f64 {
    let k = TAU * mode as f64 / length;
    k.powi(2) - k.powi(4)
}

#[test]
fn golden_vectors() {
    Golden::open("ks1d").compare(&stepper(), 1.0, 10.0);
}

#[test]
fn the_fast_version_agrees_with_the_plain_one() {
    let limit = if F64 { 1e-12 } else { 2e-5 };
    let equation = |nodes| KuramotoSivashinsky1d::new(Grid::periodic(nodes, 22.0));
    // One group of sixteen and a part of another; steps of several substeps too.
    for (nodes, batch, substeps) in [(32, 1, 1), (48, 16, 1), (32, 21, 1), (32, 21, 3), (512, 2, 1)] {
        let (tick, count) = (0.05 * substeps as f64, Substeps::Fixed(substeps));
        let fast = SpectralStepper::new(equation(nodes), CrankNicolsonEuler, tick, count);
        let plain = SpectralStepper::unfused(equation(nodes), CrankNicolsonEuler, tick, count);
        assert_same("Crank–Nicolson–Euler", &fast, &plain, &noise(nodes * batch, 1), &noise(nodes * batch, 2), limit);
        assert_eq!((fast.dt(), fast.substeps()), (tick as Real, substeps));
    }
    let fast = SpectralStepper::new(equation(32), Etdrk4, 0.3, Substeps::Fixed(2));
    let plain = SpectralStepper::unfused(equation(32), Etdrk4, 0.3, Substeps::Fixed(2));
    assert_same("ETDRK4", &fast, &plain, &noise(96, 1), &noise(96, 2), limit);
}

#[test]
fn adjoint() {
    let grid = Grid::periodic(16, 9.0);
    let fast = SpectralStepper::new(KuramotoSivashinsky1d::new(grid.clone()), CrankNicolsonEuler, 0.1, Substeps::Fixed(2));
    let plain = SpectralStepper::unfused(KuramotoSivashinsky1d::new(grid), Etdrk4, 0.1, Substeps::Fixed(1));
    for stepper in [&fast, &plain] {
        assert_derivative(&[(&[2, 16], &noise(32, 1)), (&[2, 16], &noise(32, 2))], |x| stepper.step(x[0], x[1]));
        // Field and force may be the same variable.
        assert_derivative(&[(&[2, 16], &noise(32, 1))], |x| stepper.step(x[0], x[0]));
    }
}

#[test]
fn small_waves_grow_by_the_factor_of_the_scheme() {
    let (steps, amplitude) = (20, 1e-6);
    let equation = KuramotoSivashinsky1d::new(Grid::periodic(128, 22.0));
    let exponential = SpectralStepper::new(equation, Etdrk4, 0.5, Substeps::Fixed(5));
    for mode in [1, 2, 3, 4] {
        let lambda = linear(mode, 22.0);
        let half = 0.5 * 0.05 * lambda;
        let factors = [((1.0 + half) / (1.0 - half)).powi(steps), (0.5 * steps as f64 * lambda).exp()];
        for (stepper, factor) in [&stepper(), &exponential].into_iter().zip(factors) {
            let z = run(stepper, &wave(128, mode, amplitude), &[], steps as usize);
            let exact = wave(128, mode, amplitude * factor);
            // Nonlinear terms are of second order in the amplitude; f32 rounds.
            assert!(difference(&z, &exact) < if F64 { 1e-4 } else { 1e-3 }, "mode {mode}: {:.1e}", difference(&z, &exact));
        }
    }
}

#[test]
fn energy_changes_by_what_the_linear_terms_give() {
    // ½ d/dt ∫z² = ∫z_x² − ∫z_xx²: the nonlinear term moves energy only. Exact in the truncated system for fields below
    // the cut.
    let (nodes, length, dt) = (64, 22.0, 1e-3);
    let stepper =
        SpectralStepper::new(KuramotoSivashinsky1d::new(Grid::periodic(nodes, length as Real)), Etdrk4, dt, Substeps::Fixed(1));
    let modes = [(1, 1.0), (2, 0.7), (3, 0.5), (4, 0.3)];
    let mut z = vec![0.0; nodes];
    let mut budget = 0.0;
    for (mode, amplitude) in modes {
        z.iter_mut().zip(wave(nodes, mode, amplitude)).for_each(|(z, w)| *z += w);
        budget += linear(mode, length) * amplitude * amplitude / 2.0;
    }
    let energy = |z: &[Real]| z.iter().map(|z| (*z as f64).powi(2)).sum::<f64>() / (2.0 * nodes as f64);
    let next = run(&stepper, &z, &[], 1);
    let rate = (energy(&next) - energy(&z)) / dt;
    // First difference: off by dt/2 times the second derivative; in f32 by rounding.
    assert!((rate - budget).abs() < if F64 { 2e-3 } else { 5e-3 } * budget.abs().max(1.0), "{rate} not {budget}");
}

#[test]
#[cfg(double)]
fn etdrk4_is_of_fourth_order() {
    // A domain where the fastest decay is moderate: with very fast ones the order shows only at tiny steps.
    let after = |start: &[Real], substeps: usize, steps: usize| {
        let equation = KuramotoSivashinsky1d::new(Grid::periodic(64, 60.0));
        run(&SpectralStepper::new(equation, Etdrk4, 2.0, Substeps::Fixed(substeps)), start, &[], steps)
    };
    let start = after(&wave(64, 2, 1.0).iter().zip(wave(64, 3, 0.5)).map(|(a, b)| a + b).collect::<Vec<_>>(), 100, 10);
    let exact = after(&start, 1280, 1);
    let order = (difference(&after(&start, 80, 1), &exact) / difference(&after(&start, 160, 1), &exact)).log2();
    assert!((order - 4.0).abs() < 0.2, "order {order}");
}

#[test]
fn a_hundred_starts_stay_finite_and_reach_the_attractor() {
    let z: Vec<Real> = noise(100 * 128, 7).iter().map(|z| 0.5 * z).collect();
    let end = run(&stepper(), &z, &[], 2000);
    for (i, field) in end.chunks_exact(128).enumerate() {
        let energy = field.iter().map(|z| (*z as f64).powi(2)).sum::<f64>() / 128.0;
        assert!(energy > 0.1 && energy < 10.0, "start {i}: mean square {energy} after 100 time units");
    }
}
