//! The optimality gap of a policy.

use super::file::Results;
use super::report;
use super::screen::SearchScreen;
use crate::cmd::train::Stopped;
use anyhow::Result;
use cinoc::Problem;
use cinoc::evaluate::Request;
use cinoc::internal::threads::Threads;
use cinoc::policy::Policy;
use cinoc::tape::Params;
use cinoc_lab::optimum::{Goal, Search, search};
use serde_json::Value;

/// The optimality gap on the first `count` instances of a request, as `cinoc optimum --json` reports it.
pub fn gap(
    problem: &Problem,
    policy: &dyn Policy,
    params: &Params,
    request: &Request,
    count: usize,
    threads: &Threads,
) -> Result<Value> {
    let which: Vec<usize> = (0..count.min(request.instances)).collect();
    let screen = SearchScreen::new(Results::open(None, Value::Null)?, which.len(), None)?;
    search(problem, Some((policy, params)), request, &which, &Search::new(Goal::Score), threads, &screen)?;
    let found = screen.end()?.of(which.len());
    if found.len() < which.len() {
        return Err(Stopped("Stopped. The scores are complete, the optima are not; ask for fewer with --optimum N".into()).into());
    }
    Ok(report::of_found(&found))
}
