//! Episodes: the one tick, and ticks in a row with their backward sweep.

use crate::policy::Policy;
use crate::task::{After, MAX_TERMS, Moment};
use crate::{Problem, Real};
use cinoc_tape::{Bars, Leaves, Memory, Params, Tape, Var, VarId};

/// What changes from tick to tick.
#[derive(Clone, Copy)]
pub struct State<'t> {
    /// The field, `[batch, nodes…]`.
    pub z: Var<'t>,
    /// The agents' positions, `[batch, agents, d]`.
    pub xi: Var<'t>,
    /// The action of the tick before, `[batch, agents, k]`.
    pub previous: Var<'t>,
}

/// What stays.
#[derive(Clone, Copy)]
pub struct Given<'t> {
    /// The field to be reached.
    pub target: Var<'t>,
    /// 1 for each healthy agent, 0 for a dead one, `[batch, agents]`.
    pub strength: Var<'t>,
    /// Sum over the nodes of the field at the start, `[batch]`.
    pub mass: Var<'t>,
}

/// One decision: observe, act, hold to limits and to safety, push, step, move, cost. Everything that controls a field calls this.
pub fn tick<'t>(
    problem: &Problem,
    policy: &dyn Policy,
    theta: &Leaves<'t>,
    state: State<'t>,
    given: Given<'t>,
    add_cost: &mut dyn FnMut(Var<'t>),
) -> State<'t> {
    let seen = problem.swarm.observe(state.z, given.target, state.xi);
    let raw = policy.act(theta, &seen);
    let strength = problem.swarm.strength(given.strength, state.xi);
    let action = problem.swarm.filter(problem.swarm.saturate(raw, strength), state.xi);
    apply(problem, action, state, given, add_cost)
}

/// The second half of a tick, for actions decided elsewhere.
pub fn apply<'t>(
    problem: &Problem,
    action: Var<'t>,
    state: State<'t>,
    given: Given<'t>,
    add_cost: &mut dyn FnMut(Var<'t>),
) -> State<'t> {
    let force = problem.swarm.actuate(action, state.xi);
    let mut z = state.z;
    for _ in 0..problem.substeps {
        z = problem.stepper.step(z, force);
    }
    let xi = problem.swarm.advance(state.xi, action);
    let after = After { z, target: given.target, mass: given.mass, xi, action, previous: state.previous };
    problem.task.cost(&after, add_cost);
    State { z, xi, previous: action }
}

/// Which part of a state the positions are.
const PLACES: usize = 1;

/// Several instances side by side.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Number of instances.
    pub size: usize,
    /// Agents per instance.
    pub agents: usize,
    /// Fields at the start.
    pub z: Vec<Real>,
    /// Fields to be reached.
    pub target: Vec<Real>,
    /// Sum over the nodes of each field at the start.
    pub mass: Vec<Real>,
    /// Positions at the start.
    pub xi: Vec<Real>,
    /// Each agent's strength at the start: 1, or 0 if it is dead.
    pub strength: Vec<Real>,
    /// The same from a later tick on (counted from 0).
    pub failure: Option<(usize, Vec<Real>)>,
}

impl Batch {
    /// An empty batch for `agents` agents.
    pub fn new(agents: usize) -> Self {
        Self { agents, ..Self::default() }
    }

    /// Removes all instances, keeps the room.
    pub fn clear(&mut self) {
        self.size = 0;
        [&mut self.z, &mut self.target, &mut self.mass, &mut self.xi, &mut self.strength].into_iter().for_each(Vec::clear);
        self.failure = None;
    }

    /// Adds an instance with agents at `xi`.
    pub fn push(&mut self, start: &[Real], target: &[Real], xi: &[Real]) {
        self.size += 1;
        self.z.extend_from_slice(start);
        self.target.extend_from_slice(target);
        self.mass.push(start.iter().map(|&z| z as f64).sum::<f64>() as Real);
        self.xi.extend_from_slice(xi);
        self.strength.resize(self.size * self.agents, 1.0);
    }
}

/// How an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All ticks were made.
    Finished,
    /// A number was no longer finite after this tick (from 1).
    Diverged {
        /// Which one.
        tick: usize,
    },
}

