//! What is possible: the best actions for each instance by itself, found with gradients through the solver and with all that is to come known,
//! the noise of actuators too: a search meets the noise that an environment does, and may answer it before it comes.
//!
//! No policy that sees a window of the field and decides as it goes can be expected to do as well; how near it comes is its optimality gap.

mod bound;
mod group;
mod horizon;
mod lbfgs;
mod objective;
mod room;
mod spread;
mod summary;

pub use bound::Bound;
pub use horizon::{Horizon, Receded, recede};
pub use lbfgs::{Lbfgs, Rules, State};
pub use objective::{Goal, Objective};
pub use summary::Spread;

use crate::evaluate::{self, Request};
use crate::number;
use crate::place::Places;
use crate::policy::Policy;
use crate::threads::Threads;
use crate::{Error, Problem, Real};
use cinoc_tape::Params;
use serde::{Deserialize, Serialize};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// What is made small.
    pub goal: Goal,
    /// Most iterations of each instance.
    pub iterations: usize,
    /// A search has converged when the last fifty iterations lowered the goal by less than this share.
    pub tolerance: f64,
}

/// Pairs that a search remembers: the fewest, about as many numbers as this over the unknowns, the most.
const PAIRS: (usize, usize, usize) = (10, 2_000_000, 150);

impl Search {
    /// With the usual effort.
    pub fn new(goal: Goal) -> Self {
        Self { goal, iterations: 3000, tolerance: 2e-3 }
    }

    /// For so many unknowns. A long memory pays, a rollout costing what it does; of large swarms it is shorter.
    fn rules(&self, unknowns: usize) -> Rules {
        let memory = (PAIRS.1 / unknowns.max(1)).clamp(PAIRS.0, PAIRS.2);
        Rules { memory, iterations: self.iterations, flat: (50, self.tolerance) }
    }
}

/// Where the search began that found the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// The actions of a policy.
    Policy,
    /// Nobody does anything.
    Zero,
    /// Small random actions.
    Random,
}

/// The best that was found for an instance. Values are of the goal: scores, or costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Which instance.
    pub instance: usize,
    /// The value where nobody does anything.
    #[serde(with = "number")]
    pub uncontrolled: f64,
    /// The value under the policy, where there is one.
    #[serde(default, with = "number::option")]
    pub policy: Option<f64>,
    /// The lowest value found.
    #[serde(with = "number")]
    pub optimum: f64,
    /// Where the search began that found it.
    pub from: From,
    /// Its iterations.
    pub iterations: usize,
    /// Rollouts with gradient, of all searches for this instance.
    pub evaluations: usize,
    /// Norm of the gradient in the end over that at first.
    #[serde(with = "number")]
    pub gradient_fall: f64,
    /// Why the search ended.
    pub ended: State,
    /// Whether more iterations would have changed little; not so where rounding ended the search before.
    pub converged: bool,
    /// What unlimited pushes could reach with all agents standing still, where the equation is linear: a bound for agents that do stand still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_unlimited_static: Option<f64>,
    /// Time that it took; searches that were computed together share theirs equally.
    #[serde(with = "number")]
    pub seconds: f64,
    /// The actions, `[ticks, agents, k]`.
    #[serde(skip)]
    pub actions: Vec<Real>,
}

impl Record for Found {
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

/// What was found for one instance.
pub trait Record {
    /// Which instance.
    fn instance(&self) -> usize;

    /// The actions, `[ticks, agents, k]`.
    fn actions(&self) -> &[Real];

    /// The same, to be put in place after a journey: they are no part of a record's text.
    fn actions_mut(&mut self) -> &mut Vec<Real>;
}

/// What is told while searches go on, from any thread. With several ranks every one is told everything, whoever found it.
pub trait Listen<T>: Sync {
    /// Whether to stop; what is not finished then is dropped. All ranks stop if one is told to.
    fn stop(&self) -> bool {
        false
    }

    /// The share of all work that is done has grown by this much.
    fn advance(&self, _share: f64) {}

    /// Some instances are finished.
    fn found(&self, found: Vec<T>);
}

/// Instances that are searched together, and the most nodes of theirs: many share the cost of an operation, few stay in the cache.
const TOGETHER: (usize, usize) = (4, 1 << 13);

/// Searches for the best actions of the instances `which` of a request; a policy's actions are one of the places where searches begin.
///
/// What is found for an instance does not depend on the others nor on the number of threads and ranks.
pub fn search(
    problem: &Problem,
    policy: Option<(&dyn Policy, &Params)>,
    request: &Request,
    which: &[usize],
    search: &Search,
    threads: &Threads,
    listen: &dyn Listen<Found>,
) -> Result<(), Error> {
    let workers = threads.count() * threads.ranks().count();
    let together = (TOGETHER.1 / problem.stepper.grid().count()).clamp(1, TOGETHER.0).min(which.len().div_ceil(workers));
    let groups: Vec<&[usize]> = which.chunks(together.max(1)).collect();
    let ticks = Objective::ticks_of(problem, search.goal);
    if let Some((policy, _)) = policy {
        evaluate::decide(policy, request.agents, which.len())?;
    }
    // Where there is a policy a third search begins with what it does.
    let at_once = groups.len().min(threads.count()) * together * if policy.is_some() { 3 } else { 2 };
    room::afford(problem, request.agents, ticks, at_once, |unknowns| search.rules(unknowns).memory)?;
    let bound = match (search.goal, which.first()) {
        // Its responses are those of agents at the same places.
        (Goal::Score, Some(&first)) if request.places == Places::Lattice => {
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
