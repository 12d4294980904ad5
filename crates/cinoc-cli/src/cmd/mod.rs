//! Commands, one module each.

pub mod bench;
pub mod check;
pub mod completions;
pub mod data;
pub mod design;
pub mod eval;
pub mod export;
mod lines;
pub mod list;
pub mod man;
pub mod new;
pub mod optimum;
pub mod scale;
pub mod show;
mod smooth;
pub mod stability;
pub mod study;
pub mod train;
pub mod verify;

use crate::arrays;
use crate::out::{note, program};
use anyhow::{Result, bail};
use cinoc::evaluate::Request;
use cinoc::internal::place::Placement;
use cinoc::internal::shown;
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use cinoc::{Config, Problem, Registry};
use clap::Args;
use std::num::{ParseFloatError, ParseIntError};
use std::path::PathBuf;
use std::str::FromStr;

/// Settings of a problem: its name or a TOML file, with changes.
#[derive(Args, Clone)]
pub struct Settings {
    /// Name of a problem (see `cinoc list`), or a TOML file with a line `problem = "..."` and any settings to change.
    #[arg(value_name = "PROBLEM|FILE.toml")]
    pub problem: PathBuf,
    /// Change a setting, for example --set train.updates=200. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Settings to start from: the project's recipe, or the paper's.
    #[arg(long, value_enum, default_value = "tuned")]
    pub preset: PresetName,
}

/// Settings to start from.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum PresetName {
    /// The recipe of the shipped policy: robust.
    Shipped,
    /// The recipe of policies that are trained without disturbances.
    Tuned,
    /// The recipe of policies that tolerate noise, delay, lost readings and other coefficients.
    Robust,
    /// The settings of the paper.
    Paper,
}

impl From<PresetName> for Preset {
    fn from(name: PresetName) -> Self {
        match name {
            PresetName::Shipped => Self::Shipped,
            PresetName::Tuned => Self::Tuned,
            PresetName::Robust => Self::Robust,
            PresetName::Paper => Self::Paper,
        }
    }
}

impl Settings {
    /// The complete configuration.
    pub fn config(&self, registry: &Registry) -> Result<Config> {
        Ok(registry.open(&self.problem, self.preset.into(), &Overlay::from_pairs(&self.set)?)?)
    }
}

/// Test instances, and the disturbances in them.
#[derive(Args, Clone)]
pub struct Instances {
    /// Seed of the test instances. The published tables use 5000.
    #[arg(long, default_value_t = SEED, value_parser = whole::<u64>)]
    pub seed: u64,
    /// Share of the agents that fail, for example 0.3.
    #[arg(long, default_value_t = 0.0, value_parser = number)]
    pub fail: f64,
    /// Time of failure, as a share of the time up to the scored tick: 0 at the start, 0.5 halfway.
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", value_parser = number)]
    pub fail_at: f64,
    /// Initial positions of the agents; random ones depend on the seed and the instance.
    #[arg(long = "positions", alias = "places", value_enum, default_value = "lattice")]
    pub positions: PositionsName,
    /// Start from given fields: a .npy file of the shape of the grid, or of several fields along a first axis. In the plane also a .png:
    /// its grey levels, black 0 and white 1, stretched over the domain.
    #[arg(long, value_name = "FILE")]
    pub start: Option<PathBuf>,
    /// Track given target fields, in the same formats.
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// Smooth the fields of --start and --target by a Gaussian of this standard deviation, in units of the domain. A push cannot form
    /// details finer than its width, swarm.sigma.
    #[arg(long, value_name = "SIGMA", value_parser = number)]
    pub smooth: Option<f64>,
}

/// Initial positions of the agents.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum PositionsName {
    /// The regular lattice.
    Lattice,
    /// Independent and uniform.
    Random,
    /// Concentrated in a part of the domain, with jitter.
    Clustered,
}

impl From<PositionsName> for Placement {
    fn from(name: PositionsName) -> Self {
        match name {
            PositionsName::Lattice => Self::Lattice,
            PositionsName::Random => Self::Random,
            PositionsName::Clustered => Self::Clustered,
        }
    }
}

/// The seed of test instances unless given.
const SEED: u64 = 3000;

impl Instances {
    /// The origin of an instance, for a title.
    pub fn origin(&self, instance: usize) -> String {
        match &self.start {
            Some(_) => format!("given start {instance}"),
            None => format!("test instance {instance} of seed {}", self.seed),
        }
    }

    /// The request for a number of instances. `sigma` is the width of a push, where the problem has one.
    pub fn request(&self, problem: &Problem, sigma: Option<f64>, agents: usize, instances: usize) -> Result<Request> {
        for (flag, share) in [("--fail", self.fail), ("--fail-at", self.fail_at)] {
            if !(0.0..=1.0).contains(&share) {
                bail!("{flag} cannot be {share}; it must be a share from 0 to 1");
            }
        }
        if let Some(sigma) = self.smooth.filter(|sigma| !sigma.is_finite() || *sigma <= 0.0) {
            bail!("--smooth cannot be {sigma}; it must be a positive length");
        }
        if self.smooth.is_some() && self.start.is_none() && self.target.is_none() {
            bail!("--smooth is for fields from files; add --start FILE or --target FILE");
        }
        if self.smooth.is_some() && problem.stepper.fields() > 1 {
            bail!("--smooth is for one field, and {} has several; smooth them before you save them", problem.name);
        }
        let fields = |path: &Option<PathBuf>| -> Result<Vec<_>> {
            let Some(path) = path else { return Ok(Vec::new()) };
            let mut fields = arrays::fields(path, problem)?;
            if let Some(sigma) = self.smooth {
                fields.iter_mut().for_each(|field| *field = smooth::gaussian(problem.stepper.grid(), field, sigma));
            }
            Ok(fields)
        };
        let (targets, grid) = (fields(&self.target)?, problem.stepper.grid());
        if let (Some(sigma), Some(path)) = (sigma, &self.target)
            && problem.task.plot_labels().has_target
            && targets.iter().any(|target| smooth::is_too_fine(grid, &target[..grid.count()], sigma))
        {
            note!(
                "{}: {} has detail finer than a push (sigma = {sigma}), which the agents cannot form; --smooth {sigma} removes it",
                program(),
                shown(path)
            );
        }
        Ok(Request {
            fail: self.fail,
            fail_at: self.fail_at,
            places: self.positions.into(),
            starts: fields(&self.start)?,
            targets,
            ..Request::test(agents, instances, self.seed)
        })
    }
}

/// The width of a push of a configuration, where it has one.
pub fn push_width(config: &Config) -> Option<f64> {
    config.get("swarm.sigma").and_then(|value| value.as_float())
}

/// Parses a whole number; clap adds the flag and the value.
pub fn whole<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| "give a whole number such as 8; where several are allowed, separate them by commas".into())
}

/// Parses a number.
pub fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_: ParseFloatError| "give a number such as 0.5".into())
}

/// Formats a number like `1.23e-4`.
pub fn short(x: f64) -> String {
    if x.is_nan() { "n/a".into() } else { format!("{x:.2e}") }
}

/// Returns the median.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    0.5 * (sorted[(n - 1) / 2] + sorted[n / 2])
}

/// Returns the minimum.
pub fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
