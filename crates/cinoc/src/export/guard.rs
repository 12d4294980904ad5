//! Readings that are missing: not finite, or beyond any physical value.
//!
//! Sensors fail. A reading that is NaN, infinite or beyond the range of the instruments (`observe.range`, at most
//! [`READING_BOUND`]) counts as missing, and the last valid reading of the same sensor is held (0 before the first one). A policy that senses ages also has a mask of lost
//! samples among its readings; the age of each is held in its place, and an agent without a reading of the last
//! [`REST`] ticks rests. Every border where an agent decides from readings
//! applies the same rules: the engine's [`Program`](super::Program), exported C and ONNX, the C library and Python.
//! Fields of simulated episodes do not pass through here.

use crate::Real;
use crate::sense::{Instrument, Source};

pub use crate::agents::REST;
pub use crate::sense::READING_BOUND;

/// Returns true for a number within the bound, false for NaN.
pub fn is_valid(x: Real) -> bool {
    x.abs() <= READING_BOUND
}

/// Copies readings within `range` to `held`, which keeps the last valid value where one is missing.
pub fn hold(readings: &[Real], held: &mut [Real], range: Real) {
    for (held, &reading) in held.iter_mut().zip(readings) {
        if reading.abs() <= range {
            *held = reading;
        } else if !is_valid(*held) {
            *held = 0.0;
        }
    }
}

/// The readings of an agent: which are held, and how.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    /// Index of the strength.
    strength: usize,
    /// Largest magnitude of a reading that is not missing.
    pub range: Real,
    /// MaskedSamples with a mask of lost ones, if ages are sensed.
    pub samples: Option<MaskedSamples>,
}

/// Indices of the readings of samples.
#[derive(Clone, Copy, Debug)]
pub struct MaskedSamples {
    /// First error.
    error: usize,
    /// First slope, if there are any; those of a sample are contiguous.
    slope: usize,
    /// First number of the mask.
    lost: usize,
    /// Number of samples.
    pub points: usize,
    /// Slopes per sample.
    pub axes: usize,
}

impl Guard {
    /// Creates the guard of readings of these instruments, of which number `strength` is the strength.
    pub fn new<'a>(instruments: impl Iterator<Item = &'a Instrument>, strength: usize, range: Real) -> Self {
        let (mut from, mut own, mut first) = (0, 0, [None; 3]);
        for (i, one) in instruments.enumerate() {
            match one.source {
                Source::Error(_) => first[0] = Some((from, one.count)),
                Source::Slope => first[1] = Some((from, one.count)),
                Source::Lost => first[2] = Some((from, one.count)),
                _ => {}
            }
            if i == strength {
                own = from;
            }
            from += one.count;
        }
        let samples = match first {
            [Some((error, points)), slopes, Some((lost, _))] => {
                let (slope, slopes) = slopes.unwrap_or((0, 0));
                Some(MaskedSamples { error, slope, lost, points, axes: slopes / points })
            }
            _ => None,
        };
        Self { strength: own, range, samples }
    }

    /// Copies valid readings to `held`, which keeps the last valid value where one is missing; the strength is limited
    /// instead.
    pub fn hold(&self, readings: &[Real], held: &mut [Real]) {
        let before = self.samples.map(|samples| (samples, samples.keep(readings, held, self.range)));
        hold(readings, held, self.range);
        held[self.strength] = strength(readings[self.strength]);
        let Some((MaskedSamples { error, slope, lost, points, axes }, lost_ones)) = before else { return };
        let mut blind = true;
        for (point, kept) in lost_ones.into_iter().enumerate() {
            let age = &mut held[lost + point];
            *age = kept.as_ref().map_or(0.0, |(age, ..)| (age + 1.0).min(READING_BOUND));
            blind &= *age > REST;
            if let Some((_, sample, slopes)) = kept {
                held[error + point] = sample;
                held[slope + point * axes..][..axes].copy_from_slice(&slopes);
            }
        }
        if blind && points > 0 {
            held[self.strength] = 0.0;
        }
    }
}

/// Age, error and slopes of a lost sample.
type Kept = Option<(Real, Real, Vec<Real>)>;

impl MaskedSamples {
    /// Returns what is held of each lost sample.
    fn keep(&self, readings: &[Real], held: &[Real], range: Real) -> Vec<Kept> {
        let valid = |x: Real| if is_valid(x) { x } else { 0.0 };
        let each = |point: usize| {
            let slopes = self.slope + point * self.axes..self.slope + (point + 1) * self.axes;
            // A mask that is not a number counts as lost.
            let read = readings[self.lost + point] < 0.5 && readings[self.lost + point] > -0.5;
            let samples = readings[slopes.clone()].iter().chain([&readings[self.error + point]]);
            let sound = samples.into_iter().all(|x| x.abs() <= range);
            let age = valid(held[self.lost + point]).max(0.0);
            (!read || !sound).then(|| (age, valid(held[self.error + point]), held[slopes].iter().map(|&x| valid(x)).collect()))
        };
        (0..self.points).map(each).collect()
    }
}

/// Smallest strength of an active agent; less counts as 0. Programs of plain operations could not tell strengths below
/// 1e-30 from 0 (see [`Var::step`](cinoc_tape::Var::step)) and would keep a part of the memory.
pub const LEAST_STRENGTH: Real = 1e-6;

/// Limits an agent's strength to [0, 1]. A missing one is 0: an agent that does not know its state is inactive.
pub fn strength(reading: Real) -> Real {
    if is_valid(reading) && reading >= LEAST_STRENGTH { reading.min(1.0) } else { 0.0 }
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
        hold(&[Real::NAN, Real::INFINITY, Real::NEG_INFINITY, -2e6, 1e6], &mut held, READING_BOUND);
        assert_eq!(held, [0.0, 2.0, 0.0, 4.0, 1e6]);
        hold(&[30.1, 30.0, -31.0, -3.0, 1e5], &mut held, 30.0);
        assert_eq!(held, [0.0, 30.0, 0.0, -3.0, 1e6]);
        assert_eq!([0.3, -1.0, 2.0, Real::NAN, Real::INFINITY, 1e-31].map(strength), [0.3, 0.0, 1.0, 0.0, 0.0, 0.0]);
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
