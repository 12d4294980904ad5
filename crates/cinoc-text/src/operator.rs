//! Operators on whole fields, which the caller supplies.

use crate::kind::Axis;
use cinoc_tape::{Tape, Var};

/// Operator on whole fields. Inputs and results are `[batch, cells]`, except for reductions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Laplacian of one input.
    Laplacian,
    /// `div(k·grad(a))` of `k` and `a`.
    Diffusion,
    /// Derivative of one input along a dimension.
    Derivative(usize),
    /// `v·grad(a)` of the components of `v`, which does not depend on the state, and `a`.
    Advection,
    /// `div(v·a)` of the components of `v` and `a`.
    Transport,
    /// Divergence of the components of one vector.
    Divergence,
    /// Mean, sum or maximum of one input `[batch, cells]` or `[batch, agents]`, with the result `[batch, 1]`.
    Reduction {
        /// Kind of reduction.
        reduction: Reduction,
        /// Axis that is reduced.
        axis: Axis,
        /// Zone of the domain; all cells without one.
        zone: Option<String>,
    },
    /// A smooth random field; no input. The number tells apart the fields of one plan.
    Random {
        /// Bits of the correlation length.
        length: u64,
        /// Number of the field in the plan.
        number: usize,
    },
}

/// Reductions to one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Mean.
    Mean,
    /// Sum over cells or agents.
    Sum,
    /// Largest value.
    Maximum,
}

/// An operator with the field it is applied to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The operator.
    pub operator: Operator,
    /// Name of the last input, if it is a declared name: its conditions at the sides apply.
    pub of: Option<String>,
}

/// Operators on whole fields, as recorded by a solver.
pub trait Operators {
    /// Records an operator on its inputs on a tape.
    fn record<'t>(&self, tape: &'t Tape<'t>, call: &Call, inputs: &[Var<'t>]) -> Var<'t>;
}
