//! `cinoc stability`

use super::{short, whole};
use crate::library;
use crate::out::{program, say};
use crate::progress::Meter;
use anyhow::{Result, bail};
use cinoc::run::Model;
use cinoc::settings::Overlay;
use cinoc::{Problem, Registry};
use cinoc_lab::stability::{self as analysis, Growth, Ring};
use std::path::PathBuf;

/// Explanation of the columns.
const COLUMNS: &str =
    "The closed loop is linearised about its rest state. rate: growth rate of the slowest-decaying disturbance per unit of time, of those
that do not alternate in sign from tick to tick; the loop is stable if it is negative. all: the same of all disturbances. On a ring or
torus the agents are those of the nearest lattice that fits the domain, and `infinite` is the rate on the infinite lattice (Bloch waves).";

/// Arguments of `cinoc stability`.
#[derive(clap::Args)]
#[command(after_help = COLUMNS)]
pub struct StabilityArgs {
    /// Name of a problem with a shipped model (for example ks1d), a model file, or a run folder.
    #[arg(value_name = "PROBLEM|MODEL")]
    model: PathBuf,
    /// Numbers of agents, for example 6,8,12; default: several around the trained number.
    #[arg(long, value_delimiter = ',', value_parser = whole::<usize>)]
    agents: Vec<usize>,
    /// Change a setting of the problem, for example --set physics.nu=0.1. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object per number of agents, a line each.
    #[arg(long)]
    json: bool,
}

/// The analysis of one number of agents.
struct Row {
    agents: usize,
    spacing: f64,
    /// The rates in the domain; none where agents do not come to rest.
    growth: Option<Growth>,
    /// The rate on the infinite lattice.
    infinite: Option<f64>,
    uncontrolled: f64,
    /// Root mean square of the field at rest.
    offset: f64,
}

impl StabilityArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let model = library::find(registry, &self.model)?.with(registry, &Overlay::from_pairs(&self.set)?)?;
        let (problem, _) = model.build(registry)?;
        let name = &problem.name;
        if !registry.sweeps(name)?.rests_at_zero {
            let all: Vec<&str> = registry.problems().filter(|one| registry.sweeps(one).is_ok_and(|s| s.rests_at_zero)).collect();
            bail!("{name} has no rest state to analyse; choose one of: {}", all.join(", "));
        }
        if self.agents.contains(&0) {
            bail!("--agents must be 1 or more");
        }
        let counts = if self.agents.is_empty() { usual(&problem) } else { self.agents.clone() };
        let meter = Meter::new(0.0, "linear stability");
        if !self.json {
            let trained = problem.agents;
            say!("{name}, linear stability of the closed loop; trained with {trained} agents\n")?;
        }
        for (at, &agents) in counts.iter().enumerate() {
            meter.tell(format!("linear stability with {agents} agents"));
            let row = analyse(registry, &model, &problem, agents)?;
            meter.set((at + 1) as f64 / counts.len() as f64);
            meter.aside(|| if self.json { print_json(name, &row) } else { print(at == 0, &row) })?;
        }
        meter.clear();
        match self.json {
            true => Ok(()),
            false => {
                say!("\nStable where the rate is negative. A figure with runs beside it:  {} study stability {name}", program())
            }
        }
    }
}

/// Numbers of agents around the trained one.
fn usual(problem: &Problem) -> Vec<usize> {
    let times: &[f64] = if problem.swarm.dimensions() == 1 { &[0.5, 0.75, 1.0, 1.5, 2.0] } else { &[0.64, 0.81, 1.0, 1.44] };
    let mut all: Vec<usize> = times.iter().map(|times| ((times * problem.agents as f64).round() as usize).max(1)).collect();
    all.dedup();
    all
}

fn analyse(registry: &Registry, model: &Model, problem: &Problem, agents: usize) -> Result<Row> {
    let grid = problem.stepper.grid();
    if !grid.periodic {
        let found = analysis::whole(problem, &*model.build(registry)?.1, &model.params, agents)?;
        let growth = found.still.then_some(found.growth);
        let (spacing, uncontrolled, offset) = (found.spacing, found.uncontrolled, found.offset);
        return Ok(Row { agents, spacing, growth, infinite: None, uncontrolled, offset });
    }
    let volume: f64 = grid.lengths.iter().map(|length| *length as f64).product();
    let spacing = (volume / agents as f64).powf(1.0 / grid.dimensions() as f64);
    let found = analysis::lattice(registry, &model.config, &model.params, spacing)?;
    let ring = Ring::choose(registry, &model.config, spacing)?;
    Ok(Row {
        agents: ring.agents,
        spacing: found.spacing,
        growth: Some(found.ring(ring.length)?),
        infinite: Some(found.growth.slow),
        uncontrolled: found.uncontrolled,
        offset: found.offset,
    })
}

fn print(first: bool, row: &Row) -> Result<()> {
    if first {
        say!(
            "{:>7} {:>10} {:>11} {:>11} {:>11} {:>13} {:>12}",
            "agents",
            "spacing",
            "rate",
            "all",
            "infinite",
            "uncontrolled",
            ""
        )?;
    }
    let rate = |value: Option<f64>| value.map_or("-".into(), short);
    let verdict = match &row.growth {
        None => "does not rest",
        Some(growth) if growth.slow < 0.0 => "stable",
        Some(_) => "unstable",
    };
    say!(
        "{:>7} {:>10.4} {:>11} {:>11} {:>11} {:>13} {verdict:>12}",
        row.agents,
        row.spacing,
        rate(row.growth.map(|growth| growth.slow)),
        rate(row.growth.map(|growth| growth.all)),
        rate(row.infinite),
        short(row.uncontrolled)
    )
}

fn print_json(problem: &str, row: &Row) -> Result<()> {
    say!(
        "{}",
        serde_json::json!({
            "problem": problem, "agents": row.agents, "spacing": row.spacing, "rate": row.growth.map(|growth| growth.slow),
            "rate_all": row.growth.map(|growth| growth.all), "rate_infinite": row.infinite, "uncontrolled": row.uncontrolled,
            "rests": row.growth.is_some(), "stable": row.growth.is_some_and(|growth| growth.slow < 0.0), "offset": row.offset,
        })
    )
}
