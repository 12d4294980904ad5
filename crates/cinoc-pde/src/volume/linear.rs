//! Time steps with implicit linear terms.

use super::Mesh;
use super::implicit::{Factor, Implicit, Solve};
use crate::Real;
use cinoc_tape::Var;
use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::Arc;

/// Order of a time step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Backward Euler; explicit terms by forward Euler. One solution. Creates no new extrema.
    First,
    /// ARS(2,2,2): L-stable, `γ = 1 − 1/√2`. Two solutions with the same matrix; for linear terms alone the same as
    /// TR-BDF2.
    Second,
}

/// Linear terms `L z = div(k grad z) − σ·z − c·lap(lap z)` of an equation, with implicit steps.
#[derive(Clone, Debug)]
pub struct Linear {
    factor: Arc<Factor>,
    solve: Arc<Solve>,
    tick: f64,
    order: Order,
}

/// Linear terms with their coefficients: the factorised matrix of each instance.
#[derive(Clone, Debug)]
pub struct System<'t> {
    linear: Linear,
    k: Var<'t>,
    decay: Var<'t>,
    fourth: Var<'t>,
    factors: Var<'t>,
}

/// Implicit part of a stage of [`Order::Second`].
const GAMMA: f64 = 1.0 - FRAC_1_SQRT_2;

impl Linear {
    pub(super) fn new(mesh: &Arc<Mesh>, tick: f64, order: Order, fourth: bool) -> Self {
        assert!(tick > 0.0 && tick.is_finite(), "a tick must be positive, not {tick}");
        let tau = if order == Order::First { tick } else { GAMMA * tick };
        let implicit = Arc::new(Implicit::new(mesh, tau, fourth));
        Self { factor: Arc::new(Factor(implicit.clone())), solve: Arc::new(Solve(implicit)), tick, order }
    }

    /// Factorises the matrices of the coefficients `k`, `σ` (numbers or maps) and `c` (`[1]` or `[batch]`; without a
    /// term of fourth order it is ignored). Of coefficients that are constants of the tape, this is computed once for
    /// all ticks.
    ///
    /// Eigenvalues of `1 − tick·L` must be positive: `k ≥ 0`, or less if a term of fourth order outweighs it.
    pub fn factor<'t>(&self, k: Var<'t>, decay: Var<'t>, fourth: Var<'t>) -> System<'t> {
        let inputs = [k, decay, fourth].map(Var::stop_gradient);
        System { linear: self.clone(), k, decay, fourth, factors: k.tape().record(&self.factor, inputs) }
    }
}

impl<'t> System<'t> {
    /// Advances `dz/dt = L z + explicit(z)` by a tick, with the numbers `outside` of the sides.
    pub fn step(&self, z: Var<'t>, outside: Var<'t>, explicit: impl Fn(Var<'t>) -> Var<'t>) -> Var<'t> {
        self.step_between(z, |_| outside, explicit)
    }

    /// The same with numbers of the sides that change: those after a share of the tick, at most 1. Taken at the middle
    /// of a tick for all stages, they would reduce the order.
    pub fn step_between(&self, z: Var<'t>, outside: impl Fn(f64) -> Var<'t>, explicit: impl Fn(Var<'t>) -> Var<'t>) -> Var<'t> {
        let Linear { solve, tick, order, .. } = &self.linear;
        // z' = p + τ·(L z' + f), at a share of the tick.
        let solve = |p, f, share| z.tape().record(solve, [p, f, outside(share), self.k, self.decay, self.fourth, self.factors]);
        let f = explicit(z);
        if *order == Order::First {
            return solve(z, f, 1.0);
        }
        let first = solve(z, f, GAMMA);
        // The rate of the first stage is (z₁ − z)/τ, of which L z₁ is the part without f.
        let delta = 1.0 - 0.5 / GAMMA;
        let rate = (first - z) * (((1.0 - GAMMA) / GAMMA - 1.0) / (GAMMA * tick)) as Real;
        let late = explicit(first) * ((1.0 - delta) / GAMMA) as Real;
        solve(first, rate + f * ((delta - (1.0 - GAMMA)) / GAMMA) as Real + late, 1.0)
    }
}
