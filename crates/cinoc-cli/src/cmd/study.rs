//! `cinoc study`

mod jobs;
mod report;
mod screen;
pub mod table;

use super::{Settings, data};
use crate::cmd::PresetName;
use crate::cmd::train::Stopped;
use crate::out::{program, say, unwritten};
use crate::{library, ranks, stop};
use anyhow::{Context, Result, bail};
use cinoc::random::Use;
use cinoc::run::Model;
use cinoc::study::{ALL, Bench, Case, Free, Ready, Study, Subject, find};
use cinoc::threads::Threads;
use cinoc::{Config, Registry};
use jobs::Policies;
use screen::Screen;
use serde_json::{Value, json};
use std::path::PathBuf;
use table::Table;

/// Arguments of `cinoc study`.
#[derive(clap::Args)]
pub struct Args {
    /// Which study; left out, all are listed.
    #[arg(value_name = "NAME", requires = "problem")]
    name: Option<String>,
    /// Of which problem.
    problem: Option<String>,
    /// The policies that are studied, for example runs/a,runs/b: run folders, model files, or names. Bands show how they
    /// differ. Default: the model that comes with the program.
    #[arg(long, value_delimiter = ',', value_name = "MODEL|RUN")]
    policies: Vec<String>,
    /// Seeds of the policies that a study trains itself.
    #[arg(long, value_delimiter = ',', default_value = "0,1,2")]
    train_seeds: Vec<u64>,
    /// Change a setting of these trainings, for example --set train.updates=200. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Change a setting of every case in use, for example --used swarm.sensor_noise=0 for policies that were trained with noise. What a
    /// study varies is as it says. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    used: Vec<String>,
    /// How many held-out instances; default: as many as `eval` takes.
    #[arg(long)]
    instances: Option<usize>,
    /// Seed of the held-out instances.
    #[arg(long, default_value_t = 4000)]
    seed: u64,
    /// Folder for the table (NAME-PROBLEM.jsonl), the picture (.svg) and the runs. What is there already is not computed again.
    #[arg(short, long, default_value = "studies", value_name = "FOLDER")]
    out: PathBuf,
    /// Threads to use; 0 takes all cores, which ranks on the same cores share evenly. The result does not depend on it.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Print one JSON object per point of the picture, a line each.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let (Some(name), Some(problem)) = (&self.name, &self.problem) else { return list(registry) };
        if self.instances == Some(0) || self.train_seeds.is_empty() {
            bail!("--instances must be 1 or more, and --train-seeds needs a number");
        }
        let study = find(name)?;
        let models = self.models(registry, problem)?;
        let settings = Settings { problem: problem.clone(), set: self.set.clone(), preset: PresetName::Tuned };
        let config = models.first().map_or_else(|| settings.config(registry), |model| Ok(model.config.clone()))?;
        let built = registry.build(&config)?;
        let mut cases = (study.cases)(&Subject { registry, config: &config, problem: &built })?;
        for case in &mut cases {
            case.used.splice(0..0, self.used.iter().cloned());
        }
        if cases.is_empty() {
            bail!("{problem} has nothing that the study {name} could vary; `{} study` lists the others", program());
        }
        if models.is_empty() && cases.iter().any(|case| case.trained.is_none()) {
            bail!("no model of {problem} comes with the program; name yours with --policies RUN,RUN,…");
        }
        let threads = ranks::threads(self.threads)?;
        if threads.ranks().first() {
            std::fs::create_dir_all(&self.out).with_context(|| unwritten(&self.out))?;
        }
        let path = self.out.join(format!("{name}-{problem}.jsonl"));
        let table = Table::open(&path, &self.header(study, &models, &config, &cases), threads.ranks())?;
        let policies = Policies { registry, settings, models, seeds: &self.train_seeds, runs: self.out.join("runs") };
        stop::listen()?;
        let jobs = policies.jobs(&cases, &table);
        let screen = Screen::new(jobs.len());
        let mut work = Work { args: &self, study, cases: &cases, policies, table, screen, threads, free: Free::default() };
        let done = jobs.into_iter().try_for_each(|(case, policy)| work.one(case, policy));
        work.screen.end();
        done.map_err(|error| self.advised(error))?;
        if !ranks::first() {
            return Ok(());
        }
        let picture = path.with_extension("svg");
        let points = report::points(&cases, &work.table);
        report::draw(registry, study, problem, &points, &picture)?;
        match self.json {
            true => points.iter().try_for_each(|point| say!("{}", json!(point))),
            false => report::say(study, problem, &points, &[&path, &picture]),
        }
    }

    /// The policies that were named, or the one that comes with the program, if there is one.
    fn models(&self, registry: &Registry, problem: &str) -> Result<Vec<Model>> {
        registry.about(problem)?;
        let shipped = library::names(registry).any(|name| name == problem);
        let usual: Vec<String> = shipped.then(|| problem.to_owned()).into_iter().collect();
        let names = if self.policies.is_empty() { &usual } else { &self.policies };
        let models: Vec<Model> = names.iter().map(|name| library::find(registry, name)).collect::<Result<_>>()?;
        for (model, name) in models.iter().zip(names) {
            if model.config.problem() != problem {
                bail!("{name} was trained for {}, not for {problem}; leave it out of --policies", model.config.problem());
            }
        }
        Ok(models)
    }

    /// What has to be the same for a table to be continued.
    fn header(&self, study: &Study, models: &[Model], config: &Config, cases: &[Case]) -> Value {
        // Under the same name there may be another policy by then.
        let models: Vec<Value> = models.iter().map(|m| json!([m.seed, m.update, m.validation])).collect();
        json!({
            "models": models, "study": study.name, "problem": config.problem(), "policies": self.policies, "train_seeds": self.train_seeds, "set": self.set,
            "instances": self.instances, "seed": self.seed, "version": env!("CARGO_PKG_VERSION"), "cases": cases,
        })
    }

    fn advised(&self, error: anyhow::Error) -> anyhow::Error {
        match error.is::<Stopped>() {
            true => {
                Stopped(format!("Stopped; what was found is in {}. Continue with the same command", self.out.display())).into()
            }
            false => error,
        }
    }
}

/// A study being made.
struct Work<'a> {
    args: &'a Args,
    study: &'static Study,
    cases: &'a [Case],
    policies: Policies<'a>,
    table: Table,
    screen: Screen,
    threads: Threads,
    free: Free,
}

impl Work<'_> {
    /// One case for one policy.
    fn one(&mut self, case: usize, policy: usize) -> Result<()> {
        let Self { args, study, cases, policies, table, screen, threads, free } = self;
        let Args { seed, instances, .. } = **args;
        if threads.ranks().any(stop::asked())? {
            return Err(Stopped(String::new()).into());
        }
        let asked = &cases[case];
        screen.tell(&format!("{}, {} {:.3}", asked.line, study.x.name, asked.x));
        let registry = policies.registry;
        let model = policies.get(asked, policy, threads, screen)?;
        let bench = Bench { registry, model, seed, instances, threads, free };
        let Ready { problem, request, .. } = bench.ready(asked)?;
        data::enough(&problem, request.instances, false, "used")?;
        data::prepare(&problem, &[Use::Test], seed, threads.ranks())?;
        table.add(case, policy, model.seed, (study.measure)(&bench, asked)?)?;
        screen.step();
        Ok(())
    }
}

/// Every study, with a line about it.
fn list(registry: &Registry) -> Result<()> {
    for study in ALL {
        say!("{:<12} {}", study.name, study.about)?;
    }
    say!("\nRun one:  {} study {} {}", program(), ALL[0].name, registry.problems().next().unwrap_or("PROBLEM"))
}
