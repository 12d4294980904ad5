//! Episodes with their derivatives: ticks in a row, and the backward sweep through them.

mod batch;
mod control;
mod living;
mod marks;
mod tick;

pub use batch::{Batch, Beginning};
pub use control::{Control, Gradients, Loss, Outcome, Scene, Share, TickCotangents, Wanted};
pub use tick::{Decide, Given, Inputs, Noise, State, tick};

pub(crate) use living::living;

use crate::agents::Disturbance;
use crate::policy::Declared;
use crate::{Problem, Real};
use cinoc_tape::kernel::buffer::Buffer;
use cinoc_tape::{Adjoints, Memory, Tape};
use marks::{Marks, PARTS};

/// Which part of a state is which.
const PLACES: usize = 1;
const PREVIOUS: usize = 2;
const PENDING: usize = 3;
const MEMORY: usize = 4;

/// Episodes of one batch with their derivatives: working space that is reused from update to update.
pub struct Rollout {
    /// The episodes.
    pub batch: Batch,
    /// Sum over ticks of weight·term for each term and instance, `[terms, batch]`.
    pub costs: Vec<f64>,
    /// Cotangents, of the parameters among them.
    bars: Adjoints,
    /// Decisions of an episode, and the ticks that each holds for.
    ticks: usize,
    hold: usize,
    /// Decisions of the whole episode, and how many of them were made before.
    of: usize,
    before: usize,
    segment: usize,
    keep: bool,
    rematerialise: bool,
    wanted: Wanted,
    memories: Vec<Memory>,
    /// Working space of all ticks but the recorded ones.
    scratch: Buffer,
    marks: Vec<Marks>,
    /// The state at the start of each segment and at the end; without a gradient to follow, only the last two.
    states: Vec<[Vec<Real>; PARTS]>,
    /// What differs from tick to tick in the segment at hand, one after the other.
    inputs: Vec<Real>,
    state_bar: [Vec<Real>; PARTS],
    start_bar: Vec<Real>,
    action_bar: Vec<Real>,
    seed: Vec<Real>,
    /// Whether a backward sweep has computed segments again that were not kept.
    swept: bool,
}

impl Rollout {
    /// For episodes of `ticks` ticks, recorded in segments of `segment` ticks. With `keep` all segments stay in memory until the
    /// backward sweep; without, each is computed once more when its turn comes. The gradient is the same.
    pub fn new(ticks: usize, segment: usize, keep: bool, agents: usize) -> Self {
        let segments = ticks.div_ceil(segment);
        Self {
            batch: Batch::new(agents),
            costs: Vec::new(),
            bars: Adjoints::default(),
            ticks,
            hold: 1,
            of: ticks,
            before: 0,
            segment,
            keep,
            rematerialise: false,
            wanted: Wanted::default(),
            memories: (0..if keep { segments } else { 3 }).map(|_| Memory::default()).collect(),
            scratch: Buffer::default(),
            marks: vec![Marks::default(); segments],
            states: vec![Default::default(); segments + 1],
            inputs: Vec::new(),
            state_bar: Default::default(),
            start_bar: Vec::new(),
            action_bar: Vec::new(),
            seed: Vec::new(),
            swept: false,
        }
    }

    /// The same, but with `yes` recorded ticks keep only what cannot be computed again. The gradient is the same.
    pub fn rematerialise(mut self, yes: bool) -> Self {
        self.rematerialise = yes;
        self
    }

    /// The same, but every decision holds for so many ticks; what was said of ticks before is then said of decisions.
    pub fn hold(mut self, ticks: usize) -> Self {
        self.hold = ticks;
        self
    }

    /// The same, but as a part of an episode of `of` decisions, of which `before` were made already: weights of the cost, deaths, noise and the
    /// clock count from there. What it begins with besides fields and places is in the [`Batch`].
    pub fn part(mut self, before: usize, of: usize) -> Self {
        (self.before, self.of) = (before, of);
        self
    }

