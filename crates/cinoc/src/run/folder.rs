//! The folder of a run: its lock, and the files that belong to the run.

use super::tensorboard;
use crate::Error;
use crate::disk::{is_partial, read_text};
use crate::error::shown;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Checkpoint to resume from.
pub const CHECKPOINT: &str = "checkpoint.safetensors";
/// Best parameters so far.
pub const MODEL: &str = "model.safetensors";
/// Parameters at the end.
pub const LAST: &str = "last.safetensors";
/// Settings.
pub const CONFIG: &str = "config.toml";
/// Curves.
pub const METRICS: &str = "metrics.csv";
/// Marks a run folder; locked while a process works in it.
pub const LOCK: &str = "run.lock";

/// The first line of the lock file; the name of the first event file follows.
const MARK: &str = "cinoc run\n";

/// A locked run folder. The system releases the lock when the process ends, however it ends.
pub struct Folder {
    /// Path of the folder.
    pub path: PathBuf,
    /// Message for the user, if the folder could not be locked.
    pub notice: Option<String>,
    lock: File,
}

impl Folder {
    /// Returns an error for a folder in which no run can start: one that holds a run or any foreign file. Changes
    /// nothing.
    pub fn check(path: &Path) -> Result<(), Error> {
        let lock = path.join(LOCK);
        refuse_foreign(&lock)?;
        // Some systems do not let a process read a file that another one has locked; then locking it will fail as well.
        let mark = lock.exists().then(|| read_text(&lock).unwrap_or_else(|_| MARK.to_owned()));
        left_over(path, mark.as_deref()).map(drop)
    }

    /// Creates the folder if missing, locks it, and removes the files of a run that was killed before its first
    /// checkpoint. `wall` is the time that the event file is named after.
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

    /// Locks the folder of an existing run.
    pub fn reopen(path: &Path) -> Result<Self, Error> {
        if !path.join(CHECKPOINT).exists() {
            return Err(Error::NothingToResume { path: path.into() });
        }
        refuse_all_foreign(path)?;
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
        let lock = open_own(&file)?;
        let notice = match lock.try_lock() {
            Ok(()) => None,
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { path: path.into() }),
            // A file system without locks: continue without one.
            Err(TryLockError::Error(error)) => {
                Some(format!("{} cannot be locked ({error}); let no other process use this folder", shown(&file)))
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

/// Opens a file of a run for reading and writing; creates it if missing. Only regular files are opened: writing through
/// a symbolic link would change a file outside of the folder, and a pipe would wait for ever.
pub fn open_own(path: &Path) -> Result<File, Error> {
    refuse_foreign(path)?;
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(Error::file(path))?;
    // Checked again, in case it was replaced in between: nothing has been written yet.
    refuse_foreign(path)?;
    Ok(file)
}

fn refuse_foreign(path: &Path) -> Result<(), Error> {
    let reason = match path.symlink_metadata() {
        Ok(about) if about.is_symlink() => "it is a symbolic link, and a run writes only inside its folder",
        Ok(about) if !about.is_file() => "it is not a regular file",
        _ => return Ok(()),
    };
    Err(Error::Checkpoint { path: path.into(), reason: reason.into() })
}

/// Returns an error if a file of a run is a symbolic link, a pipe or the like, as in a folder of foreign origin.
fn refuse_all_foreign(path: &Path) -> Result<(), Error> {
    let own = |name: &OsStr| {
        let text = name.to_string_lossy();
        [CHECKPOINT, MODEL, LAST, CONFIG, METRICS, LOCK].contains(&&*text) || tensorboard::is_file_name(&text)
    };
    names(path)?.iter().filter(|name| own(name)).try_for_each(|name| refuse_foreign(&path.join(name)))
}

/// Returns the names of all entries of a folder; none if there is no folder.
fn names(path: &Path) -> Result<Vec<OsString>, Error> {
    // An empty path means the current folder everywhere but in this function.
    match std::fs::read_dir(if path.as_os_str().is_empty() { Path::new(".") } else { path }) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect()).map_err(Error::file(path)),
    }
}

/// Returns the files of a run that was killed before its first checkpoint, or an error if the folder holds anything
/// else. `mark` is the content of the lock file, if any: only a run writes it, and only into an empty folder.
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Regression test: resuming the folder of another user used to append to whatever its links pointed to.
    #[test]
    fn links_in_a_run_folder_are_refused() {
        let folder = std::env::temp_dir().join(format!("cinoc-links-{}", std::process::id()));
        let (run, victim) = (folder.join("run"), folder.join("victim"));
        std::fs::create_dir_all(&run).unwrap();
        std::fs::write(&victim, "mine").unwrap();
        std::fs::write(run.join(CHECKPOINT), "").unwrap();
        assert!(Folder::reopen(&run).is_ok());
        for name in [METRICS, MODEL, LAST, CONFIG, LOCK, CHECKPOINT, &tensorboard::file_name(1e9)] {
            let _ = std::fs::remove_file(run.join(name));
            symlink(&victim, run.join(name)).unwrap();
            let text = Folder::reopen(&run).err().expect("a link").to_string();
            assert!(text.contains(name) && text.contains("it is a symbolic link"), "{text}");
            std::fs::remove_file(run.join(name)).unwrap();
            std::fs::write(run.join(CHECKPOINT), "").unwrap();
        }
        // A pipe would be waited on for ever.
        for name in [METRICS, MODEL, LAST, CONFIG, LOCK, &tensorboard::file_name(1e9)] {
            let _ = std::fs::remove_file(run.join(name));
            assert!(std::process::Command::new("mkfifo").arg(run.join(name)).status().unwrap().success());
            let text = Folder::reopen(&run).err().expect("a pipe").to_string();
            assert!(text.contains(name) && text.contains("it is not a regular file"), "{text}");
            if name == LOCK {
                assert!(Folder::check(&run).is_err());
            }
            std::fs::remove_file(run.join(name)).unwrap();
        }
        // Starting a run refuses links too, even one to an empty or missing file.
        std::fs::remove_dir_all(&run).unwrap();
        std::fs::create_dir(&run).unwrap();
        for target in [victim.clone(), folder.join("missing")] {
            symlink(&target, run.join(LOCK)).unwrap();
            assert!(Folder::claim(&run, 1e9).is_err());
            std::fs::remove_file(run.join(LOCK)).unwrap();
        }
        assert!(!folder.join("missing").exists());
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
