//! Learning rates.

use crate::recipe::{Schedule, Train};

/// Returns the learning rate of update `step` (from 0).
pub fn rate(train: &Train, step: usize) -> f64 {
    let Train { rate, rate_start, rate_end, warmup, half_life, updates, .. } = *train;
    let step = step as f64;
    match train.schedule {
        Schedule::WarmupCosine => {
            let warmup = warmup as f64;
            if step < warmup {
                return rate_start + (rate - rate_start) * step / warmup;
            }
            let part = ((step - warmup) / (updates as f64 - warmup).max(1.0)).min(1.0);
            rate_end + (rate - rate_end) * 0.5 * (1.0 + (std::f64::consts::PI * part).cos())
        }
        Schedule::Exp => rate * 0.5f64.powf(step / half_life),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_at_the_corners() {
        let mut train = Train::default();
        assert_eq!(rate(&train, 0), 1e-3);
        assert!((rate(&train, 2000) - 5e-4).abs() < 1e-12);
        train.schedule = Schedule::WarmupCosine;
        (train.rate_start, train.rate, train.rate_end, train.warmup, train.updates) = (5e-4, 1e-3, 1e-5, 50, 500);
        assert_eq!(rate(&train, 0), 5e-4);
        assert!((rate(&train, 25) - 7.5e-4).abs() < 1e-12);
        assert_eq!(rate(&train, 50), 1e-3);
        assert!((rate(&train, 275) - 5.05e-4).abs() < 1e-9);
        assert!((rate(&train, 500) - 1e-5).abs() < 1e-12);
    }
}
