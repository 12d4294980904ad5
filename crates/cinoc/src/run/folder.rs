//! The folder of a run: who may use it, and which files in it are the run's own.

use super::tensorboard;
use crate::Error;
use crate::disk::is_partial;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Everything to resume from.
pub const CHECKPOINT: &str = "checkpoint.safetensors";
/// The best parameters so far.
pub const MODEL: &str = "model.safetensors";
/// The parameters of the end.
pub const LAST: &str = "last.safetensors";
/// The settings.
pub const CONFIG: &str = "config.toml";
/// The curves.
pub const METRICS: &str = "metrics.csv";
/// Marks the folder as that of a run; locked while a process works on it.
pub const LOCK: &str = "run.lock";

/// What the lock file starts with; the name of the first event file follows.
const MARK: &str = "cinoc run\n";

/// A folder that no other process uses as long as this value lives: the system takes the lock back when the process ends, however it does.
pub struct Folder {
    /// Where.
    pub path: PathBuf,
    /// What a user should know.
    pub notice: Option<String>,
    lock: File,
}

impl Folder {
    /// Refuses a folder in which no run can start: one that holds a run, or anything that is not a run's. Touches nothing.
    pub fn check(path: &Path) -> Result<(), Error> {
        let mark = match std::fs::read_to_string(path.join(LOCK)) {
            Ok(mark) => Some(mark),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            // Some systems let nobody read what another process has locked; then locking it will fail as well.
            Err(_) => Some(MARK.to_owned()),
        };
        left_over(path, mark.as_deref()).map(drop)
    }

    /// Makes the folder where it is missing, locks it, and clears what a run left that was killed before its first checkpoint.
    /// `wall` is the time that the event file is named after.
    pub fn claim(path: &Path, wall: f64) -> Result<Self, Error> {
        Self::check(path)?;
        std::fs::create_dir_all(path).map_err(Error::file(path))?;
        let mut folder = Self::lock(path)?;
        let mark = folder.mark()?;
        for old in left_over(path, Some(&mark))? {
            std::fs::remove_file(&old).map_err(Error::file(&old))?;
        }
        folder.set_mark(&tensorboard::file_name(wall))?;
        Ok(folder)
    }

    /// Locks the folder of a run that is there.
    pub fn reopen(path: &Path) -> Result<Self, Error> {
        if !path.join(CHECKPOINT).exists() {
            return Err(Error::NothingToResume { path: path.into() });
        }
        let mut folder = Self::lock(path)?;
        if folder.mark()?.is_empty() {
            folder.set_mark("")?;
        }
        for name in names(path)?.iter().filter(|name| [CHECKPOINT, MODEL, LAST, CONFIG].iter().any(|own| is_partial(name, own))) {
            let old = path.join(name);
            std::fs::remove_file(&old).map_err(Error::file(&old))?;
        }
        Ok(folder)
    }

    fn lock(path: &Path) -> Result<Self, Error> {
        let file = path.join(LOCK);
        let lock =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&file).map_err(Error::file(&file))?;
        let notice = match lock.try_lock() {
            Ok(()) => None,
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { path: path.into() }),
            // A file system without locks: the run is worth more than the guard.
            Err(TryLockError::Error(error)) => {
                Some(format!("{} cannot be locked ({error}); let no other process use this folder", file.display()))
            }
        };
        Ok(Self { path: path.into(), notice, lock })
    }

    fn mark(&mut self) -> Result<String, Error> {
        let mut bytes = Vec::new();
        self.lock.read_to_end(&mut bytes).map_err(Error::file(self.path.join(LOCK)))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn set_mark(&mut self, events: &str) -> Result<(), Error> {
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(format!("{MARK}{events}\n").as_bytes())?;
            file.sync_all()
        };
        write(&mut self.lock).map_err(Error::file(self.path.join(LOCK)))
    }
}

/// Names of everything in a folder; none if there is no folder.
fn names(path: &Path) -> Result<Vec<OsString>, Error> {
    // An empty path is the present folder to everything but this function.
    match std::fs::read_dir(if path.as_os_str().is_empty() { Path::new(".") } else { path }) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect()).map_err(Error::file(path)),
    }
}

/// The files of a run that was killed before its first checkpoint. An error if the folder holds anything else. `mark` is what the lock
/// file says, where there is one: only a run of ours puts it there, and only into an empty folder.
fn left_over(path: &Path, mark: Option<&str>) -> Result<Vec<PathBuf>, Error> {
    let names = names(path)?;
    if names.iter().any(|name| name == CHECKPOINT) {
        return Err(Error::RunExists { path: path.into() });
    }
    let events = mark.and_then(|mark| mark.strip_prefix(MARK)).map(str::trim_end);
    let begun = mark.is_some_and(|mark| MARK.starts_with(mark)) || events.is_some();
    let own = |name: &OsStr| {
        [CONFIG, METRICS].iter().any(|own| name == *own)
            || events.is_some_and(|events| name == events && tensorboard::is_file_name(events))
            || [CONFIG, CHECKPOINT].iter().any(|own| is_partial(name, own))
    };
    let mut found = Vec::new();
    for name in names {
        if begun && name == LOCK {
            continue;
        }
        if !begun || !own(&name) {
            return Err(Error::NoRun { path: path.into() });
        }
        found.push(path.join(name));
    }
    Ok(found)
}