/// What an observer of an episode is shown after each tick; tick 0 is the start, without action.
pub struct Scene<'a> {
    /// From 0 to `ticks`.
    pub tick: usize,
    /// Fields, `[batch, nodes…]`.
    pub z: &'a [Real],
    /// Positions, `[batch, agents, d]`.
    pub xi: &'a [Real],
    /// Actions, `[batch, agents, k]`; empty at tick 0.
    pub action: &'a [Real],
    /// Each agent's strength, 0 if it is dead, `[batch, agents]`.
    pub strength: &'a [Real],
}

/// The names of a segment's variables, the same for every segment of the same length.
#[derive(Clone, Default)]
struct Marks {
    /// The agents' strengths in each tick.
    strengths: Vec<VarId>,
    /// z, ξ and previous action at the start and at the end.
    first: Option<[VarId; 3]>,
    last: Option<[VarId; 3]>,
    /// The cost terms of each tick in turn.
    terms: Vec<VarId>,
}

impl Marks {
    /// As a clone, in the room there is.
    fn copy(&mut self, other: &Self) {
        (self.first, self.last) = (other.first, other.last);
        self.strengths.clone_from(&other.strengths);
        self.terms.clone_from(&other.terms);
    }
}

/// Episodes of one batch: working space that is reused from update to update.
pub struct Rollout {
    /// The instances.
    pub batch: Batch,
    /// Sum over ticks of weight·term for each term and instance, `[terms, batch]`.
    pub costs: Vec<f64>,
    /// Cotangents, of the parameters among them.
    pub bars: Bars,
    ticks: usize,
    segment: usize,
    keep: bool,
    thrifty: bool,
    memories: Vec<Memory>,
    marks: Vec<Marks>,
    /// The state (z, ξ, previous action) at the start of each segment and at the end; without a gradient to follow, only the last two.
    states: Vec<[Vec<Real>; 3]>,
    all_states: bool,
    state_bar: [Vec<Real>; 3],
    seed: Vec<Real>,
}

impl Rollout {
    /// For episodes of `ticks` ticks, recorded in segments of `segment` ticks. With `keep` all segments stay in memory until the
    /// backward sweep; without, each is computed once more when its turn comes. The gradient is the same.
    pub fn new(ticks: usize, segment: usize, keep: bool, agents: usize) -> Self {
        let segments = ticks.div_ceil(segment);
        Self {
            batch: Batch::new(agents),
            costs: Vec::new(),
            bars: Bars::default(),
            ticks,
            segment,
            keep,
            thrifty: false,
            memories: (0..if keep { segments } else { 3 }).map(|_| Memory::default()).collect(),
            marks: vec![Marks::default(); segments],
            states: vec![Default::default(); segments + 1],
            all_states: true,
            state_bar: Default::default(),
            seed: Vec::new(),
        }
    }

    /// The same, but with `yes` recorded ticks keep only what cannot be computed again. The gradient is the same.
    pub fn thrifty(mut self, yes: bool) -> Self {
        self.thrifty = yes;
        self
    }

    /// Rolls the batch out. `watch` sees every tick if segments are single ticks, else the end of each segment.
    pub fn forward(
        &mut self,
        problem: &Problem,
        policy: &dyn Policy,
        params: &Params,
        train: bool,
        watch: &mut dyn FnMut(&Scene),
    ) -> Outcome {
        let size = self.batch.size;
        let actions = size * self.batch.agents * problem.swarm.action_width();
        self.all_states = train;
        let [z, xi, previous] = &mut self.states[0];
        copy(z, &self.batch.z);
        copy(xi, &self.batch.xi);
        previous.clear();
        previous.resize(actions, 0.0);
        self.costs.clear();
        self.costs.resize(problem.task.terms().len() * size, 0.0);
        watch(&Scene { tick: 0, z: &self.batch.z, xi: &self.batch.xi, action: &[], strength: self.strength(0) });
        for s in 0..self.marks.len() {
            if s != self.model(s) {
                let slot = self.slot(s);
                self.memories[slot].release();
            }
        }
        for s in 0..self.marks.len() {
            self.compute(problem, policy, params, train, s);
            let (memory, after) = (&self.memories[self.slot(s)], self.state(s + 1));
            let end = ((s + 1) * self.segment).min(self.ticks);
            for (i, id) in self.marks[s].last.expect("just recorded").into_iter().enumerate() {
                copy(&mut self.states[after][i], memory.value(params.shared(), id));
            }
            let terms = problem.task.terms().len();
            for (t, ids) in self.marks[s].terms.chunks_exact(terms).enumerate() {
                let tick = s * self.segment + t + 1;
                for (term, id) in ids.iter().enumerate() {
                    let weight = problem.task.weight(term, tick, self.ticks);
                    for (sum, c) in self.costs[term * size..][..size].iter_mut().zip(memory.value(params.shared(), *id)) {
                        *sum += weight * *c as f64;
                    }
                }
                if !self.costs.iter().all(|c| c.is_finite()) {
                    return Outcome::Diverged { tick };
                }
            }
            let [z, xi, action] = &self.states[after];
            watch(&Scene { tick: end, z, xi, action, strength: self.strength(end - 1) });
        }
        Outcome::Finished
    }

