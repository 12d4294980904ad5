//! The vorticity of plane flows.

mod common;

use cinoc_pde::equation::Vorticity2d;
use cinoc_pde::sampler::random_vorticity;
use cinoc_pde::stepper::{Rk4, SpectralStepper, Substeps};
use cinoc_pde::{Grid, Real, Stepper};
use cinoc_tape::check::{assert_derivative, noise};
use common::{Golden, assert_same, difference, run};
use std::f64::consts::TAU;

const F64: bool = cfg!(double);

fn grid(nodes: usize) -> Grid {
    Grid::torus([nodes; 2], [1.0; 2])
}

/// Waves with amplitude, phase and mode numbers.
fn waves(nodes: usize, waves: &[(f64, f64, [i32; 2])]) -> Vec<Real> {
    let at = |i: usize, axis: i32| axis as f64 * i as f64 / nodes as f64;
    let value = |i: usize| {
        waves.iter().map(|&(a, phase, [k, l])| a * (TAU * (at(i / nodes, k) + at(i % nodes, l)) + phase).cos()).sum::<f64>()
            as Real
    };
    (0..nodes * nodes).map(value).collect()
}

fn some_flow(nodes: usize) -> Vec<Real> {
    waves(nodes, &[(6.0, 0.3, [1, 2]), (4.0, 1.0, [-3, 1]), (5.0, 2.0, [2, 0]), (3.0, 0.5, [4, -4])])
}

#[test]
fn golden_vectors() {
    Golden::open("turbulence2d").compare(&Vorticity2d::stepper(grid(64), 5e-4, 0.01, Substeps::Fixed(8)), 0.05, 1.0);
}

#[test]
fn the_fast_version_agrees_with_the_plain_one() {
    let grid = Grid::torus([64, 32], [2.0, 1.0]);
    let z: Vec<Real> = noise(2 * grid.count(), 1).iter().map(|z| 20.0 * z).collect();
    let f = noise(2 * grid.count(), 2);
    // With a Courant number of 0.5 states of all stages are kept; of all substeps with three and with 0.05; of some
    // with 0.01.
    for substeps in [Substeps::Fixed(3), Substeps::Courant(0.5), Substeps::Courant(0.05), Substeps::Courant(0.01)] {
        let fast = Vorticity2d::stepper(grid.clone(), 1e-3, 0.01, substeps);
        let plain = SpectralStepper::unfused(Vorticity2d::new(grid.clone(), 1e-3), Rk4, 0.01, substeps);
        assert_same("Runge–Kutta", &fast, &plain, &z, &f, if F64 { 1e-12 } else { 2e-5 });
    }
}

#[test]
fn adjoint() {
    let z: Vec<Real> = noise(1024, 1).iter().map(|z| 10.0 * z).collect();
    for substeps in [Substeps::Fixed(3), Substeps::Courant(0.1)] {
        let fast = Vorticity2d::stepper(grid(32), 5e-4, 0.1, substeps);
        assert_derivative(&[(&[1, 32, 32], &z), (&[1, 32, 32], &noise(1024, 2))], |x| fast.step(x[0], x[1]));
    }
}

#[test]
fn taylor_green_vortices_only_fade() {
    // ω = cos(2πkx) cos(2πky) is a steady flow without viscosity: its modes have one |k|.
    let (nu, tick) = (5e-4, 0.05);
    let start = waves(32, &[(8.0, 0.0, [2, 2]), (8.0, 0.0, [2, -2])]);
    let stepper = Vorticity2d::stepper(grid(32), nu, tick, Substeps::Fixed(4));
    let fade = (-nu * 2.0 * (2.0 * TAU).powi(2) * 10.0 * tick).exp();
    let exact: Vec<Real> = start.iter().map(|z| (fade * *z as f64) as Real).collect();
    let off = difference(&run(&stepper, &start, &[], 10), &exact);
    assert!(off < if F64 { 1e-9 } else { 1e-5 }, "{off:.1e}");
}

/// Kinetic energy and enstrophy per area, from Fourier modes summed by their definition.
fn invariants(nodes: usize, z: &[Real]) -> [f64; 2] {
    let n = nodes as i64;
    let (mut energy, mut enstrophy) = (0.0, 0.0);
    // Along x first, so that the sums stay small.
    for k in -n / 2..n / 2 {
        let along: Vec<(f64, f64)> = (0..nodes)
            .map(|y| {
                (0..nodes).fold((0.0, 0.0), |(re, im), x| {
                    let (sin, cos) = (TAU * (k * x as i64) as f64 / n as f64).sin_cos();
                    let z = z[x * nodes + y] as f64;
                    (re + z * cos, im - z * sin)
                })
            })
            .collect();
        for l in -n / 2..n / 2 {
            let (re, im) = along.iter().enumerate().fold((0.0, 0.0), |(re, im), (y, (a, b))| {
                let (sin, cos) = (TAU * (l * y as i64) as f64 / n as f64).sin_cos();
                (re + a * cos + b * sin, im + b * cos - a * sin)
            });
            let square = (re * re + im * im) / (n * n * n * n) as f64;
            enstrophy += square;
            if (k, l) != (0, 0) {
                energy += 0.5 * square / (TAU * TAU * (k * k + l * l) as f64);
            }
        }
    }
    [energy, enstrophy]
}

