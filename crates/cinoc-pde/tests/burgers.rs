//! The example of a custom equation against an exact solution.

#[allow(dead_code, missing_docs)]
#[path = "../examples/own_spectral_equation.rs"]
mod own;

use cinoc_pde::sampler::settle;
use cinoc_pde::stepper::{CrankNicolsonEuler, Etdrk4, Rk4, Scheme, SpectralStepper, Substeps};
use cinoc_pde::{Grid, Real};
use own::{Burgers, cole_hopf};
use std::f64::consts::TAU;

/// Largest error after one time unit.
fn error(scheme: impl Scheme, substeps: usize) -> f64 {
    let (nu, a) = (0.2, 0.5);
    let grid = Grid::periodic(64, TAU as Real);
    // The length of the ring as the grid holds it: in f32 it is not quite 2π.
    let unit = TAU / grid.lengths[0] as f64;
    let at =
        |t: f64| -> Vec<f64> { grid.positions(0).iter().map(|x| unit * cole_hopf(nu, a, unit * x, unit * unit * t)).collect() };
    let stepper = SpectralStepper::new(Burgers { grid: grid.clone(), nu }, scheme, 1.0, Substeps::Fixed(substeps));
    let start: Vec<Real> = at(0.0).iter().map(|&z| z as Real).collect();
    settle(&stepper, &start, 1).iter().zip(at(1.0)).map(|(z, exact)| (*z as f64 - exact).abs()).fold(0.0, f64::max)
}

#[test]
fn all_schemes_meet_the_solution_of_cole_and_hopf() {
    let limit = if cfg!(double) { 1e-8 } else { 2e-6 };
    assert!(error(Etdrk4, 40) < limit, "{:.1e}", error(Etdrk4, 40));
    assert!(error(Rk4, 160) < limit, "{:.1e}", error(Rk4, 160));
    assert!(error(CrankNicolsonEuler, 400) < 1e-3, "{:.1e}", error(CrankNicolsonEuler, 400));
}

#[test]
#[cfg(double)]
fn schemes_are_of_their_orders() {
    let order = |coarse: f64, fine: f64| (coarse / fine).log2();
    let found = [
        order(error(CrankNicolsonEuler, 100), error(CrankNicolsonEuler, 200)),
        order(error(Etdrk4, 20), error(Etdrk4, 40)),
        order(error(Rk4, 80), error(Rk4, 160)),
    ];
    for (found, expected) in found.iter().zip([1.0, 4.0, 4.0]) {
        assert!((found - expected).abs() < 0.3, "order {found} instead of {expected}");
    }
}
