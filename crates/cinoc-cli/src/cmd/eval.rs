//! `cinoc eval`

use super::{changes, data, short};
use crate::library;
use crate::out::say;
use anyhow::{Result, bail};
use cinoc::evaluate::{Request, report};
use cinoc::random::Stream;
use cinoc::task::Use;
use cinoc::train::pool;

/// Arguments of `cinoc eval`.
#[derive(clap::Args)]
pub struct Args {
    /// A model file, a run folder, or the name of a model that comes with the program (for example heat1d).
    #[arg(value_name = "MODEL|RUN")]
    model: String,
    /// Numbers of agents, for example 10,20,40; default: the trained one.
    #[arg(long, value_delimiter = ',')]
    agents: Vec<usize>,
    /// Share of the agents that die halfway to the moment of the score, for example 0.3.
    #[arg(long, default_value_t = 0.0)]
    fail: f64,
    /// How many held-out instances; default: 200, or 50 where they come from long chaotic runs.
    #[arg(long)]
    instances: Option<usize>,
    /// Change a setting of the problem, for example --set physics.length=64. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Seed of the held-out instances.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads to use; 0 takes all cores.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Print one JSON object per number of agents, a line each.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.fail) {
            bail!("--fail cannot be {}; it must be a share from 0 to 1", self.fail);
        }
        if self.instances == Some(0) || self.agents.contains(&0) {
            bail!("--instances and --agents must be 1 or more");
        }
        let model = library::find(&self.model)?.with(&changes(&self.set)?)?;
        let (problem, policy) = model.build()?;
        data::prepare(&problem, &[Use::Test]);
        let instances = self.instances.unwrap_or(problem.task.instances());
        let trained = problem.config.swarm.agents;
        let counts = if self.agents.is_empty() { vec![trained] } else { self.agents.clone() };
        let pool = pool(self.threads);
        // The first measure is the score; a problem may report more.
        let others = &problem.task.measures()[1..];
        if !self.json {
            let failing =
                if self.fail > 0.0 { format!(", {:.0} % of the agents die halfway", 100.0 * self.fail) } else { String::new() };
            say!("{} trained with {trained} agents, {instances} held-out instances{failing}\n", problem.config.problem)?;
            let more: String = others.iter().map(|name| format!(" {name:>17}")).collect();
            say!(
                "{:>7} {:>10} {:>10} {:>10} {:>13} {:>10} {:>10} {:>9}{more}",
                "agents",
                "score",
                "std",
                "median",
                "uncontrolled",
                "ratio",
                "effort",
                "diverged"
            )?;
        }
        for agents in counts {
            let request = Request { agents, instances, seed: self.seed, stream: Stream::Test, fail: self.fail };
            let row = report(&problem, &*policy, &model.params, &self.model, &request, &pool);
            if self.json {
                say!("{}", serde_json::to_string(&row)?)?;
            } else {
                let more: String = others.iter().map(|name| format!(" {:>17}", short(row.measures[name]))).collect();
                say!(
                    "{:>7} {:>10} {:>10} {:>10} {:>13} {:>10} {:>10} {:>9}{more}",
                    row.agents,
                    short(row.score.mean),
                    short(row.score.std),
                    short(row.score.median),
                    short(row.uncontrolled.mean),
                    short(row.ratio),
                    short(row.effort),
                    row.diverged
                )?;
            }
        }
        Ok(())
    }
}
