//! Optimal open-loop control: the best actions for each instance separately, found by gradient search through the
//! solver with full knowledge of the future, including actuator noise.
//!
//! A policy that observes a window of the field and decides online cannot be expected to do as well; its distance from
//! the optimum is the optimality gap.
//!
//! ```
//! use cinoc::evaluate::Request;
//! use cinoc_lab::optimum::{Goal, Objective};
//!
//! // Value and gradient of ln(score) of one episode with respect to all its actions, at zero control.
//! let heat = cinoc::problem("heat1d")?.with(&["physics.ticks=20"])?;
//! let request = Request::test(4, 1, 0);
//! let mut objective = Objective::new(heat.problem(), Goal::Score, 20, 4, 1)?;
//! objective.begin(vec![request.beginning(heat.problem(), 0)]);
//! let (mut value, mut gradient) = ([0.0], [Vec::new()]);
//! objective.evaluate(&[&vec![0.0; objective.unknowns()]], &mut value, &mut gradient);
//! assert!(value[0].is_finite() && gradient[0].len() == 20 * 4 * 2);
//! # Ok::<(), cinoc::Error>(())
//! ```
//!
//! [`search`] minimises this objective by L-BFGS for many instances at once.

mod bound;
mod group;
mod horizon;
mod lbfgs;
mod objective;
mod spread;
mod summary;

pub use bound::Bound;
pub use horizon::{Horizon, RecedingRecord, recede};
pub use lbfgs::{Lbfgs, Rules, State};
pub use objective::{Goal, Objective};
pub use summary::Spread;

use cinoc::evaluate::{self, Request};
use cinoc::internal::budget;
use cinoc::internal::number;
use cinoc::internal::place::Placement;
use cinoc::internal::threads::Threads;
use cinoc::policy::Policy;
use cinoc::{Error, Problem, Real};
use cinoc_tape::Params;
use serde::{Deserialize, Serialize};

/// Settings of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Minimised quantity.
    pub goal: Goal,
    /// Maximum number of iterations for each instance.
    pub iterations: usize,
    /// Convergence threshold: relative decrease of the goal over the last fifty iterations.
    pub tolerance: f64,
}

/// Number of pairs a search keeps: the minimum, about this many numbers over the unknowns, the maximum.
const PAIRS: (usize, usize, usize) = (10, 2_000_000, 150);

impl Search {
    /// Creates a search with the default effort.
    pub fn new(goal: Goal) -> Self {
        Self { goal, iterations: 3000, tolerance: 2e-3 }
    }

    /// Returns the rules for a number of unknowns. A long memory pays off since rollouts are expensive; for large
    /// swarms it is shorter.
    fn rules(&self, unknowns: usize) -> Rules {
        let memory = (PAIRS.1 / unknowns.max(1)).clamp(PAIRS.0, PAIRS.2);
        Rules { memory, iterations: self.iterations, flat: (50, self.tolerance) }
    }
}

/// Initial guess of the search that found the optimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InitialGuess {
    /// Actions of a policy.
    Policy,
    /// Zero control.
    Zero,
    /// Small random actions.
    Random,
}

/// Best result for an instance. Values are those of the goal: scores, or costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimumRecord {
    /// Index of the instance.
    pub instance: usize,
    /// Value under zero control.
    #[serde(with = "number")]
    pub uncontrolled: f64,
    /// Value under the policy, if there is one.
    #[serde(default, with = "number::option")]
    pub policy: Option<f64>,
    /// Lowest value found.
    #[serde(with = "number")]
    pub optimum: f64,
    /// Initial guess of the search that found it.
    pub from: InitialGuess,
    /// Iterations of that search.
    pub iterations: usize,
    /// Rollouts with gradient over all searches for this instance.
    pub evaluations: usize,
    /// Final norm of the gradient relative to the initial one.
    #[serde(with = "number")]
    pub gradient_fall: f64,
    /// Reason why the search ended.
    pub ended: State,
    /// True if more iterations would have changed little; false if rounding ended the search before.
    pub converged: bool,
    /// Lower bound for unlimited pushes of static agents, where the equation is linear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_unlimited_static: Option<f64>,
    /// Time in seconds; searches computed together share theirs equally.
    #[serde(with = "number")]
    pub seconds: f64,
    /// Actions, `[ticks, agents, k]`.
    #[serde(skip)]
    pub actions: Vec<Real>,
}

