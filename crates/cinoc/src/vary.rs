//! Distributions of settings that training draws variants of a problem from.

use crate::Error;
use crate::random::{Rng, Stream};

/// Values that a setting may take, all equally likely.
enum Values {
    /// A single value, as it is written.
    Fixed(String),
    /// Whole numbers from the first to the last.
    Wholes(i64, i64),
    /// Numbers, evenly distributed.
    Even(f64, f64),
    /// Numbers, evenly distributed in their logarithm.
    Logarithmic(f64, f64),
}

/// Distribution of one setting, written as `key = values | values …`: alternatives that are equally likely. Values are
/// a single one, or a range `low..high`: of whole numbers if both ends are whole, else of numbers, spaced evenly in
/// their logarithm if both are positive.
struct Distribution {
    key: String,
    alternatives: Vec<Values>,
}

/// Returns the error for a line that is not a distribution.
fn bad(line: &str) -> Error {
    Error::bad("train.vary", format!("{line:?}"), "lines like \"swarm.delay = 0..5\" or \"swarm.sensor_noise = 0 | 0.001..0.03\"")
}

impl Distribution {
    fn parse(line: &str) -> Result<Self, Error> {
        let (key, values) = line.split_once('=').ok_or_else(|| bad(line))?;
        let alternatives: Option<Vec<Values>> = values.split('|').map(|text| Values::parse(text.trim())).collect();
        let alternatives = alternatives.ok_or_else(|| bad(line))?;
        Ok(Self { key: key.trim().to_owned(), alternatives })
    }

    /// Returns the value at a quantile in [0, 1) as a change of a setting.
    fn at(&self, quantile: f64) -> String {
        let place = quantile * self.alternatives.len() as f64;
        let which = (place as usize).min(self.alternatives.len() - 1);
        format!("{}={}", self.key, self.alternatives[which].at(place - which as f64))
    }
}

impl Values {
    fn parse(text: &str) -> Option<Self> {
        let Some((low, high)) = text.split_once("..") else {
            return (!text.is_empty()).then(|| Self::Fixed(text.to_owned()));
        };
        let (low, high) = (low.trim(), high.trim());
        if let (Ok(low), Ok(high)) = (low.parse::<i32>(), high.parse::<i32>()) {
            return (low <= high).then_some(Self::Wholes(low.into(), high.into()));
        }
        let (low, high) = (low.parse::<f64>().ok()?, high.parse::<f64>().ok()?);
        let ordered = low.is_finite() && high.is_finite() && low <= high;
        ordered.then_some(if low > 0.0 { Self::Logarithmic(low, high) } else { Self::Even(low, high) })
    }

    fn at(&self, quantile: f64) -> String {
        match self {
            Self::Fixed(text) => text.clone(),
            Self::Wholes(low, high) => (low + (quantile * (high - low + 1) as f64) as i64).min(*high).to_string(),
            Self::Even(low, high) => format!("{:?}", low + quantile * (high - low)),
            Self::Logarithmic(low, high) => format!("{:?}", (low.ln() + quantile * (high / low).ln()).exp().clamp(*low, *high)),
        }
    }
}

/// Draws `count` variants from distributions, each as changes of settings; none if there are no distributions.
///
/// Draws are stratified: every distribution is met at evenly spaced quantiles, in a separate order.
pub fn draw(lines: &[String], count: usize) -> Result<Vec<Vec<String>>, Error> {
    let distributions = lines.iter().map(|line| Distribution::parse(line)).collect::<Result<Vec<_>, _>>()?;
    if distributions.is_empty() {
        return Ok(Vec::new());
    }
    let mut variants = vec![Vec::with_capacity(lines.len()); count];
    for (line, distribution) in distributions.iter().enumerate() {
        let mut rng = Rng::new(0, Stream::Variant, line as u64);
        for (variant, stratum) in variants.iter_mut().zip(rng.choose(count, count)) {
            variant.push(distribution.at((stratum as f64 + rng.uniform(0.0, 1.0)) / count as f64));
        }
    }
    Ok(variants)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(line: &str, count: usize) -> Vec<f64> {
        let drawn = draw(&[line.to_owned()], count).unwrap();
        let mut all: Vec<f64> = drawn.iter().map(|one| one[0].split_once('=').unwrap().1.parse().unwrap()).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn draws_follow_their_distribution() {
        assert_eq!(values("swarm.delay = 0..5", 12), [0., 0., 1., 1., 2., 2., 3., 3., 4., 4., 5., 5.]);
        let noise = values("swarm.sensor_noise = 0 | 0.001..0.1 | 0.001..0.1 | 0.001..0.1", 16);
        assert!(noise[..4] == [0.0; 4] && noise[4] >= 0.001 && noise[15] <= 0.1);
        let decade = noise.iter().filter(|x| (0.001..0.01).contains(*x)).count();
        assert_eq!(decade, 6, "half of the draws are in the lower decade: {noise:?}");
        let even = values("x = -1.0..1", 200);
        assert!((even.iter().sum::<f64>() / 200.0).abs() < 0.01);
        assert_eq!(draw(&["physics.words = \"a\"".into()], 2).unwrap(), [["physics.words=\"a\""], ["physics.words=\"a\""]]);
        assert!(draw(&[], 8).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        for line in ["swarm.delay", "swarm.delay = ", "x = 3..1", "x = 1.0..nan", "x = 0.5..inf", "x = 1 | ", "x = a..b"] {
            let text = draw(&[line.into()], 2).unwrap_err().to_string();
            assert!(text.contains("train.vary cannot be"), "{line}: {text}");
        }
    }
}
