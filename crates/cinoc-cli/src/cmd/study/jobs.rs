//! The policies of a study: given ones, and those it trains.

use super::screen::StudyScreen;
use super::table::Table;
use crate::cmd::train::Stopped;
use crate::cmd::{Settings, data, short};
use crate::stop;
use anyhow::{Result, bail};
use cinoc::Registry;
use cinoc::internal::disk::cache::hash;
use cinoc::internal::random::Split;
use cinoc::internal::shown;
use cinoc::internal::threads::Threads;
use cinoc::run::{Model, Origin, Run, Saved};
use cinoc_lab::study::Case;
use std::path::PathBuf;

/// The origin of policies.
pub struct Policies<'a> {
    pub registry: &'a Registry,
    /// Settings that trainings start from.
    pub settings: Settings,
    /// The given ones; after them, the one that was trained last.
    pub models: Vec<Model>,
    /// Seeds of trainings.
    pub seeds: &'a [u64],
    /// Folder of the runs of trainings.
    pub runs: PathBuf,
}

impl Policies<'_> {
    /// The pairs of case and policy that are missing; those of one training follow one another.
    pub fn jobs(&self, cases: &[Case], table: &Table) -> Vec<(usize, usize)> {
        let mut jobs = Vec::new();
        let mut first = 0;
        while first < cases.len() {
            let same = cases[first..].iter().take_while(|case| case.trained == cases[first].trained).count();
            let count = if cases[first].trained.is_some() { self.seeds.len() } else { self.models.len() };
            jobs.extend((0..count).flat_map(|policy| (first..first + same).map(move |case| (case, policy))));
            first += same;
        }
        jobs.retain(|(case, policy)| !table.has(*case, *policy));
        jobs
    }

    /// The policy of a case: a given one, or one that is trained now unless its run exists.
    pub fn get(&mut self, case: &Case, policy: usize, threads: &Threads, screen: &mut StudyScreen) -> Result<&Model> {
        let Some(changes) = &case.trained else { return Ok(&self.models[policy]) };
        let seed = self.seeds[policy];
        let mut settings = self.settings.clone();
        settings.set.extend(changes.iter().cloned());
        let config = settings.config(self.registry)?;
        let known = self.models.last().is_some_and(|model| model.config == config && model.seed == seed);
        if !known {
            let word = |c: char| if c.is_alphanumeric() || "._=-".contains(c) { c } else { '_' };
            let changed = folder_name(changes.join(",").chars().map(word).collect());
            let folder = self.runs.join(format!("{}-{changed}-{seed}", settings.problem.display()));
            let ranks = threads.ranks();
            let run = match ranks.any(ranks.first() && folder.join("checkpoint.safetensors").exists())? {
                true => {
                    let saved = Saved::open(self.registry, &folder, threads.try_clone()?)?;
                    // It may be left from a table that was removed.
                    if saved.origin.config != config {
                        bail!("{} was trained with other settings; remove it, or give another folder with -o", shown(&folder));
                    }
                    saved.resume(self.registry, config)?
                }
                false => {
                    Run::start(self.registry, &folder, Origin { config, preset: "tuned".into(), seed }, threads.try_clone()?)?
                }
            };
            let model = train(run, &changed, screen)?;
            self.models.push(model);
        }
        Ok(self.models.last().expect("just trained"))
    }
}

/// Returns a name for the folder of a training from its changes, short enough for every disk.
fn folder_name(changed: String) -> String {
    const LONGEST: usize = 120;
    match changed.char_indices().nth(LONGEST) {
        None => changed,
        Some((end, _)) => format!("{}-{:016x}", &changed[..end], hash(changed.as_bytes())),
    }
}

/// Trains to the end.
fn train(mut run: Run, what: &str, screen: &mut StudyScreen) -> Result<Model> {
    data::prepare(&run.trainer.problem, &[Split::Training, Split::Validation], run.trainer.seed, run.trainer.ranks())?;
    while !run.trainer.finished() {
        if run.trainer.ranks().any(stop::asked())? {
            run.close()?;
            return Err(Stopped(String::new()).into());
        }
        let progress = run.step()?;
        let (update, all, seed) = (progress.update, run.trainer.train.updates, run.trainer.seed);
        let text = format!("training with {what}, seed {seed}: {update}/{all} updates, cost {}", short(progress.cost));
        screen.train(update as f64 / all as f64, &text);
    }
    Ok(run.model())
}
