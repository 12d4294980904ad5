//! Runs on disk: models, checkpoints, metrics.
//!
//! A run folder holds `config.toml` (everything, resolved), `checkpoint.safetensors` (to resume from), `model.safetensors` (the best
//! parameters so far), `last.safetensors` (those of the end, or of where it was stopped), `metrics.csv`, a TensorBoard event file and
//! `run.lock`, which keeps a second process out. Whatever moment a run is killed at, resuming it gives the same bits as if it had not
//! been. A run removes and overwrites nothing that it did not write itself. Of several ranks the first alone touches the folder.

mod changes;
mod checkpoint;
mod folder;
mod metrics;
mod model;
mod saved;
mod sealed;
pub mod tensorboard;

pub use folder::{LAST, MODEL};
pub use model::{Kind, Model};
pub use saved::Saved;

use crate::disk::write_whole;
use crate::threads::Threads;
use crate::train::{Progress, Trainer};
use crate::{Config, Error, Registry};
use checkpoint::Checkpoint;
use folder::{CHECKPOINT, CONFIG, Folder};
use metrics::Metrics;
use std::path::{Path, PathBuf};

/// What a run is started with.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// All settings.
    pub config: Config,
    /// Name of the preset that they started from; empty where there was none.
    pub preset: String,
    /// Seed of everything random.
    pub seed: u64,
}

/// A run that writes itself to a folder.
pub struct Run {
    /// Where.
    pub folder: PathBuf,
    /// All settings.
    pub config: Config,
    /// The run itself.
    pub trainer: Trainer,
    /// What a user should know about how it was opened.
    pub notices: Vec<String>,
    preset: String,
    /// The last validation: after how many updates, and its score.
    scored: Option<(usize, f64)>,
    /// None on all ranks but the first.
    files: Option<Files>,
}

/// What is open while a run goes on.
struct Files {
    metrics: Metrics,
    /// The last field: the folder is free when all files are closed.
    _lock: Folder,
}

impl Run {
    /// Starts a run in an empty or missing folder, or in one where a run was killed before its first checkpoint. Nothing is made before
    /// all settings were found sound.
    pub fn start(registry: &Registry, folder: &Path, origin: Origin, threads: Threads) -> Result<Self, Error> {
        let first = threads.ranks().first();
        if first {
            Folder::check(folder)?;
        }
        let Origin { config, preset, seed } = origin;
        let trainer = Trainer::new(registry.parts(&config)?, seed, threads)?;
        let (mut files, mut notices) = (None, Vec::new());
        if first {
            let wall = metrics::now();
            let lock = Folder::claim(folder, wall)?;
            write_whole(&folder.join(CONFIG), settings(&config, seed).as_bytes())?;
            let metrics = Metrics::create(folder, trainer.problem.task.terms(), wall)?;
            notices.extend(lock.notice.clone());
            files = Some(Files { metrics, _lock: lock });
        }
        let mut run = Self { folder: folder.into(), config, trainer, notices, preset, scored: None, files };
        run.save()?;
        if run.trainer.finished() {
            run.close()?;
        }
        Ok(run)
    }

    /// Continues a run from its last checkpoint, as it is. With [`Saved::resume`] some settings may change: `train.updates` can be
    /// raised, the rates and `train.clip` can be lowered.
    pub fn resume(registry: &Registry, folder: &Path, threads: Threads) -> Result<Self, Error> {
        let saved = Saved::open(registry, folder, threads)?;
        let config = saved.origin.config.clone();
        saved.resume(registry, config)
    }

    /// One update, written down; a model and a checkpoint where they are due.
    pub fn step(&mut self) -> Result<Progress, Error> {
        let progress = self.trainer.step()?;
        if let Some(files) = &mut self.files {
            files.metrics.write(&progress)?;
        }
        self.scored = progress.validation.map(|score| (progress.update, score)).or(self.scored);
        if self.trainer.finished() {
            self.close()?;
            return Ok(progress);
        }
        let best = progress.validation.is_some() && self.trainer.best.as_ref().is_some_and(|b| b.update == progress.update);
        if best {
            self.renew()?;
        } else if progress.update.is_multiple_of(self.trainer.train.checkpoint_every) {
            self.save()?;
        }
        Ok(progress)
    }

    /// Writes everything there is: the best model, the last one, and a checkpoint. For the end of a run and for a stop before it.
    pub fn close(&mut self) -> Result<(), Error> {
        if self.files.is_none() {
            return Ok(());
        }
        self.last().write(&self.folder.join(LAST))?;
        if self.trainer.finished() && self.trainer.best.is_none() {
            self.model().write(&self.folder.join(MODEL))?;
        }
        self.renew()
    }

    /// Writes the best model, if there is one yet, and a checkpoint. The model first: a checkpoint never speaks of one that is not there.
    fn renew(&mut self) -> Result<(), Error> {
        if self.trainer.best.is_some() && self.files.is_some() {
            self.model().write(&self.folder.join(MODEL))?;
        }
        self.save()
    }

    /// Writes a checkpoint now.
    pub fn save(&mut self) -> Result<(), Error> {
        let Some(files) = &mut self.files else { return Ok(()) };
        let curves = files.metrics.flush()?;
        Checkpoint::of(&self.trainer, &self.config, &self.preset, curves).write(&self.folder.join(CHECKPOINT))
    }

    /// The best model so far; before the first validation, the present one.
    pub fn model(&self) -> Model {
        let trainer = &self.trainer;
        let best = trainer.best.as_ref();
        Model {
            config: self.config.clone(),
            kind: Kind::Best,
            params: trainer.chosen(),
            seed: trainer.seed,
            update: best.map_or(trainer.update, |b| b.update),
            validation: best.map(|b| b.score),
        }
    }

    /// The present model: the running mean of the parameters, as it is validated.
    pub fn last(&self) -> Model {
        let trainer = &self.trainer;
        Model {
            config: self.config.clone(),
            kind: Kind::Last,
            params: trainer.last(),
            seed: trainer.seed,
            update: trainer.update,
            validation: self.scored.and_then(|(update, score)| (update == trainer.update).then_some(score)),
        }
    }
}

/// The text of `config.toml`.
fn settings(config: &Config, seed: u64) -> String {
    format!("# seed = {seed}\n{}", config.to_toml())
}
