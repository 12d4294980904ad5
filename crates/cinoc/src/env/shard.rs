//! A few episodes that are computed together.

use super::driver::Driver;
use super::looking::{Around, Looking, field_shape};
use crate::agents::Disturbance;
use crate::policy::Declared;
use crate::random::{Rng, Stream};
use crate::rollout::{Beginning, Decide, Given, Inputs, Noise, State, tick};
use crate::task::Status;
use crate::{Problem, Real};
use cinoc_tape::kernel::crew;
use cinoc_tape::{Memory, Tape, VarId};
use std::ops::Range;

/// Everything that changes while episodes go on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Episodes {
    start: Vec<Real>,
    target: Vec<Real>,
    z: Vec<Real>,
    xi: Vec<Real>,
    previous: Vec<Real>,
    /// What was decided and has yet to act, the oldest of each agent first.
    pending: Vec<Real>,
    memory: Vec<Real>,
    strength: Vec<Real>,
    /// Tick and agent, of each instance.
    deaths: Vec<Vec<(usize, usize)>>,
    noise: Vec<u64>,
    ticks: Vec<usize>,
    measures: Vec<f64>,
    terms: Vec<Real>,
    cost: Vec<f64>,
    done: Vec<bool>,
    diverged: Vec<bool>,
}

impl Episodes {
    /// The seed of noise and the tick to come, of each instance in turn.
    fn each_noise(&self, mut of: impl FnMut(u64, usize)) {
        self.noise.iter().zip(&self.ticks).for_each(|(&seed, &tick)| of(seed, tick));
    }
}

/// A recorded tick, to be replayed.
#[derive(Default)]
struct Recorded {
    valid: bool,
    memory: Memory,
    /// Leaves that differ from tick to tick and their sizes, in the order of recording.
    leaves: Vec<(VarId, usize)>,
    /// Field, positions, action, what is pending, memory after the tick.
    after: [Option<VarId>; 5],
    terms: Vec<VarId>,
}

/// A few episodes that are computed together.
pub struct Shard {
    agents: usize,
    /// Whether measures that take long are made too.
    pub thorough: bool,
    /// Whether episodes go on after their last tick.
    pub endless: bool,
    episodes: Episodes,
    by_actions: Recorded,
    by_policy: Recorded,
    /// What differs from tick to tick, one after the other.
    inputs: Vec<Real>,
    /// The fields as they are seen, where that is not as they are.
    seen: Vec<Real>,
    /// Weights of the cost terms at the tick at hand.
    weights: Vec<f64>,
    looking: Looking,
}

impl Shard {
    pub fn new(problem: &Problem, size: usize, agents: usize) -> Self {
        let (nodes, swarm) = (problem.stepper.grid().count(), &problem.swarm);
        let episodes = Episodes {
            start: vec![0.0; size * nodes],
            target: vec![0.0; size * nodes],
            z: vec![0.0; size * nodes],
            xi: vec![0.0; size * agents * swarm.dimensions()],
            previous: vec![0.0; size * agents * swarm.action_width()],
            pending: vec![0.0; size * agents * swarm.action_width() * swarm.disturbance().delay],
            memory: Vec::new(),
            strength: vec![1.0; size * agents],
            deaths: vec![Vec::new(); size],
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
            seen: Vec::new(),
            weights: Vec::new(),
            looking: Looking::default(),
        }
    }

    pub fn size(&self) -> usize {
        self.episodes.ticks.len()
    }

