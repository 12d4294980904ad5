//! Random choices by number, and values of settings at, inside and outside of the allowed range.

use cinoc::settings::{Rule, Setting};
use std::ops::RangeInclusive;
use toml::Value;

/// Splitmix64: small, and the same everywhere.
pub struct Dice(u64);

impl Dice {
    pub fn new(case: u64) -> Self {
        Self(case.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn choose<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    /// Returns a number in a range, uniform in the logarithm where that makes sense.
    fn within(&mut self, range: &RangeInclusive<f64>) -> f64 {
        let (low, high) = (*range.start(), *range.end());
        let x = match low {
            _ if low > 0.0 => (low.ln() + self.unit() * (high.ln() - low.ln())).exp(),
            _ if low < 0.0 || self.one_in(4) => low + self.unit() * (high - low),
            _ => high * (1e-9f64.ln() * self.unit()).exp(),
        };
        x.clamp(low, high)
    }

    fn whole_within(&mut self, range: &RangeInclusive<usize>) -> i64 {
        let as_numbers = *range.start() as f64..=*range.end() as f64;
        (self.within(&as_numbers).round() as usize).clamp(*range.start(), *range.end()) as i64
    }

    /// Returns an allowed value of a setting: often at or next to a bound.
    pub fn allowed(&mut self, rule: &Rule) -> Value {
        match rule {
            Rule::Whole(range) => Value::Integer(self.allowed_whole(range)),
            Rule::Number(range) => Value::Float(self.allowed_number(range)),
            Rule::Flag => Value::Boolean(self.one_in(2)),
            Rule::Word(words) => Value::String(self.choose(words).0.into()),
            Rule::Pair(range) => {
                let mut pair = [self.allowed_number(range), self.allowed_number(range)];
                pair.sort_by(f64::total_cmp);
                pair.map(Value::Float).to_vec().into()
            }
            Rule::Wholes { count, each } => {
                let count = count.start() + self.below(count.end() - count.start() + 1);
                // Mostly small: a product of large ones exceeds any memory.
                let small = *each.start()..=(*each.end()).min(64);
                let each = if self.one_in(4) { each.clone() } else { small };
                (0..count).map(|_| Value::Integer(self.whole_within(&each))).collect::<Vec<_>>().into()
            }
            Rule::Triples { count, each } => {
                let count = *count.start() + self.below((count.end() - count.start() + 1).min(5));
                let near = -0.2..=1.2;
                let each = if self.one_in(4) { each.clone() } else { near };
                let triple =
                    |dice: &mut Self| -> Value { (0..3).map(|_| Value::Float(dice.within(&each))).collect::<Vec<_>>().into() };
                (0..count).map(|_| triple(self)).collect::<Vec<_>>().into()
            }
            Rule::Texts { .. } => {
                let lines = ["swarm.delay = 0..5", "physics.ticks = 4 | 6", "swarm.sensor_noise = 0 | 0.001..0.1"];
                let count = self.below(3);
                (0..count).map(|_| Value::String((*self.choose(&lines)).into())).collect::<Vec<_>>().into()
            }
            Rule::Text(_) => "\"[equations]\"".into(),
            Rule::Section(_) => unreachable!("sections are flattened into keys"),
        }
    }

    fn allowed_whole(&mut self, range: &RangeInclusive<usize>) -> i64 {
        let (low, high) = (*range.start() as i64, *range.end() as i64);
        match self.below(8) {
            0 => low,
            1 => high,
            2 => (low + 1).min(high),
            3 => (high - 1).max(low),
            _ => self.whole_within(range),
        }
    }

    fn allowed_number(&mut self, range: &RangeInclusive<f64>) -> f64 {
        let (low, high) = (*range.start(), *range.end());
        match self.below(8) {
            0 => low,
            1 => high,
            2 => low.next_up().min(high),
            3 => high.next_down().max(low),
            _ => self.within(range),
        }
    }

    /// Returns any text after `key=`: just outside, far outside, of another type, or not TOML at all.
    pub fn outside(&mut self, rule: &Rule) -> String {
        if self.one_in(2) {
            return self.choose(&STRANGE).to_owned();
        }
        let number = |dice: &mut Self, low: f64, high: f64| {
            let far =
                [low - 1.0, high + 1.0, low.next_down(), high.next_up(), -high, 2.0 * high, f64::MAX, f64::NAN, f64::INFINITY];
            Value::Float(dice.choose(&far)).to_string()
        };
        match rule {
            Rule::Whole(range) => match self.below(3) {
                0 => (*range.start() as i64 - 1).to_string(),
                1 => (*range.end() as i64 + 1).to_string(),
                _ => format!("{}.5", range.start()),
            },
            Rule::Number(range) => number(self, *range.start(), *range.end()),
            Rule::Pair(range) => {
                let [a, b] = [0; 2].map(|_| number(self, *range.start(), *range.end()));
                self.choose(&[
                    format!("[{a}, {b}]"),
                    format!("[{b}]"),
                    format!("[{a}, {a}, {b}]"),
                    "[2.0, 1.0]".into(),
                    "[]".into(),
                ])
            }
            Rule::Wholes { count, each } => {
                let many = vec![each.start().to_string(); count.end() + 1].join(", ");
                self.choose(&[
                    format!("[{many}]"),
                    format!("[{}]", each.end() + 1),
                    "[1, 2.0]".into(),
                    "[[1]]".into(),
                    "[-1]".into(),
                ])
            }
            Rule::Triples { .. } => self
                .choose(&[
                    "[]",
                    "[[0.5, 0.5]]",
                    "[[nan, 0.5, 0.1]]",
                    "[[0.5, 0.5, -0.1]]",
                    "[0.5, 0.5, 0.1]",
                    "[[0.5, 0.5, inf]]",
                ])
                .into(),
            Rule::Flag | Rule::Word(_) | Rule::Texts { .. } | Rule::Text(_) | Rule::Section(_) => {
                self.choose(&STRANGE).to_owned()
            }
        }
    }
}

/// Values that are hardly ever valid.
const STRANGE: [&str; 24] = [
    "nan",
    "inf",
    "-inf",
    "-0.0",
    "0",
    "-1",
    "1e300",
    "5e-324",
    "1e400",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "true",
    "\"\"",
    "word",
    "[]",
    "{}",
    "{a = 1}",
    "1979-05-27T07:32:00Z",
    "0x7fffffffffffffff",
    "[[[[[[]]]]]]",
    "\u{0}",
    "\"\\uD800\"",
    "é🦀",
];

/// Returns every key of a table as a user writes it, with its rule.
pub fn keys(table: &[Setting], prefix: &str) -> Vec<(String, Rule)> {
    let each = table.iter().flat_map(|Setting { key, rule, .. }| match rule {
        Rule::Section(inner) => keys(inner, &format!("{prefix}{key}.")),
        rule => vec![(format!("{prefix}{key}"), rule.clone())],
    });
    each.collect()
}
