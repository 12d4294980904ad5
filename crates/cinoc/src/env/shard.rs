//! A few episodes that are computed together.

use super::observation::{ObservationRecorder, Surroundings};
use crate::agents::rest_blind;
use crate::random::{Rng, Stream};
use crate::rollout::{Control, InitialCondition, PARTS, POSITIONS, Slot, TickRecorder, parts, readings_shape, take};
use crate::task::Status;
use crate::{Problem, Real};
use cinoc_tape::kernel::parallel;
use cinoc_tape::{Arena, Shape, Tape, VarId};
use std::ops::Range;

/// The state of the episodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Episodes {
    start: Vec<Real>,
    target: Vec<Real>,
    z: Vec<Real>,
    xi: Vec<Real>,
    previous: Vec<Real>,
    /// Delayed actions that have yet to act, the oldest of each agent first.
    pending: Vec<Real>,
    memory: Vec<Real>,
    /// Readings of the previous tick, if some may be lost.
    held: Vec<Real>,
    /// Levels of the agents' tanks, if they have any.
    stock: Vec<Real>,
    /// Tick from which each sensor was switched off, `[size, views, points]`; empty until the first is.
    silent: Vec<Option<usize>>,
    strength: Vec<Real>,
    /// Failures of each instance: tick and agent.
    failures: Vec<Vec<(usize, usize)>>,
    noise: Vec<u64>,
    ticks: Vec<usize>,
    measures: Vec<f64>,
    terms: Vec<Real>,
    cost: Vec<f64>,
    done: Vec<bool>,
    diverged: Vec<bool>,
}

impl Episodes {
    /// Returns the parts of the state, in the order of recording.
    fn parts(&self) -> [&[Real]; PARTS] {
        [&self.z, &self.xi, &self.previous, &self.pending, &self.memory, &self.held, &self.stock]
    }

    /// Calls `of` with the noise seed and the next tick of each instance.
    fn each_noise(&self, mut of: impl FnMut(u64, usize)) {
        self.noise.iter().zip(&self.ticks).for_each(|(&seed, &tick)| of(seed, tick));
    }

    /// Appends the time of each instance to `out`, in ticks.
    fn now(&self, problem: &Problem, out: &mut Vec<Real>) {
        self.each_noise(|seed, tick| out.push((problem.task.begins(seed) + tick as f64) as Real));
    }
}

/// A recorded tick, to be replayed.
#[derive(Default)]
struct Recorded {
    valid: bool,
    memory: Arena,
    /// Parts of the state before the tick, where they are not constants of the recording.
    before: [Option<VarId>; PARTS],
    /// Inputs of the tick and their sizes, in the order of recording.
    inputs: Vec<(VarId, usize)>,
    /// Parts of the state after the tick.
    after: [Option<VarId>; PARTS],
    terms: Vec<VarId>,
}

/// A few episodes that are computed together.
pub struct Shard {
    agents: usize,
    /// Enables expensive measures.
    pub thorough: bool,
    /// Lets episodes continue after their last tick.
    pub endless: bool,
    episodes: Episodes,
    by_actions: Recorded,
    by_policy: Recorded,
    /// Inputs of the tick, concatenated.
    inputs: Vec<Real>,
    /// Noise on what agents observe, if they have separate noise.
    reading_noise: Vec<Real>,
    /// Ages of the readings, if some may be lost.
    ages: Vec<Real>,
    /// Strengths without agents that rest because they are blind.
    acting: Vec<Real>,
    /// Observed fields, if sensors are noisy.
    seen: Vec<Real>,
    /// Weights of the cost terms at the current tick.
    weights: Vec<f64>,
    observation: ObservationRecorder,
}

