//! A batch of episodes as a thing to step: what evaluation, receding horizons, reinforcement learning, Python and a browser sit on.
//!
//! ```
//! use cinoc::env::Env;
//! use cinoc::problem::Preset;
//! use cinoc::random::Stream;
//! use cinoc::rollout::Beginning;
//! use cinoc::settings::Overlay;
//! use cinoc::{Registry, threads::Threads};
//! use std::sync::Arc;
//!
//! let registry = Registry::builtin();
//! let config = registry.config("heat1d", Preset::Tuned, &Overlay::default())?;
//! let problem = Arc::new(registry.build(&config)?);
//! let mut env = Env::new(problem.clone(), 4, 8, Threads::one())?;
//! env.reset(&[true; 4], &mut |i| Beginning::drawn(&problem, 8, 0, Stream::Train, i));
//! let actions = vec![0.0; env.actions()];
//! let step = env.step(&actions);
//! assert!(step.cost.iter().all(|cost| *cost > 0.0) && !step.done[0]);
//! # Ok::<(), cinoc::Error>(())
//! ```

mod contract;
mod driver;
mod looking;
mod readings;
mod shard;

pub use contract::assert_replayable;

use crate::policy::Policy;
use crate::rollout::Beginning;
use crate::sense::Features;
use crate::threads::Threads;
use crate::vector::copy;
use crate::{Error, Problem, Real, memory};
use cinoc_tape::Params;
use driver::Driver;
use shard::Shard;
use std::sync::Arc;

/// The most instances that are computed together, and the most nodes of theirs: many share the cost of an operation, few stay in the cache.
const TOGETHER: (usize, usize) = (32, 1 << 16);

/// Episodes of one problem side by side, each at a tick of its own.
pub struct Env {
    problem: Arc<Problem>,
    threads: Threads,
    agents: usize,
    /// Instances of a shard.
    together: usize,
    shards: Vec<Shard>,
    /// What the last step gave, `[terms, instances]` and `[instances]`.
    terms: Vec<Real>,
    cost: Vec<f64>,
    done: Vec<bool>,
    diverged: Vec<bool>,
}

/// What one step gave.
#[derive(Debug)]
pub struct Step<'a> {
    /// Each term of the stage cost, without its weight, `[terms, instances]`; zero for episodes that were over before.
    pub terms: &'a [Real],
    /// The weighted sum of the terms at this tick, `[instances]`: they add up to the cost of an episode.
    pub cost: &'a [f64],
    /// Which episodes are over: all ticks made, or diverged.
    pub done: &'a [bool],
    /// Which episodes have diverged: a number is no longer finite. They stay as they are until they are reset.
    pub diverged: &'a [bool],
}

/// Everything that changes while episodes go on; what [`Env::snapshot`] gives and [`Env::restore`] takes.
#[derive(Clone, PartialEq)]
pub struct EnvState(Vec<shard::Episodes>);

