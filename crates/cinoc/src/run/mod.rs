//! Runs on disk: models, checkpoints, metrics. The only module that touches files.
//!
//! A run folder holds `config.toml` (everything, resolved), `checkpoint.safetensors` (to resume from), `model.safetensors` (the best
//! parameters so far), `metrics.csv` and a TensorBoard event file. Whatever moment a run is killed at, resuming it gives the
//! same bits as if it had not been.

pub mod cache;
mod checkpoint;
mod metrics;
mod model;
pub mod tensorboard;

pub use metrics::Metrics;
pub use model::Model;

use crate::train::{Progress, Trainer};
use crate::{Config, Error, Problem};
use checkpoint::Checkpoint;
use safetensors::SafeTensors;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A run that writes itself to a folder.
pub struct Run {
    /// Where.
    pub folder: PathBuf,
    /// The run itself.
    pub trainer: Trainer,
    metrics: Metrics,
}

impl Run {
    /// Starts a run in an empty or missing folder.
    pub fn start(folder: &Path, config: Config, seed: u64, threads: usize) -> Result<Self, Error> {
        if folder.join(checkpoint::FILE).exists() {
            return Err(Error::RunExists { path: folder.into() });
        }
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let text = format!("# seed = {seed}\n{}", config.to_toml());
        let trainer = Trainer::new(Problem::new(config)?, seed, threads)?;
        write_whole(&folder.join("config.toml"), text.as_bytes())?;
        let metrics = Metrics::create(folder, trainer.problem.task.terms())?;
        let mut run = Self { folder: folder.into(), trainer, metrics };
        run.save()?;
        Ok(run)
    }

    /// Continues a run from its last checkpoint.
    pub fn resume(folder: &Path, threads: usize) -> Result<Self, Error> {
        let path = folder.join(checkpoint::FILE);
        if !path.exists() {
            return Err(Error::NothingToResume { path: folder.into() });
        }
        let checkpoint = Checkpoint::read(&path)?;
        let config = Config::from_toml(&checkpoint.config, &path.display().to_string())?;
        let mut trainer = Trainer::new(Problem::new(config)?, checkpoint.seed, threads)?;
        let metrics = Metrics::reopen(folder, checkpoint.metrics_bytes, checkpoint.events_bytes)?;
        checkpoint.restore(&mut trainer, &path)?;
        Ok(Self { folder: folder.into(), trainer, metrics })
    }

    /// One update, written down; a checkpoint where it is due.
    pub fn step(&mut self) -> Result<Progress, Error> {
        let progress = self.trainer.step()?;
        self.metrics.write(&progress)?;
        let best = progress.validation.is_some() && self.trainer.best.as_ref().is_some_and(|b| b.update == progress.update);
        if best || self.trainer.finished() || progress.update.is_multiple_of(self.trainer.problem.config.train.checkpoint_every) {
            self.save()?;
        }
        if best {
            self.model().write(&self.folder.join("model.safetensors"))?;
        }
        Ok(progress)
    }

    /// Writes a checkpoint now.
    pub fn save(&mut self) -> Result<(), Error> {
        let (metrics_bytes, events_bytes) = self.metrics.flush()?;
        Checkpoint::of(&self.trainer, metrics_bytes, events_bytes).write(&self.folder.join(checkpoint::FILE))
    }

    /// The best model so far.
    pub fn model(&self) -> Model {
        let trainer = &self.trainer;
        let best = trainer.best.as_ref();
        Model {
            config: trainer.problem.config.clone(),
            params: trainer.chosen(),
            seed: trainer.seed,
            update: best.map_or(trainer.update, |b| b.update),
            validation: best.map(|b| b.score),
        }
    }
}

/// Facts beside the tensors of a file, under one key: a map with several would be written in an order that changes from run to run.
fn facts_to_metadata(facts: &BTreeMap<&str, String>) -> HashMap<String, String> {
    HashMap::from([("cinoc".to_owned(), serde_json::to_string(facts).expect("text is JSON"))])
}

/// The facts of a file written by [`facts_to_metadata`].
fn facts_of(bytes: &[u8], path: &Path) -> Result<BTreeMap<String, String>, Error> {
    let bad = |reason: String| Error::Model { path: path.to_owned(), reason };
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| bad(e.to_string()))?;
    let facts =
        header.metadata().as_ref().and_then(|m| m.get("cinoc")).ok_or_else(|| bad("it has no configuration inside".into()))?;
    serde_json::from_str(facts).map_err(|e| bad(e.to_string()))
}

/// Writes a file whole or not at all: a kill in the middle leaves the old one.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let partial = path.with_extension("partial");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    write().map_err(Error::file(path))
}
