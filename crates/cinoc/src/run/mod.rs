//! Runs on disk: models, checkpoints, metrics.
//!
//! A run folder holds `config.toml` (all settings, resolved), `checkpoint.safetensors` (to resume from),
//! `model.safetensors` (the best parameters so far), `last.safetensors` (the parameters at the end or at an
//! interruption), `metrics.csv`, a TensorBoard event file and `run.lock`, which keeps a second process out. A run that
//! is killed at any moment and resumed is bit-identical to an uninterrupted one. A run removes and overwrites only
//! files that it wrote. With several ranks only the first one touches the folder.

mod changes;
mod checkpoint;
mod folder;
mod metrics;
mod model;
mod saved;
mod sealed;
#[doc(hidden)]
pub mod tensorboard;

#[doc(hidden)]
pub use folder::{LAST, MODEL};
pub use model::{Model, ModelKind};
#[doc(hidden)]
pub use saved::Saved;

use crate::disk::write_whole;
use crate::threads::Threads;
use crate::train::{Progress, Trainer};
use crate::{Config, Error, Registry};
use checkpoint::Checkpoint;
use folder::{CHECKPOINT, CONFIG, Folder};
use metrics::Metrics;
use std::path::{Path, PathBuf};

/// Settings and seed that a run is started with.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub struct Origin {
    /// All settings.
    pub config: Config,
    /// Name of the preset that they started from; may be empty.
    pub preset: String,
    /// Random seed.
    pub seed: u64,
}

/// A training run that is saved to a folder.
///
/// ```no_run
/// use cinoc::run::{Origin, Run};
/// use cinoc::{Registry, Threads};
///
/// let config = cinoc::problem("heat1d")?.config().clone();
/// let origin = Origin { config, preset: String::new(), seed: 0 };
/// let mut run = Run::start(&Registry::builtin(), "runs/mine".as_ref(), origin, Threads::new(0)?)?;
/// println!("{:?}", run.step()?);
/// run.close()?;
/// # Ok::<(), cinoc::Error>(())
/// ```
pub struct Run {
    /// Folder of the run.
    pub folder: PathBuf,
    /// All settings.
    pub config: Config,
    /// The trainer.
    #[doc(hidden)]
    pub trainer: Trainer,
    /// Messages for the user about how the run was opened.
    #[doc(hidden)]
    pub notices: Vec<String>,
    preset: String,
    /// Last validation: number of updates and score.
    scored: Option<(usize, f64)>,
    /// `None` on all ranks but the first.
    files: Option<Files>,
}

/// Open files of a run in progress.
struct Files {
    metrics: Metrics,
    /// Last field: the folder is unlocked after all files are closed.
    _lock: Folder,
}

impl Run {
    /// Starts a run in an empty or missing folder, or in one where a run was killed before its first checkpoint.
    /// Settings are checked before anything is created.
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

    /// Resumes a run from its last checkpoint with unchanged settings. With [`Saved::resume`] some settings may change:
    /// `train.updates` can be raised, the rates and `train.clip` can be lowered.
    pub fn resume(registry: &Registry, folder: &Path, threads: Threads) -> Result<Self, Error> {
        let saved = Saved::open(registry, folder, threads)?;
        let config = saved.origin.config.clone();
        saved.resume(registry, config)
    }

    /// Performs one update and records it; writes a model and a checkpoint where they are due.
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

    /// Writes the best model, the last one, and a checkpoint: at the end of a run or when it is interrupted.
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

    /// Writes the best model, if there is one yet, and a checkpoint. The model comes first: a checkpoint never refers
    /// to a missing one.
    fn renew(&mut self) -> Result<(), Error> {
        if self.trainer.best.is_some() && self.files.is_some() {
            self.model().write(&self.folder.join(MODEL))?;
        }
        self.save()
    }

    /// Writes a checkpoint.
    #[doc(hidden)]
    pub fn save(&mut self) -> Result<(), Error> {
        let Some(files) = &mut self.files else { return Ok(()) };
        let curves = files.metrics.flush()?;
        Checkpoint::of(&self.trainer, &self.config, &self.preset, curves).write(&self.folder.join(CHECKPOINT))
    }

    /// Returns the best model so far; before the first validation, the current one.
    pub fn model(&self) -> Model {
        let trainer = &self.trainer;
        let best = trainer.best.as_ref();
        Model {
            config: self.config.clone(),
            kind: ModelKind::Best,
            params: trainer.chosen(),
            seed: trainer.seed,
            update: best.map_or(trainer.update, |b| b.update),
            validation: best.map(|b| b.score),
        }
    }

    /// Returns the current model: the running mean of the parameters, as it is validated.
    #[doc(hidden)]
    pub fn last(&self) -> Model {
        let trainer = &self.trainer;
        Model {
            config: self.config.clone(),
            kind: ModelKind::Last,
            params: trainer.last(),
            seed: trainer.seed,
            update: trainer.update,
            validation: self.scored.and_then(|(update, score)| (update == trainer.update).then_some(score)),
        }
    }
}

/// Returns the text of `config.toml`.
fn settings(config: &Config, seed: u64) -> String {
    format!("# seed = {seed}\n{}", config.to_toml())
}
