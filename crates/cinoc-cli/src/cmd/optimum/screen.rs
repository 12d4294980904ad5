//! How far a search is, and what it has found.

use super::file::Results;
use crate::out::{note, terminal};
use crate::stop;
use anyhow::Result;
use cinoc::Problem;
use cinoc::evaluate::Request;
use cinoc::optimum::{Listen, Record};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A progress bar on a terminal, a line now and then elsewhere; what is found goes to the results at once.
pub struct Screen<T> {
    bar: Option<ProgressBar>,
    /// Whose givens are kept beside the results.
    with: Option<(Arc<Problem>, Request)>,
    count: usize,
    started: Instant,
    shown: Mutex<Shown<T>>,
}

struct Shown<T> {
    results: Results<T>,
    failed: Option<anyhow::Error>,
    done: f64,
    found: usize,
    last_line: Instant,
}

impl<T> Screen<T> {
    /// For so many instances.
    pub fn new(results: Results<T>, count: usize, with: Option<(Arc<Problem>, Request)>) -> Result<Self> {
        // From here on a signal drops the instances at hand.
        stop::listen()?;
        let bar = terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {percent} %  {msg}  {elapsed} gone, {eta} to go")
                .expect("a valid template")
                .progress_chars("━━╌");
            ProgressBar::new(1000).with_style(style).with_message(format!("0 of {count} instances"))
        });
        let now = Instant::now();
        let shown = Mutex::new(Shown { results, failed: None, done: 0.0, found: 0, last_line: now });
        Ok(Self { bar, with, count, started: now, shown })
    }

    /// Takes the bar away; what was found, or why it could not be written.
    pub fn end(self) -> Result<Results<T>> {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let shown = self.shown.into_inner().unwrap_or_else(|poison| poison.into_inner());
        shown.failed.map_or(Ok(shown.results), Err)
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, Shown<T>> {
        self.shown.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}

impl<T: Record + Clone + Serialize + DeserializeOwned + Send> Listen<T> for Screen<T> {
    fn stop(&self) -> bool {
        stop::asked()
    }

    fn advance(&self, share: f64) {
        let mut shown = self.shown();
        shown.done += share;
        match &self.bar {
            Some(bar) => bar.set_position((1000.0 * shown.done) as u64),
            None if shown.last_line.elapsed() > Duration::from_secs(10) => {
                shown.last_line = Instant::now();
                let gone = self.started.elapsed().as_secs_f64();
                let eta = gone / shown.done * (1.0 - shown.done);
                note!("{} of {} instances, {:.0} %, {eta:.0} s to go", shown.found, self.count, 100.0 * shown.done);
            }
            None => {}
        }
    }

    fn found(&self, found: Vec<T>) {
        let mut shown = self.shown();
        shown.found += found.len();
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{} of {} instances", shown.found, self.count));
        }
        for found in found {
            let begins = self.with.as_ref().map(|(problem, request)| request.beginning(problem, found.instance()));
            if let Err(error) = shown.results.add(found, begins.as_ref()) {
                shown.failed.get_or_insert(error);
                // There is no use in finding what cannot be written.
                stop::ask();
            }
        }
    }
}
