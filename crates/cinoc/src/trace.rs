//! One recorded episode, for plots and files.

use crate::env::Env;
use crate::evaluate::{Request, check_policy};
use crate::policy::{Policy, ZeroControl};
use crate::threads::Threads;
use crate::{Error, Problem, Real, budget};
use cinoc_tape::Params;
use std::sync::Arc;

/// One episode, tick by tick from the start.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Fields.
    pub z: Vec<Vec<Real>>,
    /// Positions, `[agents, d]`.
    pub xi: Vec<Vec<Real>>,
    /// Actions, `[agents, k]`; one fewer than fields.
    pub action: Vec<Vec<Real>>,
    /// Active agents, `[agents]`.
    pub alive: Vec<Vec<bool>>,
    /// Target field.
    pub target: Vec<Real>,
    /// Number of uncontrolled ticks at the beginning.
    pub before: usize,
    /// Time at which control is switched on.
    pub begins: f64,
    /// Tick after which a value was not finite, counted from the start of control.
    pub diverged: Option<usize>,
    /// Score, infinite if the episode diverged.
    pub score: f64,
}

impl Trace {
    fn watch(&mut self, env: &Env) {
        if env.ticks_elapsed(0) > 0 {
            self.action.push(env.action(0).to_vec());
        }
        self.z.push(env.field(0).to_vec());
        self.xi.push(env.positions(0).to_vec());
        self.alive.push(env.strength(0).iter().map(|strength| *strength > 0.0).collect());
    }
}

/// Records one instance; the policy takes over after `before` uncontrolled ticks.
pub fn trace(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    request: &Request,
    instance: usize,
    before: usize,
) -> Result<Trace, Error> {
    check_policy(policy, request.agents, 1)?;
    keep(problem, request.agents, before)?;
    let mut env = Env::new(problem.clone(), 1, request.agents, Threads::single())?;
    let mut beginning = request.beginning(problem, instance);
    let begins = problem.task.begins(beginning.noise) * problem.tick_time();
    let mut trace = Trace { target: beginning.target.clone(), before, begins, ..Trace::default() };
    let failures = std::mem::take(&mut beginning.failures);
    let mut left = before;
    while left > 0 {
        env.reset(&[true], &mut |_| beginning.clone());
        trace.watch(&env);
        let zero = ZeroControl { action_width: problem.swarm.action_width() };
        let now = left.min(problem.ticks);
        env.run(&zero, &Params::default(), now, &mut |env| trace.watch(env));
        if env.last_step().diverged[0] {
            (trace.diverged, trace.score) = (Some(0), f64::INFINITY);
            return Ok(trace);
        }
        (beginning.start, beginning.positions) = (env.field(0).to_vec(), env.positions(0).to_vec());
        // The next part begins with the state that this one ended with.
        trace.z.pop();
        trace.xi.pop();
        trace.alive.pop();
        left -= now;
    }
    beginning.failures = failures;
    env.reset(&[true], &mut |_| beginning.clone());
    trace.watch(&env);
    env.run(policy, params, problem.ticks, &mut |env| trace.watch(env));
    trace.diverged = env.last_step().diverged[0].then(|| env.ticks_elapsed(0));
    trace.score = if trace.diverged.is_some() { f64::INFINITY } else { env.measures(0)[0] };
    Ok(trace)
}

/// Rejects a recording that does not fit into memory.
fn keep(problem: &Problem, agents: usize, before: usize) -> Result<(), Error> {
    let width = problem.swarm.dimensions() + problem.swarm.action_width() + 1;
    let moment = problem.stepper.state_count() as f64 + agents as f64 * width as f64;
    let ticks = problem.ticks as f64 + before as f64;
    budget::check(&format!("a record of {ticks} ticks"), size_of::<Real>() as f64 * ticks * moment)
}