impl Shard {
    pub fn new(problem: &Problem, size: usize, agents: usize) -> Self {
        let (nodes, swarm) = (problem.stepper.state_count(), &problem.swarm);
        let episodes = Episodes {
            start: vec![0.0; size * nodes],
            target: vec![0.0; size * nodes],
            z: vec![0.0; size * nodes],
            xi: vec![0.0; size * agents * swarm.dimensions()],
            previous: vec![0.0; size * agents * swarm.action_width()],
            pending: vec![0.0; size * agents * swarm.action_width() * swarm.disturbance().delay],
            memory: Vec::new(),
            held: Vec::new(),
            stock: vec![1.0; size * agents * swarm.tanks()],
            silent: Vec::new(),
            strength: vec![1.0; size * agents],
            failures: vec![Vec::new(); size],
            noise: vec![0; size],
            ticks: vec![0; size],
            measures: vec![0.0; size * problem.task.measures().len()],
            terms: vec![0.0; size * problem.task.terms().len()],
            cost: vec![0.0; size],
            done: vec![true; size],
            diverged: vec![false; size],
        };
        let (by_actions, by_policy) = Default::default();
        Self {
            agents,
            thorough: false,
            endless: false,
            episodes,
            by_actions,
            by_policy,
            inputs: Vec::new(),
            reading_noise: Vec::new(),
            ages: Vec::new(),
            acting: Vec::new(),
            seen: Vec::new(),
            weights: Vec::new(),
            observation: ObservationRecorder::default(),
        }
    }

    pub fn size(&self) -> usize {
        self.episodes.ticks.len()
    }

