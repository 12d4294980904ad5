//! `cinoc data`

use super::{Settings, whole};
use crate::out::say;
use crate::progress::Meter;
use anyhow::{Result, bail};
use cinoc::internal::attractor::{Attractor, USES};
use cinoc::internal::disk::cache;
use cinoc::internal::random::Split;
use cinoc::internal::ranks::Ranks;
use cinoc::internal::shown;
use cinoc::{Problem, Real, Registry};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Arguments of `cinoc data`.
#[derive(clap::Args)]
pub struct DataArgs {
    #[command(flatten)]
    settings: Settings,
    /// Seed of the uncontrolled runs that the states come from.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// Print one JSON object per set, a line each.
    #[arg(long)]
    json: bool,
}

impl DataArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let problem = registry.build(&self.settings.config(registry)?)?;
        let name = &problem.name;
        let Some(attractor) = problem.task.attractor() else {
            return match self.json {
                true => Ok(()),
                false => say!("The instances of {name} are drawn when needed; there is nothing to prepare."),
            };
        };
        if !self.json {
            say!("{:>10} {:>7} {:>18} {:>10} {:>9}", "set", "states", "mean square", "largest", "seconds")?;
        }
        for purpose in USES {
            let since = Instant::now();
            let states = made(attractor, name, purpose, self.seed);
            let seconds = since.elapsed().as_secs_f64();
            let (mean, spread, largest) = summary(&states, attractor.size(purpose));
            if self.json {
                say!(
                    "{}",
                    serde_json::json!({"problem": name, "set": title(purpose), "seed": self.seed, "states": attractor.size(purpose), "mean_square": mean,
                        "mean_square_std": spread, "largest": largest, "seconds": seconds})
                )?;
            } else {
                let square = format!("{mean:.4} ± {spread:.4}");
                say!("{:>10} {:>7} {square:>18} {largest:>10.3} {seconds:>9.1}", title(purpose), attractor.size(purpose))?;
            }
        }
        if !self.json {
            say!("\nKept in {}", shown(cache::folder()))?;
        }
        Ok(())
    }
}

/// Prepares sets of states, with progress. The first rank computes them for all; the others read them from the disk, or compute them again
/// where the disk is another one.
pub fn prepare(problem: &Problem, uses: &[Split], seed: u64, ranks: &dyn Ranks) -> Result<()> {
    let Some(attractor) = problem.task.attractor() else { return Ok(()) };
    let make = || uses.iter().for_each(|purpose| drop(made(attractor, &problem.name, *purpose, seed)));
    if ranks.first() {
        make();
    }
    ranks.gather(&[])?;
    if !ranks.first() {
        make();
    }
    Ok(())
}

/// Prepares the test states of some instances, with progress. The others of the set are not computed.
pub fn prepare_instances(problem: &Problem, instances: Range<usize>, seed: u64) {
    let Some(attractor) = problem.task.attractor() else { return };
    let which: Vec<usize> = instances.collect();
    let plural = if which.len() == 1 { "" } else { "s" };
    let text = format!("{} test state{plural} of {}, kept for next time", which.len(), problem.name);
    let meter = OnceLock::new();
    attractor.make_some(Split::Test, seed, &which, &|share| meter.get_or_init(|| Meter::new(0.0, &text)).set(share));
    if let Some(meter) = meter.get() {
        meter.clear();
    }
}

/// Refuses more test instances than there are states, unless they start from given fields. `flag` changes a setting.
pub fn enough(problem: &Problem, instances: usize, own_start: bool, flag: &str) -> Result<()> {
    match problem.task.attractor().map(|attractor| attractor.size(Split::Test)) {
        Some(most) if instances > most && !own_start => bail!(
            "each seed has {most} test states; ask for --instances {most} or fewer, or for more with --{flag} data.test_states={instances}"
        ),
        _ => Ok(()),
    }
}

fn title(purpose: Split) -> &'static str {
    match purpose {
        Split::Training => "training",
        Split::Validation => "validation",
        Split::Test => "test",
    }
}

/// The states of a set, with progress if they have to be computed.
fn made(attractor: &Attractor, problem: &str, purpose: Split, seed: u64) -> Arc<[Real]> {
    let text = format!("{} {} states of {problem}, kept for next time", attractor.size(purpose), title(purpose));
    // Reading kept states takes no time worth a bar.
    let meter = OnceLock::new();
    let states = attractor.make(purpose, seed, &|share| meter.get_or_init(|| Meter::new(0.0, &text)).set(share));
    if let Some(meter) = meter.get() {
        meter.clear();
    }
    states
}

/// Mean over states of the mean square, its standard deviation, and the largest magnitude.
fn summary(states: &[Real], count: usize) -> (f64, f64, f64) {
    let square = |state: &[Real]| state.iter().map(|&z| z as f64 * z as f64).sum::<f64>() / state.len() as f64;
    let squares: Vec<f64> = states.chunks_exact(states.len() / count).map(square).collect();
    let found = cinoc::evaluate::Summary::new(squares.into_iter());
    (found.mean, found.std, states.iter().fold(0.0, |most: f64, &z| most.max(z.abs() as f64)))
}