impl Env {
    /// `instances` episodes of `agents` agents each. Every one of them has to be [`reset`](Self::reset) before the first step.
    pub fn new(problem: Arc<Problem>, instances: usize, agents: usize, threads: Threads) -> Result<Self, Error> {
        if instances == 0 || agents == 0 {
            return Err(Error::bad("instances and agents", format!("{instances} and {agents}"), "1 or more each"));
        }
        let (nodes, features) = (problem.stepper.grid().count() as f64, problem.swarm.features());
        let seen = features.patch.count() as f64 / if features.shared { agents as f64 } else { 1.0 };
        let [step, once] = problem.stepper.room().map(|numbers| numbers as f64);
        let waiting = 4.0 * (problem.swarm.disturbance().delay * problem.swarm.action_width()) as f64;
        let each = 12.0 * nodes + step + agents as f64 * (2.0 * seen + waiting + 500.0);
        let fit = (TOGETHER.1 / problem.stepper.grid().count()).clamp(1, TOGETHER.0);
        let together = fit.min(instances.div_ceil(threads.count()));
        let numbers = instances as f64 * each + instances.div_ceil(together) as f64 * once;
        memory::afford(&format!("{instances} episodes of {agents} agents"), size_of::<Real>() as f64 * numbers)?;
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

    /// The same, but with `yes` measures that take long are made too: for reports.
    pub fn thorough(mut self, yes: bool) -> Self {
        self.shards.iter_mut().for_each(|shard| shard.thorough = yes);
        self
    }

    /// The same, but with `yes` episodes do not end with their last tick, only by diverging: for somebody who plays with them.
    pub fn endless(mut self, yes: bool) -> Self {
        self.shards.iter_mut().for_each(|shard| shard.endless = yes);
        self
    }

    /// The problem.
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// The threads that episodes are spread over.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// How many episodes there are.
    pub fn instances(&self) -> usize {
        self.cost.len()
    }

    /// Agents of each.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// Numbers in the actions of one step: `[instances, agents, k]`.
    pub fn actions(&self) -> usize {
        self.instances() * self.agents * self.problem.swarm.action_width()
    }

    /// The kind and the sizes of what agents are shown.
    pub fn features(&self) -> Features {
        self.problem.swarm.features()
    }

    /// Starts those episodes anew that are marked in `which`; `from` says where.
    ///
    /// # Panics
    /// If a beginning does not fit the grid or the number of agents.
    pub fn reset(&mut self, which: &[bool], from: &mut dyn FnMut(usize) -> Beginning) {
        assert_eq!(which.len(), self.instances(), "one mark per instance");
        for i in (0..which.len()).filter(|&i| which[i]) {
            self.shards[i / self.together].reset(&self.problem, i % self.together, &from(i));
            (self.done[i], self.diverged[i]) = (false, false);
        }
    }

    /// What agents see, noise of their sensors included, into arrays of the caller: the view, `[instances, agents, p]` (or `[instances, p]` where all agents of an instance share one),
    /// and the features of their positions, `[instances, agents, q]`; sizes as in [`features`](Self::features).
    pub fn observe(&mut self, view: &mut [Real], position: &mut [Real]) {
        let (instances, features) = (self.instances(), self.features());
        let per_view = features.patch.count() * if features.shared { 1 } else { self.agents };
        let per_position = features.position * self.agents;
        assert_eq!((view.len(), position.len()), (instances * per_view, instances * per_position), "room for what is seen");
        let views = view.chunks_mut(self.together * per_view).zip(position.chunks_mut(self.together * per_position));
        for (shard, (view, position)) in self.shards.iter_mut().zip(views) {
            let [seen, known, _] = shard.look(&self.problem);
            view.copy_from_slice(seen);
            position.copy_from_slice(known);
        }
    }

    /// Numbers of one agent in [`look`](Self::look).
    pub fn width(&self) -> usize {
        let features = self.features();
        features.patch.count() + features.position + 1
    }

    /// What agents see, one after the other, into an array of the caller, `[instances, agents, width]`: the view, the features of its position,
    /// and its strength, 1 for an agent by itself in good health, less in a crowd, 0 for a dead one. With a policy's raw outputs that is all
    /// that [`Swarm::saturate`](crate::agents::Swarm::saturate) asks for.
    pub fn look(&mut self, out: &mut [Real]) {
        self.shown(None, out);
    }

    /// A [`step`](Self::step) and a [`look`](Self::look) in one, for which threads are woken once.
    pub fn step_and_look(&mut self, actions: &[Real], out: &mut [Real]) -> Step<'_> {
        assert_eq!(actions.len(), self.actions(), "actions of all agents");
        self.shown(Some(actions), out);
        self.collect()
    }

    /// What agents see after a tick, if there are actions for one.
    fn shown(&mut self, actions: Option<&[Real]>, out: &mut [Real]) {
        let (width, features, agents) = (self.width(), self.features(), self.agents);
        let (seen, known) = (features.patch.count(), features.position);
        assert_eq!(out.len(), self.instances() * agents * width, "room for what is seen");
        let (problem, each) = (&*self.problem, self.together * agents * self.problem.swarm.action_width());
        let mut parts: Vec<_> = self.shards.iter_mut().zip(out.chunks_mut(self.together * agents * width)).collect();
        self.threads.for_each(&mut parts, |s, (shard, out)| {
            if let Some(actions) = actions {
                shard.tick(problem, Driver::Actions(&actions[s * each..((s + 1) * each).min(actions.len())]));
            }
            let [view, position, strength] = shard.look(problem);
            for (m, out) in out.chunks_exact_mut(width).enumerate() {
                let from = if features.shared { m / agents } else { m };
                copy(&mut out[..seen], &view[from * seen..]);
                copy(&mut out[seen..seen + known], &position[m * known..]);
                out[seen + known] = strength[m];
            }
        });
    }