    /// Returns the part of an array that belongs to instance `i`.
    fn part<'a, T>(&self, x: &'a [T], i: usize) -> &'a [T] {
        let n = x.len() / self.size();
        &x[i * n..(i + 1) * n]
    }

    pub fn reset(&mut self, problem: &Problem, i: usize, from: &InitialCondition) {
        let size = self.size();
        let e = &mut self.episodes;
        replace(&mut e.start, i, size, &from.start, "an initial field");
        replace(&mut e.z, i, size, &from.start, "an initial field");
        replace(&mut e.target, i, size, &from.target, "a target");
        replace(&mut e.xi, i, size, &from.positions, "positions");
        let clear = |x: &mut [Real], value: Real| {
            let n = x.len() / size;
            x[i * n..(i + 1) * n].fill(value);
        };
        clear(&mut e.previous, 0.0);
        clear(&mut e.pending, 0.0);
        clear(&mut e.memory, 0.0);
        clear(&mut e.held, 0.0);
        clear(&mut e.stock, 1.0);
        let sensors = e.silent.len() / size;
        e.silent[i * sensors..(i + 1) * sensors].fill(None);
        clear(&mut e.strength, 1.0);
        from.failures.iter().filter(|(tick, _)| *tick == 0).for_each(|(_, agent)| e.strength[i * self.agents + agent] = 0.0);
        clear(&mut e.terms, 0.0);
        let measures = problem.task.measures().len();
        e.measures[i * measures..(i + 1) * measures].fill(0.0);
        e.failures[i].clone_from(&from.failures);
        (e.noise[i], e.ticks[i], e.cost[i], e.done[i], e.diverged[i]) = (from.noise, 0, 0.0, false, false);
        self.forget();
    }

    /// Invalidates all recordings, of which targets and fixed positions are constants.
    pub fn forget(&mut self) {
        (self.by_actions.valid, self.by_policy.valid) = (false, false);
        self.observation.forget();
    }

    /// Invalidates the recording of the policy, of which parameters are constants.
    pub fn new_policy(&mut self) {
        self.by_policy.valid = false;
    }

    pub fn tick(&mut self, problem: &Problem, control: Control) {
        let (size, agents, lossy) = (self.size(), self.agents, self.lossy(problem));
        if lossy {
            self.episodes.held.resize(readings_shape(problem, size, agents).count(), 0.0);
        }
        let recorder = TickRecorder { problem, control, size, agents, action_repeat: 1, lossy };
        // Prescribed actions leave the memory of a policy as it is; another policy starts with an empty one.
        if let Control::Policy(policy, _) = control {
            let (count, memory) = (self.size() * self.agents * policy.declared().memory, &mut self.episodes.memory);
            if memory.len() != count {
                memory.clear();
                memory.resize(count, 0.0);
            }
        }
        self.gather(&recorder);
        let recorded = match control {
            Control::Policy(..) => &mut self.by_policy,
            Control::Actions(_) => &mut self.by_actions,
        };
        if recorded.valid && recorded.memory.replayable() {
            recorded.replay(control, &self.episodes, &self.inputs);
        } else {
            recorded.record(&recorder, &self.episodes, &self.inputs);
        }
        let memory = &recorded.memory;
        let e = &mut self.episodes;
        let state = [&mut e.z, &mut e.xi, &mut e.previous, &mut e.pending, &mut e.memory, &mut e.held, &mut e.stock];
        for (to, id) in state.into_iter().zip(recorded.after) {
            let Some(id) = id else { continue };
            let value = memory.value(control.shared(), id);
            let each = value.len() / e.done.len();
            if !e.done.contains(&true) {
                parallel::copy(value, to);
                continue;
            }
            // Episodes that have ended stay unchanged.
            for (i, _) in e.done.iter().enumerate().filter(|(_, done)| !**done) {
                parallel::copy(&value[i * each..][..each], &mut to[i * each..][..each]);
            }
        }
        let size = e.ticks.len();
        for (term, id) in recorded.terms.iter().enumerate() {
            e.terms[term * size..][..size].copy_from_slice(memory.value(control.shared(), *id));
        }
        let mut weighed = None;
        for i in 0..size {
            // Episodes at the same tick share the weights.
            let tick = self.episodes.ticks[i] + 1;
            if weighed.replace(tick) != Some(tick) {
                self.weights.clear();
                self.weights.extend((0..problem.task.terms().len()).map(|term| problem.task.weight(term, tick, problem.ticks)));
            }
            self.conclude(problem, i);
        }
    }

    /// Sets the strength of agents that fail at the next tick to zero; those that fail at tick 0 begin with it.
    fn apply_failures(&mut self) {
        let (e, agents) = (&mut self.episodes, self.agents);
        for (i, failures) in e.failures.iter().enumerate() {
            failures
                .iter()
                .filter(|(from, _)| *from > 0 && *from == e.ticks[i])
                .for_each(|(_, agent)| e.strength[i * agents + agent] = 0.0);
        }
    }

    /// Returns true if readings may be lost.
    fn lossy(&self, problem: &Problem) -> bool {
        problem.swarm.has_losses() || !self.episodes.silent.is_empty()
    }

    /// Computes the ages of the readings in the next tick, and the strengths of the agents in it.
    fn prepare(&mut self, problem: &Problem) {
        self.apply_failures();
        let (lossy, agents, swarm) = (self.lossy(problem), self.agents, &problem.swarm);
        let (e, ages) = (&self.episodes, &mut self.ages);
        self.acting.clone_from(&e.strength);
        ages.clear();
        if !lossy {
            return;
        }
        if swarm.has_losses() {
            e.each_noise(|seed, tick| swarm.ages(seed, [tick, 1, problem.ticks], agents, ages));
        } else {
            ages.resize(e.silent.len(), 0.0);
        }
        let sensors = ages.len() / e.ticks.len();
        for (i, (age, silent)) in ages.iter_mut().zip(&e.silent).enumerate() {
            let since = silent.and_then(|silent| (e.ticks[i / sensors] + 1).checked_sub(silent));
            *age = since.map_or(*age, |since| age.max(since as Real));
        }
        rest_blind(ages, swarm.points(), &mut self.acting);
    }

    /// Switches the sensors of an agent off or on: one, or all of them. The last reading of a sensor is that of the
    /// next tick. Agents that share a view share its sensors.
    pub fn set_sensor(&mut self, problem: &Problem, i: usize, agent: usize, point: Option<usize>, works: bool) {
        let (size, points) = (self.size(), problem.swarm.points());
        let views = if problem.swarm.features().shared { 1 } else { self.agents };
        if self.episodes.silent.is_empty() {
            if works {
                return;
            }
            self.episodes.silent = vec![None; size * views * points];
            self.forget();
        }
        let (e, first) = (&mut self.episodes, (i * views + agent.min(views - 1)) * points);
        let since = (!works).then_some(e.ticks[i] + 1);
        for silent in &mut e.silent[first..][point.map_or(0..points, |point| point..point + 1)] {
            *silent = if works { None } else { silent.or(since) };
        }
    }

    /// Returns the age of each sample of an instance, `[views, points]`, in the next tick; empty if none are lost.
    pub fn ages(&mut self, problem: &Problem, i: usize) -> &[Real] {
        self.prepare(problem);
        self.part(&self.ages, i)
    }

    /// Gathers the inputs of the next tick.
    fn gather(&mut self, recorder: &TickRecorder) {
        self.prepare(recorder.problem);
        let &TickRecorder { problem, control, agents, .. } = recorder;
        let (e, swarm) = (&self.episodes, &problem.swarm);
        self.inputs.clear();
        recorder.gather(&mut self.inputs, |slot, out| match slot {
            Slot::Strength => out.extend_from_slice(&self.acting),
            Slot::Ages => out.extend_from_slice(&self.ages),
            Slot::Arrivals => e.each_noise(|seed, tick| swarm.arrivals(seed, tick, agents, out)),
            Slot::Now => e.now(problem, out),
            Slot::SensorNoise => {
                let nodes = problem.stepper.state_count();
                e.each_noise(|seed, tick| swarm.sensor_noise(seed, tick, nodes, out));
            }
            Slot::ReadingNoise => e.each_noise(|seed, tick| swarm.reading_noise(seed, tick, agents, out)),
            Slot::ActuatorNoise => e.each_noise(|seed, tick| swarm.actuator_noise(seed, tick..tick + 1, agents, out)),
            Slot::PolicyNoise => e.each_noise(|seed, tick| {
                let mut rng = Rng::new(seed, Stream::Noise, tick as u64);
                out.extend((0..agents * control.declared().noise).map(|_| rng.normal() as Real));
            }),
            Slot::Clock => out.extend(e.ticks.iter().map(|&tick| tick as Real / problem.ticks as Real)),
            Slot::Action => {
                let Control::Actions(actions) = control else { unreachable!("a policy decides") };
                out.extend_from_slice(actions);
            }
        });
    }

    /// Completes the tick of an instance: cost, measures and end. An instance that had already ended stays unchanged.
    fn conclude(&mut self, problem: &Problem, i: usize) {
        let (size, ticks) = (self.size(), problem.ticks);
        let e = &mut self.episodes;
        let terms = problem.task.terms().len();
        if e.done[i] {
            e.cost[i] = 0.0;
            (0..terms).for_each(|term| e.terms[term * size + i] = 0.0);
            return;
        }
        e.ticks[i] += 1;
        e.cost[i] = self.weights.iter().enumerate().map(|(term, weight)| weight * e.terms[term * size + i] as f64).sum();
        let nodes = e.z.len() / size;
        let z = &e.z[i * nodes..(i + 1) * nodes];
        // Number of chunks with a value that is not finite.
        let lost = |part: Range<usize>| if z[part].iter().fold(true, |all, z| all & z.is_finite()) { 0.0 } else { 1.0 };
        let finite = e.cost[i].is_finite() && parallel::sum(z.len(), 1, lost) == 0.0;
        e.diverged[i] = !finite;
        e.done[i] = (e.ticks[i] == ticks && !self.endless) || !finite;
        if finite {
            let positions = e.xi.len() / size;
            let status = Status {
                tick: e.ticks[i],
                ticks,
                start: &e.start[i * nodes..(i + 1) * nodes],
                z,
                target: &e.target[i * nodes..(i + 1) * nodes],
                xi: &e.xi[i * positions..(i + 1) * positions],
                begins: problem.task.begins(e.noise[i]),
                thorough: self.thorough,
            };
            let width = e.measures.len() / size;
            problem.task.measure(&status, &mut e.measures[i * width..(i + 1) * width]);
        }
    }

    /// Returns the observation of the next tick: the view, the features of positions, and the strengths that limits
    /// take.
    pub fn observe(&mut self, problem: &Problem) -> [&[Real]; 3] {
        self.prepare(problem);
        if !self.ages.is_empty() {
            self.episodes.held.resize(readings_shape(problem, self.size(), self.agents).count(), 0.0);
        }
        self.inputs.clear();
        if problem.task.timed() {
            self.episodes.now(problem, &mut self.inputs);
        }
        let e = &self.episodes;
        // The same noise that a policy observes.
        self.seen.clear();
        let nodes = problem.stepper.state_count();
        e.each_noise(|seed, tick| problem.swarm.sensor_noise(seed, tick, nodes, &mut self.seen));
        self.seen.iter_mut().zip(&e.z).for_each(|(seen, z)| *seen += z);
        let z = if self.seen.is_empty() { &e.z } else { &self.seen };
        self.reading_noise.clear();
        e.each_noise(|seed, tick| problem.swarm.reading_noise(seed, tick, self.agents, &mut self.reading_noise));
        let [z, target, xi, strength] = [z, &e.target, &e.xi, &self.acting].map(Vec::as_slice);
        let around = Surroundings {
            size: e.ticks.len(),
            agents: self.agents,
            z,
            target,
            xi,
            strength,
            now: &self.inputs,
            previous: &e.previous,
            stock: &e.stock,
            noise: &self.reading_noise,
            held: &e.held,
            ages: &self.ages,
        };
        self.observation.observe(problem, &around)
    }

    pub fn result(&self, i: usize) -> (f64, bool, bool) {
        (self.episodes.cost[i], self.episodes.done[i], self.episodes.diverged[i])
    }

    pub fn term(&self, term: usize, i: usize) -> Real {
        self.episodes.terms[term * self.size() + i]
    }

    pub fn field(&self, i: usize) -> &[Real] {
        self.part(&self.episodes.z, i)
    }

    pub fn target(&self, i: usize) -> &[Real] {
        self.part(&self.episodes.target, i)
    }

    pub fn positions(&self, i: usize) -> &[Real] {
        self.part(&self.episodes.xi, i)
    }

    pub fn action(&self, i: usize) -> &[Real] {
        self.part(&self.episodes.previous, i)
    }

    pub fn pending(&self, i: usize) -> &[Real] {
        self.part(&self.episodes.pending, i)
    }

    pub fn stock(&self, i: usize) -> &[Real] {
        self.part(&self.episodes.stock, i)
    }

    pub fn strength(&self, i: usize) -> &[Real] {
        self.part(&self.episodes.strength, i)
    }

    pub fn measures(&self, i: usize) -> &[f64] {
        self.part(&self.episodes.measures, i)
    }

    pub fn noise(&self, i: usize) -> u64 {
        self.episodes.noise[i]
    }

    pub fn ticks_made(&self, i: usize) -> usize {
        self.episodes.ticks[i]
    }

    pub fn set_strength(&mut self, i: usize, agent: usize, strength: Real) {
        let limited = if strength.is_finite() { strength.clamp(0.0, 1.0) } else { 0.0 };
        self.episodes.strength[i * self.agents + agent] = limited;
    }

    /// Replaces a field. Fields are inputs of a recording, which stays valid.
    pub fn set_field(&mut self, i: usize, field: &[Real]) {
        replace(&mut self.episodes.z, i, self.episodes.ticks.len(), field, "a field");
    }

    /// Replaces a target, which is a constant of recordings.
    pub fn set_target(&mut self, i: usize, target: &[Real]) {
        replace(&mut self.episodes.target, i, self.episodes.ticks.len(), target, "a target");
        self.forget();
    }

    /// Replaces positions, which are constants of recordings if agents do not move.
    pub fn set_positions(&mut self, i: usize, positions: &[Real]) {
        replace(&mut self.episodes.xi, i, self.episodes.ticks.len(), positions, "positions");
        self.forget();
    }

    pub fn memory(&self, i: usize) -> &[Real] {
        self.part(&self.episodes.memory, i)
    }

    pub fn set_memory(&mut self, i: usize, memory: &[Real]) {
        let (size, all) = (self.size(), &mut self.episodes.memory);
        all.resize(size * memory.len(), 0.0);
        all[i * memory.len()..][..memory.len()].copy_from_slice(memory);
    }

    pub fn bytes(&self) -> usize {
        let e = &self.episodes;
        let (fields, agents) =
            ([&e.start, &e.target, &e.z, &self.seen], [&e.xi, &e.previous, &e.pending, &e.memory, &e.stock, &e.strength]);
        let numbers = fields.into_iter().chain(agents).chain([&self.inputs]).map(Vec::len);
        let recorded = self.by_actions.memory.capacity_bytes() + self.by_policy.memory.capacity_bytes() + self.observation.room();
        numbers.sum::<usize>() * size_of::<Real>() + recorded
    }

    pub fn episodes(&self) -> Episodes {
        self.episodes.clone()
    }

    pub fn fits(&self, episodes: &Episodes) -> bool {
        let agents = |e: &Episodes| [e.xi.len(), e.previous.len(), e.pending.len(), e.stock.len(), e.strength.len()];
        let sizes = |e: &Episodes| (e.z.len(), agents(e), e.ticks.len(), e.measures.len());
        sizes(&self.episodes) == sizes(episodes)
    }

    pub fn set_episodes(&mut self, episodes: &Episodes) {
        self.episodes.clone_from(episodes);
        self.forget();
    }
}

