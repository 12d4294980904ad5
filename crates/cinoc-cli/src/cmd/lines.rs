//! A file of JSON lines that can be continued: what was asked for, then what was found, a line each.

use anyhow::{Context, Result, anyhow, bail};
use cinoc::shortened;
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
    /// Opens or makes the file of a command, and gives what `read` makes of the lines it holds already behind its header. It is refused if it was made
    /// with another header, or if a line cannot be read; then it is not touched.
    pub fn open<T>(
        path: &Path,
        header: &Value,
        command: &'static str,
        read: impl Fn(Value) -> serde_json::Result<T>,
    ) -> Result<(Self, Vec<T>)> {
        let reading = || format!("{} cannot be opened; check that its folder exists and can be written", path.display());
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).with_context(reading)?;
        let mut lines = Self { path: path.to_owned(), file, command };
        // Devices and pipes have no end, or none of their own.
        if !lines.file.metadata().with_context(reading)?.is_file() {
            return Err(lines.strange("it is no plain file"));
        }
        if matches!(lines.file.try_lock(), Err(TryLockError::WouldBlock)) {
            bail!("another process writes {}; wait for it, or give another name with -o", path.display());
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
        let failed = || format!("{} could not be written; make room and give the same command again", self.path.display());
        self.file.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.file.sync_data()).with_context(failed)
    }

    /// The file holds something that the command did not write.
    pub fn strange(&self, why: &str) -> anyhow::Error {
        anyhow!("{} is not a file of `{}` ({}); give another name with -o", self.path.display(), self.command, shortened(why))
    }

    /// Refuses to mix what was made with different settings.
    fn refuse_other(&self, was: &Value, asked: &Value) -> Result<()> {
        let (Some(old), Some(new)) = (was.as_object(), asked.as_object()) else {
            return Err(self.strange("its first line is no object"));
        };
        for (key, asked) in new {
            let Some(was) = old.get(key) else { return Err(self.strange(&format!("its first line has no {key:?}"))) };
            if was != asked {
                let (name, was) = (self.path.display(), shortened(&was.to_string()));
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
