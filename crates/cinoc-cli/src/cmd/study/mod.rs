//! `cinoc study`

mod jobs;
mod report;
mod screen;
pub mod table;

use super::{Settings, data, whole};
use crate::cmd::PresetName;
use crate::cmd::train::Stopped;
use crate::out::{note, program, say, unwritten};
use crate::{library, ranks, stop};
use anyhow::{Context, Result, bail};
use cinoc::internal::random::Split;
use cinoc::internal::threads::Threads;
use cinoc::internal::{shortened, shown};
use cinoc::run::Model;
use cinoc::{Config, Registry};
use cinoc_lab::study::{ALL, Bench, Case, Ready, Study, Subject, UncontrolledScores, find};
use clap::ValueEnum;
use jobs::Policies;
use screen::StudyScreen;
use serde_json::{Value, json};
use std::path::PathBuf;
use table::Table;

/// Arguments of `cinoc study`.
#[derive(clap::Args)]
pub struct StudyArgs {
    /// Name of the study; without it, all are listed.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Name of the problem.
    problem: Option<String>,
    /// Policies to study, for example runs/a,runs/b: run folders, model files, or names. Bands show their range. Default: the shipped
    /// model.
    #[arg(long, value_delimiter = ',', value_name = "MODEL|RUN")]
    policies: Vec<String>,
    /// Seeds of the policies that the study trains.
    #[arg(long, value_delimiter = ',', default_value = "0,1,2", value_parser = whole::<u64>)]
    train_seeds: Vec<u64>,
    /// Settings to start these trainings from.
    #[arg(long, value_enum, default_value = "tuned")]
    preset: PresetName,
    /// Change a setting of these trainings, for example --set train.updates=200. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Change a setting of every case after training, for example --used swarm.sensor_noise=0 for policies trained with noise. What the
    /// study varies takes precedence. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    used: Vec<String>,
    /// Compute only cases whose names begin with one of these, for example --only 'as shipped,without'.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// Number of test instances; default: that of `eval`.
    #[arg(long, value_parser = whole::<usize>)]
    instances: Option<usize>,
    /// Seed of the test instances.
    #[arg(long, default_value_t = 4000, value_parser = whole::<u64>)]
    seed: u64,
    /// Folder for the table (NAME-PROBLEM.jsonl), the figure (.svg) and the runs. Results that are there are not computed again.
    #[arg(short, long, default_value = "studies", value_name = "FOLDER")]
    out: PathBuf,
    /// Threads to use; 0 takes all cores, which ranks on the same cores share evenly. The result does not depend on it.
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>)]
    threads: usize,
    /// Print one JSON object per point of the figure, a line each; of the list, one per study.
    #[arg(long)]
    json: bool,
}

