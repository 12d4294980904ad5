//! One episode as numbers, for drawing and for files.

use crate::env::Env;
use crate::evaluate::{Request, decide};
use crate::policy::{Idle, Policy};
use crate::threads::Threads;
use crate::{Error, Problem, Real, memory};
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
    /// Who is alive.
    pub alive: Vec<Vec<bool>>,
    /// The field to be reached.
    pub target: Vec<Real>,
    /// Ticks at the beginning in which nobody acts.
    pub before: usize,
    /// The tick after which a number was no longer finite, counted from when control began.
    pub diverged: Option<usize>,
    /// The score of the task, infinite where it diverged.
    pub score: f64,
}

impl Trace {
    fn watch(&mut self, env: &Env) {
        if env.tick(0) > 0 {
            self.action.push(env.action(0).to_vec());
        }
        self.z.push(env.field(0).to_vec());
        self.xi.push(env.positions(0).to_vec());
        self.alive.push(env.strength(0).iter().map(|strength| *strength > 0.0).collect());
    }
}

/// Rolls out one instance and keeps everything; the policy takes over after `before` ticks in which nobody acts.
pub fn trace(
    problem: &Arc<Problem>,
    policy: &dyn Policy,
    params: &Params,
    request: &Request,
    instance: usize,
    before: usize,
) -> Result<Trace, Error> {
    decide(policy, request.agents, 1)?;
    keep(problem, request.agents, before)?;
    let mut env = Env::new(problem.clone(), 1, request.agents, Threads::one())?;
    let mut beginning = request.beginning(problem, instance);
    let mut trace = Trace { target: beginning.target.clone(), before, ..Trace::default() };
    let deaths = std::mem::take(&mut beginning.deaths);
    let mut left = before;
    while left > 0 {
        env.reset(&[true], &mut |_| beginning.clone());
        trace.watch(&env);
        let nobody = Idle { action_width: problem.swarm.action_width() };
        let now = left.min(problem.ticks);
        env.run(&nobody, &Params::default(), now, &mut |env| trace.watch(env));
        if env.last().diverged[0] {
            (trace.diverged, trace.score) = (Some(0), f64::INFINITY);
            return Ok(trace);
        }
        (beginning.start, beginning.places) = (env.field(0).to_vec(), env.positions(0).to_vec());
        // What follows begins with the moment that this ended with.
        trace.z.pop();
        trace.xi.pop();
        trace.alive.pop();
        left -= now;
    }
    beginning.deaths = deaths;
    env.reset(&[true], &mut |_| beginning.clone());
    trace.watch(&env);
    env.run(policy, params, problem.ticks, &mut |env| trace.watch(env));
    trace.diverged = env.last().diverged[0].then(|| env.tick(0));
    trace.score = if trace.diverged.is_some() { f64::INFINITY } else { env.measures(0)[0] };
    Ok(trace)
}

/// Refuses an episode that does not fit into memory, tick by tick.
fn keep(problem: &Problem, agents: usize, before: usize) -> Result<(), Error> {
    let width = problem.swarm.dimensions() + problem.swarm.action_width() + 1;
    let moment = problem.stepper.grid().count() as f64 + agents as f64 * width as f64;
    let ticks = problem.ticks as f64 + before as f64;
    memory::afford(&format!("a record of {ticks} ticks"), size_of::<Real>() as f64 * ticks * moment)
}
