//! The sections `task` and `time`.

use super::super::section::{Section, as_number, as_text};
use crate::Error;
use toml::Value;

/// The section `task`.
pub struct TaskText {
    pub target: Option<String>,
    pub cost: Vec<CostText>,
    pub score: String,
    pub when: When,
}

/// A term of the cost.
pub struct CostText {
    pub name: String,
    pub text: String,
    pub when: When,
}

/// Ticks that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Last,
    Mean,
    SecondHalf,
}

/// The section `time`.
pub struct TimeText {
    pub tick: f64,
    pub ticks: usize,
    pub second_order: bool,
    pub substeps: Option<usize>,
    /// Unit of time.
    pub unit: String,
    /// Earliest and latest time at which an episode begins.
    pub start: [f64; 2],
}

impl TimeText {
    /// A time at which episodes begin: the earliest for 0, the latest for 1.
    pub fn begin(&self, share: f64) -> f64 {
        let [low, high] = self.start;
        low + share * (high - low)
    }
}

impl When {
    const WORDS: [&str; 3] = ["last", "mean", "second half"];

    fn read(section: &mut Section, otherwise: Self) -> Result<Self, Error> {
        Ok(match section.word("when", &Self::WORDS)? {
            Some("last") => Self::Last,
            Some("mean") => Self::Mean,
            Some(_) => Self::SecondHalf,
            None => otherwise,
        })
    }

    /// Weight of a tick (from 1); the weights of an episode add up to 1.
    pub fn weight(self, tick: usize, ticks: usize) -> f64 {
        let half = ticks / 2;
        match self {
            Self::Last => f64::from(u8::from(tick == ticks)),
            Self::Mean => 1.0 / ticks as f64,
            Self::SecondHalf => {
                if tick > half {
                    1.0 / (ticks - half) as f64
                } else {
                    0.0
                }
            }
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Last => "after the last tick",
            Self::Mean => "mean over the ticks",
            Self::SecondHalf => "mean over the second half of the ticks",
        }
    }
}

pub fn task_of(mut section: Section) -> Result<TaskText, Error> {
    let target = section.text("target")?;
    let cost = section.section("cost")?;
    let mut costs = section.need("cost", cost, "cost = { error = \"mean((z - target)^2)\" }")?;
    let mut cost = Vec::new();
    for (name, value) in costs.names() {
        let (text, when) = match value {
            Value::Table(table) => {
                let mut inner = costs.inner(&name, table);
                let text = inner.text("text")?;
                let text = inner.need("text", text, "text = \"mean(z^2)\"")?;
                let when = When::read(&mut inner, When::Mean)?;
                inner.done()?;
                (Some(text), when)
            }
            other => (as_text(&other), When::Mean),
        };
        let Some(text) = text else { return Err(costs.fault(&name, "it must be a text, like \"mean((z - target)^2)\"")) };
        cost.push(CostText { name, text, when });
    }
    if !(1..=16).contains(&cost.len()) {
        return Err(section.fault("cost", "one to sixteen terms are possible"));
    }
    let score = section.text("score")?;
    let score = section.need("score", score, "score = \"mean((z - target)^2)\"")?;
    let when = When::read(&mut section, When::Last)?;
    section.done()?;
    Ok(TaskText { target, cost, score, when })
}

/// Largest number of ticks between `t = 0` and the start of an episode, so that times have enough digits.
const MOST_TICKS: f64 = 1e6;

fn start_of(section: &Section, value: &Value, tick: f64) -> Result<[f64; 2], Error> {
    let numbers = match value {
        Value::Array(all) => all.iter().map(as_number).collect(),
        other => as_number(other).map(|start| vec![start; 2]),
    };
    let start = match numbers.as_deref() {
        Some(&[low, high]) if low <= high => [low, high],
        _ => return Err(section.fault("start", "it must be a time, or the earliest and the latest one, like [0, 168]")),
    };
    if start.iter().any(|start| start.abs() > MOST_TICKS * tick) {
        return Err(section.fault("start", "it can be at most a million ticks; shift tables by the start of their series"));
    }
    Ok(start)
}

pub fn time_of(mut section: Section) -> Result<TimeText, Error> {
    let tick = section.number("tick", 1e-9..=1e6)?;
    let tick = section.need("tick", tick, "tick = 0.05")?;
    let ticks = section.whole_number("ticks", 2..=1_000_000)?;
    let ticks = section.need("ticks", ticks, "ticks = 80")?;
    let second_order = section.whole_number("order", 1..=2)?.unwrap_or(2) == 2;
    let substeps = section.whole_number("substeps", 1..=10_000)?;
    let unit = section.unit()?;
    let start = section.take("start").map_or(Ok([0.0; 2]), |value| start_of(&section, &value, tick))?;
    section.done()?;
    Ok(TimeText { tick, ticks, second_order, substeps, unit, start })
}