    /// The segment that is recorded for segment `s` to be replayed from: the first of the same length.
    fn model(&self, s: usize) -> usize {
        let shorter = s + 1 == self.marks.len() && !self.ticks.is_multiple_of(self.segment);
        if shorter { s } else { 0 }
    }

    /// Where the state at the start of segment `s` is kept.
    fn state(&self, s: usize) -> usize {
        if self.all_states { s } else { s % 2 }
    }

    /// The memory of segment `s`. Where not all are kept, the two models have their own and the others share one.
    fn slot(&self, s: usize) -> usize {
        match (self.keep, s) {
            (true, s) => s,
            (false, 0) => 0,
            (false, s) if s == self.model(s) => 1,
            _ => 2,
        }
    }

    /// Computes segment `s`: the first of its kind is recorded, the others replay it.
    fn compute(&mut self, problem: &Problem, policy: &dyn Policy, params: &Params, train: bool, s: usize) {
        let (slot, model, from) = (self.slot(s), self.model(s), self.state(s));
        if s == model || !self.memories[self.slot(model)].replayable() {
            return self.record(problem, policy, params, train, s, slot);
        }
        let (known, new) = self.marks.split_at_mut(s);
        let marks = &known[model];
        new[0].copy(marks);
        let (recorded, free) = self.memories.split_at_mut(slot);
        let start = marks.first.into_iter().flatten().zip(self.states[from].iter().map(Vec::as_slice));
        let start = start.enumerate().filter(|(i, _)| problem.swarm.moves() || *i != PLACES).map(|(_, leaf)| leaf);
        let ticks = s * self.segment..self.ticks;
        let strengths = marks.strengths.iter().copied().zip(ticks.map(|tick| strength_at(&self.batch, tick)));
        // Target and mass are those of the recording, and so are places that never change.
        free[0].replay(&recorded[model], params.shared(), start.chain(strengths));
    }

    /// Records segment `s` into memory `slot`.
    fn record(&mut self, problem: &Problem, policy: &dyn Policy, params: &Params, train: bool, s: usize, slot: usize) {
        let (size, agents, from) = (self.batch.size, self.batch.agents, self.state(s));
        let tape = Tape::new(std::mem::take(&mut self.memories[slot]), params.shared()).thrifty(self.thrifty || !train);
        let marks = &mut self.marks[s];
        marks.terms.clear();
        marks.strengths.clear();
        {
            let theta = params.leaves(&tape, train);
            let nodes = &problem.stepper.grid().nodes;
            let mut field = [size; 4];
            field[1..=nodes.len()].copy_from_slice(nodes);
            let field = &field[..=nodes.len()];
            let leaf = |shape: &[usize], x: &[Real]| if train { tape.input(shape, x) } else { tape.given(shape, x) };
            // What follows from places that never change is computed in the first tick alone.
            let place =
                |shape: &[usize], x: &[Real]| if problem.swarm.moves() { leaf(shape, x) } else { tape.constant(shape, x) };
            let [z, xi, previous] = &self.states[from];
            let mut state = State {
                z: leaf(field, z),
                xi: place(&[size, agents, problem.swarm.dimensions()], xi),
                previous: leaf(&[size, agents, problem.swarm.action_width()], previous),
            };
            marks.first = Some([state.z.id(), state.xi.id(), state.previous.id()]);
            let target = tape.constant(field, &self.batch.target);
            let mass = tape.constant([size], &self.batch.mass);
            for t in s * self.segment..((s + 1) * self.segment).min(self.ticks) {
                let strength = tape.given([size, agents], strength_at(&self.batch, t));
                marks.strengths.push(strength.id());
                let before = marks.terms.len();
                let given = Given { target, strength, mass };
                state = tick(problem, policy, &theta, state, given, &mut |term| marks.terms.push(term.id()));
                assert!(marks.terms.len() - before == problem.task.terms().len() && marks.terms.len() - before <= MAX_TERMS);
            }
            marks.last = Some([state.z.id(), state.xi.id(), state.previous.id()]);
        }
        self.memories[slot] = tape.into_memory();
    }