impl StudyArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let Some(name) = &self.name else { return list(registry, self.json) };
        let study = find(modern(name))?;
        let name = study.name;
        let Some(problem) = &self.problem else {
            let all = registry.problems().collect::<Vec<_>>().join(", ");
            bail!("the study {name} needs a problem: `{} study {name} PROBLEM`, with one of: {all}", program());
        };
        if self.instances == Some(0) || self.train_seeds.is_empty() {
            bail!("--instances must be 1 or more, and --train-seeds needs a number");
        }
        let settings = Settings { problem: problem.into(), set: self.set.clone(), preset: self.preset };
        let own = settings.config(registry)?;
        let problem = own.problem();
        let models = self.models(registry, problem)?;
        let config = models.first().map_or_else(|| own.clone(), |model| model.config.clone());
        let built = registry.build(&config)?;
        let mut cases = (study.cases)(&Subject { registry, config: &config, problem: &built })?;
        if !self.only.is_empty() {
            cases.retain(|case| self.only.iter().any(|name| case.line.starts_with(name.as_str())));
            if cases.is_empty() {
                bail!("no case of the study {name} begins with {}", self.only.join(" or "));
            }
        }
        for case in &mut cases {
            case.used.splice(0..0, self.used.iter().cloned());
        }
        if cases.is_empty() {
            bail!("the study {name} has no cases for {problem}; `{} study` lists the others", program());
        }
        if models.is_empty() && cases.iter().any(|case| case.trained.is_none()) {
            bail!("there is no shipped model of {problem}; name yours with --policies RUN,RUN,…");
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
        let screen = StudyScreen::new(jobs.len());
        let mut work =
            Work { args: &self, study, cases: &cases, policies, table, screen, threads, free: UncontrolledScores::default() };
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

    /// The policies that were named, or the shipped one, if there is one.
    fn models(&self, registry: &Registry, problem: &str) -> Result<Vec<Model>> {
        let shipped = library::names(registry).any(|name| name == problem);
        let usual: Vec<String> = shipped.then(|| problem.to_owned()).into_iter().collect();
        let names = if self.policies.is_empty() { &usual } else { &self.policies };
        let models: Vec<Model> = names.iter().map(|name| library::find(registry, name)).collect::<Result<_>>()?;
        for (model, name) in models.iter().zip(names) {
            if model.config.problem() != problem {
                bail!(
                    "{} was trained for {}, not for {problem}; leave it out of --policies",
                    shortened(name),
                    model.config.problem()
                );
            }
        }
        Ok(models)
    }

    /// The request, which has to be the same for a table to be continued.
    fn header(&self, study: &Study, models: &[Model], config: &Config, cases: &[Case]) -> Value {
        // Under the same name there may be another policy by then.
        let models: Vec<Value> = models.iter().map(|m| json!([m.seed, m.update, m.validation])).collect();
        let mut header = json!({
            "models": models, "study": study.name, "problem": config.problem(), "policies": self.policies, "train_seeds": self.train_seeds, "set": self.set,
            "instances": self.instances, "seed": self.seed, "version": env!("CARGO_PKG_VERSION"), "cases": cases,
        });
        // Tables of the usual preset do not name it.
        if let Some(preset) = self.preset.to_possible_value().filter(|preset| preset.get_name() != "tuned") {
            header["preset"] = preset.get_name().into();
        }
        header
    }

    fn advised(&self, error: anyhow::Error) -> anyhow::Error {
        match error.is::<Stopped>() {
            true => {
                Stopped(format!("Stopped; the results so far are in {}. Continue with the same command", shown(&self.out))).into()
            }
            false => error,
        }
    }
}

/// A study in progress.
struct Work<'a> {
    args: &'a StudyArgs,
    study: &'static Study,
    cases: &'a [Case],
    policies: Policies<'a>,
    table: Table,
    screen: StudyScreen,
    threads: Threads,
    free: UncontrolledScores,
}

impl Work<'_> {
    /// Computes one case for one policy.
    fn one(&mut self, case: usize, policy: usize) -> Result<()> {
        let Self { args, study, cases, policies, table, screen, threads, free } = self;
        let StudyArgs { seed, instances, .. } = **args;
        if threads.ranks().any(stop::asked())? {
            return Err(Stopped(String::new()).into());
        }
        let asked = &cases[case];
        screen.tell(&format!("{}, {} {:.3}", asked.line, study.x.name, asked.x));
        let registry = policies.registry;
        let model = policies.get(asked, policy, threads, screen)?;
        let bench = Bench { registry, model, seed, instances, threads, uncontrolled: free };
        let Ready { problem, request, .. } = bench.ready(asked)?;
        data::enough(&problem, request.instances, false, "used")?;
        data::prepare(&problem, &[Split::Test], seed, threads.ranks())?;
        table.add(case, policy, model.seed, (study.measure)(&bench, asked)?)?;
        screen.step();
        Ok(())
    }
}

/// The present name of a study; a former one is accepted with a hint.
fn modern(name: &str) -> &str {
    const FORMER: [(&str, &str); 2] = [("certificate", "stability"), ("places", "positions")];
    match FORMER.iter().find(|(former, _)| *former == name) {
        Some((former, now)) => {
            note!("{}: the study {former} is now called {now}", program());
            now
        }
        None => name,
    }
}

/// Lists all studies, with a line about each.
fn list(registry: &Registry, json: bool) -> Result<()> {
    if json {
        return ALL.iter().try_for_each(|study| say!("{}", json!({"study": study.name, "about": study.about})));
    }
    for study in ALL {
        say!("{:<12} {}", study.name, study.about)?;
    }
    say!("\nRun one:  {} study {} {}", program(), ALL[0].name, registry.problems().next().unwrap_or("PROBLEM"))
}
