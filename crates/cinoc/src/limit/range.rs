//! Limits of a push that need not be symmetric.

use super::{EachLimit, Limit};
use crate::Real;
use cinoc_tape::Var;

/// A push between a lower limit of at most 0 and an upper one of at least 0; other components have symmetric limits.
///
/// Zero is mapped to zero: a heater that cannot cool is off for half of the raw outputs.
pub struct RangeLimit {
    low: Real,
    high: Real,
    unit: EachLimit,
    each: EachLimit,
}

impl RangeLimit {
    /// Creates the limits of a push, and those of the other components.
    pub fn new([low, high]: [Real; 2], others: &[Real]) -> Self {
        let limits = |first: Real| EachLimit::new(&[&[first], others].concat());
        Self { low, high, unit: limits(1.0), each: limits(high.max(-low)) }
    }

    fn with_push<'t>(action: Var<'t>, push: Var<'t>) -> Var<'t> {
        let width = action.shape().last();
        if width == 1 { push } else { push.join(action.columns(1, width)) }
    }
}

impl Limit for RangeLimit {
    fn width(&self) -> usize {
        self.each.width()
    }

    fn largest(&self) -> Vec<Real> {
        self.each.largest()
    }

    fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t> {
        let all = self.unit.saturate(raw, strength);
        let push = all.columns(0, 1);
        Self::with_push(all, push.relu() * self.high + (push * -1.0).relu() * self.low)
    }

    fn clamp<'t>(&self, action: Var<'t>, strength: Var<'t>) -> Var<'t> {
        let all = self.each.clamp(action, strength);
        Self::with_push(all, all.columns(0, 1).clamp(self.low, self.high))
    }
}
