//! Memory that searches take.

use crate::{Error, Problem, memory};

/// Refuses so many searches at a time for the actions of `ticks` ticks that do not fit into memory: with what each remembers, with their rollouts,
/// and with the responses of the bound of standing agents.
pub fn afford(
    problem: &Problem,
    agents: usize,
    ticks: usize,
    searches: usize,
    pairs: impl Fn(usize) -> usize,
) -> Result<(), Error> {
    let unknowns = ticks.saturating_mul(agents).saturating_mul(problem.swarm.action_width());
    let nodes = problem.stepper.grid().count() as f64;
    let each = unknowns as f64 * (2 * pairs(unknowns) + 6) as f64 + ticks as f64 * nodes;
    let numbers = searches as f64 * each + unknowns as f64 * nodes;
    memory::afford(
        &format!("the search for the actions of {agents} agents over {ticks} ticks"),
        size_of::<f64>() as f64 * numbers,
    )
}
