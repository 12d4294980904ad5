//! `cinoc optimum`

pub mod file;
mod gap;
mod report;
mod screen;

use super::train::Stopped;
use super::{Instances, PresetName, Settings, data, number, push_width, whole};
use crate::out::{has_folder, say};
use crate::{library, ranks};
use anyhow::{Result, bail};
use cinoc::evaluate::Request;
use cinoc::internal::budget;
use cinoc::internal::random::Split;
use cinoc::internal::ranks::Ranks;
use cinoc::internal::shown;
use cinoc::policy::Policy;
use cinoc::settings::Overlay;
use cinoc::tape::Params;
use cinoc::{Problem, Registry};
use cinoc_lab::optimum::{Goal, Horizon, Record, Search, recede, search};
use file::Results;
use screen::SearchScreen;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

pub use gap::gap;

/// Arguments of `cinoc optimum`.
#[derive(clap::Args)]
pub struct OptimumArgs {
    /// Name of a problem (see `cinoc list`), a model file, a run folder, or a TOML file with settings. The actions of a model are one of
    /// the initial guesses of the search.
    #[arg(value_name = "PROBLEM|MODEL")]
    what: PathBuf,
    /// Number of agents; default: the trained number.
    #[arg(long, value_parser = whole::<usize>)]
    agents: Option<usize>,
    /// Number of test instances.
    #[arg(long = "instances", default_value_t = 8, value_parser = whole::<usize>)]
    count: usize,
    #[command(flatten)]
    instances: Instances,
    /// The objective: the score, or the cost that policies are trained with.
    #[arg(long = "for", value_enum, default_value = "score")]
    goal: GoalName,
    /// Largest number of iterations for each instance, or for each decision of a receding horizon; default: 3000, or 50.
    #[arg(long, value_parser = whole::<usize>)]
    iterations: Option<usize>,
    /// A search has converged when the last fifty iterations lowered the value by less than this share.
    #[arg(long, value_parser = number)]
    tolerance: Option<f64>,
    /// Nonlinear model predictive control: at each decision optimise the cost over this many ticks ahead, instead of once over the whole
    /// episode.
    #[arg(long, value_name = "TICKS", value_parser = whole::<usize>, conflicts_with_all = ["goal", "tolerance"])]
    horizon: Option<usize>,
    /// With --horizon: ticks carried out before the next decision.
    #[arg(long, value_name = "TICKS", default_value_t = 1, requires = "horizon", value_parser = whole::<usize>)]
    every: usize,
    /// Change a setting of the problem, for example --set swarm.u_limit=1. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Threads to use; 0 takes all cores, which ranks on the same cores share evenly. The result does not depend on it.
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>)]
    threads: usize,
    /// Keep the result of each instance in this file, a JSON line each. The same command continues with the missing ones.
    #[arg(short, long = "out", value_name = "FILE.jsonl")]
    out: Option<PathBuf>,
    /// Also write start, target, positions and actions of each instance into FILE.jsonl.
    #[arg(long, requires = "out")]
    actions: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The objective.
#[derive(Clone, Copy, clap::ValueEnum)]
enum GoalName {
    /// The score of the task.
    Score,
    /// The cost that policies are trained with.
    Cost,
}

/// The subject of a search.
struct Subject {
    problem: Arc<Problem>,
    policy: Option<(Box<dyn Policy>, Params)>,
    /// All settings, as text.
    settings: String,
    /// Width of a push, where there is one.
    sigma: Option<f64>,
}

