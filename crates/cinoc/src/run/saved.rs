//! A saved run, to be resumed.

use super::checkpoint::{Checkpoint, Curves};
use super::folder::{CHECKPOINT, CONFIG, Folder};
use super::{Files, Metrics, Origin, Run, changes};
use crate::disk::{read, read_text, write_whole};
use crate::error::shown;
use crate::threads::Threads;
use crate::train::Trainer;
use crate::{Config, Error, Registry};
use std::path::{Path, PathBuf};

/// An interrupted run at its last checkpoint. Its folder stays locked while this value exists.
pub struct Saved {
    /// Settings and seed of the run, with later changes.
    pub origin: Origin,
    checkpoint: Checkpoint,
    path: PathBuf,
    /// `None` on all ranks but the first, which alone reads and writes.
    folder: Option<Folder>,
    threads: Threads,
}

impl Saved {
    /// Opens the run in a folder, to be resumed with these threads.
    pub fn open(registry: &Registry, folder: &Path, threads: Threads) -> Result<Self, Error> {
        let (path, ranks) = (folder.join(CHECKPOINT), threads.ranks());
        let lock = if ranks.first() { Some(Folder::reopen(folder)?) } else { None };
        let bytes = if ranks.first() { Some(read(&path)?) } else { None };
        let checkpoint = Checkpoint::open(&ranks.share(bytes)?, &path)?;
        let config = registry.read(&checkpoint.config, &path.display().to_string())?;
        let origin = Origin { config, preset: checkpoint.preset.clone(), seed: checkpoint.seed };
        Ok(Self { origin, checkpoint, path: folder.into(), folder: lock, threads })
    }

    /// Resumes the run with its own settings, or with others that differ only where allowed (see [`Run::resume`]).
    pub fn resume(self, registry: &Registry, config: Config) -> Result<Run, Error> {
        let Self { origin, checkpoint, path: place, folder, threads } = self;
        let (was, asked) = (origin.config.to_toml(), config.to_toml());
        changes::check(&was, &asked, &place)?;
        let path = place.join(CHECKPOINT);
        let parts = registry.parts(&config)?;
        // Checked before memory is allocated for a network that the file does not hold.
        let wanted: usize = parts.policy.shapes().iter().map(|(_, shape)| shape.count()).sum();
        if wanted > checkpoint.count() {
            let reason = format!("its settings describe a network of {wanted} parameters, it holds {}", checkpoint.count());
            return Err(Error::Checkpoint { path, reason });
        }
        let mut trainer = Trainer::new(parts, origin.seed, threads)?;
        let curves = checkpoint.curves.clone();
        checkpoint.restore(&mut trainer, &path)?;
        let mut run =
            Run { folder: place, config, trainer, notices: Vec::new(), preset: origin.preset, scored: None, files: None };
        if let Some(lock) = folder {
            run.reopen(lock, &curves, was == asked)?;
        }
        Ok(run)
    }
}

impl Run {
    /// Reopens its files, truncated to their lengths at the checkpoint.
    fn reopen(&mut self, lock: Folder, curves: &Curves, as_it_was: bool) -> Result<(), Error> {
        let (metrics, mut notices) = Metrics::reopen(&self.folder, self.trainer.problem.task.terms(), curves)?;
        let renewed = !notices.is_empty() || !as_it_was;
        let settings = self.folder.join(CONFIG);
        let text = super::settings(&self.config, self.trainer.seed);
        let found = read_text(&settings).ok();
        if as_it_was && found.as_ref().is_some_and(|found| *found != text) {
            notices.push(format!("{} differed from the settings of this run and was rewritten", shown(&settings)));
        }
        notices.extend(lock.notice.clone());
        self.notices = notices;
        self.files = Some(Files { metrics, _lock: lock });
        if renewed {
            self.renew()?;
        }
        if found.as_deref() != Some(&text) {
            write_whole(&settings, text.as_bytes())?;
        }
        Ok(())
    }
}
