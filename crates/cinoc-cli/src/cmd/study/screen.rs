//! How far a study is.

use crate::out::{note, terminal};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// A progress bar on a terminal, a line now and then elsewhere.
pub struct Screen {
    bar: Option<ProgressBar>,
    jobs: usize,
    done: usize,
    started: Instant,
    last_line: Instant,
}

impl Screen {
    /// For so many jobs.
    pub fn new(jobs: usize) -> Self {
        let bar = terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}  {elapsed} gone, {eta} to go")
                .expect("a valid template")
                .progress_chars("━━╌");
            ProgressBar::new(jobs as u64).with_style(style)
        });
        let now = Instant::now();
        Self { bar, jobs, done: 0, started: now, last_line: now }
    }

    /// Says what is being done.
    pub fn tell(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(text.to_owned()),
            None if self.last_line.elapsed() > Duration::from_secs(10) => {
                self.last_line = Instant::now();
                let each = self.started.elapsed().as_secs_f64() / self.done.max(1) as f64;
                let eta = each * (self.jobs - self.done) as f64;
                note!("{}/{}  {text}  {eta:.0} s to go", self.done, self.jobs);
            }
            None => {}
        }
    }

    /// One job more is done.
    pub fn step(&mut self) {
        self.done += 1;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
        }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
