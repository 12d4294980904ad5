//! Gain and delay margins.

use super::opened::Between;

/// Margins of a stable closed loop, linearised at its state of rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// Smallest and largest factor on all pushes between which the loop is stable: 0 if it may be switched off, infinity
    /// if no factor up to [`MOST_GAIN`](Self::MOST_GAIN) makes it unstable.
    pub gain: [f64; 2],
    /// Ticks by which actions may be delayed, in addition to the delay of the problem, at most
    /// [`MOST_DELAY`](Self::MOST_DELAY).
    pub delay: usize,
}

impl Margins {
    /// Largest factor on pushes that is tried.
    pub const MOST_GAIN: f64 = 32.0;

    /// Largest additional delay that is tried, in ticks.
    pub const MOST_DELAY: usize = 20;

    /// Factors per doubling that are tried above 1, and below 1 in all, before the edge between stable and unstable ones is
    /// refined to this relative accuracy.
    const PER_OCTAVE: usize = 2;
    const BELOW: usize = 4;
    const ACCURACY: f64 = 0.01;

    /// Searches the margins of a loop around what it has between decision and effect; `None` if it is unstable.
    pub(super) fn search(nominal: Between, stable: &mut dyn FnMut(Between) -> bool) -> Option<Self> {
        if !stable(nominal) {
            return None;
        }
        let mut with = |gain: f64| stable(Between { gain, ..nominal });
        let octaves = Self::MOST_GAIN.log2() as usize;
        let above = (1..=octaves * Self::PER_OCTAVE).map(|i| (i as f64 / Self::PER_OCTAVE as f64).exp2());
        let high = edge(above, &mut with).unwrap_or(f64::INFINITY);
        let below = (0..Self::BELOW).rev().map(|i| i as f64 / Self::BELOW as f64);
        let low = edge(below, &mut with).unwrap_or(0.0);
        let later = |more: &usize| stable(Between { delay: nominal.delay + more, ..nominal });
        let delay = (1..=Self::MOST_DELAY).take_while(later).count();
        Some(Self { gain: [low, high], delay })
    }
}

/// Returns the first edge of stability on the way from 1 over these factors, if there is one.
fn edge(factors: impl Iterator<Item = f64>, stable: &mut dyn FnMut(f64) -> bool) -> Option<f64> {
    let mut inside = 1.0;
    for factor in factors {
        if stable(factor) {
            inside = factor;
            continue;
        }
        let mut outside = factor;
        while (outside - inside).abs() > Margins::ACCURACY * inside.max(outside) {
            let middle = 0.5 * (inside + outside);
            *(if stable(middle) { &mut inside } else { &mut outside }) = middle;
        }
        return Some(0.5 * (inside + outside));
    }
    None
}
