//! `cinoc eval`

use super::{Instances, data, optimum, short};
use crate::out::{note, program, say};
use crate::{library, ranks};
use anyhow::{Result, bail};
use cinoc::Registry;
use cinoc::evaluate::{Report, Request, report};
use cinoc::random::Use;
use serde_json::Value;

/// Arguments of `cinoc eval`.
#[derive(clap::Args)]
pub struct Args {
    /// The name of a model that comes with the program (for example heat1d), a model file, or a run folder.
    #[arg(value_name = "MODEL|RUN")]
    model: String,
    /// Numbers of agents, for example 10,20,40; default: the trained one.
    #[arg(long, value_delimiter = ',')]
    agents: Vec<usize>,
    /// How many held-out instances; default: 200, or 50 where they come from long chaotic runs.
    #[arg(long = "instances")]
    count: Option<usize>,
    #[command(flatten)]
    instances: Instances,
    /// Change a setting of the problem, for example --set physics.ticks=600. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Threads to use; 0 takes all cores, which ranks on the same cores share evenly. The result does not depend on it.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Also search for the best actions there are for the first N instances, 8 unless told otherwise, and say how near the policy comes: its
    /// score over the best. Takes seconds to minutes for each instance.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "8")]
    optimum: Option<usize>,
    /// Print one JSON object per number of agents, a line each.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        if self.count == Some(0) || self.agents.contains(&0) || self.optimum == Some(0) {
            bail!("--instances, --agents and --optimum must be 1 or more");
        }
        let model = library::find(registry, &self.model)?;
        let trained = model.build(registry)?.0.agents;
        let model = model.with(registry, &cinoc::settings::Overlay::from_pairs(&self.set)?)?;
        let (problem, policy) = model.build(registry)?;
        let instances = self.count.unwrap_or(problem.task.instances());
        data::enough(&problem, instances, self.instances.start.is_some(), "set")?;
        let request = self.instances.request(&problem, 1, instances)?;
        let threads = ranks::threads(self.threads)?;
        data::prepare(&problem, &[Use::Test], request.seed, threads.ranks())?;
        let counts = if self.agents.is_empty() { vec![problem.agents] } else { self.agents.clone() };
        // The first measure is the score; a problem may report more.
        let others = &problem.task.measures()[1..];
        if !self.json {
            let failing = match request.fail > 0.0 {
                true => format!(", {:.0} % of the agents die at tick {}", 100.0 * request.fail, request.dead_from(&problem)),
                false => String::new(),
            };
            let seed = request.seed;
            say!("{} trained with {trained} agents, {instances} held-out instances of seed {seed}{failing}\n", problem.name)?;
            let more: String = others.iter().map(|name| format!(" {name:>17}")).collect();
            say!(
                "{:>7} {:>10} {:>10} {:>10} {:>10} {:>13} {:>10} {:>21} {:>10} {:>9}{more}",
                "agents",
                "score",
                "median",
                "95 % below",
                "worst",
                "uncontrolled",
                "ratio",
                "95 % of ratios",
                "effort",
                "diverged"
            )?;
        }
        let (mut rows, mut gaps) = (Vec::new(), Vec::new());
        for agents in counts {
            let request = Request { agents, ..request.clone() };
            let row = report(&problem, &*policy, &model.params, &self.model, &request, &threads)?;
            let gap = match self.optimum {
                Some(count) => Some(optimum::gap(&problem, &*policy, &model.params, &request, count, &threads)?),
                None => None,
            };
            if self.json {
                // With the fields in their order, and the optimum behind them.
                let mut line = serde_json::to_string(&row)?;
                if let Some(gap) = &gap {
                    line.truncate(line.len() - 1);
                    line += &format!(",\"optimum\":{gap}}}");
                }
                say!("{line}")?;
            } else {
                let more: String = others.iter().map(|name| format!(" {:>17}", short(row.measures[name]))).collect();
                say!(
                    "{:>7} {:>10} {:>10} {:>10} {:>10} {:>13} {:>10} {:>21} {:>10} {:>9}{more}",
                    row.agents,
                    short(row.score.mean),
                    short(row.score.median),
                    short(row.score.p95),
                    short(row.score.worst),
                    short(row.uncontrolled.mean),
                    short(row.ratio),
                    format!("{} … {}", short(row.ratio_95.0), short(row.ratio_95.1)),
                    short(row.effort),
                    row.diverged
                )?;
            }
            gaps.extend(gap.map(|gap| (agents, gap)));
            rows.push(row);
        }
        self.say_gaps(&gaps)?;
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

    /// Says how near the policy comes to what is possible.
    fn say_gaps(&self, gaps: &[(usize, Value)]) -> Result<()> {
        if self.json || gaps.is_empty() {
            return Ok(());
        }
        let (n, columns) = (&gaps[0].1["optimum"]["count"], ["q25", "median", "q75", "q95"]);
        say!("\nScore over the best there is, {n} instances; and the best over uncontrolled\n")?;
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

    /// Says what a table alone might hide.
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
        let Some([low, high]) = library::facts(&self.model).map(|facts| facts.agents) else { return };
        let outside: Vec<String> =
            rows.iter().map(|row| row.agents).filter(|agents| !(low..=high).contains(agents)).map(|n| n.to_string()).collect();
        if !outside.is_empty() {
            note!(
                "{}: this policy was trained with {trained} agents and found good with {low} to {high}; {} lie outside",
                program(),
                outside.join(", ")
            );
        }
    }
}