/// Replaces the values of instance `i` of `size`.
fn replace(x: &mut [Real], i: usize, size: usize, values: &[Real], what: &str) {
    let n = x.len() / size;
    assert_eq!(values.len(), n, "{what} of {} numbers instead of {n}", values.len());
    x[i * n..(i + 1) * n].copy_from_slice(values);
}

impl Recorded {
    /// Records a tick.
    fn record(&mut self, recorder: &TickRecorder, e: &Episodes, inputs: &[Real]) {
        let &TickRecorder { problem, control, .. } = recorder;
        self.inputs.clear();
        self.terms.clear();
        let tape = Tape::new(std::mem::take(&mut self.memory), control.shared()).rematerialise(true);
        {
            let (values, moves) = (e.parts(), problem.swarm.moves());
            let state = recorder.state(|part, shape| match part {
                POSITIONS if !moves => tape.constant(shape, values[part]),
                _ => tape.placeholder(shape, values[part]),
            });
            self.before = parts(&state);
            if !moves {
                self.before[POSITIONS] = None;
            }
            let fields = [&e.start, &e.target].map(|x| tape.constant(recorder.field(), x));
            let mut rest = inputs;
            let input = |_: Slot, shape: Shape| {
                let var = tape.placeholder(shape, take(&mut rest, shape.count()));
                self.inputs.push((var.id(), shape.count()));
                var
            };
            let after = recorder.tick(&tape, state, fields, false, input, &mut |term| self.terms.push(term.id()));
            self.after = parts(&after);
        }
        self.memory = tape.into_arena();
        self.valid = true;
    }

    /// Replays the recorded tick with new values.
    fn replay(&mut self, control: Control, e: &Episodes, inputs: &[Real]) {
        let mut rest = inputs;
        let state = self.before.into_iter().zip(e.parts()).filter_map(|(id, values)| Some((id?, values)));
        let inputs = self.inputs.iter().map(|&(id, count)| (id, take(&mut rest, count)));
        self.memory.replay_in_place(control.shared(), state.chain(inputs));
    }
}
