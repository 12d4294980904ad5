//! Batched environments: episodes that are stepped with given actions or by a policy. Evaluation, receding horizons,
//! reinforcement learning, Python and the browser use them.
//!
//! ```
//! let mut env = cinoc::problem("heat1d")?.env(4)?;
//! let mut seen = vec![0.0; 4 * env.agents() * env.observation_len()];
//! let actions = vec![0.0; env.action_len()];
//! let step = env.step_and_observe(&actions, &mut seen);
//! assert!(step.cost.iter().all(|cost| *cost > 0.0) && !step.done[0]);
//! # Ok::<(), cinoc::Error>(())
//! ```

mod contract;
mod observation;
mod readings;
mod shard;

pub use contract::assert_replayable;

use crate::policy::Policy;
use crate::rollout::{Control, InitialCondition};
use crate::sense::Features;
use crate::threads::Threads;
use crate::vector::copy;
use crate::{Error, Problem, Real, budget};
use cinoc_tape::Params;
use shard::Shard;
use std::sync::Arc;

/// Upper limits of a shard: instances, and nodes in total. Larger shards share the cost of an operation, smaller ones
/// stay in the cache.
const TOGETHER: (usize, usize) = (32, 1 << 16);

/// A batch of episodes of one problem, each at its own tick.
pub struct Env {
    problem: Arc<Problem>,
    threads: Threads,
    agents: usize,
    /// Number of instances per shard.
    together: usize,
    shards: Vec<Shard>,
    /// Results of the last step, `[terms, instances]` and `[instances]`.
    terms: Vec<Real>,
    cost: Vec<f64>,
    done: Vec<bool>,
    diverged: Vec<bool>,
}

/// The results of one step.
#[derive(Debug)]
pub struct Step<'a> {
    /// Unweighted terms of the stage cost, `[terms, instances]`; zero for episodes that had already ended.
    pub terms: &'a [Real],
    /// Weighted sum of the terms at this tick, `[instances]`; the sum over ticks is the cost of an episode.
    pub cost: &'a [f64],
    /// True for episodes that have ended: all ticks made, or diverged.
    pub done: &'a [bool],
    /// True for episodes that have diverged: a value is not finite. They stay unchanged until they are reset.
    pub diverged: &'a [bool],
}

/// The state of all episodes, from [`Env::snapshot`] and for [`Env::restore`].
#[derive(Clone, PartialEq)]
pub struct EnvState(Vec<shard::Episodes>);

impl Env {
    /// Creates `instances` episodes of `agents` agents each. All of them must be [`reset`](Self::reset) before the
    /// first step.
    pub fn new(problem: Arc<Problem>, instances: usize, agents: usize, threads: Threads) -> Result<Self, Error> {
        if instances == 0 || agents == 0 {
            return Err(Error::bad("instances and agents", format!("{instances} and {agents}"), "1 or more each"));
        }
        let (nodes, features) = (problem.stepper.state_count() as f64, problem.swarm.features());
        let seen = features.patch.count() as f64 / if features.shared { agents as f64 } else { 1.0 };
        let [step, once] = problem.stepper.workspace().map(|numbers| numbers as f64);
        let waiting = 4.0 * (problem.swarm.disturbance().delay * problem.swarm.action_width()) as f64;
        let each = 12.0 * nodes + step + agents as f64 * (2.0 * seen + waiting + 500.0);
        let fit = (TOGETHER.1 / problem.stepper.state_count()).clamp(1, TOGETHER.0);
        let together = fit.min(instances.div_ceil(threads.count()));
        let numbers = instances as f64 * each + instances.div_ceil(together) as f64 * once;
        budget::check(&format!("{instances} episodes of {agents} agents"), size_of::<Real>() as f64 * numbers)?;
        let sizes = (0..instances).step_by(together).map(|first| together.min(instances - first));
        Ok(Self {
            together,
            shards: sizes.map(|size| Shard::new(&problem, size, agents)).collect(),
            terms: vec![0.0; problem.task.terms().len() * instances],
            cost: vec![0.0; instances],
            done: vec![true; instances],
            diverged: vec![false; instances],
            problem,
            threads,
            agents,
        })
    }

    /// Enables expensive measures, which reports include.
    #[doc(hidden)]
    pub fn with_expensive_measures(mut self, enabled: bool) -> Self {
        self.shards.iter_mut().for_each(|shard| shard.thorough = enabled);
        self
    }

