//! The folder of a run, and its dispensable files.

use super::{scratch, tiny};
use crate::{Allowance, Answer, Target, mutate};
use arbitrary::{Result, Unstructured};
use cinoc::internal::threads::Threads;
use cinoc::run::{Origin, Run};
use cinoc::{Config, Registry};
use std::path::Path;
use tempfile::TempDir;

/// A run of three updates of which two are done, restored for every input.
pub struct Finished {
    pub config: Config,
    folder: TempDir,
    sound: Vec<(String, Vec<u8>)>,
}

impl Finished {
    pub fn new() -> Self {
        let (folder, config) = (scratch(), tiny("heat1d"));
        let origin = Origin { config: config.clone(), preset: "paper".into(), seed: 1 };
        let mut run = Run::start(&Registry::builtin(), &folder.path().join("run"), origin, Threads::single()).expect("a run");
        (0..2).for_each(|_| drop(run.step().expect("an update")));
        run.close().expect("saved");
        drop(run);
        let names = std::fs::read_dir(folder.path().join("run")).expect("a folder").map(|entry| entry.expect("an entry"));
        let read = |entry: std::fs::DirEntry| {
            (entry.file_name().into_string().expect("text"), std::fs::read(entry.path()).expect("a file"))
        };
        let sound = names.map(read).collect();
        Self { config, folder, sound }
    }

    pub fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("run")
    }

    /// Returns the original content of a file of the run.
    pub fn sound(&self, name: &str) -> &[u8] {
        &self.sound.iter().find(|(known, _)| known == name).expect("a file of the run").1
    }

    /// Returns the name of the event file.
    fn events(&self) -> &str {
        &self.sound.iter().find(|(name, _)| name.starts_with("events")).expect("events").0
    }

    pub fn put(&self, name: &str, content: &[u8]) {
        std::fs::write(self.path().join(name), content).expect("written");
    }

    /// Restores all files, and removes others.
    pub fn restore(&self) {
        for entry in std::fs::read_dir(self.path()).expect("a folder").filter_map(std::result::Result::ok) {
            if self.sound.iter().all(|(name, _)| entry.file_name() != name.as_str()) {
                std::fs::remove_file(entry.path()).expect("removed");
            }
        }
        self.sound.iter().for_each(|(name, content)| self.put(name, content));
    }
}

/// Curves, settings and the mark of a run, beside a valid checkpoint: however damaged they are, the run continues.
pub struct Curves {
    registry: Registry,
    run: Finished,
}

const FILES: [&str; 4] = ["metrics.csv", "events", "run.lock", "config.toml"];

impl Curves {
    pub fn new() -> Self {
        Self { registry: Registry::builtin(), run: Finished::new() }
    }

    fn name<'a>(&'a self, file: &'a str) -> &'a str {
        if file == "events" { self.run.events() } else { file }
    }

    /// Checks the lines of the curves: nothing is lost beyond the truncation.
    fn check(&self, file: &str, input: &[u8], folder: &Path) -> Result<(), String> {
        let sound = self.run.sound("metrics.csv");
        let found = std::fs::read(folder.join("metrics.csv")).map_err(|error| error.to_string())?;
        let kept = if file == "metrics.csv" { &input[..input.len().min(sound.len())] } else { sound };
        let whole = kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if !found.starts_with(&kept[..whole]) {
            return Err("whole lines of metrics.csv are lost".into());
        }
        let mut new = found[whole..].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let last = new.next_back().unwrap_or_default();
        match last.starts_with(b"3,") && found.ends_with(b"\n") {
            true => Ok(()),
            false => Err(format!("metrics.csv ends with {:?}", String::from_utf8_lossy(last))),
        }
    }
}

impl Target for Curves {
    fn name(&self) -> &'static str {
        "runs"
    }

    /// Buffers of files, and a training of a few hundred numbers.
    fn allowance(&self) -> Allowance {
        Allowance { fixed: 4 << 20, per_byte: 4 }
    }

    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>> {
        let which = choice.choose_index(FILES.len())?;
        let (sound, other) = (self.run.sound(self.name(FILES[which])), self.run.sound(self.name(choice.choose(&FILES)?)));
        let content = match choice.int_in_range(0..=3)? {
            0 => sound[..choice.choose_index(sound.len() + 1)?].to_vec(),
            1 => other.to_vec(),
            _ => mutate::changed(choice, sound, other)?,
        };
        Ok([&[which as u8][..], &content].concat())
    }

    fn read(&self, input: &[u8]) -> Result<Answer, String> {
        let Some((which, content)) = input.split_first() else { return Ok(Answer::Accepted) };
        let file = FILES[usize::from(*which) % FILES.len()];
        self.run.put(self.name(file), content);
        let folder = self.run.path();
        let done = Run::resume(&self.registry, &folder, Threads::single()).and_then(|mut run| run.step());
        let checked =
            done.map_err(|error| format!("{file} stops the run: {error}")).and_then(|_| self.check(file, content, &folder));
        self.run.restore();
        checked.map(|()| Answer::Accepted)
    }
}