    /// Rolls the batch out. `watch` sees every tick if segments are single ticks, else the end of each segment.
    pub fn forward<'r>(
        &'r mut self,
        problem: &'r Problem,
        control: Control<'r>,
        wanted: Wanted,
        watch: &mut dyn FnMut(&Scene),
    ) -> Episode<'r> {
        let outcome = self.compute_all(problem, control, wanted, watch);
        Episode { rollout: self, problem, control, outcome }
    }

    fn compute_all(&mut self, problem: &Problem, control: Control, wanted: Wanted, watch: &mut dyn FnMut(&Scene)) -> Outcome {
        let (size, agents) = (self.batch.size, self.batch.agents);
        let width = problem.swarm.action_width();
        if let Control::Actions(actions) = control {
            let needed = self.ticks * size * agents * width;
            assert_eq!(actions.len(), needed, "actions of {} ticks, {size} instances, {agents} agents", self.ticks);
        }
        self.wanted = wanted;
        let [z, xi, previous, pending, memory] = &mut self.states[0];
        copy(z, &self.batch.start);
        copy(xi, &self.batch.places);
        begin(previous, &self.batch.previous, size * agents * width);
        begin(pending, &self.batch.pending, size * agents * width * problem.swarm.disturbance().pending(self.hold));
        begin(memory, &self.batch.memory, size * agents * control.declared().memory);
        self.swept = false;
        self.costs.clear();
        self.costs.resize(problem.task.terms().len() * size, 0.0);
        watch(&Scene { tick: 0, z: &self.batch.start, xi: &self.batch.places, action: &[] });
        for s in 0..self.marks.len() {
            if s != self.model(s) {
                let slot = self.slot(s);
                self.memories[slot].release();
            }
        }
        for s in 0..self.marks.len() {
            self.compute(problem, control, s);
            let (memory, after) = (&self.memories[self.slot(s)], self.state(s + 1));
            let end = ((s + 1) * self.segment).min(self.ticks);
            for (part, id) in self.marks[s].last.into_iter().enumerate() {
                let value = id.map_or(&[][..], |id| memory.value(control.shared(), id));
                copy(&mut self.states[after][part], value);
            }
            let terms = problem.task.terms().len();
            for (t, ids) in self.marks[s].terms.chunks_exact(terms).enumerate() {
                let tick = s * self.segment + t + 1;
                for (term, id) in ids.iter().enumerate() {
                    let weight = problem.task.weight(term, self.before + tick, self.of);
                    for (sum, c) in self.costs[term * size..][..size].iter_mut().zip(memory.value(control.shared(), *id)) {
                        *sum += weight * *c as f64;
                    }
                }
                if !self.costs.iter().all(|c| c.is_finite()) {
                    return Outcome::Diverged { tick };
                }
            }
            let [z, xi, action, ..] = &self.states[after];
            watch(&Scene { tick: end, z, xi, action });
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
        if self.wanted.any() { s } else { s % 2 }
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

    /// The ticks of segment `s`, from 0.
    fn ticks_of(&self, s: usize) -> std::ops::Range<usize> {
        s * self.segment..((s + 1) * self.segment).min(self.ticks)
    }

    /// Whether places are the same in all ticks and nobody asks for the derivative by them: then what follows from them is computed once.
    fn fixed_places(&self, problem: &Problem) -> bool {
        !problem.swarm.moves() && !self.wanted.places
    }

    /// Gathers what differs from tick to tick in segment `s`, in the order of recording.
    fn gather(&mut self, problem: &Problem, control: Control, s: usize) {
        let Declared { noise, clock, .. } = control.declared();
        self.inputs.clear();
        for tick in self.ticks_of(s) {
            let now = self.before + tick;
            self.batch.strength_at(now * self.hold, &mut self.inputs);
            if problem.task.timed() {
                self.inputs.resize(self.inputs.len() + self.batch.size, (now * self.hold) as Real);
            }
            if let Control::Policy(..) = control {
                self.batch.sensor_noise_at(problem, now * self.hold, &mut self.inputs);
            }
            self.batch.actuator_noise_at(problem, now * self.hold..(now + 1) * self.hold, &mut self.inputs);
            if noise > 0 {
                self.batch.noise_at(now, noise, &mut self.inputs);
            }
            if clock {
                let over = now as Real / self.of as Real;
                self.inputs.resize(self.inputs.len() + self.batch.size, over);
            }
            if let Control::Actions(actions) = control {
                let each = actions.len() / self.ticks;
                self.inputs.extend_from_slice(&actions[tick * each..(tick + 1) * each]);
            }
        }
    }

    /// Computes segment `s`: the first of its kind is recorded, the others replay it.
    fn compute(&mut self, problem: &Problem, control: Control, s: usize) {
        self.gather(problem, control, s);
        let (slot, model, from) = (self.slot(s), self.model(s), self.state(s));
        if s == model || !self.memories[self.slot(model)].replayable() {
            return self.record(problem, control, s, slot);
        }
        let fixed = self.fixed_places(problem);
        let (known, new) = self.marks.split_at_mut(s);
        let marks = &known[model];
        new[0].copy(marks);
        let (recorded, free) = self.memories.split_at_mut(slot);
        let states = marks.first.into_iter().zip(&self.states[from]).enumerate();
        let start = states.filter(|(part, _)| !fixed || *part != PLACES).filter_map(|(_, (id, x))| Some((id?, x.as_slice())));
        // Start and target are those of the recording, and so are places that never change.
        let mut rest = self.inputs.as_slice();
        let inputs = marks.inputs.iter().map(|&id| {
            let (values, after) = rest.split_at(recorded[model].shape(id).count());
            rest = after;
            (id, values)
        });
        free[0].replay(&recorded[model], control.shared(), start.chain(inputs), &mut self.scratch);
    }

    /// Records segment `s` into memory `slot`.
    fn record(&mut self, problem: &Problem, control: Control, s: usize, slot: usize) {
        let (size, agents, from, ticks) = (self.batch.size, self.batch.agents, self.state(s), self.ticks_of(s));
        let (wanted, fixed, declared) = (self.wanted, self.fixed_places(problem), control.declared());
        let (d, width) = (problem.swarm.dimensions(), problem.swarm.action_width());
        let Disturbance { sensor, actuator, .. } = problem.swarm.disturbance();
        let waiting = width * problem.swarm.disturbance().pending(self.hold);
        let shared = control.shared();
        let tape = Tape::new(std::mem::take(&mut self.memories[slot]), shared).rematerialise(self.rematerialise || !wanted.any());
        let marks = &mut self.marks[s];
        marks.clear();
        {
            let nodes = &problem.stepper.grid().nodes;
            let mut field = [size; 4];
            field[1..=nodes.len()].copy_from_slice(nodes);
            let field = &field[..=nodes.len()];
            let leaf = |shape: &[usize], x: &[Real]| if wanted.any() { tape.input(shape, x) } else { tape.given(shape, x) };
            let [z, xi, previous, pending, memory] = &self.states[from];
            let mut state = State {
                z: leaf(field, z),
                xi: if fixed { tape.constant([size, agents, d], xi) } else { leaf(&[size, agents, d], xi) },
                previous: leaf(&[size, agents, width], previous),
                pending: (waiting > 0).then(|| leaf(&[size, agents, waiting], pending)),
                memory: (declared.memory > 0).then(|| leaf(&[size, agents, declared.memory], memory)),
            };
            marks.first = marks::parts(&state);
            let start = match wanted.start {
                true => tape.fixed_input(field, &self.batch.start),
                false => tape.constant(field, &self.batch.start),
            };
            marks.start = Some(start.id());
            let target = tape.constant(field, &self.batch.target);
            let mut rest = self.inputs.as_slice();
            for _ in ticks {
                let mut next = |shape: &[usize], wants: bool| {
                    let (values, after) = rest.split_at(shape.iter().product());
                    rest = after;
                    let var = if wants { tape.input(shape, values) } else { tape.given(shape, values) };
                    marks.inputs.push(var.id());
                    var
                };
                let strength = next(&[size, agents], false);
                let now = problem.task.timed().then(|| next(&[size], false));
                let by_policy = matches!(control, Control::Policy(..));
                let noise = Noise {
                    sensor: (by_policy && sensor > 0.0).then(|| next(field, false)),
                    actuator: (actuator > 0.0).then(|| next(&[size, agents, self.hold * width], false)),
                };
                let decide = match control {
                    Control::Policy(policy, params) => Decide::Policy {
                        policy,
                        theta: params.leaves(&tape, wanted.params),
                        inputs: Inputs {
                            noise: (declared.noise > 0).then(|| next(&[size, agents, declared.noise], false)),
                            clock: declared.clock.then(|| next(&[size, 1], false)),
                        },
                    },
                    Control::Actions(_) => {
                        let action = next(&[size, agents, width], wanted.actions);
                        marks.actions.push(action.id());
                        Decide::Action(action)
                    }
                };
                let before = marks.terms.len();
                let given = Given { start, target, strength, now, hold: self.hold, noise };
                state = tick(problem, decide, state, given, &mut |term| marks.terms.push(term.id()));
                let (found, named) = (marks.terms.len() - before, problem.task.terms().len());
                assert_eq!(found, named, "a task adds as many terms to the cost as it names");
            }
            marks.last = marks::parts(&state);
        }
        self.memories[slot] = tape.into_memory();
    }

    fn backward(&mut self, problem: &Problem, control: Control, mut loss: Loss) {
        let (terms, shared) = (problem.task.terms().len(), control.shared());
        let parameters = if let Control::Policy(_, params) = control { params.theta().len() } else { 0 };
        assert!(loss.own.is_none() || self.segment == 1, "an own loss needs segments of one tick, not of {}", self.segment);
        let per_tick = self.states[0][PREVIOUS].len();
        zeros(&mut self.action_bar, if self.wanted.actions { self.ticks * per_tick } else { 0 });
        self.start_bar.clear();
        for s in (0..self.marks.len()).rev() {
            let (slot, last) = (self.slot(s), s + 1 == self.marks.len());
            // What is not kept is computed again, but for the last, which is there unless a sweep came before.
            if !self.keep && (!last || self.swept) && s != self.model(s) {
                self.compute(problem, control, s);
            }
            let memory = &self.memories[slot];
            self.bars.start(memory, parameters);
            let marks = &self.marks[s];
            if !last {
                for (id, bar) in marks.last.into_iter().zip(&self.state_bar) {
                    id.into_iter().for_each(|id| self.bars.seed(memory, id, bar));
                }
            }
            if let Some(own) = &mut loss.own {
                let [z, xi, action, ..] = &mut self.state_bar;
                let sizes = [self.states[0][0].len(), self.states[0][PLACES].len(), per_tick];
                [&mut *z, &mut *xi, &mut *action].into_iter().zip(sizes).for_each(|(bar, size)| zeros(bar, size));
                own(&mut TickCotangents { tick: s + 1, z, xi, action });
                for (id, bar) in marks.last.into_iter().zip(&self.state_bar).take(PREVIOUS + 1) {
                    id.into_iter().for_each(|id| self.bars.seed(memory, id, bar));
                }
            }
            for (t, ids) in marks.terms.chunks_exact(terms).enumerate() {
                for (term, id) in ids.iter().enumerate() {
                    let weight = problem.task.weight(term, self.before + s * self.segment + t + 1, self.of);
                    self.seed.clear();
                    self.seed.extend((0..self.batch.size).map(|i| (loss.cost.of(i) * weight) as Real));
                    self.bars.seed(memory, *id, &self.seed);
                }
            }
            let next = slot.checked_sub(1).filter(|_| self.keep).map(|slot| &self.memories[slot]);
            memory.backward_before(shared, &mut self.bars, next);
            // Every recording begins with the same tick, in which as a rule all is computed that is the same in every tick.
            let ends = s == 0 || !memory.sweeps_with(&self.memories[self.slot(self.model(s - 1))]);
            if ends {
                memory.backward_loop_invariant(shared, &mut self.bars);
                if let (true, Some(id)) = (self.wanted.start, marks.start) {
                    add(&mut self.start_bar, self.bars.of(memory, id));
                }
            }
            for (i, id) in marks.actions.iter().enumerate().filter(|_| self.wanted.actions) {
                let bar = self.bars.of(memory, *id);
                if !bar.is_empty() {
                    self.action_bar[(s * self.segment + i) * per_tick..][..per_tick].copy_from_slice(bar);
                }
            }
            for (part, id) in marks.first.into_iter().enumerate() {
                let bar = id.map_or(&[][..], |id| self.bars.of(memory, id));
                let kept = &mut self.state_bar[part];
                match bar.is_empty() {
                    true => zeros(kept, self.states[s][part].len()),
                    false => copy(kept, bar),
                }
            }
        }
        add(&mut self.state_bar[0], &self.start_bar);
        self.swept = true;
    }

    /// Sweeps backwards through what [`forward`](Self::forward) computed, of which all ticks were finite, with the same problem and control;
    /// as often as there are losses.
    ///
    /// # Panics
    /// If no derivative was wanted.
    pub fn sweep(&mut self, problem: &Problem, control: Control, loss: Loss) -> Gradients<'_> {
        assert!(self.wanted.any(), "a rollout without wanted derivatives cannot be swept backwards");
        self.backward(problem, control, loss);
        let [z, xi, previous, pending, memory] = &self.state_bar;
        Gradients { params: &self.bars.shared, actions: &self.action_bar, start: z, places: xi, previous, pending, memory }
    }

    /// Sets the gradient by the parameters to zero; backward sweeps add to it.
    pub fn clear_gradient(&mut self) {
        self.bars.clear_shared();
    }

    /// The gradient by the parameters, summed over backward sweeps since [`clear_gradient`](Self::clear_gradient).
    pub fn gradient(&self) -> &[Real] {
        &self.bars.shared
    }

    /// The state at the end: field, positions.
    pub fn end(&self) -> (&[Real], &[Real]) {
        let [z, xi, ..] = &self.states[self.state(self.marks.len())];
        (z, xi)
    }

    /// What was decided and has yet to act at the end, `[batch, agents, decisions·k]`, the oldest first.
    pub fn pending(&self) -> &[Real] {
        &self.states[self.state(self.marks.len())][PENDING]
    }

    /// What each agent remembers at the end, `[batch, agents, h]`.
    pub fn remembered(&self) -> &[Real] {
        &self.states[self.state(self.marks.len())][MEMORY]
    }

    /// Bytes held by recorded segments.
    pub fn bytes(&self) -> usize {
        self.memories.iter().map(Memory::bytes).sum()
    }
}

