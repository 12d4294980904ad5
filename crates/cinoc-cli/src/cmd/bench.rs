//! `cinoc bench`

use super::{PresetName, Settings, least, median, whole};
use crate::out::say;
use crate::ranks;
use anyhow::{Result, bail};
use cinoc::internal::registry::Parts;
use cinoc::{Registry, train};
use cinoc_lab::inspect;
use std::path::PathBuf;

/// Arguments of `cinoc bench`.
#[derive(clap::Args)]
pub struct BenchArgs {
    /// Name of a problem (see `cinoc list`), or a TOML file with a line `problem = "..."` and any settings to change.
    #[arg(value_name = "PROBLEM|FILE.toml")]
    problem: PathBuf,
    /// Change a setting, for example --set train.shard=4. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Settings to start from: the paper's (the default, except for --shards), or the project's recipe.
    #[arg(long, value_enum)]
    preset: Option<PresetName>,
    /// Instances per update.
    #[arg(long, value_parser = whole::<usize>)]
    batch: Option<usize>,
    /// Ticks per training episode.
    #[arg(long, value_parser = whole::<usize>)]
    ticks: Option<usize>,
    /// Number of agents, the same in every instance; default: that of the settings.
    #[arg(long, value_parser = whole::<usize>)]
    agents: Option<usize>,
    /// Updates to time.
    #[arg(long, default_value_t = 12, value_parser = whole::<usize>)]
    updates: usize,
    /// Threads to use; 0 takes all cores.
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>)]
    threads: usize,
    /// Report the time of an update by operation instead.
    #[arg(long)]
    operations: bool,
    /// Print the seconds of each shard of each update instead, a JSON object per update. Starts from the project's recipe unless --preset says otherwise.
    #[arg(long, conflicts_with = "operations")]
    shards: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl BenchArgs {
    /// True if all ranks of a job share the work.
    pub fn spread(&self) -> bool {
        self.shards
    }

    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let preset = self.preset.unwrap_or(if self.shards { PresetName::Tuned } else { PresetName::Paper });
        let config = Settings { problem: self.problem, set: self.set, preset }.config(registry)?;
        let mut parts = registry.parts(&config)?;
        parts.train.batch = self.batch.unwrap_or(parts.train.batch);
        if let Some(ticks) = self.ticks {
            parts = parts.with_ticks(ticks);
        }
        if let Some(agents) = self.agents {
            parts = parts.with_agents(agents);
        }
        if [self.batch, self.ticks, self.agents].contains(&Some(0)) {
            bail!("--batch, --ticks and --agents must be 1 or more");
        }
        if self.shards {
            return shards(parts, self.threads, self.updates.max(1));
        }
        if self.operations {
            return operations(parts, self.threads, self.updates.max(1), self.json);
        }
        let (name, batch, agents) = (parts.problem.name.clone(), parts.train.batch, parts.problem.agents);
        let ticks = train::training_ticks(&parts.problem, &parts.train) * parts.train.hold;
        let timing = inspect::timing(parts, self.threads, self.updates.max(1))?;
        let (update, forward) = (median(&timing.update), median(&timing.forward));
        let floor = 1e3 * timing.flops / timing.peak;
        if self.json {
            let line = serde_json::json!({
                "problem": name, "batch": batch, "ticks": ticks, "agents": agents,
                "shards": timing.shards, "ms_per_update_median": update, "ms_per_update_min": least(&timing.update),
                "ms_forward_median": forward, "ms_forward_min": least(&timing.forward),
                "steps_per_s": timing.steps_per_second.round(),
                "gflop_per_update": timing.flops / 1e9, "peak_gflop_per_s": timing.peak / 1e9, "ms_flop_limit": floor,
                "cinoc": env!("CARGO_PKG_VERSION"),
            });
            say!("{line}")?;
            return Ok(());
        }
        let mut numbers: Vec<_> = timing.shards.iter().flatten().map(|[agents, _]| *agents).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let numbers: Vec<_> = numbers.iter().map(usize::to_string).collect();
        say!("{name}: batch {batch}, {} agents, {ticks} ticks", numbers.join(", "))?;
        say!("  one update           {update:8.1} ms   (fastest {:.1})", least(&timing.update))?;
        say!("  the cost alone       {forward:8.1} ms   (an update takes {:.2} times as long)", update / forward)?;
        say!("  bare equation        {:8.2} million steps per second", timing.steps_per_second / 1e6)?;
        // A policy need not report its arithmetic.
        if timing.flops > 0.0 {
            say!(
                "  network arithmetic   {:8.2} GFLOP per update, if every layer is evaluated in every tick",
                timing.flops / 1e9
            )?;
            say!(
                "  this machine's peak  {:8.0} GFLOP/s: {floor:.1} ms for that; an update takes {:.1} times as long",
                timing.peak / 1e9,
                update / floor
            )?;
        }
        Ok(())
    }
}

/// Prints the seconds of each shard.
fn shards(parts: Parts, threads: usize, updates: usize) -> Result<()> {
    let (name, batch) = (parts.problem.name.clone(), parts.train.batch);
    let inspect::Shards { parameters, updates } = inspect::shards(parts, ranks::threads(threads)?, updates)?;
    for (seconds, shards) in updates {
        say!(
            "{}",
            serde_json::json!({"problem": name, "batch": batch, "parameters": parameters, "seconds": seconds, "shards": shards})
        )?;
    }
    Ok(())
}

/// Prints the time of an update by operation.
fn operations(parts: Parts, threads: usize, updates: usize, json: bool) -> Result<()> {
    let name = parts.problem.name.clone();
    let inspect::Operations { whole, each: rows } = inspect::operations(parts, threads, updates)?;
    let known: f64 = rows.iter().map(inspect::Operation::ms).sum();
    if json {
        let pass = |share: &inspect::Direction| serde_json::json!({"ms": share.ms, "flops": share.flops, "bytes": share.bytes});
        let rows: Vec<_> = rows
            .iter()
            .map(|row| serde_json::json!({"name": row.name, "forward": pass(&row.forward), "backward": pass(&row.backward)}))
            .collect();
        say!("{}", serde_json::json!({"problem": name, "ms_per_update": whole, "operations": rows}))?;
        return Ok(());
    }
    say!("{}: {whole:.1} ms per update with a clock around every operation; times per thread, rates over both directions", name)?;
    say!("  {:<14}{:>10}{:>10}{:>12}{:>10}", "", "forward", "backward", "GFLOP/s", "GB/s")?;
    for row in rows {
        let inspect::Operation { name, forward, backward } = row;
        let rate = |work: f64| work / (1e6 * row.ms());
        let products = forward.flops + backward.flops;
        let flops = if products > 0.0 { format!("{:.0}", rate(products)) } else { String::new() };
        say!(
            "  {name:<14}{:>7.2} ms{:>7.2} ms{flops:>12}{:>10.1}",
            forward.ms,
            backward.ms,
            rate(forward.bytes + backward.bytes)
        )?;
    }
    say!("  {:<14}{:>7.2} ms   (recording, copying, instances, waiting for the other threads)", "between them", whole - known)?;
    Ok(())
}
