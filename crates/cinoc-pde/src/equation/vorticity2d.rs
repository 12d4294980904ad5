//! `ω_t + q·∇ω = ν∇²ω + f` with `q = (ψ_y, −ψ_x)`, `∇²ψ = −ω`, periodic.

use crate::calculus::{Fourier, Layout, OddSymbol, Plane, Symbol, coefficients, scale};
use crate::stepper::{Nonlinear, Rk4, Spectral, SpectralStepper, Substeps};
use crate::{Grid, Real};
use cinoc_tape::Var;
use cinoc_tape::kernel::{parallel, vectorise};
use std::sync::Arc;

/// Vorticity of an incompressible flow in the plane; decaying turbulence if unforced. Products use the 3/2 rule, so
/// that only viscosity dissipates energy and enstrophy.
///
/// Typical values: unit square, 64×64 nodes, ν = 5e-4, steps of 0.01 divided by Courant number.
#[derive(Debug)]
pub struct Vorticity2d {
    grid: Grid,
    nu: f64,
    /// ω to q₁, q₂, ∂ω/∂x, ∂ω/∂y.
    symbols: [Arc<Symbol>; 4],
}

/// The four factors of i in q₁, q₂, ∂ω/∂x, ∂ω/∂y.
const FACTORS: [fn(&[f64]) -> f64; 4] = [|k| k[1] * inverse_square(k), |k| -k[0] * inverse_square(k), |k| k[0], |k| k[1]];

/// 1/|k|², and 0 for the mean, which induces no flow.
fn inverse_square(k: &[f64]) -> f64 {
    let square = k[0] * k[0] + k[1] * k[1];
    if square > 0.0 { 1.0 / square } else { 0.0 }
}

impl Vorticity2d {
    /// Creates the equation with viscosity `nu`.
    ///
    /// # Panics
    /// Unless the grid is periodic and two-dimensional, with numbers of nodes divisible by 4.
    pub fn new(grid: Grid, nu: f64) -> Self {
        let who = "vorticity in the plane";
        grid.assert_dimensions(who, &[2]);
        grid.assert_ends(who, true);
        grid.assert_divisible(who, 4);
        let fourier = Fourier::new(&grid);
        Self { symbols: FACTORS.map(|factor| fourier.odd_symbol(factor)), grid, nu }
    }

    /// Courant number that is stable under strong forces: constant pushes of ±75 by 64 agents (random positions and
    /// signs, σ = 0.05, 1.5 time units) never diverged at 0.8 or below, but did at 1.0. Linear theory has the limit
    /// 2.83/(π√2) = 0.64 for a flow along the diagonal.
    pub const COURANT: f64 = 0.5;

    /// Creates a stepper of the classical Runge–Kutta scheme; one step advances `tick` units of time. Fast if 32
    /// divides the number of nodes along each axis.
    ///
    /// # Panics
    /// As [`new`](Self::new) and [`SpectralStepper::new`].
    pub fn stepper(grid: Grid, nu: f64, tick: f64, substeps: Substeps) -> SpectralStepper {
        SpectralStepper::new(Self::new(grid, nu), Rk4, tick, substeps)
    }
}

/// Largest speed, in cells per unit of time.
fn fastest(grid: &Grid, q1: &[Real], q2: &[Real]) -> Real {
    let square = q1.iter().zip(q2).map(|(a, b)| a * a + b * b);
    // A comparison that propagates NaN (`max` would drop it), so that divergence is detected.
    let most = square.fold(0.0, |most: Real, square| if square <= most { most } else { square });
    most.sqrt() / grid.spacing(0).min(grid.spacing(1)) as Real
}

impl Spectral for Vorticity2d {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn linear(&self, k: &[f64]) -> f64 {
        -self.nu * (k[0].powi(2) + k[1].powi(2))
    }

    /// `−q·∇ω`
    fn nonlinear<'t>(&self, fourier: &Fourier, z_hat: Var<'t>) -> Var<'t> {
        let [q1, q2, x, y] = self.symbols.each_ref().map(|symbol| fourier.fine(z_hat.apply(symbol)));
        -fourier.coarse(q1 * x + q2 * y)
    }

    fn fast(&self) -> Option<Box<dyn Nonlinear>> {
        Plane::fits(&self.grid.nodes).then(|| Box::new(Advection::new(&self.grid)) as Box<dyn Nonlinear>)
    }

    fn speed(&self, fourier: &Fourier, z_hat: Var) -> Real {
        let q = |i: usize| fourier.fine(z_hat.apply(&self.symbols[i])).value();
        fastest(&self.grid, &q(0), &q(1))
    }
}

/// Nonlinear term with a hand-written derivative, in the form of Basdevant (1983): for a divergence-free flow,
/// `−q·∇ω = (∂y² − ∂x²)(q₁q₂) + ∂x∂y(q₁² − q₂²)`.
///
/// Two inverse and two forward transforms instead of four and one. The products are free of aliasing, so both forms
/// have the same modes up to rounding. Saves the flow on the fine grid.
struct Advection {
    grid: Grid,
    plane: Plane,
    fine: Plane,
    /// ω to q₁, q₂.
    flow: [OddSymbol; 2],
    /// q₁q₂ and q₁² − q₂² to the rate.
    stress: [Vec<Real>; 2],
}

