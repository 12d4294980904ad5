//! Readings that are missing: not finite, or beyond any physical value.
//!
//! Sensors fail. A reading that is NaN, infinite or larger than [`READING_BOUND`] counts as missing, and the last valid
//! reading of the same sensor is held (0 before the first one). Every border where an agent decides from readings
//! applies the same rules: the engine's [`Program`](super::Program), exported C and ONNX, the C library and Python.
//! Fields of simulated episodes do not pass through here.

use crate::Real;

/// Largest magnitude of a valid reading and of a valid number in an agent's memory, in the units of the problem.
///
/// A thousand times what any shipped problem's sensors read, and small enough that no product in a policy overflows
/// single precision: squares of readings stay below 1e12, and their products with steep gains (1e30, see
/// [`Var::step`](cinoc_tape::Var::step)) below 1e37.
pub const READING_BOUND: Real = 1e6;

/// Returns true for a number within the bound, false for NaN.
pub fn is_valid(x: Real) -> bool {
    x.abs() <= READING_BOUND
}

/// Copies valid readings to `held`, which keeps the last valid value where one is missing.
pub fn hold(readings: &[Real], held: &mut [Real]) {
    for (held, &reading) in held.iter_mut().zip(readings) {
        if is_valid(reading) {
            *held = reading;
        } else if !is_valid(*held) {
            *held = 0.0;
        }
    }
}

/// Limits an agent's strength to [0, 1]. A missing one is 0: an agent that does not know its state is inactive.
pub fn strength(reading: Real) -> Real {
    if is_valid(reading) { reading.clamp(0.0, 1.0) } else { 0.0 }
}

/// Resets the memory of one agent to 0 where any of its numbers is not valid.
pub fn check_memory(memory: &mut [Real]) {
    if !memory.iter().all(|&x| is_valid(x)) {
        memory.fill(0.0);
    }
}

/// Limits each number of an action to its largest magnitude; NaN becomes 0.
pub fn limit(action: &mut [Real], limits: &[Real]) {
    for (x, &limit) in action.iter_mut().zip(limits) {
        *x = if x.is_nan() { 0.0 } else { x.clamp(-limit, limit) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_readings_hold_the_last_valid_one() {
        let mut held = [0.0, 2.0, Real::NAN, 4.0, 5.0];
        hold(&[Real::NAN, Real::INFINITY, Real::NEG_INFINITY, -2e6, 1e6], &mut held);
        assert_eq!(held, [0.0, 2.0, 0.0, 4.0, 1e6]);
        assert_eq!([0.3, -1.0, 2.0, Real::NAN, Real::INFINITY].map(strength), [0.3, 0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn actions_stay_within_limits_and_memory_is_reset_as_a_whole() {
        let mut action = [Real::NAN, -3.0, 0.5];
        limit(&mut action, &[1.0, 2.0, 1.0]);
        assert_eq!(action, [0.0, -2.0, 0.5]);
        let (mut sound, mut broken) = ([1.0, -2.0], [1.0, Real::NAN]);
        [&mut sound, &mut broken].into_iter().for_each(|memory| check_memory(memory));
        assert_eq!((sound, broken), ([1.0, -2.0], [0.0; 2]));
    }
}
