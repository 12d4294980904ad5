//! `cinoc stability`

use super::{SEED, number, short, whole};
use crate::library;
use crate::out::{program, say};
use crate::progress::Meter;
use anyhow::{Result, bail};
use cinoc::rollout::InitialCondition;
use cinoc::run::Model;
use cinoc::settings::Overlay;
use cinoc::{Problem, Registry};
use cinoc_lab::stability::{self as analysis, Growth, Margins, Norms, Options};
use std::path::PathBuf;

/// Explanation of the columns.
const COLUMNS: &str =
    "The closed loop is linearised about its rest state. rate: growth rate of the slowest-decaying disturbance per
unit of time, of those that do not alternate in sign from tick to tick, with agents held; moving: with agents that move,
0 if their places are arbitrary; both beside the uncontrolled one. tail: estimate, from a random disturbance, of the share
of a field disturbance that decays at the rate `moving`, the rest of it decays at `rate`. all: as rate, of all disturbances; the loop is stable if
it is negative. gain margin: factors on all pushes between which it stays stable. delay margin: ticks by which all
actions may come later; both with agents held. H2 (with --norms): root mean square of the field under white noise of
intensity one on every node; H-infinity: the largest under a steady or oscillating load of root mean square one; - if
unstable, or with more than 640 states. On a ring or torus the agents are those of the nearest lattice that fits
the domain, and `infinite` is the rate on the infinite lattice (Bloch waves); with failed agents it is the domain as it
is, and `infinite` the rate for endless copies of it side by side.";

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
    /// Share of the agents that have failed for good, for example 0.25.
    #[arg(long, default_value_t = 0.0, value_parser = number)]
    fail: f64,
    /// Seed that selects the failed agents: those that fail in the first instance of `cinoc eval`.
    #[arg(long, default_value_t = SEED, value_parser = whole::<u64>)]
    seed: u64,
    /// Also compute the H2 and H-infinity norms from a load on the field to the field.
    #[arg(long)]
    norms: bool,
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
    failed: usize,
    spacing: f64,
    /// The rates in the domain; none where agents do not come to rest.
    growth: Option<Growth>,
    /// The rate on the infinite lattice.
    infinite: Option<f64>,
    uncontrolled: f64,
    /// The rate of all disturbances with agents that move.
    moving: Option<f64>,
    /// Estimate of the share of a field disturbance that decays at that rate.
    tail: Option<f64>,
    positions_grow: bool,
    /// True if the slowest disturbance decays slower than the uncontrolled field, or grows faster.
    slower: bool,
    margins: Option<Margins>,
    norms: Option<Norms>,
    /// Root mean square of the field at rest.
    offset: f64,
}

impl StabilityArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let model = library::find(registry, &self.model)?.with(registry, &Overlay::from_pairs(&self.set)?)?;
        let (problem, _) = model.build(registry)?;
        let name = &problem.name;
        if !registry.sweeps(&model.config)?.rests_at_zero {
            let rests = |name: &&str| registry.sweeps_of(name).is_ok_and(|sweeps| sweeps.rests_at_zero);
            let all: Vec<&str> = registry.problems().filter(rests).collect();
            bail!("{name} has no rest state to analyse; choose one of: {}", all.join(", "));
        }
        if self.agents.contains(&0) {
            bail!("--agents must be 1 or more");
        }
        if !(0.0..=1.0).contains(&self.fail) {
            bail!("--fail cannot be {}; it must be a share from 0 to 1", self.fail);
        }
        let counts = if self.agents.is_empty() { usual(&problem) } else { self.agents.clone() };
        let meter = Meter::new(0.0, "linear stability");
        if !self.json {
            let trained = problem.agents;
            say!("{name}, linear stability of the closed loop; trained with {trained} agents\n")?;
        }
        for (at, &agents) in counts.iter().enumerate() {
            meter.tell(format!("linear stability with {agents} agents"));
            let row = self.analyse(registry, &model, &problem, agents)?;
            meter.set((at + 1) as f64 / counts.len() as f64);
            meter.aside(|| if self.json { print_json(name, &row) } else { print(at == 0, self.norms, &row) })?;
        }
        meter.clear();
        if self.json {
            return Ok(());
        }
        if self.norms {
            let [h2, peak] = norms(Norms::uncontrolled(&problem)?);
            say!("\nUncontrolled: H2 {h2}, H-infinity {peak}.")?;
        }
        let (gain, ticks) = (Margins::MOST_GAIN, Margins::MOST_DELAY);
        say!("\nStable where all rates are negative; margins were searched up to a gain of {gain} and {ticks} ticks.")?;
        say!("A figure with runs beside it:  {} study stability {name}", program())
    }

    fn analyse(&self, registry: &Registry, model: &Model, problem: &Problem, agents: usize) -> Result<Row> {
        let grid = problem.stepper.grid();
        let failures = InitialCondition::default().with_failures(agents, self.fail, 0, self.seed, 0).failures;
        let options =
            Options { failed: failures.into_iter().map(|(_, agent)| agent).collect(), margins: true, norms: self.norms };
        let found = if grid.is_periodic() && options.failed.is_empty() {
            let volume: f64 = grid.lengths.iter().map(|length| *length as f64).product();
            let spacing = (volume / agents as f64).powf(1.0 / grid.dimensions() as f64);
            analysis::lattice_with(registry, &model.config, &model.params, spacing, &options)?
        } else {
            analysis::swarm(problem, &*model.build(registry)?.1, &model.params, agents, &options)?
        };
        Ok(Row {
            agents: found.agents,
            failed: options.failed.len(),
            spacing: found.spacing,
            growth: found.still.then(|| found.here()),
            infinite: found.infinite().map(|growth| growth.slow),
            uncontrolled: found.uncontrolled,
            moving: found.moving,
            tail: found.tail,
            positions_grow: found.positions_grow(),
            slower: found.slowest() > found.uncontrolled,
            margins: found.margins.filter(|_| found.still),
            norms: found.norms.filter(|_| found.still),
            offset: found.offset,
        })
    }
}

