//! Limits of pushes that need not be symmetric.

use super::{EachLimit, Limit};
use crate::Real;
use cinoc_tape::Var;

/// Pushes between lower limits of at most 0 and upper ones of at least 0; other components have symmetric limits.
///
/// Zero is mapped to zero: a heater that cannot cool is off for half of the raw outputs.
pub struct RangeLimit {
    ranges: Vec<[Real; 2]>,
    unit: EachLimit,
    each: EachLimit,
}

impl RangeLimit {
    /// Creates the limits of the pushes, and those of the other components.
    pub fn new(ranges: &[[Real; 2]], others: &[Real]) -> Self {
        let limits = |of: fn(&[Real; 2]) -> Real| {
            let all: Vec<Real> = ranges.iter().map(of).chain(others.iter().copied()).collect();
            EachLimit::pushing(&all, ranges.len())
        };
        Self { ranges: ranges.to_vec(), unit: limits(|_| 1.0), each: limits(|[low, high]| high.max(-low)) }
    }

    /// Applies a function to each push.
    fn each_push<'t>(&self, action: Var<'t>, of: impl Fn(Var<'t>, [Real; 2]) -> Var<'t>) -> Var<'t> {
        let (count, width) = (self.ranges.len(), action.shape().last());
        let push = |c: usize| of(action.columns(c, c + 1), self.ranges[c]);
        let pushes = (1..count).fold(push(0), |pushes, c| pushes.join(push(c)));
        if width == count { pushes } else { pushes.join(action.columns(count, width)) }
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
        // At 0 the derivative of a one-sided range is that towards its inside: a policy that starts at 0 learns.
        self.each_push(all, |push, [low, high]| match () {
            () if low == 0.0 => push.clamp(0.0, 1.0) * high,
            () if high == 0.0 => push.clamp(-1.0, 0.0) * -low,
            () => push.relu() * high + (push * -1.0).relu() * low,
        })
    }

    fn clamp<'t>(&self, action: Var<'t>, strength: Var<'t>) -> Var<'t> {
        self.each_push(self.each.clamp(action, strength), |push, [low, high]| push.clamp(low, high))
    }
}
