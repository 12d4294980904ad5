//! The actuator of a channel: range, rate of change, levels and tank.

use crate::Real;

/// The actuator of a channel; times are counted in ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Lowest and highest action, with 0 between them.
    pub range: [Real; 2],
    /// Number of possible actions, evenly spaced from the lowest to the highest; `None`: all.
    pub levels: Option<usize>,
    /// Largest change in a tick.
    pub rate: Option<Real>,
    /// Tank that its actions empty.
    pub tank: Option<Tank>,
    /// Largest sum of the magnitudes of all agents.
    pub shared: Option<Real>,
}

/// A tank that an action empties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tank {
    /// Action that empties a full tank in one tick.
    pub size: Real,
    /// Action that its inflow sustains.
    pub refill: Real,
}

impl Actuator {
    /// Returns true if more than a range limits it.
    pub fn is_limited(&self) -> bool {
        self.levels.is_some() || self.rate.is_some() || self.tank.is_some() || self.shared.is_some()
    }
}

/// The action of an agent before the shared limit.
pub struct Alone {
    /// The action.
    pub u: Real,
    /// Derivative by the wanted action, the previous one and the level of the tank.
    pub slopes: [Real; 3],
    /// Smallest magnitude that it can be scaled down to in this tick.
    pub least: Real,
    /// Its derivative by the same.
    pub least_slopes: [Real; 3],
}

impl Alone {
    /// That of a failed agent.
    pub const REST: Self = Self { u: 0.0, slopes: [0.0; 3], least: 0.0, least_slopes: [0.0; 3] };
}

/// Returns 1 for true, 0 for false.
pub fn indicator(yes: bool) -> Real {
    if yes { 1.0 } else { 0.0 }
}

impl Actuator {
    /// Returns the possible action next to a wanted one, without a shared limit.
    pub fn alone(&self, wanted: Real, previous: Real, level: Real) -> Alone {
        let [low, high] = self.range;
        // The number moved into the range, and whether it was there.
        let within = |x: Real| match x.is_nan() {
            true => (0.0, 0.0),
            false => (x.clamp(low, high), indicator(x >= low && x <= high)),
        };
        let ((mut u, inside), (before, kept)) = (within(wanted), within(previous));
        let mut found = Alone { slopes: [inside, 0.0, 0.0], ..Alone::REST };
        if let Some(levels) = self.levels {
            let gap = (high - low) / (levels - 1) as Real;
            u = low + gap * ((u - low) / gap - 0.5).ceil().clamp(0.0, (levels - 1) as Real);
        }
        if let Some(rate) = self.rate {
            if u > before + rate {
                (u, found.slopes) = (before + rate, [0.0, kept, 0.0]);
            } else if u < before - rate {
                (u, found.slopes) = (before - rate, [0.0, kept, 0.0]);
            }
            if before.abs() > rate {
                (found.least, found.least_slopes) = (before.abs() - rate, [0.0, kept.copysign(before), 0.0]);
            }
        }
        if let Some(tank) = self.tank {
            let full = if level.is_nan() { 0.0 } else { level.clamp(0.0, 1.0) };
            let most = full * tank.size + tank.refill;
            if u.abs() > most {
                (u, found.slopes) = (most.copysign(u), [0.0, 0.0, (indicator(full == level) * tank.size).copysign(u)]);
            }
        }
        if found.least > u.abs() {
            (found.least, found.least_slopes) = (u.abs(), found.slopes.map(|slope| slope * (1 as Real).copysign(u)));
        }
        Alone { u, ..found }
    }
}
