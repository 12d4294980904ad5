//! What was found, in memory and in a file of JSON lines: the settings, a line per instance, the summary.

use anyhow::{Context, Result, anyhow, bail};
use cinoc::optimum::Record;
use cinoc::rollout::Beginning;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Found so far.
pub struct Results<T> {
    found: Vec<T>,
    file: Option<(PathBuf, File)>,
}

impl<T: Record + Clone + Serialize + DeserializeOwned> Results<T> {
    /// Those of a file, if there is one; it is refused if it was made with other settings.
    pub fn open(path: Option<&Path>, header: Value) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { found: Vec::new(), file: None }) };
        let reading = || format!("{} cannot be opened; check that its folder exists and can be written", path.display());
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).with_context(reading)?;
        // Devices and pipes have no end, or none of their own.
        if !file.metadata().with_context(reading)?.is_file() {
            return Err(strange(path, "it is no plain file"));
        }
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            bail!("another process writes {}; wait for it, or give another name with -o", path.display());
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| strange(path, &error.to_string()))?;
        // A line that was being written when the program was killed is written again.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        let mut found = Vec::new();
        match lines.next() {
            Some(first) => {
                let was: Value = serde_json::from_str(first).map_err(|error| strange(path, &error.to_string()))?;
                refuse_other(path, &was, &header)?;
                for line in lines {
                    let value: Value = serde_json::from_str(line).map_err(|error| strange(path, &error.to_string()))?;
                    if value.get("summary").is_none() {
                        let one: T = serde_json::from_value(value).map_err(|error| strange(path, &error.to_string()))?;
                        if found.iter().all(|known: &T| known.instance() != one.instance()) {
                            found.push(one);
                        }
                    }
                }
            }
            None if !text.is_empty() => return Err(strange(path, "it has no whole line")),
            None => {}
        }
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::End(0))?;
        let mut results = Self { found, file: Some((path.to_owned(), file)) };
        if whole == 0 {
            results.write(&header)?;
        }
        Ok(results)
    }

    /// Whether an instance is among them.
    pub fn has(&self, instance: usize) -> bool {
        self.found.iter().any(|found| found.instance() == instance)
    }

    /// Those of the first `count` instances, in order.
    pub fn of(&self, count: usize) -> Vec<T> {
        let mut found: Vec<T> = self.found.iter().filter(|found| found.instance() < count).cloned().collect();
        found.sort_by_key(T::instance);
        found
    }

    /// Adds one; with where it began, if its actions are to be kept.
    pub fn add(&mut self, found: T, begins: Option<&Beginning>) -> Result<()> {
        let mut line = serde_json::to_value(&found)?;
        if let (Some(begins), Some(line)) = (begins, line.as_object_mut()) {
            let more =
                json!({"start": begins.start, "target": begins.target, "places": begins.places, "actions": found.actions()});
            line.extend(more.as_object().cloned().unwrap_or_default());
        }
        self.found.push(found);
        self.write(&line)
    }

    /// Ends the file with a summary.
    pub fn end(&mut self, summary: &Value) -> Result<()> {
        self.write(&json!({ "summary": summary }))
    }

    fn write(&mut self, line: &Value) -> Result<()> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let failed = || format!("{} could not be written; make room and give the same command again", path.display());
        file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_data()).with_context(failed)
    }
}

fn strange(path: &Path, why: &str) -> anyhow::Error {
    anyhow!("{} is not a file of `optimum` ({why}); give another name with -o", path.display())
}

/// Refuses to mix what was made with different settings.
fn refuse_other(path: &Path, was: &Value, asked: &Value) -> Result<()> {
    let (Some(old), Some(new)) = (was.as_object(), asked.as_object()) else {
        return Err(strange(path, "its first line is no object"));
    };
    for (key, asked) in new {
        let Some(was) = old.get(key) else { return Err(strange(path, &format!("its first line has no {key:?}"))) };
        if was != asked {
            let name = path.display();
            match key.as_str() {
                "settings" => {
                    bail!("{name} was made with other settings of the problem; repeat its --set, or give another name with -o")
                }
                _ => bail!(
                    "{name} was made with {key} {was}, not {asked}; ask for {key} {was} again, or give another name with -o"
                ),
            }
        }
    }
    Ok(())
}
