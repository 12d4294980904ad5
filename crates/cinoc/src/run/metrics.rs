//! What a run measured, update by update: a CSV file for people and scripts, an event file for TensorBoard.

use super::tensorboard::EventWriter;
use crate::Error;
use crate::train::Progress;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Writers of both files. The CSV holds no times, so that a resumed run's is the same to the byte.
pub struct Metrics {
    path: PathBuf,
    csv: BufWriter<File>,
    bytes: u64,
    events: EventWriter,
    terms: Vec<String>,
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64())
}

impl Metrics {
    /// Starts both files in a folder; `terms` names the cost terms.
    pub fn create(folder: &Path, terms: &[&str]) -> Result<Self, Error> {
        let path = folder.join("metrics.csv");
        for old in events(folder) {
            std::fs::remove_file(&old).map_err(Error::file(&old))?;
        }
        let csv = File::create(&path).map_err(Error::file(&path))?;
        let events = EventWriter::create(folder, now()).map_err(Error::file(folder))?;
        let terms = terms.iter().map(|t| (*t).to_owned()).collect();
        let mut metrics = Self { path, csv: BufWriter::new(csv), bytes: 0, events, terms };
        let header = format!("update,cost,{},gradient,rate,validation\n", metrics.terms.join(","));
        metrics.line(&header)?;
        Ok(metrics)
    }

    /// Continues both files, cut back to what they held at the checkpoint.
    pub fn reopen(folder: &Path, bytes: u64, events_bytes: u64) -> Result<Self, Error> {
        let path = folder.join("metrics.csv");
        let header = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
        let columns: Vec<&str> = header.lines().next().unwrap_or_default().split(',').collect();
        let terms = columns.iter().skip(2).take(columns.len().saturating_sub(5)).map(|t| (*t).to_owned()).collect();
        let file = OpenOptions::new().append(true).open(&path).map_err(Error::file(&path))?;
        file.set_len(bytes).map_err(Error::file(&path))?;
        let events = match events(folder).pop() {
            Some(old) => EventWriter::open_at(&old, events_bytes).map_err(Error::file(&old))?,
            None => EventWriter::create(folder, now()).map_err(Error::file(folder))?,
        };
        Ok(Self { path, csv: BufWriter::new(file), bytes, events, terms })
    }

    fn line(&mut self, text: &str) -> Result<(), Error> {
        self.csv.write_all(text.as_bytes()).map_err(Error::file(&self.path))?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Adds one update.
    pub fn write(&mut self, progress: &Progress) -> Result<(), Error> {
        let Progress { update, cost, terms, gradient, rate, validation } = progress;
        let list: Vec<String> = terms.iter().map(|t| format!("{t:e}")).collect();
        let score = validation.map_or_else(String::new, |v| format!("{v:e}"));
        self.line(&format!("{update},{cost:e},{},{gradient:e},{rate:e},{score}\n", list.join(",")))?;
        let named = self.terms.iter().zip(terms).map(|(name, value)| (format!("cost/{name}"), *value));
        let mut all: Vec<(String, f64)> = named.collect();
        all.extend([("cost/total".into(), *cost), ("gradient".into(), *gradient), ("rate".into(), *rate)]);
        all.extend(validation.map(|v| ("validation".into(), v)));
        let (wall, step) = (now(), *update as i64);
        for (tag, value) in all {
            self.events.scalar(wall, step, &tag, value as f32).map_err(Error::file(&self.path))?;
        }
        Ok(())
    }

    /// Puts everything on disk; returns the lengths of both files.
    pub fn flush(&mut self) -> Result<(u64, u64), Error> {
        self.csv.flush().map_err(Error::file(&self.path))?;
        self.events.flush().map_err(Error::file(&self.path))?;
        Ok((self.bytes, self.events.len()))
    }
}

/// The event files of a folder, oldest first.
fn events(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.to_string_lossy().contains("events.out.tfevents")).collect();
    found.sort();
    found
}
