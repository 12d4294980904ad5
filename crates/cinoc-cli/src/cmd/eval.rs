//! `cinoc eval`

use super::{Instances, data, optimum, push_width, short, whole};
use crate::out::{note, program, say};
use crate::progress::Meter;
use crate::{library, ranks};
use anyhow::{Result, bail};
use cinoc::evaluate::{Detailed, Report, Request, SHARD, Scores, compare, scores_of};
use cinoc::internal::budget;
use cinoc::internal::random::Split;
use cinoc::internal::threads::Threads;
use cinoc::policy::{Policy, ZeroControl};
use cinoc::settings::Overlay;
use cinoc::tape::Params;
use cinoc::{Error, Problem, Registry};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `cinoc eval`.
#[derive(clap::Args)]
pub struct EvalArgs {
    /// Name of a shipped model (for example heat1d), a model file, or a run folder.
    #[arg(value_name = "MODEL|RUN")]
    model: PathBuf,
    /// Numbers of agents, for example 10,20,40; default: the trained number.
    #[arg(long, value_delimiter = ',', value_parser = whole::<usize>)]
    agents: Vec<usize>,
    /// Number of test instances; default: 200, or 50 where they come from long chaotic runs.
    #[arg(long = "instances", value_parser = whole::<usize>)]
    count: Option<usize>,
    #[command(flatten)]
    instances: Instances,
    /// Change a setting of the problem, for example --set physics.ticks=600. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Threads to use; 0 takes all cores, which ranks on the same cores share evenly. The result does not depend on it.
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>)]
    threads: usize,
    /// Also search for the best actions of the first N instances, 8 unless given, and report the optimality gap: the score over the
    /// best score found. Takes seconds to minutes for each instance.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "8", value_parser = whole::<usize>)]
    optimum: Option<usize>,
    /// Print one JSON object per number of agents, a line each.
    #[arg(long)]
    json: bool,
    /// With --json, add the score of each instance, controlled and uncontrolled.
    #[arg(long, requires = "json")]
    each: bool,
}

/// Columns of the table, before further measures.
const COLUMNS: [(&str, usize); 10] = [
    ("agents", 7),
    ("score", 10),
    ("median", 10),
    ("95 % below", 10),
    ("worst", 10),
    ("uncontrolled", 13),
    ("ratio", 10),
    ("95 % of ratios", 21),
    ("effort", 10),
    ("diverged", 9),
];

impl EvalArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        if self.count == Some(0) || self.agents.contains(&0) || self.optimum == Some(0) {
            bail!("--instances, --agents and --optimum must be 1 or more");
        }
        let model = library::find(registry, &self.model)?;
        let trained = model.build(registry)?.0.agents;
        let model = model.with(registry, &Overlay::from_pairs(&self.set)?)?;
        let (problem, policy) = model.build(registry)?;
        let instances = self.count.unwrap_or(problem.task.instances());
        data::enough(&problem, instances, self.instances.start.is_some(), "set")?;
        let request = self.instances.request(&problem, push_width(&model.config), 1, instances)?;
        let threads = ranks::threads(self.threads)?;
        data::prepare(&problem, &[Split::Test], request.seed, threads.ranks())?;
        let counts = if self.agents.is_empty() { vec![problem.agents] } else { self.agents.clone() };
        let name = self.model.to_string_lossy();
        let score = registry.describe(&model.config)?.score;
        let meter = Meter::new(0.0, "scoring");
        let mut rows = Vec::new();
        for (at, agents) in counts.iter().copied().enumerate() {
            let request = Request { agents, ..request.clone() };
            meter.tell(format!("scoring {instances} instances with {agents} agents"));
            let share = |done: f64| meter.set((at as f64 + done) / counts.len() as f64);
            rows.push(scored(&problem, &*policy, &model.params, &name, &request, &threads, &share)?);
            if !self.json {
                // The header comes with the first row: before that there may be an error.
                meter.aside(|| match at {
                    0 => print_header(&score, &problem, &request, trained).and_then(|()| print_row(&problem, &rows[0].report)),
                    _ => print_row(&problem, &rows[at].report),
                })?;
            } else if self.optimum.is_none() {
                meter.aside(|| self.print_json(&rows[at], None))?;
            }
        }
        meter.clear();
        let mut gaps = Vec::new();
        for (agents, row) in counts.iter().copied().zip(&rows).filter(|_| self.optimum.is_some()) {
            let request = Request { agents, ..request.clone() };
            let gap = optimum::gap(&problem, &*policy, &model.params, &request, self.optimum.unwrap_or(8), &threads)?;
            if self.json {
                self.print_json(row, Some(&gap))?;
            }
            gaps.push((agents, gap));
        }
        self.say_gaps(&gaps)?;
        let rows: Vec<Report> = rows.into_iter().map(|row| row.report).collect();
        self.warn(&rows, trained);
        match rows.iter().find(|row| row.diverged == row.instances) {
            Some(row) => bail!(
                "with {} agents all {} episodes diverged; lower the actuator limits or refine the physics, see `{} list {}`",
                row.agents,
                row.instances,
                program(),
                row.problem
            ),
            None => Ok(()),
        }
    }

    /// Prints a row with its fields in order, and the optimality gap after them.
    fn print_json(&self, row: &Detailed, gap: Option<&Value>) -> Result<()> {
        let mut line = if self.each { serde_json::to_string(row)? } else { serde_json::to_string(&row.report)? };
        if let Some(gap) = gap {
            line.truncate(line.len() - 1);
            line += &format!(",\"optimum\":{gap}}}");
        }
        say!("{line}")
    }

    /// Prints the optimality gaps.
    fn say_gaps(&self, gaps: &[(usize, Value)]) -> Result<()> {
        if self.json || gaps.is_empty() {
            return Ok(());
        }
        let (n, columns) = (&gaps[0].1["optimum"]["count"], ["q25", "median", "q75", "q95"]);
        say!("\nOptimality gap, score over the best score found, of {n} instances; and the best over uncontrolled\n")?;
        say!(
            "{:>7} {:>10} {:>10} {:>10} {:>10} {:>13} {:>10}",
            "agents",
            "25 %",
            "median",
            "75 %",
            "95 %",
            "best/unctrl.",
            "converged"
        )?;
        for (agents, gap) in gaps {
            let [a, b, c, d] = columns.map(|column| short(gap["gap"][column].as_f64().unwrap_or(f64::NAN)));
            let ratio = short(gap["ratio"].as_f64().unwrap_or(f64::NAN));
            say!("{agents:>7} {a:>10} {b:>10} {c:>10} {d:>10} {ratio:>13} {:>10}", gap["converged"])?;
        }
        Ok(())
    }

    /// Warns of what the table alone might hide.
    fn warn(&self, rows: &[Report], trained: usize) {
        for row in rows.iter().filter(|row| row.diverged > 0) {
            note!(
                "{}: with {} agents {} of {} episodes diverged; their score counts as infinite",
                program(),
                row.agents,
                row.diverged,
                row.instances
            );
        }
        let Some([low, high]) = library::facts(&self.model.to_string_lossy()).map(|facts| facts.agents) else { return };
        let outside: Vec<String> =
            rows.iter().map(|row| row.agents).filter(|agents| !(low..=high).contains(agents)).map(|n| n.to_string()).collect();
        if !outside.is_empty() {
            note!(
                "{}: this policy was trained with {trained} agents and is known to work with {low} to {high}; {} lie outside",
                program(),
                outside.join(", ")
            );
        }
    }
}

