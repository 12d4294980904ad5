//! `z_t = −z z_x − z_xx − z_xxxx + f`, periodic.

use crate::calculus::{Fourier, Layout, Lines, OddSymbol};
use crate::stepper::{CrankNicolsonEuler, Nonlinear, Spectral, SpectralStepper, Substeps};
use crate::{Grid, Real};
use cinoc_tape::Var;
use cinoc_tape::kernel::fft::WIDTH;
use cinoc_tape::kernel::vectorise;

/// Kuramoto–Sivashinsky equation on a periodic interval: long waves grow, short waves decay, the nonlinear term
/// transfers energy between them.
///
/// Chaotic from L ≈ 22 on. Typical values: L = 22, 128 nodes, dt = 0.05.
///
/// ```
/// use cinoc_pde::equation::KuramotoSivashinsky1d;
/// use cinoc_pde::{Grid, sampler};
///
/// let stepper = KuramotoSivashinsky1d::stepper(Grid::periodic(128, 22.0), 0.05);
/// let start = sampler::white_noise(&[1.0, -0.5, 0.3, -0.8].repeat(32), 0.1);
/// let z = sampler::settle(&stepper, &start, 20);
/// assert!(z.iter().all(|z| z.is_finite()));
/// ```
#[derive(Debug)]
pub struct KuramotoSivashinsky1d {
    grid: Grid,
}

impl KuramotoSivashinsky1d {
    /// Creates the equation.
    ///
    /// # Panics
    /// Unless the grid is periodic and one-dimensional, with an even number of nodes.
    pub fn new(grid: Grid) -> Self {
        let who = "the Kuramoto–Sivashinsky equation on a ring";
        grid.assert_dimensions(who, &[1]);
        grid.assert_ends(who, true);
        grid.assert_divisible(who, 2);
        Self { grid }
    }

    /// Creates a stepper: Crank–Nicolson for the linear part, explicit Euler for the rest, one substep per step. Fast
    /// if 16 divides the number of nodes.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn stepper(grid: Grid, dt: f64) -> SpectralStepper {
        SpectralStepper::new(Self::new(grid), CrankNicolsonEuler, dt, Substeps::Fixed(1))
    }
}

impl Spectral for KuramotoSivashinsky1d {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn linear(&self, k: &[f64]) -> f64 {
        k[0].powi(2) - k[0].powi(4)
    }

    /// `−½ ∂x z²`, dealiased by the 2/3 rule.
    fn nonlinear<'t>(&self, fourier: &Fourier, z_hat: Var<'t>) -> Var<'t> {
        fourier.derivative(fourier.dealias(fourier.forward(fourier.inverse(z_hat).square())), 0) * -0.5
    }

    fn fast(&self) -> Option<Box<dyn Nonlinear>> {
        let fits = self.grid.count().is_multiple_of(WIDTH);
        fits.then(|| Box::new(SquareFlux::new(&self.grid, -0.5)) as Box<dyn Nonlinear>)
    }
}

/// `weight·∂x z²` on a periodic interval, dealiased by the 2/3 rule.
struct SquareFlux {
    lines: Lines,
    derivative: OddSymbol,
}

impl SquareFlux {
    fn new(grid: &Grid, weight: f64) -> Self {
        let (lines, unit, nodes) = (Lines::new(grid.count()), grid.wavenumber_units()[0], grid.count() as i64);
        let cut = |j: i64| if 3 * j < nodes { weight * unit * j as f64 } else { 0.0 };
        let derivative = OddSymbol::new(&lines, |j| cut(j[0]));
        Self { lines, derivative }
    }
}

impl Nonlinear for SquareFlux {
    fn layout(&self) -> &dyn Layout {
        &self.lines
    }

    fn kept(&self) -> usize {
        self.lines.size()
    }

    fn work(&self) -> usize {
        self.lines.size() + self.lines.transform_work()
    }

    fn prepare(&self, z_hat: &[Real], kept: &mut [Real], work: &mut [Real]) {
        self.lines.values(z_hat, kept, work);
    }

    fn keeps_fields(&self) -> bool {
        true
    }

    fn columns(&self, fields: &[Real], kept: &mut [Real], work: &mut [Real]) {
        self.lines.columns(fields, kept, work);
    }

    fn begin(&self, fields: &[Real], z_hat: &mut [Real], kept: &mut [Real], work: &mut [Real]) {
        self.lines.columns(fields, kept, work);
        self.lines.spectrum(kept, z_hat, work);
    }

    fn finish(&self, kept: &[Real], f_hat: &[Real], rate_hat: &mut [Real], work: &mut [Real]) {
        let (square_hat, work) = work.split_at_mut(self.lines.size());
        vectorise(
            #[inline(always)]
            || rate_hat.iter_mut().zip(kept).for_each(|(square, z)| *square = z * z),
        );
        self.lines.spectrum(rate_hat, square_hat, work);
        self.derivative.apply_plus(square_hat, f_hat, rate_hat);
    }

    fn vjp(&self, kept: &[Real], rate_bar: &mut [Real], z_bar: &mut [Real], work: &mut [Real]) {
        let (values, work) = work.split_at_mut(self.lines.size());
        self.derivative.apply_in_place(-1.0, rate_bar);
        self.lines.values(rate_bar, values, work);
        vectorise(
            #[inline(always)]
            || values.iter_mut().zip(kept).for_each(|(bar, z)| *bar *= 2.0 * z),
        );
        self.lines.spectrum(values, z_bar, work);
    }
}
