//! A file of JSON lines that can be continued: the request, then a line per result.

use anyhow::{Context, Result, anyhow, bail};
use cinoc::internal::{shortened, shown};
use serde_json::Value;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// An open file of lines.
pub struct Lines {
    path: PathBuf,
    file: File,
    /// The command that writes it.
    command: &'static str,
}

impl Lines {
    /// Opens or creates the file of a command and returns what `read` makes of the lines after its header. A file with another header, or with
    /// a line that cannot be read, is refused and not touched.
    pub fn open<T>(
        path: &Path,
        header: &Value,
        command: &'static str,
        read: impl Fn(Value) -> serde_json::Result<T>,
    ) -> Result<(Self, Vec<T>)> {
        let reading = || format!("{} cannot be opened; check that its folder exists and can be written", shown(path));
        // Opening a pipe would wait for its other end.
        if std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
            bail!("{} is not a regular file; give another name with -o", shown(path));
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).with_context(reading)?;
        let mut lines = Self { path: path.to_owned(), file, command };
        if !lines.file.metadata().with_context(reading)?.is_file() {
            return Err(lines.strange("it is not a regular file"));
        }
        if matches!(lines.file.try_lock(), Err(TryLockError::WouldBlock)) {
            bail!("another process writes {}; wait for it, or give another name with -o", shown(path));
        }
        let mut text = String::new();
        lines.file.read_to_string(&mut text).map_err(|error| lines.strange(&error.to_string()))?;
        // A line that was being written when the program was killed is written again.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut values = text[..whole].lines().map(serde_json::from_str::<Value>);
        match values.next() {
            Some(first) => lines.refuse_other(&first.map_err(|error| lines.strange(&error.to_string()))?, header)?,
            None if !text.is_empty() => return Err(lines.strange("it has no whole line")),
            None => {}
        }
        let found = values.map(|value| value.and_then(&read)).collect::<Result<_, _>>();
        let found = found.map_err(|error| lines.strange(&error.to_string()))?;
        lines.file.set_len(whole as u64)?;
        lines.file.seek(SeekFrom::End(0))?;
        if whole == 0 {
            lines.write(header)?;
        }
        Ok((lines, found))
    }

    /// Writes a line, on the disk before this returns.
    pub fn write(&mut self, line: &Value) -> Result<()> {
        let failed = || format!("{} could not be written; make room and give the same command again", shown(&self.path));
        self.file.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.file.sync_data()).with_context(failed)
    }

    /// An error about a file that the command did not write.
    pub fn strange(&self, why: &str) -> anyhow::Error {
        anyhow!("{} is not a file of `{}` ({}); give another name with -o", shown(&self.path), self.command, shortened(why))
    }

    /// Refuses to mix results of different settings.
    fn refuse_other(&self, was: &Value, asked: &Value) -> Result<()> {
        let (Some(old), Some(new)) = (was.as_object(), asked.as_object()) else {
            return Err(self.strange("its first line is not an object"));
        };
        for (key, asked) in new {
            let Some(was) = old.get(key) else { return Err(self.strange(&format!("its first line has no {key:?}"))) };
            if was != asked {
                let (name, was) = (shown(&self.path), shortened(&was.to_string()));
                match key.as_str() {
                    "settings" => bail!(
                        "{name} was made with other settings of the problem; repeat its --set, or give another name with -o"
                    ),
                    "models" => {
                        bail!("{name} was made with other policies of the same name; give another folder with -o, or remove it")
                    }
                    "cases" => bail!("{name} was made for other cases; give another folder with -o, or remove it"),
                    "version" => bail!("{name} was made by version {was}, not {asked}; give another name with -o, or remove it"),
                    _ => {
                        let key = key.replace('_', "-");
                        bail!(
                            "{name} was made with {key} {was}, not {asked}; ask for {key} {was} again, or give another name with -o"
                        )
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A table once lost its torn last line and was refused after that.
    #[test]
    fn a_file_that_is_refused_is_not_touched() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.jsonl");
        let open = || Lines::open(&path, &json!({"a": 1}), "study", serde_json::from_value::<u8>).map(|(_, found)| found);
        for (text, expected) in [
            ("{\"a\":1}\n7\n8\n9", Some(vec![7, 8])),
            ("{\"a\":1}\n", Some(vec![])),
            ("", Some(vec![])),
            ("{\"a\":1}\n700\n8", None),
            ("{\"a\":2}\n7\n8", None),
            ("{\"a\":1}\n7\n}\n8", None),
            ("{\"a\":1", None),
            ("{\"a\":1}\n\"two\\nlines\"\n", None),
        ] {
            std::fs::write(&path, text).expect("written");
            let found = open().map_err(|error| assert!(!error.to_string().contains('\n'), "{error}")).ok();
            let now = std::fs::read_to_string(&path).expect("a file");
            assert_eq!(found, expected, "{text:?}");
            match found {
                None => assert_eq!(now, text),
                Some(_) => assert!(now.ends_with('\n') && text.starts_with(&now) || text.is_empty(), "{text:?} became {now:?}"),
            }
        }
    }
}
