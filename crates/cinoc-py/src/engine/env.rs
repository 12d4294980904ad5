//! Episodes as a thing to step.

use super::data::prepare;
use super::policy::{Net, Policy};
use super::problem::Problem;
use super::{cinoc, told};
use crate::arrays::{converted, finite, given, marks, maybe, numbers, numbers_mut, room};
use crate::fault::{alone, engine, explained, wrong};
use cinoc::env::EnvState;
use cinoc::internal::random::{Rng, Split};
use cinoc::internal::threads::Threads;
use cinoc::rollout::InitialCondition;
use cinoc::{Config, Real};
use numpy::Element;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard};

/// Episodes of one problem side by side.
#[pyclass(frozen)]
pub struct Env {
    problem: Problem,
    #[pyo3(get)]
    instances: usize,
    #[pyo3(get)]
    agents: usize,
    /// Numbers of one agent's observation: its view, features of its position, its strength.
    #[pyo3(get)]
    width: usize,
    /// Numbers of the global observation: field, target, positions, strengths.
    #[pyo3(get)]
    width_global: usize,
    /// Samples of the field that an agent reads, each with a sensor.
    #[pyo3(get)]
    points: usize,
    state: Mutex<State>,
}

struct State {
    env: cinoc::env::Env,
    limits: Vec<Real>,
    /// Actions in the units of the actuators.
    physical: Vec<Real>,
    /// The policy of the last step, whose recording holds as long as it is the same.
    last: Option<Arc<Net>>,
}

/// The state of all episodes.
#[pyclass(frozen)]
pub struct Snapshot {
    state: EnvState,
    settings: Arc<Config>,
}

impl Env {
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        alone(&self.state, "environment")
    }

    /// Refuses an agent that is not there.
    fn known(&self, instance: usize, agent: usize) -> PyResult<()> {
        if instance < self.instances && agent < self.agents {
            return Ok(());
        }
        Err(wrong(format!("there is no agent {agent} of instance {instance}; there are {} of {}", self.agents, self.instances)))
    }

    /// Copies a few numbers of each instance into an array of the caller.
    fn each<T: Element + Copy>(
        &self,
        py: Python<'_>,
        out: &Bound<'_, PyAny>,
        shape: &[usize],
        of: impl Fn(&cinoc::env::Env, usize) -> &[T] + Sync,
    ) -> PyResult<()> {
        let (state, mut out) = (self.state()?, room::<T>("out", out, shape)?);
        let (env, out) = (&state.env, numbers_mut(&mut out));
        let each = out.len() / self.instances;
        engine(py, || (0..self.instances).for_each(|i| out[i * each..][..each].copy_from_slice(of(env, i))))
    }

    /// The same with one number of each instance.
    fn one<T: Element + Copy>(&self, out: &Bound<'_, PyAny>, of: impl Fn(&cinoc::env::Env, usize) -> T) -> PyResult<()> {
        let (state, mut out) = (self.state()?, room::<T>("out", out, &[self.instances])?);
        numbers_mut(&mut out).iter_mut().enumerate().for_each(|(i, out)| *out = of(&state.env, i));
        Ok(())
    }
}

#[pymethods]
impl Env {
    #[new]
    #[pyo3(signature = (problem, instances, agents = None, threads = 1, thorough = false))]
    fn new(
        py: Python<'_>,
        problem: &Bound<'_, Problem>,
        instances: usize,
        agents: Option<usize>,
        threads: usize,
        thorough: bool,
    ) -> PyResult<Self> {
        let problem = problem.get().clone();
        let inner = problem.inner.clone();
        let agents = agents.unwrap_or(inner.agents);
        let state = engine(py, || {
            let env =
                cinoc::env::Env::new(inner.clone(), instances, agents, Threads::new(threads)?)?.with_expensive_measures(thorough);
            let (limits, physical) = (inner.swarm.limits(), vec![0.0; env.action_len()]);
            Ok(State { env, limits, physical, last: None })
        })?;
        let state = state.map_err(told)?;
        let width_global = 2 * problem.inner.stepper.state_count() + agents * (problem.inner.swarm.dimensions() + 1);
        let (width, points) = (state.env.observation_len(), problem.inner.swarm.points());
        Ok(Self { instances, agents, width, width_global, points, problem, state: Mutex::new(state) })
    }

