//! One file per command.

pub mod bench;
pub mod check;
pub mod data;
pub mod eval;
pub mod list;
pub mod scale;
pub mod show;
pub mod train;
pub mod verify;

use anyhow::Result;
use cinoc::Config;
use cinoc::config::Overlay;
use cinoc::problem::{Preset, Problem};
use clap::Args;
use std::path::Path;

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
    pub fn config(&self) -> Result<Config> {
        let mut changes = Overlay::default();
        let mut name = self.problem.clone();
        let mut preset = match self.preset {
            PresetName::Tuned => Preset::Tuned,
            PresetName::Paper => Preset::Paper,
        };
        if name.ends_with(".toml") {
            let text = std::fs::read_to_string(&name).map_err(cinoc::Error::file(Path::new(&name)))?;
            changes = Overlay::from_toml(&text, &name)?;
            let Some(problem) = changes.take("problem") else {
                anyhow::bail!("{name} does not say which problem it is for; add a line like: problem = \"heat1d\"");
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
        Ok(Problem::configure(&name, preset, &changes)?)
    }
}

/// Changes as given on the command line.
pub fn changes(set: &[String]) -> Result<Overlay> {
    let mut changes = Overlay::default();
    for pair in set {
        changes.set(pair)?;
    }
    Ok(changes)
}

/// `1.23e-4`, as numbers of very different size read best.
pub fn short(x: f64) -> String {
    format!("{x:.2e}")
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
