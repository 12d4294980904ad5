//! `z_t = −∇²z − ∇⁴z − ½|∇z|² + f`, periodic.

use crate::calculus::{Fourier, Layout, OddSymbol, Plane, coefficients, scale};
use crate::stepper::{Etdrk4, Nonlinear, Spectral, SpectralStepper, Substeps};
use crate::{Grid, Real};
use cinoc_tape::Var;
use cinoc_tape::kernel::{parallel, vectorise};

/// Kuramoto–Sivashinsky equation of a height on a torus, such as a flame front.
///
/// The mean of the nonlinear term is removed, since z is a height up to a constant and would drift. A force keeps its
/// mean. Typical values: L = 32, 64×64 nodes, dt = 0.005.
#[derive(Debug)]
pub struct KuramotoSivashinsky2d {
    grid: Grid,
}

impl KuramotoSivashinsky2d {
    /// Creates the equation.
    ///
    /// # Panics
    /// Unless the grid is periodic and two-dimensional, with an even number of nodes along each axis and fewer nodes
    /// than a `usize` counts. (A larger grid than memory holds fails later: a step stores some tens of fields.)
    pub fn new(grid: Grid) -> Self {
        let who = "the Kuramoto–Sivashinsky equation in the plane";
        grid.assert_dimensions(who, &[2]);
        grid.assert_ends(who, true);
        grid.assert_divisible(who, 2);
        grid.count();
        Self { grid }
    }

    /// Creates an ETDRK4 stepper; one step advances `tick` units of time in `substeps` substeps. Fast if 32 divides the
    /// number of nodes along each axis.
    ///
    /// # Panics
    /// As [`new`](Self::new), and without a substep.
    pub fn stepper(grid: Grid, tick: f64, substeps: usize) -> SpectralStepper {
        SpectralStepper::new(Self::new(grid), Etdrk4, tick, Substeps::Fixed(substeps))
    }
}

impl Spectral for KuramotoSivashinsky2d {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn linear(&self, k: &[f64]) -> f64 {
        let q = k[0].powi(2) + k[1].powi(2);
        q - q * q
    }

    /// `−½|∇z|²` without its mean, dealiased by the 2/3 rule.
    fn nonlinear<'t>(&self, fourier: &Fourier, z_hat: Var<'t>) -> Var<'t> {
        let [x, y] = [0, 1].map(|axis| fourier.inverse(fourier.derivative(z_hat, axis)));
        fourier.dealias(fourier.remove_mean(fourier.forward(x.square() + y.square()))) * -0.5
    }

    fn fast(&self) -> Option<Box<dyn Nonlinear>> {
        Plane::fits(&self.grid.nodes).then(|| Box::new(HalfSlopeSquared::new(&self.grid)) as Box<dyn Nonlinear>)
    }
}

/// Nonlinear term with a hand-written derivative; saves the two slopes.
struct HalfSlopeSquared {
    plane: Plane,
    derivatives: [OddSymbol; 2],
    /// −½ for the modes kept by the 2/3 rule.
    cut: Vec<Real>,
}

impl HalfSlopeSquared {
    fn new(grid: &Grid) -> Self {
        let (nodes, unit) = ([grid.nodes[0], grid.nodes[1]], grid.wavenumber_units());
        let plane = Plane::new(nodes);
        let inside = |j: &[i64], axis: usize, times: u64| times * j[axis].unsigned_abs() < nodes[axis] as u64;
        let derivative =
            |axis: usize| OddSymbol::new(&plane, |j| if inside(j, axis, 2) { unit[axis] * j[axis] as f64 } else { 0.0 });
        let kept = |j: &[i64]| inside(j, 0, 3) && inside(j, 1, 3) && j != [0, 0];
        let cut = coefficients(&plane, |j| if kept(j) { -0.5 } else { 0.0 });
        Self { derivatives: [derivative(0), derivative(1)], cut, plane }
    }
}

impl Nonlinear for HalfSlopeSquared {
    fn layout(&self) -> &dyn Layout {
        &self.plane
    }

    fn kept(&self) -> usize {
        2 * self.plane.size()
    }

    fn work(&self) -> usize {
        2 * self.plane.size() + self.plane.transform_work()
    }

    fn prepare(&self, z_hat: &[Real], kept: &mut [Real], work: &mut [Real]) {
        let (slope_hat, work) = work.split_at_mut(self.plane.size());
        for (derivative, slope) in self.derivatives.iter().zip(kept.chunks_exact_mut(self.plane.size())) {
            derivative.apply(1.0, z_hat, slope_hat, false);
            self.plane.values(slope_hat, slope, work);
        }
    }

    fn finish(&self, kept: &[Real], f_hat: &[Real], rate_hat: &mut [Real], work: &mut [Real]) {
        let (sum, work) = work.split_at_mut(self.plane.size());
        let (x, y) = kept.split_at(self.plane.size());
        parallel::rows(sum, 1, 1, |first, sum| {
            let slopes = x[first..].iter().zip(&y[first..]);
            vectorise(
                #[inline(always)]
                || sum.iter_mut().zip(slopes).for_each(|(sum, (x, y))| *sum = x * x + y * y),
            );
        });
        self.plane.spectrum(sum, rate_hat, work);
        parallel::rows(rate_hat, 1, 1, |first, rate_hat| {
            let given = self.cut[first..].iter().zip(&f_hat[first..]);
            vectorise(
                #[inline(always)]
                || rate_hat.iter_mut().zip(given).for_each(|(rate, (cut, f))| *rate = cut * *rate + f),
            );
        });
    }

    fn vjp(&self, kept: &[Real], rate_bar: &mut [Real], z_bar: &mut [Real], work: &mut [Real]) {
        let size = self.plane.size();
        let (sum_bar, work) = work.split_at_mut(size);
        let (slope_bar, work) = work.split_at_mut(size);
        scale(&self.cut, rate_bar);
        self.plane.values(rate_bar, sum_bar, work);
        for (i, (derivative, slope)) in self.derivatives.iter().zip(kept.chunks_exact(size)).enumerate() {
            vectorise(
                #[inline(always)]
                || slope_bar.iter_mut().zip(&*sum_bar).zip(slope).for_each(|((bar, sum), slope)| *bar = 2.0 * sum * slope),
            );
            self.plane.spectrum(slope_bar, rate_bar, work);
            derivative.apply(-1.0, rate_bar, z_bar, i > 0);
        }
    }
}
