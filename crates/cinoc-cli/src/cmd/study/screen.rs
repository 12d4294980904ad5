//! Progress of a study.

use crate::progress::Meter;

/// Jobs done of all jobs.
pub struct StudyScreen {
    meter: Meter,
    jobs: usize,
    done: usize,
}

impl StudyScreen {
    /// For a number of jobs.
    pub fn new(jobs: usize) -> Self {
        Self { meter: Meter::new(0.0, "study"), jobs, done: 0 }
    }

    /// Says what is being done.
    pub fn tell(&mut self, text: &str) {
        self.meter.tell(format!("{}/{}  {text}", self.done, self.jobs));
    }

    /// Says how much of the training that a job needs is done.
    pub fn train(&mut self, share: f64, text: &str) {
        self.meter.set((self.done as f64 + 0.9 * share) / self.jobs.max(1) as f64);
        self.tell(text);
    }

    /// Counts a job as done.
    pub fn step(&mut self) {
        self.done += 1;
        self.meter.set(self.done as f64 / self.jobs as f64);
    }

    /// Ends the progress.
    pub fn end(&self) {
        self.meter.clear();
    }
}
