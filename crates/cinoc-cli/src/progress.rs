//! Progress of long commands: a bar on a terminal, a line every few seconds elsewhere, both with the time to go.

use crate::out::{note, terminal};
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Parts that a bar is divided into.
const PARTS: f64 = 10_000.0;

/// Time between two lines where there is no terminal.
const PAUSE: Duration = Duration::from_secs(10);

/// The progress of one piece of work, from 0 to 1.
pub struct Meter {
    bar: Option<ProgressBar>,
    started: Instant,
    /// The share that was done before.
    first: f64,
    state: Mutex<State>,
}

struct State {
    share: f64,
    text: String,
    last_line: Instant,
}

impl Meter {
    /// Starts at `share`, with a few words about the work.
    pub fn new(share: f64, text: &str) -> Self {
        let bar = terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}  {elapsed} gone, {eta} to go")
                .expect("a valid template")
                .progress_chars("━━╌");
            let bar = ProgressBar::new(PARTS as u64).with_style(style).with_message(text.to_owned());
            bar.set_position((PARTS * share) as u64);
            bar.reset_eta();
            // A step may take long; the clock keeps running.
            bar.enable_steady_tick(Duration::from_secs(1));
            bar
        });
        let now = Instant::now();
        Self { bar, started: now, first: share, state: Mutex::new(State { share, text: text.into(), last_line: now }) }
    }

    /// Sets the share that is done.
    pub fn set(&self, share: f64) {
        let mut state = self.state();
        state.share = share;
        self.show(&mut state);
    }

    /// Adds to the share that is done.
    pub fn add(&self, share: f64) {
        let mut state = self.state();
        state.share += share;
        self.show(&mut state);
    }

    /// Says what is being done.
    pub fn tell(&self, text: impl Into<String>) {
        let mut state = self.state();
        state.text = text.into();
        self.show(&mut state);
    }

    /// Prints a line now, where there is no bar.
    pub fn line(&self) {
        let mut state = self.state();
        if self.bar.is_none() {
            self.print(&mut state);
        }
    }

    /// Prints to standard output without disturbing the bar.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Leaves the bar as it is.
    pub fn keep(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }

    fn show(&self, state: &mut State) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(state.text.clone());
                bar.set_position((PARTS * state.share) as u64);
            }
            None if state.last_line.elapsed() > PAUSE => self.print(state),
            None => {}
        }
    }

    fn print(&self, state: &mut State) {
        state.last_line = Instant::now();
        let (done, left) = (state.share - self.first, 1.0 - state.share);
        let percent = 100.0 * state.share;
        if done > 0.0 {
            let eta = self.started.elapsed().as_secs_f64() / done * left.max(0.0);
            note!("{percent:3.0} %  {}  {eta:.0} s to go", state.text);
        } else {
            note!("{percent:3.0} %  {}", state.text);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}

impl Drop for Meter {
    /// An error in between takes the bar away.
    fn drop(&mut self) {
        if let Some(bar) = self.bar.as_ref().filter(|bar| !bar.is_finished()) {
            bar.finish_and_clear();
        }
    }
}
