//! Periodic equations `z_t = λz + N(z) + f`, stepped in Fourier space.

mod fused;
mod nonlinear;
mod plan;
mod scheme;
mod substep;
mod substeps;

pub use nonlinear::Nonlinear;
pub use scheme::{Combination, CrankNicolsonEuler, Etdrk4, Rk4, Scheme};
pub use substeps::Substeps;

use crate::calculus::{Fourier, Layout, MOST_TERMS, Symbol, rows_are_modes};
use crate::{Grid, Real, Stepper};
use cinoc_tape::Var;
use cinoc_tape::kernel::fft::WIDTH;
use fused::FusedStep;
use plan::Plan;
use std::sync::Arc;

/// An equation on a periodic grid: its linear symbol and its nonlinear term.
pub trait Spectral: Send + Sync {
    /// Where the field lives.
    fn grid(&self) -> &Grid;

    /// The linear rate `λ(k)`, an even function of the wavenumber along each axis.
    fn linear(&self, k: &[f64]) -> f64;

    /// The spectrum of N(z) from that of z. Written with plain operations, it needs no derivative.
    fn nonlinear<'t>(&self, fourier: &Fourier, z_hat: Var<'t>) -> Var<'t>;

    /// The same by hand, for speed.
    fn fast(&self) -> Option<Box<dyn Nonlinear>> {
        None
    }

    /// Cells per unit of time that the fastest wave or flow in a batch crosses, for [`Substeps::Courant`].
    fn speed(&self, _fourier: &Fourier, _z_hat: Var) -> Real {
        0.0
    }
}

/// Numbers per node that a stage made of plain operations records: a few fields on grids of more than twice as many nodes.
const OPERATIONS: usize = 70;

/// A [`Spectral`] equation with a [`Scheme`]: a [`Stepper`] whose one step makes all substeps, under a force that is held meanwhile.
pub struct SpectralStepper {
    equation: Box<dyn Spectral>,
    tick: f64,
    substeps: Substeps,
    way: Way,
}

enum Way {
    Fused(Arc<FusedStep>),
    Plain(Fourier, Vec<Plan<Arc<Symbol>>>),
}

impl SpectralStepper {
    /// One step takes `tick` units of time. Uses the equation's own fast version where there is one.
    ///
    /// # Panics
    /// Without a substep, with a Courant number that is not positive, or with a fast version and a scheme of more than four stages.
    pub fn new(equation: impl Spectral + 'static, scheme: impl Scheme, tick: f64, substeps: Substeps) -> Self {
        match equation.fast() {
            None => Self::plain(equation, scheme, tick, substeps),
            Some(nonlinear) => {
                let lambda = linear_rates(&equation, nonlinear.layout());
                let every = if rows_are_modes(nonlinear.layout()) { WIDTH } else { 1 };
                let store = |all: Vec<f64>| all.into_iter().step_by(every).map(|c| c as Real).collect();
                let plans: Vec<_> = substeps.counts().map(|n| Plan::new(&scheme, &lambda, tick, n, store)).collect();
                assert!(plans[0].lines.len() < MOST_TERMS, "at most {} stages", MOST_TERMS - 1);
                let way = Way::Fused(Arc::new(FusedStep { nonlinear, plans, substeps, tick }));
                Self { equation: Box::new(equation), tick, substeps, way }
            }
        }
    }

    /// The same with plain operations only: slow, and what the fast version is tested against.
    /// With [`Substeps::Courant`] the fastest field of a batch decides for all.
    ///
    /// # Panics
    /// Without a substep, or with a Courant number that is not positive.
    pub fn plain(equation: impl Spectral + 'static, scheme: impl Scheme, tick: f64, substeps: Substeps) -> Self {
        let fourier = Fourier::new(equation.grid());
        let lambda: Vec<f64> = fourier.wavenumbers().iter().map(|k| equation.linear(k)).collect();
        let store = |all: Vec<f64>| Arc::new(Symbol::real(all.into_iter().map(|c| c as Real).collect()));
        let plans = substeps.counts().map(|n| Plan::new(&scheme, &lambda, tick, n, store)).collect();
        Self { equation: Box::new(equation), tick, substeps, way: Way::Plain(fourier, plans) }
    }

    /// Whether a step is one fused operation. If not, it is made of plain operations, several times slower, because the equation has no
    /// fast version or none for this grid: the equations of this crate have one where 16 divides the number of nodes on a ring, and where 32
    /// divides it along each axis of a torus.
    pub fn is_fast(&self) -> bool {
        matches!(self.way, Way::Fused(_))
    }

    fn step_plainly<'t>(&self, fourier: &Fourier, plans: &[Plan<Arc<Symbol>>], z: Var<'t>, force: Var<'t>) -> Var<'t> {
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

/// The linear rate of each number of a packed state.
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

    fn room(&self) -> [usize; 2] {
        match &self.way {
            Way::Fused(op) => op.room_for_recording(),
            Way::Plain(_, plans) => {
                // Every operation of every stage of every substep.
                let each = |plan: &Plan<Arc<Symbol>>| plan.substeps * plan.lines.len() * OPERATIONS;
                let most = plans.iter().map(each).max().unwrap_or(0);
                [self.grid().count() * most, 8 * self.grid().count()]
            }
        }
    }

    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
        match &self.way {
            Way::Fused(op) => z.tape().record(op, [z, force]),
            Way::Plain(fourier, plans) => self.step_plainly(fourier, plans, z, force),
        }
    }
}
