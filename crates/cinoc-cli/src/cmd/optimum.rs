//! `cinoc optimum`

pub mod file;
mod gap;
mod report;
mod screen;

use super::train::Stopped;
use super::{Instances, PresetName, Settings, data};
use crate::out::say;
use crate::{library, ranks};
use anyhow::{Result, bail};
use cinoc::evaluate::Request;
use cinoc::optimum::{Goal, Horizon, Record, Search, recede, search};
use cinoc::policy::Policy;
use cinoc::random::Use;
use cinoc::ranks::Ranks;
use cinoc::settings::Overlay;
use cinoc::tape::Params;
use cinoc::{Problem, Registry};
use file::Results;
use screen::Screen;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

pub use gap::gap;

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
    /// Most iterations for each instance, or for each decision of a receding horizon; default: 3000, or 50.
    #[arg(long)]
    iterations: Option<usize>,
    /// A search has converged when the last fifty iterations lowered the value by less than this share.
    #[arg(long)]
    tolerance: Option<f64>,
    /// Decide anew again and again, each time with the best actions for so many ticks ahead (NMPC), instead of once for the whole episode. What is
    /// made small then is the cost.
    #[arg(long, value_name = "TICKS", conflicts_with_all = ["goal", "tolerance"])]
    horizon: Option<usize>,
    /// With --horizon: how many ticks are carried out before it decides again.
    #[arg(long, value_name = "TICKS", default_value_t = 1, requires = "horizon")]
    every: usize,
    /// Change a setting of the problem, for example --set swarm.u_limit=1. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Threads to use; 0 takes all cores, which ranks on the same cores share evenly. The result does not depend on it.
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
        let counts = [Some(self.count), self.agents, self.iterations, self.horizon, Some(self.every)];
        if counts.contains(&Some(0)) {
            bail!("--instances, --agents, --iterations, --horizon and --every must be 1 or more");
        }
        let question = self.question(registry)?;
        let problem = &question.problem;
        let request = self.instances.request(problem, self.agents.unwrap_or(problem.agents), self.count)?;
        data::enough(problem, self.count, self.instances.start.is_some(), "set")?;
        let threads = ranks::threads(self.threads)?;
        data::prepare(problem, &[Use::Test], request.seed, threads.ranks())?;
        if let Some(ahead) = self.horizon {
            let horizon = Horizon { ahead, every: self.every.min(ahead), iterations: self.iterations.unwrap_or(50) };
            let (mut results, receded) = self.gather(&question, &request, threads.ranks(), |missing, screen| {
                Ok(recede(problem, &request, missing, &horizon, &threads, screen)?)
            })?;
            let summary = report::of_receded(&receded);
            results.end(&summary)?;
            return self.say(&question, &request, summary, || report::receded(&receded));
        }
        let how = self.search();
        let policy = question.policy.as_ref().map(|(policy, params)| (&**policy, params));
        let (mut results, found) = self.gather(&question, &request, threads.ranks(), |missing, screen| {
            Ok(search(problem, policy, &request, missing, &how, &threads, screen)?)
        })?;
        let summary = report::of_found(&found);
        results.end(&summary)?;
        self.say(&question, &request, summary.clone(), || report::found(&found, &summary, how.iterations))
    }

    /// What a file holds already, and what `work` finds for the other instances.
    fn gather<T: Record + Clone + Serialize + DeserializeOwned + Send>(
        &self,
        question: &Question,
        request: &Request,
        ranks: &dyn Ranks,
        work: impl FnOnce(&[usize], &Screen<T>) -> Result<()>,
    ) -> Result<(Results<T>, Vec<T>)> {
        let out = self.out.as_deref().filter(|_| ranks.first());
        let mut results = Results::open(out, self.header(question, request))?.shared(ranks)?;
        let missing: Vec<usize> = (0..self.count).filter(|i| !results.has(*i)).collect();
        if !missing.is_empty() {
            let with = self.actions.then(|| (question.problem.clone(), request.clone()));
            let screen = Screen::new(results, missing.len(), with)?;
            work(&missing, &screen)?;
            results = screen.end()?;
        }
        let found = results.of(self.count);
        if found.len() < self.count {
            let kept = match &self.out {
                Some(out) => {
                    let (n, all) = (found.len(), self.count);
                    format!("{n} of {all} instances are in {}. Continue with the same command", out.display())
                }
                None => "Nothing was kept; to be able to continue, add -o FILE.jsonl".into(),
            };
            return Err(Stopped(format!("Stopped. {kept}")).into());
        }
        Ok((results, found))
    }

    fn search(&self) -> Search {
        let goal = match self.goal {
            GoalName::Score if self.horizon.is_none() => Goal::Score,
            _ => Goal::Cost,
        };
        let usual = Search::new(goal);
        Search {
            iterations: self.iterations.unwrap_or(usual.iterations),
            tolerance: self.tolerance.unwrap_or(usual.tolerance),
            goal,
        }
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
    fn header(&self, question: &Question, request: &Request) -> Value {
        let (Instances { start, target, .. }, how) = (&self.instances, self.search());
        json!({
            "problem": question.problem.name, "model": self.what, "agents": request.agents, "seed": request.seed, "fail": request.fail,
            "fail_at": request.fail_at, "places": request.places, "start": start, "target": target, "for": how.goal, "iterations": self.iterations,
            "tolerance": how.tolerance, "horizon": self.horizon, "every": self.horizon.map(|_| self.every), "actions": self.actions,
            "settings": question.settings,
        })
    }

    /// Says what came out: one line of JSON, or a table.
    fn say(&self, question: &Question, request: &Request, summary: Value, table: impl FnOnce() -> Result<()>) -> Result<()> {
        let (name, agents, seed) = (&question.problem.name, request.agents, request.seed);
        if self.json {
            let mut line = json!({
                "problem": name, "model": self.what, "agents": agents, "instances": self.count, "seed": seed, "fail": request.fail,
                "dead_from": request.dead_from(&question.problem), "for": self.search().goal, "horizon": self.horizon,
            });
            line.as_object_mut().expect("an object").extend(summary.as_object().expect("an object").clone());
            return say!("{line}");
        }
        say!("{name} with {agents} agents, {} held-out instances of seed {seed}\n", self.count)?;
        table()
    }
}
