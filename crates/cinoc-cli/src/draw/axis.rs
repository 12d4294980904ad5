//! Axes: where a value lies, which values get a tick, and how numbers are written.

/// A stretch of numbers along one side of a panel.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f32,
    high: f32,
    log: bool,
}

/// The shortest logarithmic axis, in decades.
const NARROWEST: f32 = 0.35;

/// A tick: where it is (from 0 to 1), and its text if it has one.
pub type Tick = (f32, Option<String>);

impl Axis {
    /// An even axis.
    pub fn linear(low: f32, high: f32) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, log: false }
    }

    /// An even axis from zero that leaves some padding above these values.
    pub fn from_zero(values: &[f32]) -> Self {
        let finite = values.iter().copied().filter(|value| value.is_finite());
        Self::linear(0.0, 1.1 * finite.fold(0.0, f32::max))
    }

    /// An even axis that leaves some padding around the finite ones of these values.
    pub fn covering(values: impl Iterator<Item = f32> + Clone) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let low = finite.clone().fold(f32::INFINITY, f32::min);
        let high = finite.fold(f32::NEG_INFINITY, f32::max);
        if low > high {
            return Self::linear(0.0, 1.0);
        }
        let padding = 0.06 * (high - low);
        Self::linear(low - padding, high + padding)
    }

    /// A logarithmic axis that covers the positive values: at least a third of a decade, and at most ten.
    pub fn log(values: impl Iterator<Item = f32> + Clone) -> Self {
        let positive = values.filter(|value| value.is_finite() && *value > 0.0).map(f32::log10);
        let most = positive.clone().fold(-f32::INFINITY, f32::max);
        let least = positive.fold(f32::INFINITY, f32::min);
        if !most.is_finite() {
            return Self { low: -1.0, high: 0.0, log: true };
        }
        let padding = 0.06 * (most - least).min(10.0);
        let (low, high) = (least.max(most - 10.0) - padding, most + padding);
        let missing = (NARROWEST - (high - low)).max(0.0);
        Self { low: low - 0.5 * missing, high: high + 0.5 * missing, log: true }
    }

    /// Position of `value` along the axis, from 0 to 1; values beyond an end are drawn at that end.
    pub fn place(&self, value: f32) -> f32 {
        // Zero (no error at all) has no logarithm and sits at the lower end.
        let value = if self.log { value.max(f32::MIN_POSITIVE).log10() } else { value };
        let share = (value - self.low) / (self.high - self.low);
        if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) }
    }

    /// The ticks: about `count` labelled ones.
    pub fn ticks(&self, count: usize) -> Vec<Tick> {
        if self.log { self.decades(count) } else { self.even(count) }
    }

    fn even(&self, count: usize) -> Vec<Tick> {
        let rough = (self.high - self.low) / count as f32;
        let power = 10f32.powf(rough.log10().floor());
        let nice = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = nice.into_iter().find(|step| *step >= 0.99 * rough).unwrap_or(rough);
        let first = (self.low / step - 1e-3).ceil() as i64;
        let last = (self.high / step + 1e-3).floor() as i64;
        let tick = |k: i64| (self.place(k as f32 * step), Some(number(k as f32 * step, step)));
        (first..=last).map(tick).collect()
    }

    /// Ticks at all digits of one or two decades; 1, 2 and 5 have a label, or more of them within less than a decade.
    fn digits(&self) -> Vec<Tick> {
        let labelled = LABELLED[usize::from(self.high - self.low < 0.8)];
        let mut ticks = Vec::new();
        for power in self.low.floor() as i32..=self.high.floor() as i32 {
            for digit in 1..10 {
                let (unit, value) = (10f32.powi(power), digit as f32 * 10f32.powi(power));
                if (self.low - 1e-3..=self.high + 1e-3).contains(&value.log10()) {
                    ticks.push((self.place(value), labelled.contains(&digit).then(|| number(value, unit))));
                }
            }
        }
        ticks
    }

    fn decades(&self, count: usize) -> Vec<Tick> {
        let (first, last) = ((self.low - 1e-3).ceil() as i32, (self.high + 1e-3).floor() as i32);
        if last - first < 2 {
            return self.digits();
        }
        let skip = ((last - first + 1) as usize).div_ceil(count + 1).max(1) as i32;
        let mut ticks = Vec::new();
        for power in first - 1..=last {
            if power >= first {
                let label = (power.rem_euclid(skip) == 0).then(|| power_of_ten(power));
                ticks.push((self.place(10f32.powi(power)), label));
            }
            let between = (2..10).map(|digit| digit as f32 * 10f32.powi(power));
            let inside = between.map(|value| self.place(value));
            let inside = inside.filter(|share| *share > 0.0 && *share < 1.0 && skip == 1);
            ticks.extend(inside.map(|share| (share, None)));
        }
        ticks
    }
}

/// The digits that get a label: within one or two decades, and within less than one.
const LABELLED: [&[usize]; 2] = [&[1, 2, 5], &[1, 2, 3, 4, 6, 8]];

/// `10⁻⁴` and the like.
pub fn power_of_ten(power: i32) -> String {
    let raised = |c: char| match c.to_digit(10) {
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
        None => '⁻',
    };
    "10".chars().chain(power.to_string().chars().map(raised)).collect()
}

/// `value` with the digits that ticks `step` apart need.
pub fn number(value: f32, step: f32) -> String {
    let power = value.abs().max(step).log10().floor() as i32;
    let digits = |step: f32| (-(step * 1.001).log10().floor()).max(0.0) as usize;
    let text = if value == 0.0 {
        "0".to_string()
    } else if (-3..5).contains(&power) {
        format!("{value:.*}", digits(step))
    } else {
        let unit = 10f32.powi(power);
        format!("{:.*}·{}", digits(step / unit), value / unit, power_of_ten(power))
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_short() {
        assert_eq!(number(0.25, 0.05), "0.25");
        assert_eq!(number(-2.0, 1.0), "−2");
        assert_eq!(number(2e-5, 1e-5), "2·10⁻⁵");
        assert_eq!(power_of_ten(-12), "10⁻¹²");
    }

    /// Data from 4 to 32 once had an axis from 1 to 100 with two labels.
    #[test]
    fn short_log_axes_have_several_labels() {
        let labels = |values: [f32; 2]| -> Vec<String> {
            Axis::log(values.into_iter()).ticks(4).into_iter().filter_map(|tick| tick.1).collect()
        };
        assert_eq!(labels([4.0, 32.0]), ["5", "10", "20"]);
        assert_eq!(labels([40.0, 1200.0]), ["50", "100", "200", "500", "1000"]);
        assert_eq!(labels([2e-5, 4e-5]), ["2·10⁻⁵", "3·10⁻⁵", "4·10⁻⁵"]);
        assert!(labels([7.0, 7.0]).len() >= 2);
    }

    #[test]
    fn log_axis_holds_zeros_and_labels_decades() {
        let axis = Axis::log([0.0, 1e-4, 3.0].into_iter());
        assert_eq!(axis.place(0.0), 0.0);
        let labels: Vec<_> = axis.ticks(6).into_iter().filter_map(|tick| tick.1).collect();
        assert_eq!(labels, ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
    }
}
