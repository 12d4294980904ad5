//! A run that lies in its folder, to be resumed.

use super::checkpoint::Checkpoint;
use super::folder::{CHECKPOINT, CONFIG, Folder};
use super::{Metrics, Origin, Run, changes};
use crate::disk::write_whole;
use crate::threads::Threads;
use crate::train::Trainer;
use crate::{Config, Error, Registry};
use std::path::Path;

/// A run that was stopped, at its last checkpoint. No other process can use its folder as long as this value lives.
pub struct Saved {
    /// What it was started with, and what was changed since.
    pub origin: Origin,
    checkpoint: Checkpoint,
    folder: Folder,
}

impl Saved {
    /// Opens the run in a folder.
    pub fn open(registry: &Registry, folder: &Path) -> Result<Self, Error> {
        let folder = Folder::reopen(folder)?;
        let path = folder.path.join(CHECKPOINT);
        let checkpoint = Checkpoint::read(&path)?;
        let config = registry.read(&checkpoint.config, &path.display().to_string())?;
        let origin = Origin { config, preset: checkpoint.preset.clone(), seed: checkpoint.seed };
        Ok(Self { origin, checkpoint, folder })
    }

    /// Continues it with its own settings, or with others that differ only in what may change (see [`Run::resume`]).
    pub fn resume(self, registry: &Registry, config: Config, threads: Threads) -> Result<Run, Error> {
        let Self { origin, checkpoint, folder } = self;
        let (was, asked) = (origin.config.to_toml(), config.to_toml());
        changes::check(&was, &asked, &folder.path)?;
        let path = folder.path.join(CHECKPOINT);
        let parts = registry.parts(&config)?;
        // Compared before memory is taken for a network that is not there.
        let wanted: usize = parts.policy.shapes().iter().map(|(_, shape)| shape.count()).sum();
        if wanted > checkpoint.count() {
            let reason = format!("its settings ask for a network of {wanted} numbers, it holds {}", checkpoint.count());
            return Err(Error::Checkpoint { path, reason });
        }
        let mut trainer = Trainer::new(parts, origin.seed, threads)?;
        let curves = checkpoint.curves.clone();
        checkpoint.restore(&mut trainer, &path)?;
        let (metrics, mut notices) = Metrics::reopen(&folder.path, trainer.problem.task.terms(), &curves)?;
        let renewed = !notices.is_empty() || was != asked;
        let settings = folder.path.join(CONFIG);
        let text = super::settings(&config, origin.seed);
        if std::fs::read_to_string(&settings).is_ok_and(|found| found != text) && was == asked {
            notices.push(format!("{} was not what this run is trained with; written anew", settings.display()));
        }
        notices.extend(folder.notice.clone());
        let mut run = Run {
            folder: folder.path.clone(),
            config,
            trainer,
            notices,
            preset: origin.preset,
            metrics,
            scored: None,
            _lock: folder,
        };
        if renewed {
            run.renew()?;
        }
        if std::fs::read_to_string(&settings).ok().as_deref() != Some(&text) {
            write_whole(&settings, text.as_bytes())?;
        }
        Ok(run)
    }
}