/// Numbers of agents around the trained one.
fn usual(problem: &Problem) -> Vec<usize> {
    let line = problem.swarm.dimensions() == 1;
    let times: &[f64] = if line { &[0.5, 0.75, 1.0, 1.5, 2.0] } else { &[0.64, 0.81, 1.0, 1.44] };
    let mut all: Vec<usize> = times.iter().map(|times| ((times * problem.agents as f64).round() as usize).max(1)).collect();
    all.dedup();
    all
}

impl Row {
    fn stable(&self) -> bool {
        self.growth.is_some_and(|growth| growth.all < 0.0) && !self.positions_grow
    }

    fn verdict(&self) -> &'static str {
        match self.growth {
            None => "does not rest",
            Some(growth) if growth.slow >= 0.0 => "unstable",
            Some(growth) if growth.all >= 0.0 => "alternates from tick to tick",
            Some(_) if self.positions_grow => "agents leave their places",
            Some(_) if self.slower => "stable, slower than uncontrolled",
            Some(_) => "stable",
        }
    }
}

/// Formats a factor, which may be small.
fn factor(x: f64) -> String {
    if x == 0.0 || x >= 0.1 { format!("{x:.2}") } else { format!("{x:.3}") }
}

/// Formats both norms.
fn norms(found: Option<Norms>) -> [String; 2] {
    found.map_or(["-".into(), "-".into()], |norms| [norms.h2, norms.h_infinity].map(short))
}

/// Titles and widths of the columns; the last two with `--norms`.
const TABLE: [(&str, usize); 13] = [
    ("agents", 7),
    ("failed", 7),
    ("spacing", 9),
    ("rate", 10),
    ("moving", 10),
    ("tail", 9),
    ("uncontrolled", 13),
    ("all", 10),
    ("infinite", 10),
    ("gain margin", 14),
    ("delay margin", 13),
    ("H2", 10),
    ("H-infinity", 12),
];

fn print(first: bool, with_norms: bool, row: &Row) -> Result<()> {
    let table = &TABLE[..if with_norms { 13 } else { 11 }];
    if first {
        say!("{}", table.iter().map(|(title, width)| format!("{title:>width$}")).collect::<String>())?;
    }
    let rate = |value: Option<f64>| value.map_or("-".into(), short);
    let gain = row.margins.map_or("-".into(), |margins| match margins.gain {
        [low, high] if high.is_finite() => format!("{} to {high:.2}", factor(low)),
        [low, _] => format!("{} or more", factor(low)),
    });
    let delay = row.margins.map_or("-".into(), |margins| match margins.delay {
        Margins::MOST_DELAY => format!("{} or more", Margins::MOST_DELAY),
        1 => "1 tick".into(),
        ticks => format!("{ticks} ticks"),
    });
    let cells = [
        row.agents.to_string(),
        row.failed.to_string(),
        format!("{:.4}", row.spacing),
        rate(row.growth.map(|growth| growth.slow)),
        rate(row.moving),
        row.tail.map_or("-".into(), |tail| format!("{tail:.1e}")),
        short(row.uncontrolled),
        rate(row.growth.map(|growth| growth.all)),
        rate(row.infinite),
        gain,
        delay,
    ];
    let cells = cells.into_iter().chain(norms(row.norms));
    let line: Vec<String> = cells.zip(table).map(|(cell, (_, width))| format!("{cell:>width$}")).collect();
    say!("{}   {}", line.concat(), row.verdict())
}

/// Prints a row as JSON; an endless gain margin ends at null.
fn print_json(problem: &str, row: &Row) -> Result<()> {
    say!(
        "{}",
        serde_json::json!({
            "problem": problem, "agents": row.agents, "failed": row.failed, "spacing": row.spacing,
            "rate": row.growth.map(|growth| growth.slow), "rate_all": row.growth.map(|growth| growth.all),
            "rate_infinite": row.infinite, "rate_moving": row.moving, "tail": row.tail, "uncontrolled": row.uncontrolled,
            "slower_than_uncontrolled": row.growth.map(|_| row.slower), "gain_margin": row.margins.map(|margins| margins.gain),
            "delay_margin": row.margins.map(|margins| margins.delay), "rests": row.growth.is_some(),
            "stable": row.stable(), "offset": row.offset,
            "h2": row.norms.map(|norms| norms.h2), "h_infinity": row.norms.map(|norms| norms.h_infinity),
        })
    )
}