    /// Instance `i` of an array over instances.
    fn part<'a, T>(&self, x: &'a [T], i: usize) -> &'a [T] {
        let n = x.len() / self.size();
        &x[i * n..(i + 1) * n]
    }

    pub fn reset(&mut self, problem: &Problem, i: usize, from: &Beginning) {
        let size = self.size();
        let e = &mut self.episodes;
        replace(&mut e.start, i, size, &from.start, "a start");
        replace(&mut e.z, i, size, &from.start, "a start");
        replace(&mut e.target, i, size, &from.target, "a target");
        replace(&mut e.xi, i, size, &from.places, "places");
        let clear = |x: &mut [Real], value: Real| {
            let n = x.len() / size;
            x[i * n..(i + 1) * n].fill(value);
        };
        clear(&mut e.previous, 0.0);
        clear(&mut e.pending, 0.0);
        clear(&mut e.memory, 0.0);
        clear(&mut e.strength, 1.0);
        clear(&mut e.terms, 0.0);
        let measures = problem.task.measures().len();
        e.measures[i * measures..(i + 1) * measures].fill(0.0);
        e.deaths[i].clone_from(&from.deaths);
        (e.noise[i], e.ticks[i], e.cost[i], e.done[i], e.diverged[i]) = (from.noise, 0, 0.0, false, false);
        self.forget();
    }

    /// Targets and places that never change are part of a recording.
    pub fn forget(&mut self) {
        (self.by_actions.valid, self.by_policy.valid) = (false, false);
        self.looking.forget();
    }

    /// What follows from parameters is part of a recording too: it holds only while they do.
    pub fn new_policy(&mut self) {
        self.by_policy.valid = false;
    }

    pub fn tick(&mut self, problem: &Problem, driver: Driver) {
        let declared = driver.declared();
        self.episodes.memory.resize(self.size() * self.agents * declared.memory, 0.0);
        self.gather(problem, driver, declared);
        let recorded = match driver {
            Driver::Policy(..) => &mut self.by_policy,
            Driver::Actions(_) => &mut self.by_actions,
        };
        let fresh = !recorded.valid || !recorded.memory.replayable();
        if fresh {
            record(recorded, problem, driver, &self.episodes, &self.inputs, self.agents);
        } else {
            replay(recorded, problem, driver, &self.episodes, &self.inputs);
        }
        let memory = &recorded.memory;
        let e = &mut self.episodes;
        let state = [&mut e.z, &mut e.xi, &mut e.previous, &mut e.pending, &mut e.memory];
        for (to, id) in state.into_iter().zip(recorded.after) {
            let Some(id) = id else { continue };
            let value = memory.value(driver.shared(), id);
            let each = value.len() / e.done.len();
            if !e.done.contains(&true) {
                crew::copy(value, to);
                continue;
            }
            // What is over stays as it is.
            for (i, _) in e.done.iter().enumerate().filter(|(_, done)| !**done) {
                crew::copy(&value[i * each..][..each], &mut to[i * each..][..each]);
            }
        }
        let size = e.ticks.len();
        for (term, id) in recorded.terms.iter().enumerate() {
            e.terms[term * size..][..size].copy_from_slice(memory.value(driver.shared(), *id));
        }
        let mut weighed = None;
        for i in 0..size {
            // Episodes that began together share their weights.
            let tick = self.episodes.ticks[i] + 1;
            if weighed.replace(tick) != Some(tick) {
                self.weights.clear();
                self.weights.extend((0..problem.task.terms().len()).map(|term| problem.task.weight(term, tick, problem.ticks)));
            }
            self.conclude(problem, i);
        }
    }

    /// Takes the strength of those who die at the tick to come.
    fn bury(&mut self) {
        let (e, agents) = (&mut self.episodes, self.agents);
        for (i, deaths) in e.deaths.iter().enumerate() {
            deaths.iter().filter(|(from, _)| *from == e.ticks[i]).for_each(|(_, agent)| e.strength[i * agents + agent] = 0.0);
        }
    }

    /// Gathers what differs from tick to tick besides the state, in the order of recording.
    fn gather(&mut self, problem: &Problem, driver: Driver, declared: Declared) {
        self.bury();
        let (e, agents) = (&mut self.episodes, self.agents);
        self.inputs.clear();
        self.inputs.extend_from_slice(&e.strength);
        if problem.task.timed() {
            self.inputs.extend(e.ticks.iter().map(|&tick| tick as Real));
        }
        if let Driver::Policy(..) = driver {
            let nodes = problem.stepper.grid().count();
            e.each_noise(|seed, tick| problem.swarm.sensor_noise(seed, tick, nodes, &mut self.inputs));
        }
        e.each_noise(|seed, tick| problem.swarm.actuator_noise(seed, tick..tick + 1, agents, &mut self.inputs));
        for (&seed, &tick) in e.noise.iter().zip(&e.ticks).filter(|_| declared.noise > 0) {
            let mut rng = Rng::new(seed, Stream::Noise, tick as u64);
            self.inputs.extend((0..agents * declared.noise).map(|_| rng.normal() as Real));
        }
        if declared.clock {
            self.inputs.extend(e.ticks.iter().map(|&tick| tick as Real / problem.ticks as Real));
        }
        if let Driver::Actions(actions) = driver {
            self.inputs.extend_from_slice(actions);
        }
    }

    /// Counts the tick of an instance: cost, measures, whether it is over. What was over before stays as it was.
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
        // How many chunks hold a number that is not finite.
        let lost = |part: Range<usize>| if z[part].iter().fold(true, |all, z| all & z.is_finite()) { 0.0 } else { 1.0 };
        let finite = e.cost[i].is_finite() && crew::sum(z.len(), 1, lost) == 0.0;
        e.diverged[i] = !finite;
        e.done[i] = (e.ticks[i] == ticks && !self.endless) || !finite;
        if finite {
            let places = e.xi.len() / size;
            let status = Status {
                tick: e.ticks[i],
                ticks,
                start: &e.start[i * nodes..(i + 1) * nodes],
                z,
                target: &e.target[i * nodes..(i + 1) * nodes],
                xi: &e.xi[i * places..(i + 1) * places],
                thorough: self.thorough,
            };
            let width = e.measures.len() / size;
            problem.task.measure(&status, &mut e.measures[i * width..(i + 1) * width]);
        }
    }

    /// What agents see in the tick to come: the view, features of positions, and strengths as limits take them.
    pub fn look(&mut self, problem: &Problem) -> [&[Real]; 3] {
        self.bury();
        self.inputs.clear();
        if problem.task.timed() {
            self.inputs.extend(self.episodes.ticks.iter().map(|&tick| tick as Real));
        }
        let e = &self.episodes;
        // The same numbers that a policy is shown.
        self.seen.clear();
        let nodes = problem.stepper.grid().count();
        e.each_noise(|seed, tick| problem.swarm.sensor_noise(seed, tick, nodes, &mut self.seen));
        self.seen.iter_mut().zip(&e.z).for_each(|(seen, z)| *seen += z);
        let z = if self.seen.is_empty() { &e.z } else { &self.seen };
        let [z, target, xi, strength] = [z, &e.target, &e.xi, &e.strength].map(Vec::as_slice);
        let around = Around { size: e.ticks.len(), agents: self.agents, z, target, xi, strength, now: &self.inputs };
        self.looking.look(problem, &around)
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

    pub fn strength(&self, i: usize) -> &[Real] {
        self.part(&self.episodes.strength, i)
    }

    pub fn measures(&self, i: usize) -> &[f64] {
        self.part(&self.episodes.measures, i)
    }

    pub fn ticks_made(&self, i: usize) -> usize {
        self.episodes.ticks[i]
    }

    pub fn set_strength(&mut self, i: usize, agent: usize, strength: Real) {
        self.episodes.strength[i * self.agents + agent] = strength;
    }

    /// Fields are read anew in every tick.
    pub fn set_field(&mut self, i: usize, field: &[Real]) {
        replace(&mut self.episodes.z, i, self.episodes.ticks.len(), field, "a field");
    }

    /// Targets are part of a recording.
    pub fn set_target(&mut self, i: usize, target: &[Real]) {
        replace(&mut self.episodes.target, i, self.episodes.ticks.len(), target, "a target");
        self.forget();
    }

    /// Places that never change are part of a recording.
    pub fn set_positions(&mut self, i: usize, positions: &[Real]) {
        replace(&mut self.episodes.xi, i, self.episodes.ticks.len(), positions, "places");
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
            ([&e.start, &e.target, &e.z, &self.seen], [&e.xi, &e.previous, &e.pending, &e.memory, &e.strength]);
        let numbers = fields.into_iter().chain(agents).chain([&self.inputs]).map(Vec::len);
        let recorded = self.by_actions.memory.room() + self.by_policy.memory.room() + self.looking.room();
        numbers.sum::<usize>() * size_of::<Real>() + recorded
    }

    pub fn episodes(&self) -> Episodes {
        self.episodes.clone()
    }

    pub fn fits(&self, episodes: &Episodes) -> bool {
        let agents = |e: &Episodes| [e.xi.len(), e.previous.len(), e.pending.len(), e.strength.len()];
        let sizes = |e: &Episodes| (e.z.len(), agents(e), e.ticks.len(), e.measures.len());
        sizes(&self.episodes) == sizes(episodes)
    }

    pub fn set_episodes(&mut self, episodes: &Episodes) {
        self.episodes.clone_from(episodes);
        self.forget();
    }
}

