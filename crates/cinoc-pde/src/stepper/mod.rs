//! Pseudo-spectral time stepping of periodic equations `z_t = λz + N(z) + f`.

mod fused;
mod nonlinear;
mod plan;
mod scheme;
mod substep;
mod substeps;

pub use nonlinear::Nonlinear;
pub use scheme::{Combination, CrankNicolsonEuler, Etdrk4, Rk4, Scheme};
pub use substeps::Substeps;

use crate::calculus::{Fourier, Layout, MAX_TERMS, Symbol, rows_are_modes};
use crate::{Grid, Real, Stepper};
use cinoc_tape::Var;
use cinoc_tape::kernel::fft::WIDTH;
use fused::FusedStep;
use plan::Plan;
use std::fmt;
use std::sync::Arc;

/// An equation on a periodic grid: its linear symbol and its nonlinear term.
///
/// ```
/// use cinoc_pde::calculus::Fourier;
/// use cinoc_pde::stepper::{Etdrk4, Spectral, SpectralStepper, Substeps};
/// use cinoc_pde::{Grid, sampler};
/// use cinoc_tape::Var;
///
/// /// Burgers' equation, `z_t = −z z_x + 0.1 z_xx`.
/// struct Burgers(Grid);
///
/// impl Spectral for Burgers {
///     fn grid(&self) -> &Grid {
///         &self.0
///     }
///
///     fn linear(&self, k: &[f64]) -> f64 {
///         -0.1 * k[0] * k[0]
///     }
///
///     fn nonlinear<'t>(&self, fourier: &Fourier, z_hat: Var<'t>) -> Var<'t> {
///         fourier.derivative(fourier.product(z_hat, z_hat), 0) * -0.5
///     }
/// }
///
/// let stepper = SpectralStepper::new(Burgers(Grid::periodic(32, 6.28)), Etdrk4, 0.1, Substeps::Fixed(1));
/// let start: Vec<_> = (0..32).map(|i| (i as f64 * 6.28 / 32.0).sin() as _).collect();
/// assert!(sampler::settle(&stepper, &start, 5).iter().all(|z| z.abs() < 1.0));
/// ```
pub trait Spectral: Send + Sync {
    /// Grid of the field.
    fn grid(&self) -> &Grid;

    /// Linear rate `λ(k)`, an even function of the wavenumber along each axis.
    fn linear(&self, k: &[f64]) -> f64;

    /// Spectrum of N(z) from that of z, by differentiable operations.
    fn nonlinear<'t>(&self, fourier: &Fourier, z_hat: Var<'t>) -> Var<'t>;

    /// Optional fast implementation of the nonlinear term with a hand-written derivative.
    fn fast(&self) -> Option<Box<dyn Nonlinear>> {
        None
    }

    /// Speed of the fastest wave or flow in a batch, in cells per unit of time, for [`Substeps::Courant`].
    fn speed(&self, _fourier: &Fourier, _z_hat: Var) -> Real {
        0.0
    }
}

/// Numbers per node recorded by a stage of separate operations: a few fields on finer grids.
const OPERATIONS: usize = 70;

/// [`Stepper`] of a [`Spectral`] equation with a [`Scheme`]; one step makes all substeps under a constant force.
pub struct SpectralStepper {
    equation: Box<dyn Spectral>,
    tick: f64,
    substeps: Substeps,
    method: Method,
}

enum Method {
    Fused(Arc<FusedStep>),
    Unfused(Fourier, Vec<Plan<Arc<Symbol>>>),
}

impl fmt::Debug for SpectralStepper {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let fused = matches!(self.method, Method::Fused(_));
        let mut text = f.debug_struct("SpectralStepper");
        text.field("grid", self.equation.grid()).field("tick", &self.tick).field("substeps", &self.substeps);
        text.field("fused", &fused).finish_non_exhaustive()
    }
}