/// A rollout that was computed, and can be swept backwards.
pub struct Episode<'r> {
    rollout: &'r mut Rollout,
    problem: &'r Problem,
    control: Control<'r>,
    /// How it ended.
    pub outcome: Outcome,
}

impl<'r> Episode<'r> {
    /// Sweeps backwards. The gradient by the parameters adds to that of sweeps before, see [`Rollout::clear_gradient`].
    ///
    /// # Panics
    /// If no derivative was wanted.
    pub fn backward(self, loss: Loss) -> Gradients<'r> {
        self.rollout.sweep(self.problem, self.control, loss)
    }
}

fn copy(to: &mut Vec<Real>, from: &[Real]) {
    to.clear();
    to.extend_from_slice(from);
}

/// What an episode begins with: `from`, or zeros where nothing is given.
fn begin(to: &mut Vec<Real>, from: &[Real], count: usize) {
    if from.is_empty() {
        return zeros(to, count);
    }
    assert_eq!(from.len(), count, "{} numbers to begin with where there are {count}", from.len());
    copy(to, from);
}

fn zeros(to: &mut Vec<Real>, count: usize) {
    to.clear();
    to.resize(count, 0.0);
}

/// Adds, where an empty vector is one of zeros.
fn add(to: &mut Vec<Real>, from: &[Real]) {
    if to.is_empty() {
        copy(to, from);
    } else {
        to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
    }
}
