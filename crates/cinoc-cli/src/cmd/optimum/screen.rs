//! Progress of searches.

use super::file::Results;
use crate::progress::Meter;
use crate::stop;
use anyhow::Result;
use cinoc::Problem;
use cinoc::evaluate::Request;
use cinoc_lab::optimum::{Listen, Record};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex};

/// Shows progress; results are written at once.
pub struct SearchScreen<T> {
    meter: Meter,
    /// The instances whose initial conditions are kept beside the results.
    with: Option<(Arc<Problem>, Request)>,
    count: usize,
    state: Mutex<State<T>>,
}

struct State<T> {
    results: Results<T>,
    failed: Option<anyhow::Error>,
    found: usize,
}

impl<T> SearchScreen<T> {
    /// For `count` instances.
    pub fn new(results: Results<T>, count: usize, with: Option<(Arc<Problem>, Request)>) -> Result<Self> {
        // From here on a signal drops the instances at hand.
        stop::listen()?;
        let meter = Meter::new(0.0, &format!("optimum of 0 of {count} instances"));
        Ok(Self { meter, with, count, state: Mutex::new(State { results, failed: None, found: 0 }) })
    }

    /// Ends the progress and returns the results, or the error of writing them.
    pub fn end(self) -> Result<Results<T>> {
        self.meter.clear();
        let state = self.state.into_inner().unwrap_or_else(|poison| poison.into_inner());
        state.failed.map_or(Ok(state.results), Err)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}

impl<T: Record + Clone + Serialize + DeserializeOwned + Send> Listen<T> for SearchScreen<T> {
    fn stop(&self) -> bool {
        stop::asked()
    }

    fn advance(&self, share: f64) {
        self.meter.add(share);
    }

    fn found(&self, found: Vec<T>) {
        let mut state = self.state();
        state.found += found.len();
        self.meter.tell(format!("optimum of {} of {} instances", state.found, self.count));
        for found in found {
            let begins = self.with.as_ref().map(|(problem, request)| request.beginning(problem, found.instance()));
            if let Err(error) = state.results.add(found, begins.as_ref()) {
                state.failed.get_or_insert(error);
                // Results that cannot be written are not worth finding.
                stop::ask();
            }
        }
    }
}