impl SpectralStepper {
    /// Creates a stepper that advances `tick` units of time per step, fused if the equation has a
    /// [fast](Spectral::fast) nonlinear term.
    ///
    /// # Panics
    /// With zero substeps, a Courant number that is not positive, or a fast nonlinear term and a scheme of more than
    /// four stages.
    pub fn new(equation: impl Spectral + 'static, scheme: impl Scheme, tick: f64, substeps: Substeps) -> Self {
        match equation.fast() {
            None => Self::unfused(equation, scheme, tick, substeps),
            Some(nonlinear) => {
                let lambda = linear_rates(&equation, nonlinear.layout());
                let every = if rows_are_modes(nonlinear.layout()) { WIDTH } else { 1 };
                let store = |all: Vec<f64>| all.into_iter().step_by(every).map(|c| c as Real).collect();
                let plans: Vec<_> = substeps.counts().map(|n| Plan::new(&scheme, &lambda, tick, n, store)).collect();
                assert!(plans[0].lines.len() < MAX_TERMS, "at most {} stages", MAX_TERMS - 1);
                let method = Method::Fused(Arc::new(FusedStep { nonlinear, plans, substeps, tick }));
                Self { equation: Box::new(equation), tick, substeps, method }
            }
        }
    }

    /// Creates a stepper of separate operations: several times slower, the reference for tests of the fused one.
    /// With [`Substeps::Courant`] the fastest field of a batch determines the substeps of all.
    ///
    /// # Panics
    /// With zero substeps, or a Courant number that is not positive.
    pub fn unfused(equation: impl Spectral + 'static, scheme: impl Scheme, tick: f64, substeps: Substeps) -> Self {
        let fourier = Fourier::new(equation.grid());
        let lambda: Vec<f64> = fourier.wavenumbers().iter().map(|k| equation.linear(k)).collect();
        let store = |all: Vec<f64>| Arc::new(Symbol::real(all.into_iter().map(|c| c as Real).collect()));
        let plans = substeps.counts().map(|n| Plan::new(&scheme, &lambda, tick, n, store)).collect();
        Self { equation: Box::new(equation), tick, substeps, method: Method::Unfused(fourier, plans) }
    }

    fn step_unfused<'t>(&self, fourier: &Fourier, plans: &[Plan<Arc<Symbol>>], z: Var<'t>, force: Var<'t>) -> Var<'t> {
        let (mut z_hat, f_hat) = (fourier.forward(z), fourier.forward(force));
        let speed = if self.substeps.limit().is_some() { self.equation.speed(fourier, z_hat) } else { 0.0 };
        let Some(plan) = plans.iter().find(|plan| self.substeps.fits(speed, self.tick, plan.substeps)) else {
            return z * Real::NAN;
        };
        for _ in 0..plan.substeps {
            let (mut stage, mut rates) = (z_hat, Vec::new());
            for mix in &plan.lines {
                rates.push(self.equation.nonlinear(fourier, stage) + f_hat);
                stage = z_hat.apply(&mix.state);
                for (symbol, rate) in mix.rates.iter().zip(&rates) {
                    if let Some(symbol) = symbol {
                        stage = stage + rate.apply(symbol);
                    }
                }
            }
            z_hat = stage;
        }
        fourier.inverse(z_hat)
    }
}

/// Linear rate of each number of a packed state.
fn linear_rates(equation: &dyn Spectral, layout: &dyn Layout) -> Vec<f64> {
    let scale = equation.grid().wavenumber_units();
    layout
        .modes()
        .iter()
        .map(|j| equation.linear(&j.iter().zip(&scale).map(|(&j, s)| j as f64 * s).collect::<Vec<_>>()))
        .collect()
}

impl Stepper for SpectralStepper {
    fn grid(&self) -> &Grid {
        self.equation.grid()
    }

    fn dt(&self) -> Real {
        self.tick as Real
    }

    fn substeps(&self) -> usize {
        if let Substeps::Fixed(n) = self.substeps { n } else { 1 }
    }

    fn workspace(&self) -> [usize; 2] {
        match &self.method {
            Method::Fused(op) => op.recording_size(),
            Method::Unfused(_, plans) => {
                // All operations of all stages of all substeps.
                let each = |plan: &Plan<Arc<Symbol>>| plan.substeps * plan.lines.len() * OPERATIONS;
                let most = plans.iter().map(each).max().unwrap_or(0);
                [self.grid().count() * most, 8 * self.grid().count()]
            }
        }
    }

    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
        match &self.method {
            Method::Fused(op) => z.tape().record(op, [z, force]),
            Method::Unfused(fourier, plans) => self.step_unfused(fourier, plans, z, force),
        }
    }
}
