//! Scores on held-out instances.

use super::data::prepare;
use super::policy::Policy;
use super::{cinoc, told};
use crate::arrays::{Size, finite, maybe, numbers};
use crate::fault::{engine, explained, wrong};
use cinoc::Real;
use cinoc::evaluate::{Detailed, Request, SHARD, Scores, compare, scores_of};
use cinoc::internal::budget;
use cinoc::internal::random::Split;
use cinoc::internal::threads::Threads;
use cinoc::policy::ZeroControl;
use cinoc::tape::Params;
use pyo3::prelude::*;

/// One row of `cinoc eval`, as JSON, with the score of every instance.
#[pyfunction]
#[pyo3(signature = (policy, agents, instances, seed, fail, fail_at, threads, starts = None, targets = None))]
pub fn evaluate(
    py: Python<'_>,
    policy: &Bound<'_, Policy>,
    agents: Option<usize>,
    instances: usize,
    seed: u64,
    fail: f64,
    fail_at: f64,
    threads: usize,
    starts: Option<&Bound<'_, PyAny>>,
    targets: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let net = policy.get().net();
    let problem = &net.problem.inner;
    let agents = agents.unwrap_or(problem.agents);
    if instances == 0 || agents == 0 {
        return Err(wrong("instances and agents must be 1 or more"));
    }
    for (what, share) in [("fail", fail), ("fail_at", fail_at)] {
        if !(0.0..=1.0).contains(&share) {
            return Err(wrong(format!("{what} cannot be {share}; it must be a share from 0 to 1")));
        }
    }
    if let Some(most) = problem.task.attractor().map(|attractor| attractor.size(Split::Test)).filter(|most| instances > *most)
        && starts.is_none()
    {
        let text = format!(
            "each seed has {most} held-out states; ask for {most} instances or fewer, or for more with data.test_states={instances}"
        );
        return Err(explained(text));
    }
    let mut shape: Vec<Size> = net.problem.fields(0).into_iter().map(Some).collect();
    shape[0] = None;
    let own = |what: &str, array: Option<&Bound<'_, PyAny>>| -> PyResult<Vec<Vec<Real>>> {
        let Some(array) = maybe::<Real>(what, array, &shape)? else { return Ok(Vec::new()) };
        finite(what, numbers(&array))?;
        Ok(numbers(&array).chunks_exact(problem.stepper.state_count()).map(<[Real]>::to_vec).collect())
    };
    let (starts, targets) = (own("starts", starts)?, own("targets", targets)?);
    let request = Request { fail, fail_at, starts, targets, ..Request::test(agents, instances, seed) };
    budget::check(&format!("{instances} scores"), 1000.0 * instances as f64).map_err(told)?;
    let threads = Threads::new(threads).map_err(told)?;
    if request.starts.is_empty() || request.targets.is_empty() {
        prepare(py, problem, &[Split::Test], &[seed])?;
    }
    let idle = ZeroControl { action_width: problem.swarm.action_width() };
    let (mut controlled, mut free) = (Scores::default(), Scores::default());
    // In pieces, so that a user can stop it.
    let piece = SHARD * threads.count();
    for first in (0..instances).step_by(piece) {
        let indices = first..(first + piece).min(instances);
        let found = engine(py, || {
            let with = scores_of(problem, &*net.policy, &net.model.params, &request, indices.clone(), &threads)?;
            Ok((with, scores_of(problem, &idle, &Params::default(), &request, indices, &threads)?))
        })?;
        let (with, without) = found.map_err(told)?;
        controlled.extend(with);
        free.extend(without);
        py.check_signals()?;
    }
    let row = engine(py, || Detailed::new(compare(problem, &net.name, &request, &controlled, &free), &controlled, &free))?;
    serde_json::to_string(&row).map_err(explained)
}