impl Record for OptimumRecord {
    fn instance(&self) -> usize {
        self.instance
    }

    fn actions(&self) -> &[Real] {
        &self.actions
    }

    fn actions_mut(&mut self) -> &mut Vec<Real> {
        &mut self.actions
    }
}

/// Result of one instance.
pub trait Record {
    /// Returns the index of the instance.
    fn instance(&self) -> usize;

    /// Returns the actions, `[ticks, agents, k]`.
    fn actions(&self) -> &[Real];

    /// Returns the actions to be set after transmission: they are not part of a record's text.
    fn actions_mut(&mut self) -> &mut Vec<Real>;
}

/// Callbacks during searches, from any thread. With several ranks every rank is told everything.
pub trait Listen<T>: Sync {
    /// Returns true to stop; unfinished work is dropped. All ranks stop if one returns true.
    fn stop(&self) -> bool {
        false
    }

    /// Reports that the finished share of all work has grown by this much.
    fn advance(&self, _share: f64) {}

    /// Reports finished instances.
    fn found(&self, found: Vec<T>);
}

/// Number of instances that are searched together, and their maximum number of nodes: many share the overhead of
/// operations, few stay in the cache.
const TOGETHER: (usize, usize) = (4, 1 << 13);

/// Searches for the optimal actions of the instances `which` of a request; the actions of a policy serve as one initial
/// guess.
///
/// The result for an instance does not depend on the others nor on the number of threads and ranks.
pub fn search(
    problem: &Problem,
    policy: Option<(&dyn Policy, &Params)>,
    request: &Request,
    which: &[usize],
    search: &Search,
    threads: &Threads,
    listen: &dyn Listen<OptimumRecord>,
) -> Result<(), Error> {
    let workers = threads.count() * threads.ranks().count();
    let together = (TOGETHER.1 / problem.stepper.state_count()).clamp(1, TOGETHER.0).min(which.len().div_ceil(workers));
    let groups: Vec<&[usize]> = which.chunks(together.max(1)).collect();
    let ticks = Objective::ticks_of(problem, search.goal);
    if let Some((policy, _)) = policy {
        evaluate::check_policy(policy, request.agents, which.len())?;
    }
    // With a policy, a third search starts from its actions.
    let at_once = groups.len().min(threads.count()) * together * if policy.is_some() { 3 } else { 2 };
    check_memory(problem, request.agents, ticks, at_once, |unknowns| search.rules(unknowns).memory)?;
    let bound = match (search.goal, which.first()) {
        // Its responses are those of agents at the same positions.
        (Goal::Score, Some(&first)) if request.places == Placement::Lattice => {
            Bound::new(problem, &request.beginning(problem, first), request.agents)
        }
        _ => None,
    };
    spread::spread(threads, groups.len(), listen, |g, listen| {
        if !listen.stop() {
            let share = groups[g].len() as f64 / which.len() as f64;
            let progress = |part: f64| listen.advance(part * share);
            let found = group::search(problem, policy, request, groups[g], search, &|| listen.stop(), &progress)?;
            if let Some(mut found) = found {
                for found in found.iter_mut() {
                    let begins = || request.beginning(problem, found.instance);
                    found.bound_unlimited_static = bound.as_ref().map(|bound| bound.of(&begins()));
                }
                listen.found(found);
            }
        }
        Ok(())
    })
}

/// Returns an error if searches for the actions of `ticks` ticks do not fit into memory: the pairs they keep, their
/// rollouts, and the responses of the bound for static agents.
fn check_memory(
    problem: &Problem,
    agents: usize,
    ticks: usize,
    searches: usize,
    pairs: impl Fn(usize) -> usize,
) -> Result<(), Error> {
    let unknowns = ticks.saturating_mul(agents).saturating_mul(problem.swarm.action_width());
    let nodes = problem.stepper.state_count() as f64;
    let each = unknowns as f64 * (2 * pairs(unknowns) + 6) as f64 + ticks as f64 * nodes;
    let numbers = searches as f64 * each + unknowns as f64 * nodes;
    let what = format!("the search for the actions of {agents} agents over {ticks} ticks");
    budget::check(&what, size_of::<f64>() as f64 * numbers)
}
