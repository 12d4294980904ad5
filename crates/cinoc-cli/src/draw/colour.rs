//! Colours of lines and colour maps of fields, all safe for colour-blind readers.

use plotters::style::RGBColor;
use serde_json::{Value, json};

/// Text and target curves.
pub const BLACK: RGBColor = RGBColor(25, 25, 25);
/// Axes and ticks.
pub const AXIS: RGBColor = RGBColor(130, 130, 130);
/// Curves without control.
pub const UNCONTROLLED: RGBColor = RGBColor(145, 145, 145);
/// Curves under control (Okabe-Ito blue).
pub const CONTROLLED: RGBColor = RGBColor(0, 114, 178);
/// Control effort (Okabe-Ito vermilion).
pub const EFFORT: RGBColor = RGBColor(213, 94, 0);
/// Speed of the agents (Okabe-Ito green).
pub const SPEED: RGBColor = RGBColor(0, 158, 115);
/// Colours of other lines, by Okabe and Ito.
pub const LINES: [RGBColor; 7] =
    [CONTROLLED, EFFORT, SPEED, RGBColor(204, 121, 167), RGBColor(86, 180, 233), RGBColor(230, 159, 0), RGBColor(90, 90, 90)];
/// Values that are not finite.
pub const MISSING: RGBColor = RGBColor(200, 200, 200);
/// Failed agents.
pub const FAILED: RGBColor = RGBColor(110, 110, 110);
/// Background.
pub const WHITE: RGBColor = RGBColor(255, 255, 255);

/// ColorBrewer's RdBu from negative (blue) through zero (near white) to positive (red).
const DIVERGING: [RGBColor; 11] = [
    RGBColor(5, 48, 97),
    RGBColor(33, 102, 172),
    RGBColor(67, 147, 195),
    RGBColor(146, 197, 222),
    RGBColor(209, 229, 240),
    RGBColor(247, 247, 247),
    RGBColor(253, 219, 199),
    RGBColor(244, 165, 130),
    RGBColor(214, 96, 77),
    RGBColor(178, 24, 43),
    RGBColor(103, 0, 31),
];

/// ColorBrewer's YlGnBu from zero (pale) to large (dark blue).
const SEQUENTIAL: [RGBColor; 9] = [
    RGBColor(255, 255, 224),
    RGBColor(237, 248, 177),
    RGBColor(199, 233, 180),
    RGBColor(127, 205, 187),
    RGBColor(65, 182, 196),
    RGBColor(29, 145, 192),
    RGBColor(34, 94, 168),
    RGBColor(37, 52, 148),
    RGBColor(8, 29, 88),
];

/// Share of the values that must lie inside the scale; the few beyond it saturate,
/// so that one spike does not wash out the whole figure.
const COVERED: f32 = 0.995;

/// Maps values of a field to colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Value at the lower end of the colour bar.
    pub low: f32,
    /// Value at the upper end of the colour bar.
    pub high: f32,
}

impl Scale {
    /// The scale for these values: around zero, or from zero up if none is negative.
    /// The target's values are never saturated.
    pub fn covering(values: impl Iterator<Item = f32>, target: &[f32]) -> Self {
        let all: Vec<f32> = values.chain(target.iter().copied()).collect();
        let finite = all.iter().copied().filter(|value| value.is_finite());
        let mut sizes: Vec<f32> = finite.clone().map(f32::abs).collect();
        sizes.sort_by(f32::total_cmp);
        let covered = ((sizes.len() as f32 * COVERED) as usize).min(sizes.len().saturating_sub(1));
        let usual = sizes.get(covered).copied().unwrap_or(0.0);
        let wanted = target.iter().filter(|value| value.is_finite());
        let mut high = wanted.fold(usual, |most, value| most.max(value.abs()));
        if high <= 0.0 {
            high = 1.0;
        }
        // A slight undershoot below zero does not make a field a signed one.
        let signed = finite.fold(0.0, f32::min) < -0.02 * high;
        let low = if signed { -high } else { 0.0 };
        Self { low, high }
    }

    /// The colour of `value`; values beyond the ends take the colours of the ends.
    pub fn colour(&self, value: f32) -> RGBColor {
        if !value.is_finite() {
            return MISSING;
        }
        let share = (value - self.low) / (self.high - self.low);
        if self.low < 0.0 { blend(&DIVERGING, share) } else { blend(&SEQUENTIAL, share) }
    }

    /// `value` rounded to one of `levels` evenly spaced values of the scale.
    pub fn rounded(&self, value: f32, levels: usize) -> f32 {
        let step = (self.high - self.low) / (levels - 1) as f32;
        let clamped = value.clamp(self.low, self.high);
        self.low + ((clamped - self.low) / step).round() * step
    }
}

/// The colours as numbers, for pages.
pub fn palette() -> Value {
    let numbers = |colour: RGBColor| json!([colour.0, colour.1, colour.2]);
    let stops = |all: &[RGBColor]| all.iter().map(|colour| numbers(*colour)).collect::<Value>();
    json!({
        "black": numbers(BLACK), "axis": numbers(AXIS), "missing": numbers(MISSING), "dead": numbers(FAILED),
        "controlled": numbers(CONTROLLED), "uncontrolled": numbers(UNCONTROLLED), "planned": numbers(SPEED),
        "diverging": stops(&DIVERGING), "sequential": stops(&SEQUENTIAL),
    })
}

/// The colour at `share` (from 0 to 1) of the way through evenly spaced `stops`.
pub fn blend(stops: &[RGBColor], share: f32) -> RGBColor {
    let place = share.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
    let before = (place as usize).min(stops.len() - 2);
    let (a, b, part) = (stops[before], stops[before + 1], place - before as f32);
    let mix = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * part).round() as u8;
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_the_colour_maps() {
        let signed = Scale::covering([-2.0, 1.0].into_iter(), &[2.0]);
        assert_eq!((signed.low, signed.high), (-2.0, 2.0));
        assert_eq!(signed.colour(-9.0), DIVERGING[0]);
        assert_eq!(signed.colour(0.0), DIVERGING[5]);
        assert_eq!(signed.colour(2.0), DIVERGING[10]);
        assert_eq!(signed.colour(f32::NAN), MISSING);
        let positive = Scale::covering([0.0, 3.0, -1e-5].into_iter(), &[4.0]);
        assert_eq!((positive.low, positive.high), (0.0, 4.0));
        assert_eq!(positive.colour(0.0), SEQUENTIAL[0]);
        assert_eq!(positive.colour(4.0), SEQUENTIAL[8]);
    }

    #[test]
    fn constant_or_broken_fields_still_have_a_scale() {
        let zero = Scale::covering([0.0, f32::NAN].into_iter(), &[]);
        assert_eq!((zero.low, zero.high), (0.0, 1.0));
    }
}