    /// Resets the marked episodes: each is the instance of its seed and index, except for what is given.
    #[pyo3(signature = (which, seeds, indices, stream = "train", starts = None, targets = None, places = None, deaths = None))]
    fn reset(
        &self,
        py: Python<'_>,
        which: &Bound<'_, PyAny>,
        seeds: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        stream: &str,
        starts: Option<&Bound<'_, PyAny>>,
        targets: Option<&Bound<'_, PyAny>>,
        places: Option<&Bound<'_, PyAny>>,
        deaths: Option<Vec<Vec<(usize, usize)>>>,
    ) -> PyResult<()> {
        let (n, agents, stream) = (self.instances, self.agents, super::stream(stream)?);
        let which = &marks("which", which, n)?[..];
        let [seeds, indices] = [given::<u64>("seeds", seeds, &[Some(n)])?, given::<u64>("indices", indices, &[Some(n)])?];
        let shape: Vec<_> = self.problem.fields(n).into_iter().map(Some).collect();
        let starts = maybe::<Real>("starts", starts, &shape)?;
        let targets = maybe::<Real>("targets", targets, &shape)?;
        let places = maybe::<Real>("places", places, &[n, agents, self.problem.inner.swarm.dimensions()].map(Some))?;
        // Only what is used has to be sound.
        let part = |array: Option<&'_ [Real]>, what: &str| -> PyResult<()> {
            let Some(array) = array else { return Ok(()) };
            let each = array.len() / n;
            (0..n).filter(|&i| which[i]).try_for_each(|i| finite(&format!("{what} of instance {i}"), &array[i * each..][..each]))
        };
        let [starts, targets, places] = [&starts, &targets, &places].map(|array| array.as_ref().map(|array| numbers(array)));
        part(starts, "the start")?;
        part(targets, "the target")?;
        part(places, "the places")?;
        let deaths = deaths.unwrap_or_default();
        if !deaths.is_empty() && deaths.len() != n {
            return Err(wrong(format!("deaths has {} entries, not one for each of {n} instances", deaths.len())));
        }
        if let Some((_, agent)) = deaths.iter().flatten().find(|(_, agent)| *agent >= agents) {
            return Err(wrong(format!("agent {agent} cannot fail; agents go from 0 to {}", agents - 1)));
        }
        let (seeds, indices) = (numbers(&seeds), numbers(&indices));
        if starts.is_none() || targets.is_none() {
            let mut drawn: Vec<u64> = seeds.iter().zip(which).filter(|(_, which)| **which).map(|(seed, _)| *seed).collect();
            drawn.sort_unstable();
            drawn.dedup();
            prepare(py, &self.problem.inner, &[Split::of(stream)], &drawn)?;
        }
        let (mut state, problem) = (self.state()?, &*self.problem.inner);
        let state = &mut *state;
        let begin = |i: usize| {
            let own = |array: Option<&[Real]>| array.map(|array| array[i * (array.len() / n)..][..array.len() / n].to_vec());
            let mut beginning = match (own(starts), own(targets)) {
                (Some(start), Some(target)) => {
                    let positions = problem.swarm.start(agents);
                    InitialCondition {
                        start,
                        target,
                        positions,
                        failures: Vec::new(),
                        noise: Rng::seed(seeds[i], stream, indices[i]),
                    }
                }
                (start, target) => {
                    let drawn = InitialCondition::drawn(problem, agents, seeds[i], stream, indices[i] as usize);
                    InitialCondition { start: start.unwrap_or(drawn.start), target: target.unwrap_or(drawn.target), ..drawn }
                }
            };
            if let Some(mut own) = own(places) {
                problem.swarm.settle(&mut own);
                beginning.positions = own;
            }
            beginning.failures = deaths.get(i).cloned().unwrap_or_default();
            beginning
        };
        engine(py, || {
            let chosen: Vec<usize> = (0..n).filter(|&i| which[i]).collect();
            let mut beginnings = state.env.threads().map(chosen.len(), |k| begin(chosen[k])).into_iter();
            state.env.reset(which, &mut |_| beginnings.next().expect("one for each mark"));
        })
    }

    /// Writes the observations of all agents, [instances, agents, width].
    fn observe(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let (mut state, mut out) = (self.state()?, room::<Real>("out", out, &[self.instances, self.agents, self.width])?);
        let (env, out) = (&mut state.env, numbers_mut(&mut out));
        engine(py, || env.observe(out))
    }

    /// Everything there is to see, [instances, width_global]; fields as they are, without the noise of sensors.
    fn observe_global(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let (state, mut out) = (self.state()?, room::<Real>("out", out, &[self.instances, self.width_global])?);
        let (env, out) = (&state.env, numbers_mut(&mut out));
        engine(py, || {
            for (i, out) in out.chunks_exact_mut(self.width_global).enumerate() {
                let mut rest = out;
                for part in [env.field(i), env.target(i), env.positions(i), env.strength(i)] {
                    let (now, after) = rest.split_at_mut(part.len());
                    now.copy_from_slice(part);
                    rest = after;
                }
            }
        })
    }

    /// One tick; actions as parts of the limits, [instances, agents, k], cut to [-1, 1].
    #[pyo3(signature = (actions, out = None))]
    fn step(&self, py: Python<'_>, actions: &Bound<'_, PyAny>, out: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut state = self.state()?;
        let shape = [self.instances, self.agents, state.limits.len()].map(Some);
        let actions = converted::<Real>("actions", actions, &shape)?;
        let mut out = out.map(|out| room::<Real>("out", out, &[self.instances, self.agents, self.width])).transpose()?;
        let mut seen = out.as_mut().map(numbers_mut);
        let (actions, State { env, limits, physical, .. }) = (numbers(&actions), &mut *state);
        let sound = engine(py, || {
            let k = limits.len();
            let mut sound = true;
            for (to, from) in physical.chunks_exact_mut(k).zip(actions.chunks_exact(k)) {
                for c in 0..k {
                    sound &= !from[c].is_nan();
                    // A NaN stays one, to be refused; an infinite action is as large as it may be.
                    to[c] = from[c].clamp(-1.0, 1.0) * limits[c];
                }
            }
            match &mut seen {
                Some(seen) if sound => drop(env.step_and_observe(physical, seen)),
                None if sound => drop(env.step(physical)),
                _ => {}
            }
            sound
        })?;
        if sound { Ok(()) } else { Err(wrong("actions hold NaN; nothing was done")) }
    }

    /// Ticks driven by a policy.
    #[pyo3(signature = (policy, ticks = 1))]
    fn step_policy(&self, py: Python<'_>, policy: &Bound<'_, Policy>, ticks: usize) -> PyResult<()> {
        let (net, mut state) = (policy.get().net(), self.state()?);
        let state = &mut *state;
        net.fits(&self.problem.inner, self.agents, self.instances)?;
        let mut same = state.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &net));
        state.last = Some(net.clone());
        for _ in 0..ticks {
            let env = &mut state.env;
            let stepped = engine(py, || match same {
                true => env.run_cached(&*net.policy, &net.model.params, 1, &mut |_| {}),
                false => env.run(&*net.policy, &net.model.params, 1, &mut |_| {}),
            });
            if stepped.is_err() {
                state.last = None;
            }
            stepped?;
            same = true;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Writes the results of the last step: rewards (minus the costs), which episodes diverged, which ended otherwise, and
    /// their ticks. Returns true if any is over, and the least reward; minus infinity where one is not a number.
    fn report(
        &self,
        rewards: &Bound<'_, PyAny>,
        terminated: &Bound<'_, PyAny>,
        truncated: &Bound<'_, PyAny>,
        ticks: &Bound<'_, PyAny>,
    ) -> PyResult<(bool, f64)> {
        let (state, shape) = (self.state()?, [self.instances]);
        let mut rewards = room::<f64>("rewards", rewards, &shape)?;
        let (mut terminated, mut truncated) =
            (room::<bool>("terminated", terminated, &shape)?, room::<bool>("truncated", truncated, &shape)?);
        let mut ticks = room::<i64>("ticks", ticks, &shape)?;
        let (rewards, ticks) = (numbers_mut(&mut rewards), numbers_mut(&mut ticks));
        let (terminated, truncated) = (numbers_mut(&mut terminated), numbers_mut(&mut truncated));
        let (last, mut any, mut least) = (state.env.last_step(), false, f64::INFINITY);
        for i in 0..self.instances {
            let (reward, wild, done) = (0.0 - last.cost[i], last.diverged[i], last.done[i]);
            (rewards[i], terminated[i], truncated[i], ticks[i]) =
                (reward, wild, done && !wild, state.env.ticks_elapsed(i) as i64);
            any |= done;
            least = if reward.is_nan() { f64::NEG_INFINITY } else { least.min(reward) };
        }
        Ok((any, least))
    }

    fn cost(&self, out: &Bound<'_, PyAny>) -> PyResult<()> {
        self.one(out, |env, i| env.last_step().cost[i])
    }

    fn done(&self, out: &Bound<'_, PyAny>) -> PyResult<()> {
        self.one(out, |env, i| env.last_step().done[i])
    }

    fn diverged(&self, out: &Bound<'_, PyAny>) -> PyResult<()> {
        self.one(out, |env, i| env.last_step().diverged[i])
    }

    fn ticks(&self, out: &Bound<'_, PyAny>) -> PyResult<()> {
        self.one(out, |env, i| env.ticks_elapsed(i) as i64)
    }

    /// Time of each instance at tick 0.
    fn begins(&self, out: &Bound<'_, PyAny>) -> PyResult<()> {
        self.one(out, cinoc::env::Env::begins)
    }

    /// [instances, terms]
    fn terms(&self, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let (n, count) = (self.instances, self.problem.inner.task.terms().len());
        let (state, mut out) = (self.state()?, room::<f64>("out", out, &[n, count])?);
        let terms = state.env.last_step().terms;
        numbers_mut(&mut out).iter_mut().enumerate().for_each(|(at, out)| *out = terms[at % count * n + at / count] as f64);
        Ok(())
    }

    /// [instances, measures]
    fn measures(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let count = self.problem.inner.task.measures().len();
        self.each(py, out, &[self.instances, count], |env, i| env.measures(i))
    }

    fn fields(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        self.each(py, out, &self.problem.fields(self.instances), |env, i| env.field(i))
    }

    fn targets(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        self.each(py, out, &self.problem.fields(self.instances), |env, i| env.target(i))
    }

    fn positions(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let shape = [self.instances, self.agents, self.problem.inner.swarm.dimensions()];
        self.each(py, out, &shape, |env, i| env.positions(i))
    }

    /// As they were carried out, in physical units.
    fn actions(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let shape = [self.instances, self.agents, self.problem.inner.swarm.action_width()];
        self.each(py, out, &shape, |env, i| env.action(i))
    }

    fn strength(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        self.each(py, out, &[self.instances, self.agents], |env, i| env.strength(i))
    }

    /// Changes the strength of an agent from the next tick on; 0 makes it fail.
    fn set_strength(&self, instance: usize, agent: usize, strength: f64) -> PyResult<()> {
        self.known(instance, agent)?;
        if !(0.0..=1.0).contains(&strength) {
            return Err(wrong(format!("a strength cannot be {strength}; it is 1 for an active agent, 0 for a failed one")));
        }
        self.state()?.env.set_strength(instance, agent, strength as Real);
        Ok(())
    }

    /// Switches sensors of an agent off or on: that of one sample, or all.
    #[pyo3(signature = (instance, agent, point = None, works = false))]
    fn set_sensor(&self, instance: usize, agent: usize, point: Option<usize>, works: bool) -> PyResult<()> {
        self.known(instance, agent)?;
        if let Some(point) = point.filter(|point| *point >= self.points) {
            return Err(wrong(format!("there is no sensor {point} of an agent; there are {}", self.points)));
        }
        self.state()?.env.set_sensor(instance, agent, point, works);
        Ok(())
    }

    /// Ages of the samples in the next tick, [instances, agents, points].
    fn ages(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let (mut state, mut out) = (self.state()?, room::<Real>("out", out, &[self.instances, self.agents, self.points])?);
        let (env, out) = (&mut state.env, numbers_mut(&mut out));
        engine(py, || {
            for (i, out) in out.chunks_exact_mut((self.agents * self.points).max(1)).enumerate() {
                match env.ages(i) {
                    // Nothing is lost.
                    [] => out.fill(0.0),
                    // Agents that share a view have the same ages.
                    ages => out.chunks_exact_mut(ages.len()).for_each(|out| out.copy_from_slice(ages)),
                }
            }
        })
    }

    /// Everything as it is now.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let state = self.state()?;
        let env = &state.env;
        Ok(Snapshot { state: engine(py, || env.snapshot())?, settings: self.problem.settings.clone() })
    }

    /// Everything as it was then.
    fn restore(&self, py: Python<'_>, snapshot: &Bound<'_, PyAny>) -> PyResult<()> {
        let snapshot =
            snapshot.cast::<Snapshot>().map_err(|_| wrong("this is no snapshot of an environment of this precision"))?.get();
        let mut state = self.state()?;
        let env = &mut state.env;
        if *snapshot.settings != *self.problem.settings || !env.fits(&snapshot.state) {
            return Err(explained(
                "this snapshot is of another environment; restore it in one with the same problem, instances, agents and threads",
            ));
        }
        engine(py, || env.restore(&snapshot.state))
    }

    fn __repr__(&self) -> String {
        format!("<{} episodes of {}, {} agents each>", self.instances, self.problem.inner.name, self.agents)
    }
}
