//! Columns of tables as functions of time.

use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Functions of time by linear interpolation. Input: times `[batch, 1]`; output `[batch, curves]`.
pub struct TimeCurves(pub Vec<Curve>);

/// A function of time.
pub struct Curve {
    /// Times in increasing order.
    pub times: Vec<f64>,
    pub values: Vec<f64>,
    /// Its time when `t` is 0.
    pub start: f64,
    /// Period; without one the values at the ends hold beyond them.
    pub period: Option<f64>,
}

impl Curve {
    /// Value and derivative.
    fn at(&self, t: f64) -> [f64; 2] {
        let (times, values, count) = (&self.times, &self.values, self.times.len());
        let [first, last] = [times[0], times[count - 1]];
        let mut at = t + self.start;
        if let Some(period) = self.period {
            at = first + (at - first).rem_euclid(period);
        }
        let next = times.partition_point(|time| *time <= at);
        let (from, to) = match (next, self.period) {
            (0, _) => return [values[0], 0.0],
            (next, None) if next == count => return [values[count - 1], 0.0],
            (next, Some(period)) if next == count => ((last, values[count - 1]), (first + period, values[0])),
            (next, _) => ((times[next - 1], values[next - 1]), (times[next], values[next])),
        };
        // A period may end with the last row.
        let (length, slope) = (to.0 - from.0, (to.1 - from.1) / (to.0 - from.0));
        if length > 0.0 { [from.1 + slope * (at - from.0), slope] } else { [to.1, 0.0] }
    }
}

impl Op for TimeCurves {
    fn name(&self) -> &'static str {
        "curves"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        Shape::new(&[x[0].count(), self.0.len()])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        for (t, y) in x[0].iter().zip(y.chunks_exact_mut(self.0.len())) {
            y.iter_mut().zip(&self.0).for_each(|(y, curve)| *y = curve.at(*t as f64)[0] as Real);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let Some(bar) = bars.get(0) else { return };
        for ((bar, t), y_bar) in bar.iter_mut().zip(&x[0]).zip(y_bar.chunks_exact(self.0.len())) {
            let slopes = self.0.iter().map(|curve| curve.at(*t as f64)[1]);
            *bar += y_bar.iter().zip(slopes).map(|(y_bar, slope)| *y_bar as f64 * slope).sum::<f64>() as Real;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc_tape::check::assert_derivative;
    use std::sync::Arc;

    fn curve(period: Option<f64>) -> Curve {
        Curve { times: vec![1.0, 2.0, 4.0], values: vec![0.0, 1.0, -1.0], start: 0.5, period }
    }

    #[test]
    fn ends_are_held_or_repeat() {
        let at = |period, t| curve(period).at(t)[0];
        assert_eq!([0.0, 1.0, 2.5, 9.0].map(|t| at(None, t)), [0.0, 0.5, 0.0, -1.0]);
        assert_eq!([1.0, 6.0, -4.0, 4.5, 5.0].map(|t| at(Some(5.0), t)), [0.5, 0.5, 0.5, -0.5, -0.25]);
        assert_eq!([3.5, 3.499].map(|t| (at(Some(3.0), t) * 100.0).round()), [0.0, -100.0]);
        let one = Curve { times: vec![3.0], values: vec![7.0], start: 0.0, period: Some(1.0) };
        assert_eq!(one.at(1.25), [7.0, 0.0]);
    }

    #[test]
    fn the_derivative_is_exact() {
        let op = Arc::new(TimeCurves(vec![curve(None), curve(Some(4.0))]));
        assert_derivative(&[(&[3, 1], &[0.8, 2.2, 4.1])], |x| x[0].apply(&op));
    }
}