/// Replaces what belongs to instance `i` of `size` ones.
fn replace(x: &mut [Real], i: usize, size: usize, values: &[Real], what: &str) {
    let n = x.len() / size;
    assert_eq!(values.len(), n, "{what} of {} numbers where there are {n}", values.len());
    x[i * n..(i + 1) * n].copy_from_slice(values);
}

/// Records a tick.
fn record(recorded: &mut Recorded, problem: &Problem, driver: Driver, e: &Episodes, inputs: &[Real], agents: usize) {
    let (size, declared) = (e.ticks.len(), driver.declared());
    let (d, width) = (problem.swarm.dimensions(), problem.swarm.action_width());
    let Disturbance { sensor, actuator, delay } = problem.swarm.disturbance();
    recorded.leaves.clear();
    recorded.terms.clear();
    let tape = Tape::new(std::mem::take(&mut recorded.memory), driver.shared()).rematerialise(true);
    {
        let (field, rank) = field_shape(problem, size);
        let field = &field[..rank];
        let Recorded { leaves, terms, .. } = &mut *recorded;
        let mut leaf = |shape: &[usize], x: &[Real]| {
            let var = tape.given(shape, x);
            leaves.push((var.id(), x.len()));
            var
        };
        let z = leaf(field, &e.z);
        let xi = match problem.swarm.moves() {
            true => leaf(&[size, agents, d], &e.xi),
            false => tape.constant([size, agents, d], &e.xi),
        };
        let previous = leaf(&[size, agents, width], &e.previous);
        let pending = (delay > 0).then(|| leaf(&[size, agents, delay * width], &e.pending));
        let memory = (declared.memory > 0).then(|| leaf(&[size, agents, declared.memory], &e.memory));
        let [start, target] = [&e.start, &e.target].map(|x| tape.constant(field, x));
        let mut rest = inputs;
        let mut next = |shape: &[usize]| {
            let (values, after) = rest.split_at(shape.iter().product());
            rest = after;
            leaf(shape, values)
        };
        let strength = next(&[size, agents]);
        let now = problem.task.timed().then(|| next(&[size]));
        let by_policy = matches!(driver, Driver::Policy(..));
        let noise = Noise {
            sensor: (by_policy && sensor > 0.0).then(|| next(field)),
            actuator: (actuator > 0.0).then(|| next(&[size, agents, width])),
        };
        let decide = match driver {
            Driver::Policy(policy, params) => Decide::Policy {
                policy,
                theta: params.leaves(&tape, false),
                inputs: Inputs {
                    noise: (declared.noise > 0).then(|| next(&[size, agents, declared.noise])),
                    clock: declared.clock.then(|| next(&[size, 1])),
                },
            },
            Driver::Actions(_) => Decide::Action(next(&[size, agents, width])),
        };
        let state = State { z, xi, previous, pending, memory };
        let given = Given { start, target, strength, now, hold: 1, noise };
        let after = tick(problem, decide, state, given, &mut |term| terms.push(term.id()));
        let after = [Some(after.z), Some(after.xi), Some(after.previous), after.pending, after.memory];
        recorded.after = after.map(|var| var.map(|var| var.id()));
    }
    recorded.memory = tape.into_memory();
    recorded.valid = true;
}

/// Computes a recorded tick with other values.
fn replay(recorded: &mut Recorded, problem: &Problem, driver: Driver, e: &Episodes, inputs: &[Real]) {
    let Recorded { memory, leaves, .. } = recorded;
    let moves = problem.swarm.moves().then_some(e.xi.as_slice());
    let [pending, remembered] = [&e.pending, &e.memory].map(|x| (!x.is_empty()).then_some(x.as_slice()));
    let state = [Some(e.z.as_slice()), moves, Some(e.previous.as_slice()), pending, remembered].into_iter().flatten();
    let count = state.clone().count();
    let mut rest = inputs;
    let others = leaves[count..].iter().map(|&(id, size)| {
        let (values, after) = rest.split_at(size);
        rest = after;
        (id, values)
    });
    let state = leaves[..count].iter().map(|(id, _)| *id).zip(state);
    memory.renew(driver.shared(), state.chain(others));
}
