//! The best actions from the state that lanes begin with.

use crate::Stage;
use cinoc::env::Env;
use cinoc::internal::threads::Threads;
use cinoc::{Error, Real};
use cinoc_lab::optimum::{Goal, Lbfgs, Objective, Rules, State};

/// Pairs of steps and gradients that a search keeps.
const MEMORY: usize = 60;

/// Progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Iterations made, of all that may be made.
    pub share: f64,
    /// The goal under the actions of the policy.
    pub policy: f64,
    /// The goal under the best actions so far.
    pub best: f64,
}

/// Searches as `cinoc optimum` does, from the actions of the policy only, and reports after each iteration.
///
/// The goal is the score; where that has no derivative, the cost of training. Returns the actions, `[ticks, agents, k]`.
pub fn search(stage: &Stage, iterations: usize, tell: &mut dyn FnMut(Progress)) -> Result<Vec<Real>, Error> {
    let (problem, beginning) = (&**stage.problem(), stage.beginning());
    let agents = beginning.positions.len() / problem.swarm.dimensions();
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
    // A search begins slightly inside the limits, so a policy that is at them may be better.
    let better = objective.measure(std::slice::from_ref(&found))[0] < policy;
    Ok(if better { found } else { decided })
}

/// The actions of the policy from the state that lanes begin with.
fn decided(stage: &Stage, agents: usize, ticks: usize) -> Result<Vec<Real>, Error> {
    let mut env = Env::new(stage.problem().clone(), 1, agents, Threads::single())?;
    let (policy, params) = stage.policy();
    env.reset(&[true], &mut |_| stage.beginning().clone());
    let mut actions = Vec::with_capacity(ticks * env.action_len());
    env.run(policy, params, ticks, &mut |env| actions.extend_from_slice(env.action(0)));
    actions.iter_mut().filter(|action| !action.is_finite()).for_each(|action| *action = 0.0);
    Ok(actions)
}
