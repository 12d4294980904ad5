//! Receding-horizon control: at every decision the optimal actions for some ticks ahead, of which the first are
//! applied.

use super::check_memory;
use super::spread::spread;
use super::{Goal, Lbfgs, Listen, Objective, Record, Rules, State};
use cinoc::env::Env;
use cinoc::evaluate::Request;
use cinoc::internal::number;
use cinoc::internal::threads::Threads;
use cinoc::rollout::InitialCondition;
use cinoc::{Error, Problem, Real};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// Largest unknown at the start of a decision; the action is then nine tenths of the limit.
const REVERSIBLE: f64 = 1.5;

/// Settings of a receding horizon. Each decision minimises the training cost over the ticks ahead. A plan accounts for
/// pending delayed actions; it assumes exact fields and actuators without noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    /// Planned ticks; fewer at the end of an episode.
    pub ahead: usize,
    /// Applied ticks before the next decision.
    pub every: usize,
    /// Maximum number of iterations of a decision.
    pub iterations: usize,
}

/// Result of one instance under a receding horizon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecedingRecord {
    /// Index of the instance.
    pub instance: usize,
    /// Uncontrolled score.
    #[serde(with = "number")]
    pub uncontrolled: f64,
    /// Score.
    #[serde(with = "number")]
    pub score: f64,
    /// Cost.
    #[serde(with = "number")]
    pub cost: f64,
    /// Number of decisions.
    pub decisions: usize,
    /// Rollouts with gradient over all decisions.
    pub evaluations: usize,
    /// Number of decisions that reached the iteration limit.
    pub cut: usize,
    /// Median time of a decision, in seconds.
    #[serde(with = "number")]
    pub seconds: f64,
    /// Longest time of a decision, in seconds.
    #[serde(with = "number")]
    pub seconds_worst: f64,
    /// Actions, `[ticks, agents, k]`.
    #[serde(skip)]
    pub actions: Vec<Real>,
}

impl Record for RecedingRecord {
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

/// Number of pairs kept by the search of a decision.
const PAIRS: usize = 20;

/// Controls the instances `which` of a request, each separately, so that times are those of one decision on one core.
pub fn recede(
    problem: &Arc<Problem>,
    request: &Request,
    which: &[usize],
    horizon: &Horizon,
    threads: &Threads,
    listen: &dyn Listen<RecedingRecord>,
) -> Result<(), Error> {
    if problem.task.timed() {
        let why = "left out where discs move: a plan uses only their initial positions";
        return Err(Error::bad("horizon", horizon.ahead.to_string(), why));
    }
    let ahead = horizon.ahead.min(problem.ticks);
    check_memory(problem, request.agents, ahead, which.len().min(threads.count()), |_| PAIRS)?;
    spread(threads, which.len(), listen, |i, listen| {
        if let Some(receded) = one(problem, request, which[i], horizon, listen, 1.0 / which.len() as f64)? {
            listen.found(vec![receded]);
        }
        Ok(())
    })
}

/// Controls one instance; returns `None` if stopped.
fn one(
    problem: &Arc<Problem>,
    request: &Request,
    instance: usize,
    horizon: &Horizon,
    listen: &dyn Listen<RecedingRecord>,
    share: f64,
) -> Result<Option<RecedingRecord>, Error> {
    let (ticks, agents) = (problem.ticks, request.agents);
    let (k, beginning) = (agents * problem.swarm.action_width(), request.beginning(problem, instance));
    let mut env = Env::new(problem.clone(), 1, agents, Threads::single())?;
    let score = |env: &Env| if env.last_step().diverged[0] { f64::INFINITY } else { env.measures(0)[0] };
    env.reset(&[true], &mut |_| beginning.clone());
    let nothing = vec![0.0; k];
    for _ in 0..ticks {
        env.step(&nothing);
    }
    let uncontrolled = score(&env);
    env.reset(&[true], &mut |_| beginning.clone());
    let mut planner =
        Planner { problem, agents, iterations: horizon.iterations, objective: None, plan: Vec::new(), evaluations: 0, cut: 0 };
    let (mut actions, mut times, mut cost) = (Vec::with_capacity(ticks * k), Vec::new(), 0.0);
    for tick in (0..ticks).step_by(horizon.every) {
        if listen.stop() {
            return Ok(None);
        }
        let since = Instant::now();
        let now = InitialCondition {
            start: env.field(0).to_vec(),
            positions: env.positions(0).to_vec(),
            failures: beginning.failures.iter().map(|(at, agent)| (at.saturating_sub(tick), *agent)).collect(),
            ..beginning.clone()
        };
        let decided = planner.decide(now, &env, horizon.ahead.min(ticks - tick))?;
        times.push(since.elapsed().as_secs_f64());
        for action in decided.chunks_exact(k).take(horizon.every) {
            cost += env.step(action).cost[0];
            actions.extend_from_slice(action);
        }
        planner.shift(horizon.every * k, k);
        listen.advance(share * horizon.every.min(ticks - tick) as f64 / ticks as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(Some(RecedingRecord {
        instance,
        uncontrolled,
        score: score(&env),
        cost: if env.last_step().diverged[0] { f64::INFINITY } else { cost },
        decisions: times.len(),
        evaluations: planner.evaluations,
        cut: planner.cut,
        seconds: times[times.len() / 2],
        seconds_worst: times[times.len() - 1],
        actions,
    }))
}

/// Decides, and keeps its plan for the next decision.
struct Planner<'p> {
    problem: &'p Problem,
    agents: usize,
    iterations: usize,
    /// Number of planned ticks.
    objective: Option<(usize, Objective<'p>)>,
    /// Unknowns of the last decision, shifted to the present tick.
    plan: Vec<f64>,
    evaluations: usize,
    cut: usize,
}

impl Planner<'_> {
    /// Returns the optimal actions for the next `ahead` ticks.
    fn decide(&mut self, now: InitialCondition, env: &Env, ahead: usize) -> Result<Vec<Real>, Error> {
        if self.objective.as_ref().is_none_or(|(ticks, _)| *ticks != ahead) {
            self.objective = Some((ahead, Objective::new(self.problem, Goal::Cost, ahead, self.agents, 1)?));
        }
        let Some((_, objective)) = &mut self.objective else { unreachable!("made above") };
        objective.proceed(now, env.action(0), env.pending(0), env.stock(0));
        self.plan.resize(objective.unknowns(), 0.0);
        let rules = Rules { memory: PAIRS, iterations: self.iterations, flat: (5, 1e-5) };
        let mut search = Lbfgs::new(self.plan.clone(), rules);
        let (mut value, mut gradient) = ([0.0], [Vec::new()]);
        while search.state == State::Searching {
            objective.evaluate(&[search.trial()], &mut value, &mut gradient);
            search.tell(value[0], &gradient[0]);
        }
        self.evaluations += search.evaluations;
        self.cut += usize::from(search.state == State::Exhausted);
        self.plan.copy_from_slice(&search.x);
        Ok(objective.actions(&self.plan))
    }

    /// Drops the first `count` unknowns and repeats the last `each` in their stead. Unknowns at a limit are pulled
    /// inside: there the gradient vanishes, and an action that was right once would be kept forever.
    fn shift(&mut self, count: usize, each: usize) {
        let last = self.plan[self.plan.len() - each..].to_vec();
        let length = self.plan.len();
        self.plan.drain(..count.min(length));
        self.plan.iter_mut().for_each(|x| *x = x.clamp(-REVERSIBLE, REVERSIBLE));
        while self.plan.len() < length {
            self.plan.extend_from_slice(&last);
        }
    }
}
