//! Growth rates.

use cinoc::Real;
use nalgebra::Complex;

/// Growth rates of small disturbances, per unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Rate of the fastest disturbance: below zero the closed loop is stable.
    pub all: f64,
    /// Rate of the fastest disturbance that does not change sign from tick to tick. The others are grid-scale waves
    /// that an implicit scheme does not damp, or agents that overshoot in every tick.
    pub slow: f64,
}

impl Growth {
    /// Converts factors per tick of each kind.
    pub(super) fn per_time(factors: &[Complex<f64>], tick_time: f64) -> Self {
        let [all, slow] = [0, 1].map(|i| factors[i].norm().ln() / tick_time);
        Self { all, slow }
    }
}

/// Returns the growth below which a loop is stable: zero, or what rounding makes of it if uncontrolled disturbances are
/// neutral.
pub fn neutral(uncontrolled: f64, tick_time: f64) -> f64 {
    let rounding = (1e3 * Real::EPSILON as f64 / tick_time).max(1e-6);
    if uncontrolled.abs() < rounding { rounding } else { 0.0 }
}
