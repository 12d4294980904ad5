//! `cinoc verify`

use super::short;
use crate::library;
use crate::out::say;
use crate::progress::Meter;
use anyhow::{Result, bail};
use cinoc::evaluate::{Request, report};
use cinoc::internal::threads::Threads;
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use cinoc::train::Trainer;
use cinoc::{Config, Registry};
use cinoc_lab::inspect;
use std::time::Instant;

/// Arguments of `cinoc verify`.
#[derive(clap::Args)]
pub struct VerifyArgs {
    /// Print one JSON object per check, a line each.
    #[arg(long)]
    json: bool,
}

/// Largest error of a derivative that passes; differences in f32 are no more exact.
const DERIVATIVE: f64 = if size_of::<cinoc::Real>() == 8 { 1e-5 } else { 5e-2 };

impl VerifyArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let started = Instant::now();
        let mut failed = 0;
        let checks = 4 * registry.problems().count() + library::names(registry).count();
        let (meter, mut done) = (Meter::new(0.0, "checks"), 0);
        let mut tell = |what: String, good: bool, found: String| -> Result<()> {
            failed += usize::from(!good);
            done += 1;
            meter.set(f64::from(done) / checks as f64);
            meter.aside(|| match self.json {
                true => say!("{}", serde_json::json!({"check": what, "passed": good, "found": found})),
                false => say!("{} {what}: {found}", if good { "ok  " } else { "FAIL" }),
            })
        };
        let shrunk = |name, preset| registry.shrink(&registry.config(name, preset, &Overlay::default())?);
        for name in registry.problems() {
            let config = shrunk(name, Preset::Paper)?;
            let worst = inspect::parts(&registry.build(&config)?).into_iter().map(|(_, e)| e).fold(0.0, f64::max);
            tell(format!("{name}: derivatives of a tick"), worst < DERIVATIVE, format!("worst error {}", short(worst)))?;
            let sweep = inspect::sweep(registry, &config, 10, &[1e-2, 1e-3, 1e-4])?;
            let best = sweep.into_iter().map(|(_, e)| e).fold(f64::INFINITY, f64::min);
            tell(format!("{name}: gradient by all parameters"), best < 1e-2, format!("error {}", short(best)))?;
            let (first, last, same) = short_training(registry, &shrunk(name, Preset::Tuned)?)?;
            tell(format!("{name}: twelve updates lower the cost"), last < first, format!("{} to {}", short(first), short(last)))?;
            tell(format!("{name}: one and three threads"), same, "the same bits".into())?;
        }
        for name in library::names(registry) {
            let model = library::find(registry, name)?;
            let (problem, policy) = model.build(registry)?;
            let request = Request::test(problem.agents, 20, 0);
            let row = report(&problem, &*policy, &model.params, name, &request, &Threads::new(0)?)?;
            // Other instances than the published ones. Medians: single instances change a mean of twenty several times over.
            let (median, promised) = (row.ratio_median, library::facts(name).map_or(0.0, |facts| facts.ratio_median));
            let found = format!("median relative error {} on 20 test instances, published {}", short(median), short(promised));
            tell(format!("{name}: trained model controls"), median < 2.0 * promised && row.diverged == 0, found)?;
        }
        meter.clear();
        if failed > 0 {
            bail!("{failed} checks failed; please report the lines above together with your processor's name");
        }
        if !self.json {
            say!("\nAll checks passed ({:.0} s).", started.elapsed().as_secs_f64())?;
        }
        Ok(())
    }
}

/// Cost of one batch before and after twelve short updates, and whether one and three threads agree to the bit.
fn short_training(registry: &Registry, config: &Config) -> Result<(f64, f64, bool)> {
    let begin = |threads: usize| -> Result<Trainer> {
        let mut parts = registry.parts(config)?.with_ticks(30);
        let train = &mut parts.train;
        (train.batch, train.shard, train.updates, train.validate_instances) = (6, 2, 12, 4);
        Ok(Trainer::new(parts, 0, Threads::new(threads)?)?)
    };
    let run = |threads: usize| -> Result<Trainer> {
        let mut trainer = begin(threads)?;
        while !trainer.finished() {
            trainer.step()?;
        }
        Ok(trainer)
    };
    let (mut one, three) = (run(1)?, run(3)?);
    let same = one.params.theta() == three.params.theta();
    // The last batch with the final parameters, then with the initial ones.
    let after = one.time_cost()?;
    one.params = begin(1)?.params;
    Ok((one.time_cost()?, after, same))
}
