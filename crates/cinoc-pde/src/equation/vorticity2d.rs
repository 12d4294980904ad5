//! `ω_t + q·∇ω = ν∇²ω + f` with `q = (ψ_y, −ψ_x)`, `∇²ψ = −ω`, periodic.

use crate::calculus::{Fourier, Layout, OddSymbol, Plane, Symbol, add};
use crate::stepper::{Nonlinear, Rk4, Spectral, SpectralStepper, Substeps};
use crate::{Grid, Real};
use cinoc_tape::Var;
use cinoc_tape::kernel::{crew, vectorise};
use std::sync::Arc;

/// The vorticity of a flow in the plane: decaying turbulence, if nothing drives it. Products by the 3/2 rule, so that energy and
/// enstrophy are lost to viscosity alone.
///
/// Good values: unit square, 64×64 nodes, ν = 5e-4, steps of 0.01 divided by Courant number.
pub struct Vorticity2d {
    grid: Grid,
    nu: f64,
    /// ω to q₁, q₂, ∂ω/∂x, ∂ω/∂y.
    symbols: [Arc<Symbol>; 4],
}

/// The four factors of i in q₁, q₂, ∂ω/∂x, ∂ω/∂y.
const FACTORS: [fn(&[f64]) -> f64; 4] = [|k| k[1] * inverse_square(k), |k| -k[0] * inverse_square(k), |k| k[0], |k| k[1]];

/// 1/|k|², and 0 for the mean, which moves nothing.
fn inverse_square(k: &[f64]) -> f64 {
    let square = k[0] * k[0] + k[1] * k[1];
    if square > 0.0 { 1.0 / square } else { 0.0 }
}

impl Vorticity2d {
    /// Viscosity `nu`.
    ///
    /// # Panics
    /// Unless the grid is periodic, of two dimensions, with numbers of nodes that 4 divides.
    pub fn new(grid: Grid, nu: f64) -> Self {
        let who = "vorticity in the plane";
        grid.assert_dimensions(who, &[2]);
        grid.assert_ends(who, true);
        grid.assert_divisible(who, 4);
        let fourier = Fourier::new(&grid);
        Self { symbols: FACTORS.map(|factor| fourier.odd_symbol(factor)), grid, nu }
    }

    /// A Courant number that is stable also under strong forces: held pushes of ±75 on 64 agents (random places and signs, σ = 0.05, 1.5 time units)
    /// never blew up at 0.8 or below, but did at 1.0. Linear theory has the limit 2.83/(π√2) = 0.64 for a flow along the diagonal.
    pub const COURANT: f64 = 0.5;

    /// By the classical Runge–Kutta scheme; one step takes `tick` units of time. Fast where 32 divides the number of nodes along each axis.
    ///
    /// # Panics
    /// As [`new`](Self::new) and [`SpectralStepper::new`].
    pub fn stepper(grid: Grid, nu: f64, tick: f64, substeps: Substeps) -> SpectralStepper {
        SpectralStepper::new(Self::new(grid, nu), Rk4, tick, substeps)
    }
}

/// The largest speed, in cells per unit of time.
fn fastest(grid: &Grid, q1: &[Real], q2: &[Real]) -> Real {
    let square = q1.iter().zip(q2).map(|(a, b)| a * a + b * b);
    // A comparison that keeps NaN (`max` would drop it), so that a field that has blown up is noticed.
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

/// The nonlinear term by hand; keeps flow and slopes on the fine grid.
struct Advection {
    grid: Grid,
    plane: Plane,
    fine: Plane,
    symbols: [OddSymbol; 4],
}

impl Advection {
    fn new(grid: &Grid) -> Self {
        let (nodes, unit) = ([grid.nodes[0], grid.nodes[1]], grid.wavenumber_units());
        let plane = Plane::new(nodes);
        let inside = |j: &[i64]| (0..2).all(|axis| 2 * j[axis].unsigned_abs() < nodes[axis] as u64);
        let symbol = |factor: fn(&[f64]) -> f64| {
            OddSymbol::new(&plane, |j| if inside(j) { factor(&[unit[0] * j[0] as f64, unit[1] * j[1] as f64]) } else { 0.0 })
        };
        Self { symbols: FACTORS.map(symbol), fine: Plane::padded(nodes), plane, grid: grid.clone() }
    }

    fn fields<'a>(&self, kept: &'a [Real]) -> [&'a [Real]; 4] {
        let mut each = kept.chunks_exact(self.fine.values_size());
        std::array::from_fn(|_| each.next().expect("four fields"))
    }
}

impl Nonlinear for Advection {
    fn layout(&self) -> &dyn Layout {
        &self.plane
    }

    fn kept(&self) -> usize {
        4 * self.fine.values_size()
    }

    fn work(&self) -> usize {
        self.plane.size() + 2 * self.fine.values_size() + self.fine.transform_work()
    }

    fn prepare(&self, z_hat: &[Real], kept: &mut [Real], work: &mut [Real]) {
        let (turned, work) = work.split_at_mut(self.plane.size());
        for (symbol, field) in self.symbols.iter().zip(kept.chunks_exact_mut(self.fine.values_size())) {
            symbol.apply(1.0, z_hat, turned, false);
            self.fine.values(turned, field, work);
        }
    }

    fn finish(&self, kept: &[Real], f_hat: &[Real], rate_hat: &mut [Real], work: &mut [Real]) {
        let (sum, work) = work.split_at_mut(self.fine.values_size());
        let [q1, q2, x, y] = self.fields(kept);
        crew::rows(sum, 1, 2, |first, sum| {
            let along = [(q1, x), (q2, y)].map(|(q, slope)| q[first..].iter().zip(&slope[first..]));
            let [along_x, along_y] = along;
            vectorise(
                #[inline(always)]
                || {
                    for (sum, ((q1, x), (q2, y))) in sum.iter_mut().zip(along_x.zip(along_y)) {
                        *sum = -(q1 * x + q2 * y);
                    }
                },
            );
        });
        self.fine.spectrum(sum, rate_hat, work);
        add(rate_hat, f_hat);
    }

    fn vjp(&self, kept: &[Real], rate_bar: &mut [Real], z_bar: &mut [Real], work: &mut [Real]) {
        let (sum_bar, work) = work.split_at_mut(self.fine.values_size());
        let (field_bar, work) = work.split_at_mut(self.fine.values_size());
        self.fine.values(rate_bar, sum_bar, work);
        let [q1, q2, x, y] = self.fields(kept);
        for (i, (symbol, partner)) in self.symbols.iter().zip([x, y, q1, q2]).enumerate() {
            vectorise(
                #[inline(always)]
                || field_bar.iter_mut().zip(&*sum_bar).zip(partner).for_each(|((bar, sum), partner)| *bar = -sum * partner),
            );
            self.fine.spectrum(field_bar, rate_bar, work);
            symbol.apply(-1.0, rate_bar, z_bar, i > 0);
        }
    }

    fn speed(&self, kept: &[Real]) -> Real {
        let [q1, q2, _, _] = self.fields(kept);
        fastest(&self.grid, q1, q2)
    }
}
