//! The best actions from where the lanes begin.

use crate::Stage;
use cinoc::env::Env;
use cinoc::optimum::{Goal, Lbfgs, Objective, Rules, State};
use cinoc::threads::Threads;
use cinoc::{Error, Real};

/// Pairs of steps and gradients that a search remembers.
const MEMORY: usize = 60;

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Iterations made, of all that may be made.
    pub share: f64,
    /// The goal under the actions of the policy.
    pub policy: f64,
    /// The goal under the best actions so far.
    pub best: f64,
}

/// Searches as `cinoc optimum` does, from the actions of the policy alone, and tells after each iteration how far it is.
///
/// The goal is the score; where that has no derivative, the cost of training. Returns the actions, `[ticks, agents, k]`.
pub fn search(stage: &Stage, iterations: usize, tell: &mut dyn FnMut(Progress)) -> Result<Vec<Real>, Error> {
    let (problem, beginning) = (&**stage.problem(), stage.beginning());
    let agents = beginning.places.len() / problem.swarm.dimensions();
    let goal = if problem.task.square_in_score(1, 1).is_some() { Goal::Score } else { Goal::Cost };
    let ticks = Objective::ticks_of(problem, goal);
    let mut objective = Objective::new(problem, goal, ticks, agents, 1)?;
    objective.begin(vec![beginning.clone()]);
    let decided = decided(stage, agents, ticks)?;
    let policy = objective.measure(std::slice::from_ref(&decided))[0];
    let rules = Rules { memory: MEMORY, iterations, flat: (50, 2e-3) };
    let mut search = Lbfgs::new(objective.unknowns_of(&decided), rules);
    let (mut value, mut gradient) = ([0.0], [Vec::new()]);
    while search.state == State::Searching {
        let before = search.iterations;
        objective.evaluate(&[search.trial()], &mut value, &mut gradient);
        search.tell(value[0], &gradient[0]);
        if search.iterations > before {
            tell(Progress { share: search.iterations as f64 / iterations as f64, policy, best: search.value.exp() });
        }
    }
    let found = objective.actions(&search.x);
    // A search begins a little inside the limits, so a policy that is at them may be better.
    let better = objective.measure(std::slice::from_ref(&found))[0] < policy;
    Ok(if better { found } else { decided })
}

/// What the policy does from where the lanes begin.
fn decided(stage: &Stage, agents: usize, ticks: usize) -> Result<Vec<Real>, Error> {
    let mut env = Env::new(stage.problem().clone(), 1, agents, Threads::one())?;
    let (policy, params) = stage.policy();
    env.reset(&[true], &mut |_| stage.beginning().clone());
    let mut actions = Vec::with_capacity(ticks * env.actions());
    env.run(policy, params, ticks, &mut |env| actions.extend_from_slice(env.action(0)));
    actions.iter_mut().filter(|action| !action.is_finite()).for_each(|action| *action = 0.0);
    Ok(actions)
}
