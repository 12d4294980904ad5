//! Time steps with implicit linear terms.

use super::Mesh;
use super::implicit::{Factor, Implicit, Solve};
use crate::Real;
use cinoc_tape::{Shape, Var};
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

impl Linear {
    /// Advances `z` by a tick; `solve` returns the solution of `z' = p + τ·(L z' + f)` after a share of the tick.
    fn advance<'t>(
        &self,
        z: Var<'t>,
        explicit: impl Fn(Var<'t>) -> Var<'t>,
        solve: impl Fn(Var<'t>, Var<'t>, f64) -> Var<'t>,
    ) -> Var<'t> {
        let f = explicit(z);
        if self.order == Order::First {
            return solve(z, f, 1.0);
        }
        let first = solve(z, f, GAMMA);
        // The rate of the first stage is (z₁ − z)/τ, of which L z₁ is the part without f.
        let delta = 1.0 - 0.5 / GAMMA;
        let rate = (first - z) * (((1.0 - GAMMA) / GAMMA - 1.0) / (GAMMA * self.tick)) as Real;
        let late = explicit(first) * ((1.0 - delta) / GAMMA) as Real;
        solve(first, rate + f * ((delta - (1.0 - GAMMA)) / GAMMA) as Real + late, 1.0)
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
        self.linear.advance(z, explicit, |p, f, share| self.solve(p, f, outside(share)))
    }

    fn solve(&self, p: Var<'t>, f: Var<'t>, outside: Var<'t>) -> Var<'t> {
        p.tape().record(&self.linear.solve, [p, f, outside, self.k, self.decay, self.fourth, self.factors])
    }
}

/// Advances several fields together by a tick: `dz/dt = L z + explicit(z)`, where `z` holds one field after another along
/// its first axis of cells. Each field has its linear terms, or `None` without such terms; `outside` are the numbers of
/// the sides of a field after a share of the tick.
///
/// # Panics
/// If no field has linear terms, or their ticks or orders differ.
pub fn step_together<'t>(
    fields: &[Option<System<'t>>],
    z: Var<'t>,
    outside: impl Fn(usize, f64) -> Var<'t>,
    explicit: impl Fn(Var<'t>) -> Var<'t>,
) -> Var<'t> {
    let linear = &fields.iter().flatten().next().expect("a field with linear terms").linear;
    let same = |system: &System| (system.linear.tick, system.linear.order) == (linear.tick, linear.order);
    assert!(fields.iter().flatten().all(same), "fields are stepped together by the same tick and order");
    if let [Some(system)] = fields {
        return system.step_between(z, |share| outside(0, share), explicit);
    }
    let (batch, count) = (z.shape().sizes()[0], z.shape().count());
    let (row, tau) = (count / batch, linear.solve.0.tau());
    let mut part = [0; Shape::AXES];
    let axes = z.shape().sizes().len();
    part[..axes].copy_from_slice(z.shape().sizes());
    part[1] /= fields.len();
    let (part, n) = (Shape::new(&part[..axes]), row / fields.len());
    linear.advance(z, explicit, |p, f, share| {
        let solved = fields.iter().enumerate().map(|(i, field)| {
            let [p, f] = [p, f].map(|x| x.reshape([batch, row]).columns(i * n, (i + 1) * n).reshape(part));
            let solved = field.as_ref().map_or_else(|| p + f * tau, |system| system.solve(p, f, outside(i, share)));
            solved.reshape([batch, n])
        });
        solved.reduce(Var::join).expect("fields").reshape(z.shape())
    })
}
