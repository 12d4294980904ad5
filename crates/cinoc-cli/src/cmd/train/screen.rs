//! How far a training run is.

use crate::cmd::short;
use crate::out::{note, terminal};
use cinoc::train::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// A progress bar on a terminal, a line now and then elsewhere.
pub struct Screen {
    bar: Option<ProgressBar>,
    updates: usize,
    first: usize,
    started: Instant,
    last_line: Instant,
    validation: Option<f64>,
}

impl Screen {
    /// For a run of `updates`, of which some are done.
    pub fn new(updates: usize, done: usize) -> Self {
        let bar = terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} updates  {msg}  {elapsed} gone, {eta} to go")
                .expect("a valid template")
                .progress_chars("━━╌");
            let bar = ProgressBar::new(updates as u64).with_style(style).with_position(done as u64);
            bar.reset_eta();
            bar
        });
        let now = Instant::now();
        Self { bar, updates, first: done, started: now, last_line: now, validation: None }
    }

    /// Shows an update.
    pub fn show(&mut self, progress: &Progress, best: Option<f64>) {
        self.validation = progress.validation.or(self.validation);
        let mut text = format!("cost {}", short(progress.cost));
        if let (Some(last), Some(best)) = (self.validation, best) {
            text += &format!("  validation {} (best {})", short(last), short(best));
        }
        match &self.bar {
            Some(bar) => {
                bar.set_position(progress.update as u64);
                bar.set_message(text);
            }
            None => {
                let done = progress.update == self.updates;
                if self.last_line.elapsed() > Duration::from_secs(5) || done {
                    self.last_line = Instant::now();
                    let each = self.started.elapsed().as_secs_f64() / (progress.update - self.first) as f64;
                    let eta = each * (self.updates - progress.update) as f64;
                    note!("{}/{} updates  {text}  {eta:.0} s to go", progress.update, self.updates);
                }
            }
        }
    }

    /// Leaves the bar as it is.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}