/// Factors of the modes of q₁q₂ and q₁² − q₂² in the rate.
const STRESS: [fn(&[f64]) -> f64; 2] = [|k| k[0] * k[0] - k[1] * k[1], |k| -k[0] * k[1]];

impl Advection {
    fn new(grid: &Grid) -> Self {
        let (nodes, unit) = ([grid.nodes[0], grid.nodes[1]], grid.wavenumber_units());
        let plane = Plane::new(nodes);
        let inside = |j: &[i64]| (0..2).all(|axis| 2 * j[axis].unsigned_abs() < nodes[axis] as u64);
        let at = |j: &[i64], factor: fn(&[f64]) -> f64| {
            if inside(j) { factor(&[unit[0] * j[0] as f64, unit[1] * j[1] as f64]) } else { 0.0 }
        };
        Self {
            flow: [FACTORS[0], FACTORS[1]].map(|factor| OddSymbol::new(&plane, |j| at(j, factor))),
            stress: STRESS.map(|factor| coefficients(&plane, |j| at(j, factor))),
            fine: Plane::padded(nodes),
            plane,
            grid: grid.clone(),
        }
    }
}

impl Nonlinear for Advection {
    fn layout(&self) -> &dyn Layout {
        &self.plane
    }

    fn kept(&self) -> usize {
        2 * self.fine.values_size()
    }

    fn work(&self) -> usize {
        2 * self.fine.values_size() + self.plane.size() + self.fine.transform_work()
    }

    fn prepare(&self, z_hat: &[Real], kept: &mut [Real], work: &mut [Real]) {
        let (turned, work) = work.split_at_mut(self.plane.size());
        for (symbol, field) in self.flow.iter().zip(kept.chunks_exact_mut(self.fine.values_size())) {
            symbol.apply(1.0, z_hat, turned, false);
            self.fine.values(turned, field, work);
        }
    }

    fn finish(&self, kept: &[Real], f_hat: &[Real], rate_hat: &mut [Real], work: &mut [Real]) {
        let (product, work) = work.split_at_mut(self.fine.values_size());
        let (spectrum, work) = work.split_at_mut(self.plane.size());
        let (q1, q2) = kept.split_at(self.fine.values_size());
        for (i, stress) in self.stress.iter().enumerate() {
            parallel::rows(product, 1, 2, |first, product| {
                let flow = q1[first..].iter().zip(&q2[first..]);
                vectorise(
                    #[inline(always)]
                    || match i {
                        0 => product.iter_mut().zip(flow).for_each(|(product, (q1, q2))| *product = q1 * q2),
                        _ => product.iter_mut().zip(flow).for_each(|(product, (q1, q2))| *product = q1 * q1 - q2 * q2),
                    },
                );
            });
            self.fine.spectrum(product, spectrum, work);
            let so_far = if i == 0 { Some(f_hat) } else { None };
            add_scaled(stress, spectrum, so_far, rate_hat);
        }
    }

    fn vjp(&self, kept: &[Real], rate_bar: &mut [Real], z_bar: &mut [Real], work: &mut [Real]) {
        let (fine, size) = (self.fine.values_size(), self.plane.size());
        let (product_bars, work) = work.split_at_mut(2 * fine);
        let (spectrum, work) = work.split_at_mut(size);
        for (stress, bar) in self.stress.iter().zip(product_bars.chunks_exact_mut(fine)) {
            spectrum.copy_from_slice(rate_bar);
            scale(stress, spectrum);
            self.fine.values(spectrum, bar, work);
        }
        let ((q1, q2), (product_bar, difference_bar)) = (kept.split_at(fine), product_bars.split_at_mut(fine));
        vectorise(
            #[inline(always)]
            || {
                for ((p, d), (q1, q2)) in product_bar.iter_mut().zip(difference_bar).zip(q1.iter().zip(q2)) {
                    (*p, *d) = (*p * q2 + 2.0 * *d * q1, *p * q1 - 2.0 * *d * q2);
                }
            },
        );
        for (i, (symbol, flow_bar)) in self.flow.iter().zip(product_bars.chunks_exact(fine)).enumerate() {
            self.fine.spectrum(flow_bar, spectrum, work);
            symbol.apply(-1.0, spectrum, z_bar, i > 0);
        }
    }

    fn speed(&self, kept: &[Real]) -> Real {
        let (q1, q2) = kept[..self.kept()].split_at(self.fine.values_size());
        fastest(&self.grid, q1, q2)
    }
}

/// Computes `y = coefficient·x + before`; without `before`, adds to `y`.
fn add_scaled(coefficients: &[Real], x: &[Real], before: Option<&[Real]>, y: &mut [Real]) {
    parallel::rows(y, 1, 1, |first, y| {
        let given = coefficients[first..].iter().zip(&x[first..]);
        vectorise(
            #[inline(always)]
            || match before {
                Some(before) => {
                    y.iter_mut().zip(given).zip(&before[first..]).for_each(|((y, (c, x)), before)| *y = c * x + before)
                }
                None => y.iter_mut().zip(given).for_each(|(y, (c, x))| *y += c * x),
            },
        );
    });
}