    /// Adds the gradient of `share · Σ over instances of the cost` to the parameters' cotangents in [`Rollout::bars`].
    /// To be called after a [`forward`](Self::forward) with `train`.
    pub fn backward(&mut self, problem: &Problem, policy: &dyn Policy, params: &Params, share: f64) {
        let terms = problem.task.terms().len();
        for s in (0..self.marks.len()).rev() {
            let (slot, last) = (self.slot(s), s + 1 == self.marks.len());
            if !self.keep && !last && s != self.model(s) {
                self.compute(problem, policy, params, true, s);
            }
            let memory = &self.memories[slot];
            self.bars.start(memory, params.theta().len());
            let marks = &self.marks[s];
            if s + 1 < self.marks.len() {
                for (id, bar) in marks.last.expect("recorded").into_iter().zip(&self.state_bar) {
                    self.bars.seed(memory, id, bar);
                }
            }
            for (t, ids) in marks.terms.chunks_exact(terms).enumerate() {
                for (term, id) in ids.iter().enumerate() {
                    let weight = problem.task.weight(term, s * self.segment + t + 1, self.ticks);
                    self.seed.clear();
                    self.seed.resize(self.batch.size, (share * weight) as Real);
                    self.bars.seed(memory, *id, &self.seed);
                }
            }
            let next = slot.checked_sub(1).filter(|_| self.keep).map(|slot| &self.memories[slot]);
            memory.backward_before(params.shared(), &mut self.bars, next);
            // Every recording begins with the same tick, where all that stands is computed as a rule.
            if s == 0 || !memory.sweeps_with(&self.memories[self.slot(self.model(s - 1))]) {
                memory.backward_standing(params.shared(), &mut self.bars);
            }
            for (i, id) in marks.first.expect("recorded").into_iter().enumerate() {
                let bar = self.bars.of(memory, id);
                let kept = &mut self.state_bar[i];
                kept.clear();
                if bar.is_empty() {
                    kept.resize(self.states[s][i].len(), 0.0);
                } else {
                    kept.extend_from_slice(bar);
                }
            }
        }
    }

    /// Cotangents of the start: field, positions.
    pub fn start_bars(&self) -> (&[Real], &[Real]) {
        (&self.state_bar[0], &self.state_bar[1])
    }

    /// The state at the end: field, positions.
    pub fn end(&self) -> (&[Real], &[Real]) {
        let [z, xi, _] = &self.states[self.state(self.marks.len())];
        (z, xi)
    }

    /// Bytes held by recorded segments.
    pub fn bytes(&self) -> usize {
        self.memories.iter().map(Memory::bytes).sum()
    }

    fn strength(&self, tick: usize) -> &[Real] {
        strength_at(&self.batch, tick)
    }

    /// The batch's instance `i` at the end of tick `scene.tick`, for scoring.
    pub fn moment<'a>(batch: &'a Batch, scene: &Scene<'a>, ticks: usize, i: usize) -> Moment<'a> {
        let part = |x: &'a [Real]| {
            let n = x.len() / batch.size;
            &x[i * n..(i + 1) * n]
        };
        let (start, target) = (part(&batch.z), part(&batch.target));
        Moment { tick: scene.tick, ticks, start, z: part(scene.z), target, xi: part(scene.xi), thorough: false }
    }
}

/// The agents' strength during tick `tick` (from 0).
fn strength_at(batch: &Batch, tick: usize) -> &[Real] {
    match &batch.failure {
        Some((from, strength)) if tick >= *from => strength,
        _ => &batch.strength,
    }
}

fn copy(to: &mut Vec<Real>, from: &[Real]) {
    to.clear();
    to.extend_from_slice(from);
}
