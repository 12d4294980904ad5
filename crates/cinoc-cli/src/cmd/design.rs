//! `cinoc design`

use super::{Settings, data, number, whole};
use crate::out::{has_folder, program, say};
use crate::progress::Meter;
use anyhow::{Result, bail};
use cinoc::Registry;
use cinoc::internal::random::Split;
use cinoc::internal::ranks::SingleRank;
use cinoc::internal::shown;
use cinoc::internal::threads::Threads;
use cinoc_lab::classical::{self, DISTURBANCES, OTHERS, Readings, Trials, Tuned, WEIGHTS};
use std::path::PathBuf;

/// Notes below the options.
const NOTES: &str =
    "A regulator reads the whole field and its target, its agents stand, and it is stationary: it minimises squared error plus
weight times squared pushes per tick, without limits and without an end. With swarm.sensor_noise it has a Kalman filter
(LQG), with swarm.delay it predicts the field; both know the disturbance. On nonlinear problems it is that of the field
near zero. Of several designs the one with the lowest score on other instances than those of `eval` is chosen, under the
disturbances of the settings: --set swarm.delay=2 finds one for two ticks.
With --local agents do not share what they read: each estimates the whole field from its own window, and guesses what the
others do. Time grows with the cube of the number of nodes: a second for 100, minutes for 1000;
on larger periodic domains with constant coefficients a regulator acts on slow waves only, and has no filter.
Other baselines are trained: --set policy.kind=pi (local proportional and integral feedback) with `train`.";

/// Arguments of `cinoc design`.
#[derive(clap::Args)]
#[command(after_help = NOTES)]
pub struct DesignArgs {
    #[command(flatten)]
    settings: Settings,
    /// Weights of the effort to choose from, relative to the squared error; default: from 1e-12 to 10.
    #[arg(long, value_delimiter = ',', value_parser = number)]
    effort: Vec<f64>,
    /// Design a Kalman filter and a regulator for each agent, which reads its own window and shares nothing.
    #[arg(long)]
    local: bool,
    /// Number of instances to choose on.
    #[arg(long, default_value_t = 32, value_parser = whole::<usize>)]
    instances: usize,
    /// Seed of the instances to choose on.
    #[arg(long, default_value_t = 1000, value_parser = whole::<u64>)]
    seed: u64,
    /// Model file to write. Default: PROBLEM-lqr.safetensors.
    #[arg(short, long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
    /// Threads to use; 0 takes all cores. The result does not depend on it.
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>)]
    threads: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl DesignArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let config = self.settings.config(registry)?;
        let name = config.problem().to_owned();
        let out = self.out.unwrap_or_else(|| PathBuf::from(format!("{name}-lqr.safetensors")));
        has_folder(&out)?;
        if let Some(weight) = self.effort.iter().find(|weight| !(**weight > 0.0 && weight.is_finite())) {
            bail!("--effort cannot be {weight}; it must be positive");
        }
        if self.instances == 0 {
            bail!("--instances must be 1 or more");
        }
        data::prepare(&registry.build(&config)?, &[Split::Test], self.seed, &SingleRank)?;
        let weights = if self.effort.is_empty() { &WEIGHTS[..] } else { &self.effort };
        let meter = Meter::new(0.0, "regulators");
        let (mut done, threads) = (0.0, Threads::new(self.threads)?);
        let readings = if self.local { Readings::Local } else { Readings::Whole };
        let noisy = registry.build(&config)?.swarm.disturbance().sensor > 0.0;
        let filters = match readings {
            Readings::Local => OTHERS.len(),
            Readings::Whole if noisy => DISTURBANCES.len() + 1,
            Readings::Whole => 1,
        };
        let trials = Trials { instances: self.instances, seed: self.seed, threads: &threads };
        let chosen = classical::tuned(registry, &config, weights, readings, &trials, &mut |tried| {
            done += 1.0;
            meter.tell(format!("{}: score {:.3e}", described(tried), tried.score));
            meter.set(done / (weights.len() * filters) as f64);
        })?;
        meter.clear();
        chosen.model.write(&out)?;
        if self.json {
            let facts = serde_json::json!({"file": out.to_string_lossy(), "problem": name, "effort": chosen.effort,
                "disturbance": chosen.disturbance,
                "score": chosen.score, "instances": self.instances, "seed": self.seed});
            return say!("{facts}");
        }
        let Self { instances, .. } = self;
        say!("Wrote {}: {}, score {:.2e} on {instances} instances.", shown(&out), described(&chosen), chosen.score)?;
        say!("Score it on test instances:  {} eval {}", program(), shown(&out))
    }
}

/// Returns the parameters of a design in words.
fn described(design: &Tuned) -> String {
    let filter = design.disturbance.map_or(String::new(), |size| format!(", filter for disturbances of {size:.0e}"));
    format!("weight {:.0e}{filter}", design.effort)
}
