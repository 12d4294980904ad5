//! One file per command.

pub mod bench;
pub mod check;
pub mod completions;
pub mod data;
pub mod eval;
pub mod export;
mod lines;
pub mod list;
pub mod man;
pub mod optimum;
pub mod scale;
pub mod show;
pub mod study;
pub mod train;
pub mod verify;

use crate::arrays;
use anyhow::{Result, bail};
use cinoc::disk::read_text;
use cinoc::evaluate::Request;
use cinoc::place::Places;
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use cinoc::{Config, Problem, Registry};
use clap::Args;
use std::path::{Path, PathBuf};

/// Which settings: a problem by name or a TOML file, with changes.
#[derive(Args, Clone)]
pub struct Settings {
    /// Name of a problem (see `cinoc list`) or a TOML file with a line `problem = "..."` and any settings to change.
    #[arg(value_name = "PROBLEM|FILE.toml")]
    pub problem: String,
    /// Change a setting, for example --set train.updates=200. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Settings to start from: our own recipe, or the paper's.
    #[arg(long, value_enum, default_value = "tuned")]
    pub preset: PresetName,
}

/// Settings to start from.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum PresetName {
    /// Our own recipe.
    Tuned,
    /// The setting of the paper.
    Paper,
}

impl Settings {
    /// The resolved configuration.
    pub fn config(&self, registry: &Registry) -> Result<Config> {
        let mut changes = Overlay::default();
        let mut name = self.problem.clone();
        let mut preset = match self.preset {
            PresetName::Tuned => Preset::Tuned,
            PresetName::Paper => Preset::Paper,
        };
        if name.ends_with(".toml") {
            let text = read_text(Path::new(&name))?;
            changes = Overlay::from_toml(&text, &name)?;
            let Some(problem) = changes.take("problem") else {
                let example = registry.problems().next().unwrap_or_default();
                bail!("{name} does not say which problem it is for; add a line like: problem = {example:?}");
            };
            if let Some(chosen) = changes.take("preset") {
                preset = match chosen.as_str() {
                    Some("paper") => Preset::Paper,
                    Some("tuned") => Preset::Tuned,
                    _ => anyhow::bail!("{name}: preset cannot be {chosen}; it must be \"tuned\" or \"paper\""),
                };
            }
            name = problem.as_str().unwrap_or_default().to_owned();
        }
        for pair in &self.set {
            changes.set(pair)?;
        }
        Ok(registry.config(&name, preset, &changes)?)
    }
}

/// Which instances, and what happens in them.
#[derive(Args, Clone)]
pub struct Instances {
    /// Seed of the held-out instances; the one of the published tables unless told otherwise.
    #[arg(long, default_value_t = TABLES)]
    pub seed: u64,
    /// Share of the agents that die, for example 0.3.
    #[arg(long, default_value_t = 0.0)]
    pub fail: f64,
    /// When they die, as a share of the time up to the moment of the score: 0 at the start, 0.5 halfway.
    #[arg(long, default_value_t = 0.5, value_name = "SHARE")]
    pub fail_at: f64,
    /// Where agents start; random places depend on the seed and the instance.
    #[arg(long, value_enum, default_value = "lattice")]
    pub places: PlacesName,
    /// Start from fields of your own: a .npy file of the shape of the grid, or of several such fields along a first axis. In the plane
    /// also a .png: its grey levels, black 0 and white 1, stretched over the domain.
    #[arg(long, value_name = "FILE")]
    pub start: Option<PathBuf>,
    /// Drive towards fields of your own, likewise.
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
}

/// Where agents start.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum PlacesName {
    /// At their regular places.
    Lattice,
    /// Anywhere, each by itself.
    Random,
    /// Drawn together into a part of the domain, and shaken.
    Clustered,
}

impl From<PlacesName> for Places {
    fn from(name: PlacesName) -> Self {
        match name {
            PlacesName::Lattice => Self::Lattice,
            PlacesName::Random => Self::Random,
            PlacesName::Clustered => Self::Clustered,
        }
    }
}

/// The seed that the published tables are made with.
const TABLES: u64 = 3000;

impl Instances {
    /// Where an instance comes from, in words.
    pub fn whose(&self) -> &'static str {
        if self.start.is_some() { "own start" } else { "held-out instance" }
    }

    /// The request for so many of them.
    pub fn request(&self, problem: &Problem, agents: usize, instances: usize) -> Result<Request> {
        for (flag, share) in [("--fail", self.fail), ("--fail-at", self.fail_at)] {
            if !(0.0..=1.0).contains(&share) {
                bail!("{flag} cannot be {share}; it must be a share from 0 to 1");
            }
        }
        let fields = |path: &Option<PathBuf>| path.as_ref().map_or(Ok(Vec::new()), |path| arrays::fields(path, problem));
        Ok(Request {
            fail: self.fail,
            fail_at: self.fail_at,
            places: self.places.into(),
            starts: fields(&self.start)?,
            targets: fields(&self.target)?,
            ..Request::test(agents, instances, self.seed)
        })
    }
}

/// `1.23e-4`, as numbers of very different size read best.
pub fn short(x: f64) -> String {
    if x.is_nan() { "n/a".into() } else { format!("{x:.2e}") }
}

/// The middle of some numbers.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    0.5 * (sorted[(n - 1) / 2] + sorted[n / 2])
}

/// The least of some numbers.
pub fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
