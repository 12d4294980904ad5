//! Derivatives of one tick without a policy.

use super::closed_loop::ClosedLoop;
use super::tick::Tick;
use cinoc::internal::budget;
use cinoc::policy::ZeroControl;
use cinoc::{Error, Problem};
use cinoc_tape::Params;
use nalgebra::DMatrix;

/// Rows of a Jacobian that are computed together.
const ROWS: usize = 32;

/// Returns the derivatives of the field after a tick, at a field of zero with agents at their regular positions: with
/// respect to the field before it, and to all actions.
pub fn derivatives(problem: &Problem, agents: usize) -> Result<(DMatrix<f64>, DMatrix<f64>), Error> {
    let (nodes, actions) = (problem.stepper.grid().count(), agents * problem.swarm.action_width());
    let bytes = 3.0 * size_of::<f64>() as f64 * nodes as f64 * (nodes + actions) as f64;
    budget::check(&format!("the derivatives of {nodes} nodes"), bytes)?;
    let (idle, none) = (ZeroControl { action_width: problem.swarm.action_width() }, Params::default());
    let closed = ClosedLoop::new(problem, &idle, &none, agents)?;
    let mut tick = Tick::new(&closed, ROWS);
    tick.next(&closed.rest().repeat(ROWS));
    let mut all = Vec::with_capacity(nodes * (nodes + actions));
    for first in (0..nodes).step_by(ROWS) {
        let mut rows = vec![0.0; ROWS * (nodes + actions)];
        let count = ROWS.min(nodes - first);
        (0..count).for_each(|i| rows[i * (nodes + actions) + first + i] = 1.0);
        all.extend_from_slice(&tick.pull(&rows)[..count * (nodes + actions)]);
    }
    let both = DMatrix::from_row_slice(nodes, nodes + actions, &all);
    Ok((both.columns(0, nodes).into_owned(), both.columns(nodes, actions).into_owned()))
}