impl OptimumArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let counts = [Some(self.count), self.agents, self.iterations, self.horizon, Some(self.every)];
        if counts.contains(&Some(0)) {
            bail!("--instances, --agents, --iterations, --horizon and --every must be 1 or more");
        }
        self.out.as_deref().map_or(Ok(()), has_folder)?;
        let question = self.subject(registry)?;
        let problem = &question.problem;
        let request = self.instances.request(problem, question.sigma, self.agents.unwrap_or(problem.agents), self.count)?;
        data::enough(problem, self.count, self.instances.start.is_some(), "set")?;
        let threads = ranks::threads(self.threads)?;
        data::prepare(problem, &[Split::Test], request.seed, threads.ranks())?;
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

    /// The results of a file, and those that `work` finds for the other instances.
    fn gather<T: Record + Clone + Serialize + DeserializeOwned + Send>(
        &self,
        subject: &Subject,
        request: &Request,
        ranks: &dyn Ranks,
        work: impl FnOnce(&[usize], &SearchScreen<T>) -> Result<()>,
    ) -> Result<(Results<T>, Vec<T>)> {
        let out = self.out.as_deref().filter(|_| ranks.first());
        let mut results = Results::open(out, self.header(subject, request))?.shared(ranks)?;
        budget::check(&format!("{} searches", self.count), 500.0 * self.count as f64)?;
        let missing: Vec<usize> = (0..self.count).filter(|i| !results.has(*i)).collect();
        if !missing.is_empty() {
            let with = self.actions.then(|| (subject.problem.clone(), request.clone()));
            let screen = SearchScreen::new(results, missing.len(), with)?;
            work(&missing, &screen)?;
            results = screen.end()?;
        }
        let found = results.of(self.count);
        if found.len() < self.count {
            let kept = match &self.out {
                Some(out) => {
                    let (n, all) = (found.len(), self.count);
                    format!("{n} of {all} instances are in {}. Continue with the same command", shown(out))
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
    fn subject(&self, registry: &Registry) -> Result<Subject> {
        let is = |name: &str| self.what.as_os_str() == name;
        if Registry::is_file(&self.what) || (registry.problems().any(is) && !library::names(registry).any(is)) {
            let settings = Settings { problem: self.what.clone(), set: self.set.clone(), preset: PresetName::Shipped };
            let config = settings.config(registry)?;
            let (problem, sigma) = (Arc::new(registry.build(&config)?), push_width(&config));
            return Ok(Subject { problem, policy: None, settings: config.to_toml(), sigma });
        }
        let model = library::find(registry, &self.what)?.with(registry, &Overlay::from_pairs(&self.set)?)?;
        let (problem, policy) = model.build(registry)?;
        let (settings, sigma) = (model.config.to_toml(), push_width(&model.config));
        Ok(Subject { problem, policy: Some((policy, model.params.clone())), settings, sigma })
    }

    /// The request, which has to be the same for a file to be continued.
    fn header(&self, subject: &Subject, request: &Request) -> Value {
        let how = self.search();
        let Instances { start, target, smooth, .. } = &self.instances;
        // Smoothed fields are other fields.
        let field = |path: &Option<PathBuf>| {
            let smoothed = smooth.map_or_else(String::new, |sigma| format!(", smoothed by {sigma}"));
            path.as_ref().map(|path| path.to_string_lossy().into_owned() + &smoothed)
        };
        let [start, target] = [field(start), field(target)];
        json!({
            "problem": subject.problem.name, "model": self.what.to_string_lossy(), "agents": request.agents, "seed": request.seed, "fail": request.fail,
            "fail_at": request.fail_at, "places": request.places, "start": start, "target": target, "for": how.goal, "iterations": self.iterations,
            "tolerance": how.tolerance, "horizon": self.horizon, "every": self.horizon.map(|_| self.every), "actions": self.actions,
            "settings": subject.settings,
        })
    }

    /// Prints the result: one line of JSON, or a table.
    fn say(&self, subject: &Subject, request: &Request, summary: Value, table: impl FnOnce() -> Result<()>) -> Result<()> {
        let (name, agents, seed) = (&subject.problem.name, request.agents, request.seed);
        if self.json {
            let mut line = json!({
                "problem": name, "model": self.what.to_string_lossy(), "agents": agents, "instances": self.count, "seed": seed, "fail": request.fail,
                "dead_from": request.failed_from(&subject.problem), "for": self.search().goal, "horizon": self.horizon,
            });
            line.as_object_mut().expect("an object").extend(summary.as_object().expect("an object").clone());
            return say!("{line}");
        }
        say!("{name} with {agents} agents, {} test instances of seed {seed}\n", self.count)?;
        table()
    }
}
