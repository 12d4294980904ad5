//! Studies: how scores depend on one thing after the other.
//!
//! A study is a list of cases: what is varied, for which policies, and what is asked of them. Cases are computed one by one, so that a study can be
//! stopped and continued; what it gives is a table of [`Row`]s that a picture with bands over training seeds is drawn from. A new one is a file and
//! a line in [`ALL`].

mod cardinality;
mod certificate;
mod delay;
mod domain;
mod effort;
mod failure;
mod free;
mod horizon;
mod meanfield;
mod measure;
mod noise;
mod physics;
mod places;
mod resolution;
mod view;

pub use free::Free;
pub use measure::{Bench, Ready, Row, score};

use crate::place::Places;
use crate::{Config, Error, Problem, Registry};

/// Every study.
pub const ALL: &[Study] = &[
    cardinality::STUDY,
    failure::STUDY,
    noise::STUDY,
    delay::STUDY,
    physics::STUDY,
    view::STUDY,
    effort::STUDY,
    resolution::STUDY,
    domain::STUDY,
    horizon::STUDY,
    places::STUDY,
    meanfield::STUDY,
    certificate::STUDY,
];

/// A study.
pub struct Study {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// What is varied along the horizontal axis.
    pub x: Scale,
    /// What comes of it.
    pub y: Scale,
    /// Whether the effort is drawn beside.
    pub effort: bool,
    /// Its cases for a problem; none where it makes no sense.
    pub cases: fn(&Subject) -> Result<Vec<Case>, Error>,
    /// What one case gives for one policy.
    pub measure: fn(&Bench, &Case) -> Result<Vec<Row>, Error>,
}

/// An axis.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// What it shows.
    pub name: &'static str,
    /// Whether it is logarithmic.
    pub log: bool,
}

impl Scale {
    /// A linear axis.
    const fn linear(name: &'static str) -> Self {
        Self { name, log: false }
    }

    /// A logarithmic axis.
    const fn log(name: &'static str) -> Self {
        Self { name, log: true }
    }
}

/// The score over that of the same instances left alone: what most studies show.
const RATIO: Scale = Scale::log("score over uncontrolled");

/// Agents that stand: limits are positive, and this one moves nobody within an episode.
const HELD: &str = "swarm.v_limit=1e-9";

/// What is studied: the problem that policies were trained for.
pub struct Subject<'a> {
    /// Knows the problem.
    pub registry: &'a Registry,
    /// All settings.
    pub config: &'a Config,
    /// The problem itself.
    pub problem: &'a Problem,
}

impl Subject<'_> {
    /// Whether the problem can be changed so.
    fn allows(&self, changes: &[String]) -> bool {
        let overlay = crate::settings::Overlay::from_pairs(changes);
        overlay.and_then(|overlay| self.registry.change(self.config, &overlay)).is_ok()
    }

    /// A number among the settings.
    fn number(&self, key: &str) -> Option<f64> {
        let value = self.config.get(key)?;
        value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
    }

    /// So many times the trained number of agents, at least one.
    fn agents(&self, times: f64) -> usize {
        ((times * self.problem.agents as f64).round() as usize).max(1)
    }

    /// How many instances suffice for a case that costs `times` as much as the usual one, so that large swarms and grids do not take hours.
    fn fewer(&self, times: f64) -> Option<usize> {
        let usual = self.problem.task.instances();
        (times > 4.0).then(|| ((4.0 * usual as f64 / times) as usize).max(8).min(usual))
    }
}

/// One case of a study.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Case {
    /// Which line of the picture it belongs to.
    pub line: String,
    /// Where on the horizontal axis.
    pub x: f64,
    /// Settings that policies are trained with for it. None: policies are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trained: Option<Vec<String>>,
    /// Settings changed in use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<String>,
    /// A domain so many times as long along each axis, with as many agents and nodes per area.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enlarged: Option<usize>,
    /// Agents per instance; None: as many as the settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<usize>,
    /// Share of the agents that die.
    #[serde(skip_serializing_if = "is_zero")]
    pub fail: f64,
    /// When they die, as a share of the time up to the score.
    #[serde(skip_serializing_if = "is_zero")]
    pub fail_at: f64,
    /// Where agents start.
    #[serde(skip_serializing_if = "is_lattice")]
    pub places: Places,
    /// How many instances at most; None: as many as are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<usize>,
}

fn is_lattice(places: &Places) -> bool {
    *places == Places::Lattice
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// The study of this name.
pub fn find(name: &str) -> Result<&'static Study, Error> {
    ALL.iter().find(|study| study.name == name).ok_or_else(|| {
        let all: Vec<&str> = ALL.iter().map(|study| study.name).collect();
        Error::bad("the study", format!("{name:?}"), format!("one of {}", all.join(", ")))
    })
}

/// Settings as `key=value` pairs.
fn pairs(list: &[&str]) -> Vec<String> {
    list.iter().map(|pair| (*pair).to_owned()).collect()
}
