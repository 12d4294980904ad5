//! From samples of the field to the observation of an agent: lost readings, fitted slopes, ages, and roughness.

use super::fitted_slopes::FittedSlopes;
use super::roughness::Roughness;
use super::{Features, Observation, Patch, READING_BOUND};
use crate::Real;
use cinoc_tape::Var;
use std::sync::Arc;

/// Age in ticks at which a held reading has half its weight.
const HALF_WEIGHT: Real = 20.0;

/// What an agent senses of its own readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelfSensing {
    /// Ages of readings: held ones fade, and one number per sample tells how far.
    pub ages: bool,
    /// Roughness of the samples.
    pub roughness: bool,
    /// Slopes of a quadratic fitted to all samples, in place of those that are read.
    pub fitted_slopes: bool,
    /// Largest magnitude of a reading that is not missing.
    pub range: Real,
}

impl Default for SelfSensing {
    /// Nothing, with instruments of any range.
    fn default() -> Self {
        Self { ages: false, roughness: false, fitted_slopes: false, range: READING_BOUND }
    }
}

/// Holds lost readings and adds what an agent senses of its own readings.
pub struct Readout {
    /// Sample that each value of a patch belongs to.
    sample: Arc<[u32]>,
    points: usize,
    /// Order of the values with ages: all of a sample together if a patch is an image, else unchanged.
    order: Option<Arc<[u32]>>,
    ages: bool,
    fitted_slopes: Option<Arc<FittedSlopes>>,
    roughness: Option<Arc<Roughness>>,
    range: Real,
}

impl Readout {
    /// Creates the readout of patches of this layout, with `points` samples of several values each.
    pub fn new(patch: Patch, points: usize, senses: SelfSensing) -> Self {
        let (count, each) = (patch.count(), patch.count() / points.max(1));
        let image = matches!(patch, Patch::Image { .. });
        let sample = (0..count).map(|i| if image { i / each } else { i % points.max(1) } as u32).collect();
        let with_age =
            |i: usize| if i % (each + 1) < each { i / (each + 1) * each + i % (each + 1) } else { count + i / (each + 1) };
        let order = image.then(|| (0..count + points).map(|i| with_age(i) as u32).collect());
        let along = if let Patch::Image { height, .. } = patch { height } else { points };
        let roughness = if senses.roughness { Roughness::new(patch, along).map(Arc::new) } else { None };
        let fitted_slopes = if senses.fitted_slopes { FittedSlopes::new(patch, points).map(Arc::new) } else { None };
        Self { sample, points, order, ages: senses.ages, fitted_slopes, roughness, range: senses.range }
    }

    /// Samples of a window.
    pub fn points(&self) -> usize {
        self.points
    }

    /// Largest magnitude of a reading that is not missing.
    pub fn range(&self) -> Real {
        self.range
    }

    /// True if ages are part of an observation.
    pub fn senses_ages(&self) -> bool {
        self.ages
    }

    /// True if slopes are computed from the samples instead of being read.
    pub fn fits_slopes(&self) -> bool {
        self.fitted_slopes.is_some()
    }

    /// Adds the sizes of what an agent senses of its own readings.
    pub fn features(&self, features: Features) -> Features {
        let added = if self.ages { self.points } else { 0 };
        let patch = match features.patch {
            Patch::Line(count) => Patch::Line(count + added),
            Patch::Image { height, width, channels } => {
                Patch::Image { height, width, channels: channels + usize::from(self.ages) }
            }
        };
        let roughness = self.roughness.is_some();
        Features { patch, position: features.position + usize::from(roughness), ages: added, roughness, ..features }
    }

    /// Values of a patch, where readings with an age are held.
    pub fn hold<'t>(&self, patch: Var<'t>, held: Var<'t>, ages: Var<'t>) -> Var<'t> {
        patch.select(ages.step().affine(-1.0, 1.0).gather(&self.sample), held)
    }

    /// Fits the slopes of an observation of held readings, and adds ages (zero if not given) and roughness.
    pub fn finish<'t>(&self, seen: Observation<'t>, ages: Option<Var<'t>>) -> Observation<'t> {
        let seen = self.fitted_slopes.as_ref().map_or(seen, |fitted| seen.with_patch(seen.patch().apply(fitted)));
        let roughness = self.roughness.as_ref().map(|roughness| seen.patch().apply(roughness));
        let seen = if self.ages { seen.with_patch(self.with_ages(seen.patch(), ages)) } else { seen };
        roughness.map_or(seen, |roughness| seen.with_roughness(roughness))
    }

    fn with_ages<'t>(&self, patch: Var<'t>, ages: Option<Var<'t>>) -> Var<'t> {
        let all = match ages {
            None => patch.join(patch.tape().zeros(patch.shape().with_last(self.points))),
            Some(ages) => {
                let square = ages.square();
                let stale = square / (square + HALF_WEIGHT * HALF_WEIGHT);
                (patch * stale.affine(-1.0, 1.0).gather(&self.sample)).join(stale)
            }
        };
        self.order.as_ref().map_or(all, |order| all.gather(order))
    }
}
