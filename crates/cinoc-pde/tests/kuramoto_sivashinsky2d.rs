//! Kuramoto–Sivashinsky on a torus.

mod common;

use cinoc_pde::equation::KuramotoSivashinsky2d;
use cinoc_pde::sampler::waves_with_noise;
use cinoc_pde::stepper::{Etdrk4, SpectralStepper, Substeps};
use cinoc_pde::{Grid, Real, Stepper};
use cinoc_tape::check::{assert_derivative, noise};
use common::{Golden, assert_same, difference, run};
use std::f64::consts::TAU;

const F64: bool = cfg!(double);

fn grid(nodes: usize) -> Grid {
    Grid::torus([nodes; 2], [nodes as Real / 2.0; 2])
}

/// A wave with two mode numbers.
fn wave(nodes: usize, modes: [usize; 2], amplitude: f64) -> Vec<Real> {
    let angle = |i: usize| TAU * (modes[0] * (i / nodes) + modes[1] * (i % nodes)) as f64 / nodes as f64;
    (0..nodes * nodes).map(|i| (amplitude * angle(i).cos()) as Real).collect()
}

#[test]
fn golden_vectors() {
    Golden::open("ks2d").compare(&KuramotoSivashinsky2d::stepper(grid(64), 0.1, 20), 1.2, 100.0);
}

#[test]
fn the_fast_version_agrees_with_the_plain_one() {
    // More substeps than states that are kept: some are computed again.
    for (nodes, substeps) in [([64, 32], 2), ([32, 32], 70)] {
        let grid = Grid::torus(nodes, [nodes[0] as Real / 2.0, nodes[1] as Real / 2.0]);
        let (tick, substeps) = (0.005 * substeps as f64, Substeps::Fixed(substeps));
        let fast = SpectralStepper::new(KuramotoSivashinsky2d::new(grid.clone()), Etdrk4, tick, substeps);
        let plain = SpectralStepper::unfused(KuramotoSivashinsky2d::new(grid.clone()), Etdrk4, tick, substeps);
        let (z, f) = (noise(2 * grid.count(), 1), noise(2 * grid.count(), 2));
        assert_same("ETDRK4", &fast, &plain, &z, &f, if F64 { 1e-12 } else { 2e-5 });
    }
}

#[test]
fn adjoint() {
    let grid = grid(32);
    let fast = SpectralStepper::new(KuramotoSivashinsky2d::new(grid), Etdrk4, 0.1, Substeps::Fixed(3));
    let z: Vec<Real> = noise(1024, 1).iter().map(|z| 3.0 * z).collect();
    assert_derivative(&[(&[1, 32, 32], &z), (&[1, 32, 32], &noise(1024, 2))], |x| fast.step(x[0], x[1]));
}

#[test]
fn small_waves_grow_exponentially() {
    let stepper = KuramotoSivashinsky2d::stepper(grid(64), 0.1, 4);
    for modes in [[1, 0], [2, 3], [0, 4], [5, 1]] {
        let q = modes.iter().map(|&j| (TAU * j as f64 / 32.0).powi(2)).sum::<f64>();
        let z = run(&stepper, &wave(64, modes, 1e-6), &[], 10);
        let off = difference(&z, &wave(64, modes, 1e-6 * (q - q * q).exp()));
        assert!(off < if F64 { 1e-5 } else { 1e-4 }, "{modes:?}: {off:.1e}");
    }
}

#[test]
fn the_mean_is_moved_by_the_force_alone() {
    let stepper = KuramotoSivashinsky2d::stepper(grid(32), 0.1, 4);
    let mean = |z: &[Real]| z.iter().map(|z| *z as f64).sum::<f64>() / z.len() as f64;
    let (start, limit) = (noise(1024, 3), if F64 { 1e-13 } else { 1e-6 });
    assert!((mean(&run(&stepper, &start, &[], 1)) - mean(&start)).abs() < limit);
    assert!((mean(&run(&stepper, &start, &[0.5; 1024], 1)) - mean(&start) - 0.05).abs() < limit);
}

#[test]
#[cfg(double)]
fn etdrk4_is_of_fourth_order() {
    // Long waves on few nodes: the fastest decay is moderate.
    let grid = Grid::torus([32; 2], [32.0; 2]);
    let start: Vec<Real> = wave(32, [1, 1], 1.0).iter().zip(wave(32, [0, 3], 0.5)).map(|(a, b)| a + b).collect();
    let after = |substeps| {
        let equation = KuramotoSivashinsky2d::new(grid.clone());
        run(&SpectralStepper::new(equation, Etdrk4, 0.4, Substeps::Fixed(substeps)), &start, &[], 1)
    };
    let exact = after(320);
    let order = (difference(&after(20), &exact) / difference(&after(40), &exact)).log2();
    assert!((order - 4.0).abs() < 0.3, "order {order}");
}

#[test]
fn a_hundred_starts_stay_finite() {
    let grid = grid(64);
    let stepper = KuramotoSivashinsky2d::stepper(grid.clone(), 0.1, 20);
    let start = |seed: u64| {
        let numbers: Vec<f64> = noise(4096, seed).iter().map(|&n| n as f64).collect();
        waves_with_noise(&grid, [0.1 * seed as f64, 0.2 * seed as f64, 0.3 * seed as f64], &numbers)
    };
    let end = run(&stepper, &(0..100).flat_map(start).collect::<Vec<_>>(), &[], 3);
    assert!(end.iter().all(|z| z.abs() < 10.0));
}
