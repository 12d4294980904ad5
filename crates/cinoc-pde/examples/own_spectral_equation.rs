//! A custom periodic equation: its linear symbol and its nonlinear term; the derivative is automatic.
//!
//! Burgers' equation, `z_t = −z z_x + ν z_xx + f`, by ETDRK4. Run it with
//! `cargo run --release -p cinoc-pde --example own_spectral_equation`.

use cinoc_pde::calculus::Fourier;
use cinoc_pde::stepper::{Etdrk4, Spectral, SpectralStepper, Substeps};
use cinoc_pde::{Grid, Real, Stepper};
use cinoc_tape::check::{Point, compare, noise};
use cinoc_tape::{Shape, Var};
use std::f64::consts::TAU;

/// Burgers' equation on a ring.
pub struct Burgers {
    /// Grid of the field.
    pub grid: Grid,
    /// Viscosity.
    pub nu: f64,
}

impl Spectral for Burgers {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn linear(&self, k: &[f64]) -> f64 {
        -self.nu * k[0] * k[0]
    }

    fn nonlinear<'t>(&self, fourier: &Fourier, z_hat: Var<'t>) -> Var<'t> {
        fourier.derivative(fourier.product(z_hat, z_hat), 0) * -0.5
    }
}

/// A solution by the transformation of Cole and Hopf, `z = −2ν φ_x/φ` where φ solves the heat equation: here
/// `φ = 1 + a·e^(−νt)·cos x`.
pub fn cole_hopf(nu: f64, a: f64, x: f64, t: f64) -> f64 {
    let a = a * (-nu * t).exp();
    2.0 * nu * a * x.sin() / (1.0 + a * x.cos())
}

fn main() {
    let (nodes, nu, a) = (64, 0.2, 0.9);
    let grid = Grid::periodic(nodes, TAU as Real);
    let exact = |t: f64| -> Vec<Real> { grid.positions(0).iter().map(|&x| cole_hopf(nu, a, x, t) as Real).collect() };
    let stepper = SpectralStepper::new(Burgers { grid: grid.clone(), nu }, Etdrk4, 0.1, Substeps::Fixed(2));

    let z = cinoc_pde::sampler::settle(&stepper, &exact(0.0), 50);
    let off = z.iter().zip(exact(5.0)).map(|(z, exact)| (z - exact).abs()).fold(0.0, Real::max);
    println!("after 5 time units the wave is within {off:.0e} of the exact solution");
    assert!(off < 1e-5);

    let point: Point = vec![(Shape::new(&[1, nodes]), z), (Shape::new(&[1, nodes]), noise(nodes, 2))];
    let found = compare(&point, &|x| stepper.step(x[0], x[1]), 1e-3, 1);
    println!("its derivative, obtained automatically, agrees with central differences to {:.0e}", found.error);
    assert!(found.error < 1e-2);
}