    /// Lets episodes continue after their last tick, until they diverge; for interactive use.
    pub fn without_time_limit(mut self, enabled: bool) -> Self {
        self.shards.iter_mut().for_each(|shard| shard.endless = enabled);
        self
    }

    /// Returns the problem.
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// Returns the threads that episodes are distributed over.
    #[doc(hidden)]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Returns the number of episodes.
    pub fn instances(&self) -> usize {
        self.cost.len()
    }

    /// Returns the number of agents per episode.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// Returns the length of the actions of one step, `[instances, agents, k]`.
    pub fn action_len(&self) -> usize {
        self.instances() * self.agents * self.problem.swarm.action_width()
    }

    /// Returns the kind and the sizes of observations.
    #[doc(hidden)]
    pub fn features(&self) -> Features {
        self.problem.swarm.features()
    }

    /// Restarts the episodes marked in `which` from the initial conditions that `from` returns.
    ///
    /// # Panics
    /// If an initial condition does not fit the grid or the number of agents.
    pub fn reset(&mut self, which: &[bool], from: &mut dyn FnMut(usize) -> InitialCondition) {
        assert_eq!(which.len(), self.instances(), "one mark per instance");
        for i in (0..which.len()).filter(|&i| which[i]) {
            self.shards[i / self.together].reset(&self.problem, i % self.together, &from(i));
            (self.done[i], self.diverged[i]) = (false, false);
        }
    }

    /// Writes observations, with sensor noise, to two arrays: the view, `[instances, agents, p]` (`[instances, p]` if
    /// all agents of an instance share it), and the features of positions, `[instances, agents, q]`; sizes as in
    /// [`features`](Self::features).
    #[doc(hidden)]
    pub fn observe_split(&mut self, view: &mut [Real], position: &mut [Real]) {
        let (instances, features) = (self.instances(), self.features());
        let per_view = features.patch.count() * if features.shared { 1 } else { self.agents };
        let per_position = features.position * self.agents;
        assert_eq!(
            (view.len(), position.len()),
            (instances * per_view, instances * per_position),
            "lengths of the arrays for observations"
        );
        let views = view.chunks_mut(self.together * per_view).zip(position.chunks_mut(self.together * per_position));
        for (shard, (view, position)) in self.shards.iter_mut().zip(views) {
            let [seen, known, _] = shard.observe(&self.problem);
            view.copy_from_slice(seen);
            position.copy_from_slice(known);
        }
    }

    /// Numbers of one agent in [`observe`](Self::observe).
    pub fn observation_len(&self) -> usize {
        let features = self.features();
        features.patch.count() + features.position + 1
    }

    /// Writes observations to `out`, `[instances, agents, width]`: the view, the features of the position, and the
    /// strength, which is 1 for a single active agent, less in a crowd and 0 for a failed agent. With the raw outputs
    /// of a policy, that is all that `Swarm::saturate` needs.
    pub fn observe(&mut self, out: &mut [Real]) {
        self.shown(None, out);
    }