#[test]
fn without_viscosity_energy_and_enstrophy_stay() {
    let start = some_flow(32);
    let stepper = Vorticity2d::stepper(grid(32), 0.0, 0.05, Substeps::Fixed(16));
    let before = invariants(32, &start);
    let after = invariants(32, &run(&stepper, &start, &[], 6));
    assert!(difference(&run(&stepper, &start, &[], 6), &start) > 0.1, "the flow does change");
    for (before, after) in before.iter().zip(after) {
        // The remainder is the error of the time step.
        assert!((after / before - 1.0).abs() < if F64 { 1e-8 } else { 2e-5 }, "{before} became {after}");
    }
}

#[test]
#[cfg(double)]
fn runge_kutta_is_of_fourth_order() {
    let start = some_flow(32);
    let after = |substeps| run(&Vorticity2d::stepper(grid(32), 1e-3, 0.4, Substeps::Fixed(substeps)), &start, &[], 1);
    let exact = after(320);
    let order = (difference(&after(20), &exact) / difference(&after(40), &exact)).log2();
    assert!((order - 4.0).abs() < 0.2, "order {order}");
}

#[test]
fn too_fast_a_flow_is_given_up() {
    let stepper = Vorticity2d::stepper(grid(32), 5e-4, 0.01, Substeps::Courant(0.5));
    let both: Vec<Real> = some_flow(32).into_iter().chain(some_flow(32).iter().map(|z| 1e4 * z)).collect();
    let end = run(&stepper, &both, &[], 1);
    assert!(end[..1024].iter().all(|z| z.is_finite()) && end[1024..].iter().all(|z| z.is_nan()));
    // The other field of the batch is what it would be alone.
    assert_eq!(end[..1024], run(&stepper, &both[..1024], &[], 1));
}

/// Nearly normal numbers.
fn normal(count: usize, seed: u64) -> Vec<f64> {
    noise(4 * count, seed).chunks_exact(4).map(|n| n.iter().map(|&n| n as f64).sum::<f64>() * 0.75_f64.sqrt()).collect()
}

#[test]
fn strong_held_pushes_do_not_blow_up() {
    let grid = grid(64);
    let stepper = Vorticity2d::stepper(grid.clone(), 5e-4, 0.01, Substeps::Courant(Vorticity2d::COURANT));
    let start = random_vorticity(&grid, 10.0 * TAU, 0.8, &normal(4096, 1));
    let near = |d: f64| d - d.round();
    let mut force = vec![0.0; 4096];
    // All pushes of one half of the square have one sign, which spins up the fastest flow.
    for agent in 0..64 {
        let u = if agent < 32 { 75.0 } else { -75.0 };
        for (i, f) in force.iter_mut().enumerate() {
            let at = |i: usize, agent: usize| near(i as f64 / 64.0 - (agent as f64 + 0.5) / 8.0).powi(2);
            *f += (u * (-(at(i / 64, agent / 8) + at(i % 64, agent % 8)) / (2.0 * 0.05 * 0.05)).exp()) as Real;
        }
    }
    let end = run(&stepper, &start, &force, 75);
    assert!(end.iter().all(|z| z.abs() < 300.0), "largest {}", end.iter().fold(0.0, |a: Real, z| a.max(z.abs())));
}

#[test]
fn a_hundred_starts_stay_finite() {
    let grid = grid(64);
    let stepper = Vorticity2d::stepper(grid.clone(), 5e-4, 0.01, Substeps::Courant(Vorticity2d::COURANT));
    let starts: Vec<Real> = (0..100).flat_map(|seed| random_vorticity(&grid, 10.0 * TAU, 0.8, &normal(4096, seed))).collect();
    let end = run(&stepper, &starts, &[], 3);
    let enstrophy = |z: &[Real]| z.iter().map(|z| (*z as f64).powi(2)).sum::<f64>() / 4096.0;
    for (start, end) in starts.chunks_exact(4096).zip(end.chunks_exact(4096)) {
        assert!(enstrophy(end) < enstrophy(start), "enstrophy decays: {} to {}", enstrophy(start), enstrophy(end));
    }
}