    /// One tick with given actions, `[instances, agents, k]`, in the units of the actuators. Limits, safety, delay and the noise of
    /// actuators hold for them.
    pub fn step(&mut self, actions: &[Real]) -> Step<'_> {
        assert_eq!(actions.len(), self.actions(), "actions of all agents");
        let each = actions.len() / self.instances() * self.together;
        let problem = &*self.problem;
        self.threads.for_each(&mut self.shards, |s, shard| {
            let to = ((s + 1) * each).min(actions.len());
            shard.tick(problem, Driver::Actions(&actions[s * each..to]));
        });
        self.collect()
    }

    /// `ticks` ticks driven by a policy; `watch` sees each.
    pub fn run(&mut self, policy: &dyn Policy, params: &Params, ticks: usize, watch: &mut dyn FnMut(&Self)) {
        self.shards.iter_mut().for_each(Shard::new_policy);
        self.proceed(policy, params, ticks, watch);
    }

    /// The same, by the policy and the parameters of the last run: what was recorded of them still holds, which makes many short runs as fast as
    /// a long one.
    pub fn proceed(&mut self, policy: &dyn Policy, params: &Params, ticks: usize, watch: &mut dyn FnMut(&Self)) {
        let problem = self.problem.clone();
        for _ in 0..ticks {
            self.threads.for_each(&mut self.shards, |_, shard| shard.tick(&problem, Driver::Policy(policy, params)));
            self.collect();
            watch(self);
        }
    }

    /// Gathers what a tick gave.
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

    /// What the last step gave.
    pub fn last(&self) -> Step<'_> {
        Step { terms: &self.terms, cost: &self.cost, done: &self.done, diverged: &self.diverged }
    }

    fn at(&self, i: usize) -> (&Shard, usize) {
        (&self.shards[i / self.together], i % self.together)
    }

    /// The field of an instance, as it is: without the noise of sensors.
    pub fn field(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.field(i)
    }

    /// The field that an instance should reach.
    pub fn target(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.target(i)
    }

    /// The positions of the agents of an instance, `[agents, d]`.
    pub fn positions(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.positions(i)
    }

    /// The last action of the agents of an instance as it was carried out, `[agents, k]`; zero before the first.
    pub fn action(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.action(i)
    }

    /// What the agents of an instance have decided and has yet to act, `[agents, delay·k]`, the oldest first.
    pub fn pending(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.pending(i)
    }

    /// Ticks that an instance has made.
    pub fn tick(&self, i: usize) -> usize {
        let (shard, i) = self.at(i);
        shard.ticks_made(i)
    }

    /// What has been measured of an instance, in the order of the task's measures; the first is the score, known once the episode is over.
    pub fn measures(&self, i: usize) -> &[f64] {
        let (shard, i) = self.at(i);
        shard.measures(i)
    }

    /// The strength of each agent of an instance: 1, or 0 if it is dead.
    pub fn strength(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.strength(i)
    }

    /// Changes the strength of an agent from the next tick on; 0 kills it.
    pub fn set_strength(&mut self, i: usize, agent: usize, strength: Real) {
        self.shards[i / self.together].set_strength(i % self.together, agent, strength);
    }

    /// Changes the field of an instance: a disturbance that no equation knows of.
    ///
    /// # Panics
    /// If it does not fit the grid.
    pub fn set_field(&mut self, i: usize, field: &[Real]) {
        self.shards[i / self.together].set_field(i % self.together, field);
    }

    /// Changes what an instance should reach, from the next tick on.
    ///
    /// # Panics
    /// If it does not fit the grid.
    pub fn set_target(&mut self, i: usize, target: &[Real]) {
        self.shards[i / self.together].set_target(i % self.together, target);
    }

    /// Puts the agents of an instance elsewhere, `[agents, d]`. Whether they may be there is the caller's to say ([`Swarm::settle`](crate::agents::Swarm::settle)).
    ///
    /// # Panics
    /// Without a place for each agent.
    pub fn set_positions(&mut self, i: usize, positions: &[Real]) {
        self.shards[i / self.together].set_positions(i % self.together, positions);
    }

    /// Goes on in another problem of the same sizes: with discs elsewhere, or with other coefficients.
    ///
    /// # Panics
    /// If a field, a position, an action, a cost term or a measure has another size there.
    pub fn set_problem(&mut self, problem: Arc<Problem>) {
        let sizes = |problem: &Problem| {
            let (swarm, task) = (&problem.swarm, &problem.task);
            let agents = [swarm.dimensions(), swarm.action_width(), swarm.disturbance().delay];
            (problem.stepper.grid().nodes.clone(), agents, task.terms().len(), task.measures().len())
        };
        assert_eq!(sizes(&self.problem), sizes(&problem), "a problem of the same sizes");
        self.shards.iter_mut().for_each(Shard::forget);
        self.problem = problem;
    }

    /// What the agents of an instance remember, `[agents, h]`; nothing before the first tick of a policy.
    pub fn memory(&self, i: usize) -> &[Real] {
        let (shard, i) = self.at(i);
        shard.memory(i)
    }

    /// Changes what the agents of an instance remember, `[agents, h]`, from the next tick on.
    pub fn set_memory(&mut self, i: usize, memory: &[Real]) {
        self.shards[i / self.together].set_memory(i % self.together, memory);
    }

    /// Bytes of the episodes and of what was recorded of them, with its working space.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(Shard::bytes).sum()
    }

    /// Everything as it is now.
    pub fn snapshot(&self) -> EnvState {
        EnvState(self.shards.iter().map(Shard::episodes).collect())
    }

    /// Whether a snapshot is of an environment of this size.
    pub fn fits(&self, state: &EnvState) -> bool {
        self.shards.len() == state.0.len() && self.shards.iter().zip(&state.0).all(|(shard, episodes)| shard.fits(episodes))
    }

    /// Everything as it was then.
    ///
    /// # Panics
    /// If the snapshot is of an environment of another size.
    pub fn restore(&mut self, state: &EnvState) {
        assert!(self.fits(state), "a snapshot of as many episodes");
        self.shards.iter_mut().zip(&state.0).for_each(|(shard, episodes)| shard.set_episodes(episodes));
        self.collect();
    }
}
