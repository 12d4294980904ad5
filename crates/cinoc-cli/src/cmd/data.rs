//! `cinoc data`

use super::Settings;
use crate::out::{say, terminal};
use anyhow::{Result, bail};
use cinoc::attractor::{Attractor, USES};
use cinoc::disk::cache;
use cinoc::random::Use;
use cinoc::ranks::Ranks;
use cinoc::{Problem, Real, Registry};
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Arc;
use std::time::Instant;

/// Arguments of `cinoc data`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    settings: Settings,
    /// Seed of the states: every seed has free runs of its own.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON object per set, a line each.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let problem = registry.build(&self.settings.config(registry)?)?;
        let name = &problem.name;
        let Some(attractor) = problem.task.attractor() else {
            say!("The instances of {name} are drawn when they are needed; nothing has to be made.")?;
            return Ok(());
        };
        if !self.json {
            say!("{:>10} {:>7} {:>18} {:>10} {:>9}", "set", "states", "mean square", "largest", "seconds")?;
        }
        for purpose in USES {
            let since = Instant::now();
            let states = made(attractor, purpose, self.seed);
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
            say!("\nKept in {}", cache::folder().display())?;
        }
        Ok(())
    }
}

/// Makes sets that are about to be needed, and shows how far it is. The first rank makes them for all; the others read them from the disk, or
/// make them once more where it is not the same disk.
pub fn prepare(problem: &Problem, uses: &[Use], seed: u64, ranks: &dyn Ranks) -> Result<()> {
    let Some(attractor) = problem.task.attractor() else { return Ok(()) };
    let make = || uses.iter().for_each(|purpose| drop(made(attractor, *purpose, seed)));
    if ranks.first() {
        make();
    }
    ranks.gather(&[])?;
    if !ranks.first() {
        make();
    }
    Ok(())
}

/// Refuses more held-out instances than there are states for, unless they start from fields of one's own. `flag` is what changes a setting.
pub fn enough(problem: &Problem, instances: usize, own_start: bool, flag: &str) -> Result<()> {
    match problem.task.attractor().map(|attractor| attractor.size(Use::Test)) {
        Some(most) if instances > most && !own_start => bail!(
            "each seed has {most} held-out states; ask for --instances {most} or fewer, or for more with --{flag} data.test_states={instances}"
        ),
        _ => Ok(()),
    }
}

fn title(purpose: Use) -> &'static str {
    match purpose {
        Use::Training => "training",
        Use::Validation => "validation",
        Use::Test => "test",
    }
}

/// The states of a set, with a progress bar on a terminal if they have to be made.
fn made(attractor: &Attractor, purpose: Use, seed: u64) -> Arc<[Real]> {
    let style = ProgressStyle::with_template("{bar:30} {percent} % of {msg}  {elapsed} gone, {eta} to go")
        .expect("a valid template")
        .progress_chars("━━╌");
    let bar = if terminal() { ProgressBar::new(1000).with_style(style) } else { ProgressBar::hidden() };
    bar.set_message(format!("{} states for {}", attractor.size(purpose), title(purpose)));
    let states = attractor.make(purpose, seed, &|share| bar.set_position((1000.0 * share) as u64));
    bar.finish_and_clear();
    states
}

/// Mean over states of the mean square, its standard deviation, and the largest magnitude.
fn summary(states: &[Real], count: usize) -> (f64, f64, f64) {
    let square = |state: &[Real]| state.iter().map(|&z| z as f64 * z as f64).sum::<f64>() / state.len() as f64;
    let squares: Vec<f64> = states.chunks_exact(states.len() / count).map(square).collect();
    let found = cinoc::evaluate::Summary::new(squares.into_iter());
    (found.mean, found.std, states.iter().fold(0.0, |most: f64, &z| most.max(z.abs() as f64)))
}
