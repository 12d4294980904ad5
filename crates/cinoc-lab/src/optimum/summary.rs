//! Summary statistics.

use cinoc::internal::number;
use serde::Serialize;

/// Mean, quantiles and maximum of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Number of values.
    pub count: usize,
    /// Mean.
    #[serde(with = "number")]
    pub mean: f64,
    /// 5 % quantile.
    #[serde(with = "number")]
    pub q05: f64,
    /// 25 % quantile.
    #[serde(with = "number")]
    pub q25: f64,
    /// Median.
    #[serde(with = "number")]
    pub median: f64,
    /// 75 % quantile.
    #[serde(with = "number")]
    pub q75: f64,
    /// 95 % quantile.
    #[serde(with = "number")]
    pub q95: f64,
    /// Largest value.
    #[serde(with = "number")]
    pub worst: f64,
}

impl Spread {
    /// Summarises values; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let worst = *values.last()?;
        let at = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (below, part) = (place.floor() as usize, place.fract());
            // No weighted sum where the weight is zero: a neighbour may be infinite.
            if part == 0.0 { values[below] } else { values[below] + part * (values[below + 1] - values[below]) }
        };
        Some(Self {
            count: values.len(),
            mean: values.iter().sum::<f64>() / values.len() as f64,
            q05: at(0.05),
            q25: at(0.25),
            median: at(0.5),
            q75: at(0.75),
            q95: at(0.95),
            worst,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_the_numbers() {
        let spread = Spread::of((0..=20).rev().map(f64::from)).expect("numbers");
        assert_eq!((spread.q05, spread.q25, spread.median, spread.q75, spread.q95), (1.0, 5.0, 10.0, 15.0, 19.0));
        assert_eq!((spread.count, spread.mean, spread.worst), (21, 10.0, 20.0));
        assert_eq!(Spread::of([1.0, 2.0]).expect("numbers").median, 1.5);
        assert!(Spread::of([]).is_none());
    }
}
