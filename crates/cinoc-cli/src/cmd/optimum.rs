//! `cinoc optimum`

mod file;
mod screen;

use super::train::Stopped;
use super::{Instances, PresetName, Settings, data, short};
use crate::library;
use crate::out::{program, say};
use anyhow::{Result, bail};
use cinoc::evaluate::Request;
use cinoc::optimum::{Found, Goal, Search, Spread, search};
use cinoc::policy::Policy;
use cinoc::random::Use;
use cinoc::settings::Overlay;
use cinoc::tape::Params;
use cinoc::threads::Threads;
use cinoc::{Problem, Registry};
use file::Results;
use screen::Screen;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `cinoc optimum`.
#[derive(clap::Args)]
pub struct Args {
    /// Name of a problem (see `cinoc list`), a model file, a run folder, or a TOML file with settings. Where there is a model, its actions are one
    /// of the places where the search begins.
    #[arg(value_name = "PROBLEM|MODEL")]
    what: String,
    /// Number of agents; default: the trained one.
    #[arg(long)]
    agents: Option<usize>,
    /// How many held-out instances.
    #[arg(long = "instances", default_value_t = 8)]
    count: usize,
    #[command(flatten)]
    instances: Instances,
    /// What is made small: the score, or the cost that policies are trained with.
    #[arg(long = "for", value_enum, default_value = "score")]
    goal: GoalName,
    /// Most iterations for each instance.
    #[arg(long)]
    iterations: Option<usize>,
    /// Change a setting of the problem, for example --set swarm.u_limit=1. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Threads to use; 0 takes all cores. The result does not depend on it.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Keep what is found for each instance in this file, a JSON line each. The same command again goes on with those that are missing.
    #[arg(short, long = "out", value_name = "FILE.jsonl")]
    out: Option<PathBuf>,
    /// Also write start, target, places and actions of each instance into FILE.jsonl.
    #[arg(long, requires = "out")]
    actions: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What is made small.
#[derive(Clone, Copy, clap::ValueEnum)]
enum GoalName {
    /// The score of the task.
    Score,
    /// The cost that policies are trained with.
    Cost,
}

/// What is searched.
struct Question {
    problem: Arc<Problem>,
    policy: Option<(Box<dyn Policy>, Params)>,
    /// All settings, as text.
    settings: String,
}

impl Args {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        if self.count == 0 || self.agents == Some(0) || self.iterations == Some(0) {
            bail!("--instances, --agents and --iterations must be 1 or more");
        }
        let question = self.question(registry)?;
        let problem = &question.problem;
        let agents = self.agents.unwrap_or(problem.agents);
        let request = self.instances.request(problem, agents, self.count)?;
        data::enough(problem, self.count, self.instances.start.is_some())?;
        let how = self.search();
        let mut results = Results::open(self.out.as_deref(), self.header(&question, &request, &how))?;
        let threads = Threads::new(self.threads)?;
        data::prepare(problem, &[Use::Test], request.seed);
        let missing: Vec<usize> = (0..self.count).filter(|i| !results.has(*i)).collect();
        if !missing.is_empty() {
            let with = self.actions.then(|| (problem.clone(), request.clone()));
            let screen = Screen::new(results, missing.len(), with)?;
            let policy = question.policy.as_ref().map(|(policy, params)| (&**policy, params));
            search(problem, policy, &request, &missing, &how, &threads, &screen)?;
            results = screen.end()?;
        }
        let found = results.of(self.count);
        if found.len() < self.count {
            let kept = match &self.out {
                Some(out) => format!(
                    "{} of {} instances are in {}. Continue with the same command",
                    found.len(),
                    self.count,
                    out.display()
                ),
                None => "Nothing was kept. To be able to continue, add -o FILE.jsonl".into(),
            };
            return Err(Stopped(format!("Stopped. {kept}")).into());
        }
        let summary = summary(&found);
        results.end(&summary)?;
        self.report(&question, &request, &found, summary)
    }

    fn search(&self) -> Search {
        let goal = match self.goal {
            GoalName::Score => Goal::Score,
            GoalName::Cost => Goal::Cost,
        };
        let usual = Search::new(goal);
        Search { iterations: self.iterations.unwrap_or(usual.iterations), ..usual }
    }