/// Scores a policy and, on the same instances, zero control; `progress` is told the share that is done.
fn scored(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    model: &str,
    request: &Request,
    threads: &Threads,
    progress: &dyn Fn(f64),
) -> Result<Detailed, Error> {
    budget::check(&format!("{} scores", request.instances), 500.0 * request.instances as f64)?;
    let (idle, none) = (ZeroControl { action_width: problem.swarm.action_width() }, Params::default());
    let (mut controlled, mut free) = (Scores::default(), Scores::default());
    // Pieces of whole shards: they give what all instances at once would give.
    let piece = 2 * SHARD * threads.count() * threads.ranks().count();
    let pieces = request.instances.div_ceil(piece);
    for k in 0..pieces {
        let indices = k * piece..((k + 1) * piece).min(request.instances);
        controlled.extend(scores_of(problem, policy, params, request, indices.clone(), threads)?);
        progress((k as f64 + 0.7) / pieces as f64);
        free.extend(scores_of(problem, &idle, &none, request, indices, threads)?);
        progress((k as f64 + 1.0) / pieces as f64);
    }
    Ok(Detailed::new(compare(problem, model, request, &controlled, &free), &controlled, &free))
}

/// Prints the request, the meaning of the columns, and their names.
fn print_header(score: &str, problem: &Problem, request: &Request, trained: usize) -> Result<()> {
    let failing = match request.fail > 0.0 {
        true => format!(", {:.0} % of the agents fail at tick {}", 100.0 * request.fail, request.failed_from(problem)),
        false => String::new(),
    };
    let (instances, seed) = (request.instances, request.seed);
    say!("{} trained with {trained} agents, {instances} test instances of seed {seed}{failing}", problem.name)?;
    let (width, axes) = (problem.swarm.action_width(), problem.swarm.dimensions());
    let effort = if width == 1 {
        "u²"
    } else if width == axes {
        "|v|²"
    } else {
        "u² + 0.1 |v|²"
    };
    say!("score ({}): {}", problem.task.measures()[0], score)?;
    say!("ratio: mean score over mean uncontrolled score; effort: mean over ticks and agents of {effort}\n")?;
    let more: String = problem.task.measures()[1..].iter().map(|name| format!(" {name:>17}")).collect();
    let all: Vec<String> = COLUMNS.iter().map(|(name, wide)| format!("{name:>wide$}")).collect();
    say!("{}{more}", all.join(" "))
}

fn print_row(problem: &Problem, row: &Report) -> Result<()> {
    let more: String = problem.task.measures()[1..].iter().map(|name| format!(" {:>17}", short(row.measures[name]))).collect();
    let values = [
        row.agents.to_string(),
        short(row.score.mean),
        short(row.score.median),
        short(row.score.p95),
        short(row.score.worst),
        short(row.uncontrolled.mean),
        short(row.ratio),
        format!("{} … {}", short(row.ratio_95.0), short(row.ratio_95.1)),
        short(row.effort),
        row.diverged.to_string(),
    ];
    let all: Vec<String> = values.iter().zip(COLUMNS).map(|(value, (_, wide))| format!("{value:>wide$}")).collect();
    say!("{}{more}", all.join(" "))
}