    /// Combines [`step`](Self::step) and [`observe`](Self::observe), for which threads are woken once.
    #[doc(hidden)]
    pub fn step_and_observe(&mut self, actions: &[Real], out: &mut [Real]) -> Step<'_> {
        assert_eq!(actions.len(), self.action_len(), "actions of all agents");
        self.shown(Some(actions), out);
        self.collect()
    }

    /// Writes observations, after a tick if there are actions for one.
    fn shown(&mut self, actions: Option<&[Real]>, out: &mut [Real]) {
        let (width, features, agents) = (self.observation_len(), self.features(), self.agents);
        let (seen, known) = (features.patch.count(), features.position);
        assert_eq!(out.len(), self.instances() * agents * width, "lengths of the arrays for observations");
        let (problem, each) = (&*self.problem, self.together * agents * self.problem.swarm.action_width());
        let mut parts: Vec<_> = self.shards.iter_mut().zip(out.chunks_mut(self.together * agents * width)).collect();
        self.threads.for_each(&mut parts, |s, (shard, out)| {
            if let Some(actions) = actions {
                shard.tick(problem, Control::Actions(&actions[s * each..((s + 1) * each).min(actions.len())]));
            }
            let [view, position, strength] = shard.observe(problem);
            for (m, out) in out.chunks_exact_mut(width).enumerate() {
                let from = if features.shared { m / agents } else { m };
                copy(&mut out[..seen], &view[from * seen..]);
                copy(&mut out[seen..seen + known], &position[m * known..]);
                out[seen + known] = strength[m];
            }
        });
    }

    /// Makes one tick with given actions, `[instances, agents, k]`, in the units of the actuators. Limits, safety
    /// layer, delay and actuator noise apply to them.
    pub fn step(&mut self, actions: &[Real]) -> Step<'_> {
        assert_eq!(actions.len(), self.action_len(), "actions of all agents");
        let each = actions.len() / self.instances() * self.together;
        let problem = &*self.problem;
        self.threads.for_each(&mut self.shards, |s, shard| {
            let to = ((s + 1) * each).min(actions.len());
            shard.tick(problem, Control::Actions(&actions[s * each..to]));
        });
        self.collect()
    }

    /// Makes `ticks` ticks with a policy; `watch` is called after each.
    pub fn run(&mut self, policy: &dyn Policy, params: &Params, ticks: usize, watch: &mut dyn FnMut(&Self)) {
        self.shards.iter_mut().for_each(Shard::new_policy);
        self.run_cached(policy, params, ticks, watch);
    }

    /// Continues with the policy and the parameters of the last run. Its recording is reused, which makes many short
    /// runs as fast as a long one.
    #[doc(hidden)]
    pub fn run_cached(&mut self, policy: &dyn Policy, params: &Params, ticks: usize, watch: &mut dyn FnMut(&Self)) {
        let problem = self.problem.clone();
        for _ in 0..ticks {
            self.threads.for_each(&mut self.shards, |_, shard| shard.tick(&problem, Control::Policy(policy, params)));
            self.collect();
            watch(self);
        }
    }

    /// Collects the results of a tick from all shards.
    fn collect(&mut self) -> Step<'_> {
        let (instances, count) = (self.instances(), self.problem.task.terms().len());
        for (s, shard) in self.shards.iter().enumerate() {
            let first = s * self.together;
            for i in 0..shard.size() {
                (self.cost[first + i], self.done[first + i], self.diverged[first + i]) = shard.result(i);
                for term in 0..count {
                    self.terms[term * instances + first + i] = shard.term(term, i);
                }
            }
        }
        Step { terms: &self.terms, cost: &self.cost, done: &self.done, diverged: &self.diverged }
    }

    /// Returns the results of the last step.
    pub fn last_step(&self) -> Step<'_> {
        Step { terms: &self.terms, cost: &self.cost, done: &self.done, diverged: &self.diverged }
    }

    fn at(&self, i: usize) -> (&Shard, usize) {
        (&self.shards[i / self.together], i % self.together)
    }

    /// Returns the field of an instance, without sensor noise.
    pub fn field(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.field(i)
    }

    /// Returns the target field of an instance.
    pub fn target(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.target(i)
    }

    /// Returns the positions of an instance's agents, `[agents, d]`.
    pub fn positions(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.positions(i)
    }

    /// Returns the last executed action of an instance's agents, `[agents, k]`; zero before the first tick.
    pub fn action(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.action(i)
    }

    /// Returns the levels of the tanks of an instance's agents between 0 and 1, `[agents, tanks]`.
    #[doc(hidden)]
    pub fn stock(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.stock(i)
    }

    /// Returns the delayed actions of an instance's agents that have yet to act, `[agents, delay·k]`, oldest first.
    #[doc(hidden)]
    pub fn pending(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.pending(i)
    }

    /// Returns the noise seed of an instance.
    #[doc(hidden)]
    pub fn noise(&self, i: usize) -> u64 {
        let (shard, i) = self.at(i);
        shard.noise(i)
    }

    /// Returns the time of an instance at tick 0.
    #[doc(hidden)]
    pub fn begins(&self, i: usize) -> f64 {
        let problem = self.problem();
        problem.task.begins(self.noise(i)) * problem.tick_time()
    }

    /// Returns the number of ticks that an instance has made.
    pub fn ticks_elapsed(&self, i: usize) -> usize {
        let (shard, i) = self.at(i);
        shard.ticks_made(i)
    }

    /// Returns the measures of an instance, in the order of the task; the first is the score, valid once the episode
    /// has ended.
    pub fn measures(&self, i: usize) -> &[f64] {
        let (shard, i) = self.at(i);
        shard.measures(i)
    }

    /// Returns the strength of an instance's agents: 1, or 0 for a failed agent.
    pub fn strength(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.strength(i)
    }

    /// Sets the strength of an agent from the next tick on, limited to 0 … 1; 0, or a number that is not finite, makes it
    /// fail.
    pub fn set_strength(&mut self, i: usize, agent: usize, strength: Real) {
        self.shards[i / self.together].set_strength(i % self.together, agent, strength);
    }

    /// Switches sensors of an agent off or on: that of sample `point` of its window, or all. A sensor that is switched
    /// off reads once more in the next tick; then its last reading is held and ages, and an agent without readings
    /// rests.
    ///
    /// # Panics
    /// If there is no such sensor.
    pub fn set_sensor(&mut self, i: usize, agent: usize, point: Option<usize>, works: bool) {
        self.shards[i / self.together].set_sensor(&self.problem, i % self.together, agent, point, works);
    }

    /// Returns the ages of the samples of an instance's agents in the next tick, `[agents, points]`, or `[1, points]`
    /// where agents share a view, in ticks: 0 for a new reading. Empty if no reading can be lost.
    pub fn ages(&mut self, i: usize) -> &[Real] {
        self.shards[i / self.together].ages(&self.problem, i % self.together)
    }

    /// Replaces the field of an instance, as an external disturbance would.
    ///
    /// # Panics
    /// If it does not fit the grid.
    pub fn set_field(&mut self, i: usize, field: &[Real]) {
        self.shards[i / self.together].set_field(i % self.together, field);
    }

    /// Replaces the target of an instance from the next tick on.
    ///
    /// # Panics
    /// If it does not fit the grid.
    pub fn set_target(&mut self, i: usize, target: &[Real]) {
        self.shards[i / self.together].set_target(i % self.together, target);
    }

    /// Replaces the positions of an instance's agents, `[agents, d]`. The caller ensures that they are valid
    /// (`Swarm::settle`).
    ///
    /// # Panics
    /// If the length is wrong.
    pub fn set_positions(&mut self, i: usize, positions: &[Real]) {
        self.shards[i / self.together].set_positions(i % self.together, positions);
    }

    /// Continues with another problem of the same sizes: with other discs, or other coefficients.
    ///
    /// # Panics
    /// If a field, a position, an action, a cost term or a measure has another size.
    #[doc(hidden)]
    pub fn set_problem(&mut self, problem: Arc<Problem>) {
        let sizes = |problem: &Problem| {
            let (swarm, task) = (&problem.swarm, &problem.task);
            let agents = [swarm.dimensions(), swarm.action_width(), swarm.disturbance().delay, swarm.tanks()];
            (problem.stepper.state_axes(), agents, task.terms().len(), task.measures().len())
        };
        assert_eq!(sizes(&self.problem), sizes(&problem), "a problem of the same sizes");
        self.shards.iter_mut().for_each(Shard::forget);
        self.problem = problem;
    }

    /// Returns the memory of an instance's agents, `[agents, h]`; empty before the first tick of a policy.
    #[doc(hidden)]
    pub fn memory(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.memory(i)
    }

    /// Replaces the memory of an instance's agents, `[agents, h]`, from the next tick on.
    #[doc(hidden)]
    pub fn set_memory(&mut self, i: usize, memory: &[Real]) {
        self.shards[i / self.together].set_memory(i % self.together, memory);
    }

    /// Returns the memory of episodes, recordings and workspace, in bytes.
    #[doc(hidden)]
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(Shard::bytes).sum()
    }

    /// Returns the state of all episodes.
    pub fn snapshot(&self) -> EnvState {
        EnvState(self.shards.iter().map(Shard::episodes).collect())
    }

    /// Returns true if a snapshot fits this environment.
    #[doc(hidden)]
    pub fn fits(&self, state: &EnvState) -> bool {
        self.shards.len() == state.0.len() && self.shards.iter().zip(&state.0).all(|(shard, episodes)| shard.fits(episodes))
    }

    /// Restores the state of a snapshot.
    ///
    /// # Panics
    /// If the snapshot does not fit this environment.
    pub fn restore(&mut self, state: &EnvState) {
        assert!(self.fits(state), "the snapshot has other sizes than this environment");
        self.shards.iter_mut().zip(&state.0).for_each(|(shard, episodes)| shard.set_episodes(episodes));
        self.collect();
    }
}
