//! Studies: dependence of scores on one quantity at a time.
//!
//! A study is a list of cases: the varied quantity, the policies, and the measurement. Cases are computed one by one,
//! so that a study can be stopped and continued; the result is a table of [`Row`]s, plotted with bands over training
//! seeds. A new study is a file and a line in [`ALL`].
//!
//! ```
//! use cinoc_lab::study::{self, Subject};
//!
//! // The cases of the study of failing agents: six shares at each of four times.
//! let (registry, heat) = (cinoc::Registry::builtin(), cinoc::problem("heat1d")?);
//! let subject = Subject { registry: &registry, config: heat.config(), problem: heat.problem() };
//! let cases = (study::find("failure")?.cases)(&subject)?;
//! assert_eq!((cases.len(), cases[5].x), (24, 0.7));
//! # Ok::<(), cinoc::Error>(())
//! ```

mod ablation;
mod cardinality;
mod delay;
mod domain;
mod effort;
mod failure;
mod horizon;
mod meanfield;
mod measure;
mod noise;
mod physics;
mod places;
mod resolution;
mod robust;
mod senses;
mod stability;
mod uncontrolled;
mod view;

pub use measure::{Bench, Ready, Row, score};
pub use uncontrolled::UncontrolledScores;

use cinoc::internal::place::Placement;
use cinoc::{Config, Error, Problem, Registry};

/// All studies.
pub const ALL: &[Study] = &[
    cardinality::STUDY,
    failure::STUDY,
    noise::STUDY,
    delay::STUDY,
    robust::STUDY,
    senses::STUDY,
    ablation::STUDY,
    physics::STUDY,
    view::STUDY,
    effort::STUDY,
    resolution::STUDY,
    domain::STUDY,
    horizon::STUDY,
    places::STUDY,
    meanfield::STUDY,
    stability::STUDY,
];

/// A study.
pub struct Study {
    /// Name on the command line.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Varied quantity, on the horizontal axis.
    pub x: Scale,
    /// Measured quantity, on the vertical axis.
    pub y: Scale,
    /// Kind of figure.
    pub chart: Chart,
    /// True if the effort is plotted as well.
    pub effort: bool,
    /// Returns its cases for a problem; none where it does not apply.
    pub cases: fn(&Subject) -> Result<Vec<Case>, Error>,
    /// Measures one case for one policy.
    pub measure: fn(&Bench, &Case) -> Result<Vec<Row>, Error>,
}

/// Kinds of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chart {
    /// Lines over the varied quantity.
    Lines,
    /// A card: one row for each case, from a value along a horizontal axis to the worst instance.
    Card,
}

/// An axis of a plot.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Label.
    pub name: &'static str,
    /// True if it is logarithmic.
    pub log: bool,
}

impl Scale {
    /// Creates a linear axis.
    const fn linear(name: &'static str) -> Self {
        Self { name, log: false }
    }

    /// Creates a logarithmic axis.
    const fn log(name: &'static str) -> Self {
        Self { name, log: true }
    }
}

/// Ratio of the score to the uncontrolled score: the axis of most studies.
const RATIO: Scale = Scale::log("score over uncontrolled");

/// A velocity limit too small to move an agent within an episode; zero is not a valid limit.
const IMMOBILE: &str = "swarm.v_limit=1e-9";

/// Subject of a study: the problem that policies were trained for.
pub struct Subject<'a> {
    /// Registry that has the problem.
    pub registry: &'a Registry,
    /// All settings.
    pub config: &'a Config,
    /// The problem.
    pub problem: &'a Problem,
}

impl Subject<'_> {
    /// Returns true if the problem accepts the changes.
    fn allows(&self, changes: &[String]) -> bool {
        let overlay = cinoc::settings::Overlay::from_pairs(changes);
        overlay.and_then(|overlay| self.registry.change(self.config, &overlay)).is_ok()
    }

    /// Returns a number among the settings.
    fn number(&self, key: &str) -> Option<f64> {
        let value = self.config.get(key)?;
        value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
    }

    /// Returns a multiple of the trained number of agents, at least one.
    fn agents(&self, times: f64) -> usize {
        ((times * self.problem.agents as f64).round() as usize).max(1)
    }

    /// Returns the number of instances for a case that costs `times` the usual one, so that large swarms and grids do
    /// not take hours.
    fn fewer(&self, times: f64) -> Option<usize> {
        let usual = self.problem.task.instances();
        (times > 4.0).then(|| ((4.0 * usual as f64 / times) as usize).max(8).min(usual))
    }
}

/// One case of a study.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Case {
    /// Line of the plot.
    pub line: String,
    /// Position on the horizontal axis.
    pub x: f64,
    /// Settings that policies are trained with for it; `None`: policies are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trained: Option<Vec<String>>,
    /// Settings changed in use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<String>,
    /// Factor of the length of the domain along each axis, with equal numbers of agents and nodes per area.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enlarged: Option<usize>,
    /// Agents per instance; `None`: as in the settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<usize>,
    /// Share of failing agents.
    #[serde(skip_serializing_if = "is_zero")]
    pub fail: f64,
    /// Time of failure, as a share of the time up to the score.
    #[serde(skip_serializing_if = "is_zero")]
    pub fail_at: f64,
    /// Initial positions of agents.
    #[serde(skip_serializing_if = "is_lattice")]
    pub places: Placement,
    /// Maximum number of instances; `None`: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<usize>,
}

fn is_lattice(places: &Placement) -> bool {
    *places == Placement::Lattice
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// Finds the study of this name.
pub fn find(name: &str) -> Result<&'static Study, Error> {
    ALL.iter().find(|study| study.name == name).ok_or_else(|| {
        let all: Vec<&str> = ALL.iter().map(|study| study.name).collect();
        Error::bad("the study", format!("{name:?}"), format!("one of {}", all.join(", ")))
    })
}

/// Converts settings to `key=value` pairs.
fn pairs(list: &[&str]) -> Vec<String> {
    list.iter().map(|pair| (*pair).to_owned()).collect()
}