    /// The problem, with a policy where there is a model.
    fn question(&self, registry: &Registry) -> Result<Question> {
        let problems: Vec<&str> = registry.problems().collect();
        let shipped = library::names(registry).any(|name| name == self.what);
        if self.what.ends_with(".toml") || (problems.contains(&self.what.as_str()) && !shipped) {
            let settings = Settings { problem: self.what.clone(), set: self.set.clone(), preset: PresetName::Tuned };
            let config = settings.config(registry)?;
            return Ok(Question { problem: Arc::new(registry.build(&config)?), policy: None, settings: config.to_toml() });
        }
        let model = library::find(registry, &self.what)?.with(registry, &Overlay::from_pairs(&self.set)?)?;
        let (problem, policy) = model.build(registry)?;
        Ok(Question { problem, policy: Some((policy, model.params.clone())), settings: model.config.to_toml() })
    }

    /// What has to be the same for a file to be continued.
    fn header(&self, question: &Question, request: &Request, how: &Search) -> Value {
        let Instances { start, target, .. } = &self.instances;
        json!({
            "problem": question.problem.name, "what": self.what, "agents": request.agents, "seed": request.seed, "fail": request.fail,
            "fail_at": request.fail_at, "start": start, "target": target, "for": how.goal, "iterations": how.iterations,
            "actions": self.actions, "settings": question.settings,
        })
    }

    /// Says what came out.
    fn report(&self, question: &Question, request: &Request, found: &[Found], summary: Value) -> Result<()> {
        if self.json {
            let mut line = json!({
                "problem": question.problem.name, "model": self.what, "agents": request.agents, "instances": self.count,
                "seed": request.seed, "fail": request.fail, "dead_from": request.dead_from(&question.problem),
                "for": self.search().goal,
            });
            line.as_object_mut().expect("an object").extend(summary.as_object().expect("an object").clone());
            return say!("{line}");
        }
        say!(
            "{} with {} agents, {} held-out instances of seed {}\n",
            question.problem.name,
            request.agents,
            self.count,
            request.seed
        )?;
        say!(
            "{:>8} {:>13} {:>10} {:>10} {:>8} {:>10} {:>8}  ",
            "instance",
            "uncontrolled",
            "policy",
            "optimum",
            "from",
            "iterations",
            "seconds"
        )?;
        for f in found {
            let policy = f.policy.map_or("-".into(), short);
            let from = serde_json::to_value(f.from)?;
            say!(
                "{:>8} {:>13} {policy:>10} {:>10} {:>8} {:>10} {:>8.1}  {}",
                f.instance,
                short(f.uncontrolled),
                short(f.optimum),
                from.as_str().unwrap_or_default(),
                f.iterations,
                f.seconds,
                if f.converged { "" } else { "not converged" }
            )?;
        }
        let ratio = |key: &str| summary[key].as_f64().map_or("-".into(), short);
        say!("\nMean over mean uncontrolled: optimum {}, policy {}", ratio("ratio"), ratio("policy_ratio"))?;
        let open = found.iter().filter(|f| !f.converged).count();
        if open > 0 {
            say!(
                "{open} did not converge; for a lower value:  {} optimum … --iterations {}",
                program(),
                4 * self.search().iterations
            )?;
        }
        Ok(())
    }
}

/// All instances as a few numbers.
pub fn summary(found: &[Found]) -> Value {
    let spread = |value: &dyn Fn(&Found) -> Option<f64>| Spread::of(found.iter().filter_map(value));
    let mean = |value: &dyn Fn(&Found) -> Option<f64>| spread(value).map(|spread| spread.mean);
    let free = mean(&|f| Some(f.uncontrolled)).unwrap_or(f64::NAN);
    json!({
        "optimum": spread(&|f| Some(f.optimum)), "uncontrolled": spread(&|f| Some(f.uncontrolled)), "policy": spread(&|f| f.policy),
        "ratio": mean(&|f| Some(f.optimum)).map(|mean| mean / free), "policy_ratio": mean(&|f| f.policy).map(|mean| mean / free),
        "ratios": spread(&|f| Some(f.optimum / f.uncontrolled)), "policy_ratios": spread(&|f| Some(f.policy? / f.uncontrolled)),
        "gap": spread(&|f| Some(f.policy? / f.optimum)), "iterations": mean(&|f| Some(f.iterations as f64)),
        "evaluations": mean(&|f| Some(f.evaluations as f64)), "seconds": mean(&|f| Some(f.seconds)),
        "converged": found.iter().filter(|f| f.converged).count(),
    })
}
