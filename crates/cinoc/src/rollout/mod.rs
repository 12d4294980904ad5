//! Differentiable episodes: a forward pass over ticks, and a backward sweep through them.
//!
//! ```
//! use cinoc::rollout::{Control, GradientTargets, Loss, Rollout};
//!
//! let scenario = cinoc::problem("heat1d")?;
//! let (problem, ticks) = (scenario.problem(), 3);
//! let field = vec![0.5; problem.stepper.grid().count()];
//! let actions = vec![0.0; ticks * problem.agents * problem.swarm.action_width()];
//! let mut rollout = Rollout::new(ticks, 1, true, problem.agents);
//! rollout.batch.push(&field, &vec![0.0; field.len()], &problem.swarm.start(problem.agents));
//! let episode = rollout.forward(problem, Control::Actions(&actions), GradientTargets::ALL, &mut |_| {});
//! assert_eq!(episode.backward(Loss::cost(1.0)).actions.len(), actions.len());
//! # Ok::<(), cinoc::Error>(())
//! ```

mod batch;
mod control;
mod mask_failed;
pub(crate) mod recorder;
mod segment;
mod tick;

#[doc(hidden)]
pub use batch::Batch;
pub use batch::InitialCondition;
pub use control::{Control, GradientTargets, Gradients, Loss, Outcome, Scene};
#[doc(hidden)]
pub use control::{Share, TickCotangents};
#[doc(hidden)]
pub use tick::{Decide, Inputs, Noise, State, TickInputs, decide_once, tick};

pub(crate) use mask_failed::mask_failed;
pub(crate) use recorder::{MEMORY, PARTS, POSITIONS, Slot, TickRecorder, ages_shape, field_shape, parts, readings_shape, take};

use crate::agents::rest_blind;
use crate::{Problem, Real};
use cinoc_tape::kernel::buffer::Buffer;
use cinoc_tape::{Adjoints, Arena, Shape, Tape};
use recorder::{PENDING, PREVIOUS};
use segment::SegmentVars;

/// A batch of episodes with its derivatives, and workspace that is reused from update to update.
pub struct Rollout {
    /// The episodes.
    pub batch: Batch,
    /// Sum over ticks of weight·term for each term and instance, `[terms, batch]`.
    #[doc(hidden)]
    pub costs: Vec<f64>,
    /// Cotangents, including those of the parameters.
    bars: Adjoints,
    /// Number of decisions, and of ticks per decision.
    ticks: usize,
    action_repeat: usize,
    /// Number of decisions of the whole episode, and of those made before this part.
    of: usize,
    before: usize,
    segment: usize,
    keep: bool,
    rematerialise: bool,
    /// Factor per decision on gradients that pass from a state to the one before it.
    gradient_decay: Real,
    wanted: GradientTargets,
    memories: Vec<Arena>,
    /// Workspace of replayed ticks.
    scratch: Buffer,
    marks: Vec<SegmentVars>,
    /// States at the start of each segment and at the end; without gradient, only the last two.
    states: Vec<[Vec<Real>; PARTS]>,
    /// Inputs of the ticks of the current segment, concatenated.
    inputs: Vec<Real>,
    /// Ages of the readings in the current tick.
    ages: Vec<Real>,
    state_bar: [Vec<Real>; PARTS],
    start_bar: Vec<Real>,
    action_bar: Vec<Real>,
    seed: Vec<Real>,
    /// True after a backward sweep has recomputed segments that were not kept.
    swept: bool,
}

impl Rollout {
    /// Creates a rollout of `ticks` ticks, recorded in segments of `segment` ticks. With `keep`, all segments stay in
    /// memory until the backward sweep; otherwise each is recomputed when needed. The gradient is the same.
    pub fn new(ticks: usize, segment: usize, keep: bool, agents: usize) -> Self {
        let segments = ticks.div_ceil(segment);
        Self {
            batch: Batch::new(agents),
            costs: Vec::new(),
            bars: Adjoints::default(),
            ticks,
            action_repeat: 1,
            of: ticks,
            before: 0,
            segment,
            keep,
            rematerialise: false,
            gradient_decay: 1.0,
            wanted: GradientTargets::default(),
            memories: (0..if keep { segments } else { 3 }).map(|_| Arena::default()).collect(),
            scratch: Buffer::default(),
            marks: vec![SegmentVars::default(); segments],
            states: vec![Default::default(); segments + 1],
            inputs: Vec::new(),
            ages: Vec::new(),
            state_bar: Default::default(),
            start_bar: Vec::new(),
            action_bar: Vec::new(),
            seed: Vec::new(),
            swept: false,
        }
    }

    /// Enables rematerialisation: cheap intermediate values are recomputed instead of kept. The gradient is the same.
    #[doc(hidden)]
    pub fn rematerialise(mut self, enabled: bool) -> Self {
        self.rematerialise = enabled;
        self
    }

    /// Repeats each action for `ticks` ticks; the ticks of [`new`](Self::new) then count decisions.
    #[doc(hidden)]
    pub fn action_repeat(mut self, ticks: usize) -> Self {
        self.action_repeat = ticks;
        self
    }

    /// Scales gradients that pass from a state to the one of the decision before it by this factor: the effect of a
    /// decision on a cost n decisions later then counts by its n-th power.
    #[doc(hidden)]
    pub fn gradient_decay(mut self, factor: f64) -> Self {
        self.gradient_decay = factor as Real;
        self
    }

    /// Sets the number of decisions, and drops the workspace if it changes.
    #[doc(hidden)]
    pub fn set_ticks(&mut self, ticks: usize) {
        if self.ticks != ticks {
            let &mut Self { segment, keep, rematerialise, action_repeat, gradient_decay, .. } = self;
            let agents = self.batch.agents;
            *self = Self::new(ticks, segment, keep, agents).rematerialise(rematerialise).action_repeat(action_repeat);
            self.gradient_decay = gradient_decay;
        }
    }

    /// Makes this a part of an episode of `of` decisions, of which `before` were made earlier: cost weights, failures,
    /// noise and the clock count from there. The [`Batch`] holds the initial state of the part.
    #[doc(hidden)]
    pub fn part(mut self, before: usize, of: usize) -> Self {
        (self.before, self.of) = (before, of);
        self
    }

    /// Computes the episodes. `watch` is called after every tick if segments are single ticks, else at the end of each
    /// segment.
    pub fn forward<'r>(
        &'r mut self,
        problem: &'r Problem,
        control: Control<'r>,
        wanted: GradientTargets,
        watch: &mut dyn FnMut(&Scene),
    ) -> Episode<'r> {
        let outcome = self.compute_all(problem, control, wanted, watch);
        Episode { rollout: self, problem, control, outcome }
    }

    fn compute_all(
        &mut self,
        problem: &Problem,
        control: Control,
        wanted: GradientTargets,
        watch: &mut dyn FnMut(&Scene),
    ) -> Outcome {
        let (size, agents) = (self.batch.size, self.batch.agents);
        let width = problem.swarm.action_width();
        if let Control::Actions(actions) = control {
            let needed = self.ticks * size * agents * width;
            assert_eq!(actions.len(), needed, "actions of {} ticks, {size} instances, {agents} agents", self.ticks);
        }
        self.wanted = wanted;
        let lossy = self.lossy(problem, control);
        let [z, xi, previous, pending, memory, held, stock] = &mut self.states[0];
        copy(z, &self.batch.start);
        copy(xi, &self.batch.positions);
        begin(previous, &self.batch.previous, size * agents * width);
        begin(pending, &self.batch.pending, size * agents * width * problem.swarm.disturbance().pending(self.action_repeat));
        begin(memory, &self.batch.memory, size * agents * control.declared().memory);
        zeros(held, if lossy { readings_shape(problem, size, agents).count() } else { 0 });
        begin(stock, &self.batch.stock, size * agents * problem.swarm.tanks());
        if self.batch.stock.is_empty() {
            stock.fill(1.0);
        }
        self.swept = false;
        self.costs.clear();
        self.costs.resize(problem.task.terms().len() * size, 0.0);
        watch(&Scene { tick: 0, z: &self.batch.start, xi: &self.batch.positions, action: &[] });
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

    /// Returns the recorded segment that segment `s` replays: the first of the same length.
    fn model(&self, s: usize) -> usize {
        let shorter = s + 1 == self.marks.len() && !self.ticks.is_multiple_of(self.segment);
        if shorter { s } else { 0 }
    }

    /// Returns the index of the state at the start of segment `s`.
    fn state(&self, s: usize) -> usize {
        if self.wanted.any() { s } else { s % 2 }
    }

    /// Returns the index of the arena of segment `s`. Unless all are kept, the two recorded segments have their own and
    /// the others share one.
    fn slot(&self, s: usize) -> usize {
        match (self.keep, s) {
            (true, s) => s,
            (false, 0) => 0,
            (false, s) if s == self.model(s) => 1,
            _ => 2,
        }
    }

    /// Returns the ticks of segment `s`, from 0.
    fn ticks_of(&self, s: usize) -> std::ops::Range<usize> {
        s * self.segment..((s + 1) * self.segment).min(self.ticks)
    }

    /// Returns true if positions are constant and need no gradient: values that depend only on them are then computed
    /// once.
    fn fixed_positions(&self, problem: &Problem) -> bool {
        !problem.swarm.moves() && !self.wanted.positions
    }

    /// Returns the recorder of the ticks of this rollout.
    fn recorder<'a>(&self, problem: &'a Problem, control: Control<'a>) -> TickRecorder<'a> {
        let (Batch { size, agents, .. }, action_repeat) = (&self.batch, self.action_repeat);
        let lossy = self.lossy(problem, control);
        TickRecorder { problem, control, size: *size, agents: *agents, action_repeat, lossy }
    }

    /// Returns true if a policy loses readings.
    fn lossy(&self, problem: &Problem, control: Control) -> bool {
        matches!(control, Control::Policy(..)) && problem.swarm.has_losses() && !self.batch.quiet
    }

    /// Gathers the inputs of all ticks of segment `s`.
    fn gather(&mut self, problem: &Problem, control: Control, s: usize) {
        let (recorder, width, ticks) = (self.recorder(problem, control), control.declared().noise, self.ticks_of(s));
        let Self { inputs, ages, batch, action_repeat, before, of, .. } = self;
        inputs.clear();
        for decision in ticks.clone() {
            let now = *before + decision;
            let tick = now * *action_repeat;
            recorder.gather(inputs, |slot, out| match slot {
                Slot::Strength => {
                    let first = out.len();
                    batch.strength_at(tick, out);
                    ages.clear();
                    if recorder.lossy {
                        batch.ages_at(problem, [tick, *action_repeat, *of * *action_repeat], ages);
                        rest_blind(ages, problem.swarm.points(), &mut out[first..]);
                    }
                }
                Slot::Ages => out.extend_from_slice(ages),
                Slot::Arrivals => batch.arrivals_at(problem, tick, out),
                Slot::Now => batch.now_at(problem, tick, out),
                Slot::SensorNoise => batch.sensor_noise_at(problem, tick, out),
                Slot::ReadingNoise => batch.reading_noise_at(problem, tick, out),
                Slot::ActuatorNoise => batch.actuator_noise_at(problem, tick..tick + *action_repeat, out),
                Slot::PolicyNoise => batch.noise_at(now, width, out),
                Slot::Clock => out.resize(out.len() + batch.size, now as Real / *of as Real),
                Slot::Action => {
                    let Control::Actions(actions) = control else { unreachable!("a policy decides") };
                    let each = batch.size * batch.agents * problem.swarm.action_width();
                    out.extend_from_slice(&actions[decision * each..][..each]);
                }
            });
        }
    }

    /// Computes segment `s`: the first of its length is recorded, the others replay it.
    fn compute(&mut self, problem: &Problem, control: Control, s: usize) {
        self.gather(problem, control, s);
        let (slot, model, from) = (self.slot(s), self.model(s), self.state(s));
        if s == model || !self.memories[self.slot(model)].replayable() {
            return self.record(problem, control, s, slot);
        }
        let fixed = self.fixed_positions(problem);
        let (known, new) = self.marks.split_at_mut(s);
        let marks = &known[model];
        new[0].copy(marks);
        let (recorded, free) = self.memories.split_at_mut(slot);
        let states = marks.first.into_iter().zip(&self.states[from]).enumerate();
        let start = states.filter(|(part, _)| !fixed || *part != POSITIONS).filter_map(|(_, (id, x))| Some((id?, x.as_slice())));
        // Initial field, target and fixed positions are constants of the recording.
        let mut rest = self.inputs.as_slice();
        let inputs = marks.inputs.iter().map(|&id| (id, take(&mut rest, recorded[model].shape(id).count())));
        free[0].replay(&recorded[model], control.shared(), start.chain(inputs), &mut self.scratch);
    }

    /// Records segment `s` into arena `slot`.
    fn record(&mut self, problem: &Problem, control: Control, s: usize, slot: usize) {
        let (recorder, from, ticks) = (self.recorder(problem, control), self.state(s), self.ticks_of(s));
        let (wanted, fixed) = (self.wanted, self.fixed_positions(problem));
        let memory = std::mem::take(&mut self.memories[slot]);
        let tape = Tape::new(memory, control.shared()).rematerialise(self.rematerialise || !wanted.any());
        let marks = &mut self.marks[s];
        marks.clear();
        {
            let leaf =
                |shape: Shape, x: &[Real], wants: bool| if wants { tape.input(shape, x) } else { tape.placeholder(shape, x) };
            let values = &self.states[from];
            let mut state = recorder.state(|part, shape| match part {
                POSITIONS if fixed => tape.constant(shape, &values[part]),
                _ => leaf(shape, &values[part], wanted.any()),
            });
            marks.first = parts(&state);
            let start = match wanted.start {
                true => tape.fixed_input(recorder.field(), &self.batch.start),
                false => tape.constant(recorder.field(), &self.batch.start),
            };
            marks.start = Some(start.id());
            let fields = [start, tape.constant(recorder.field(), &self.batch.target)];
            let mut rest = self.inputs.as_slice();
            let SegmentVars { inputs, actions, terms, .. } = marks;
            for _ in ticks {
                let input = |slot: Slot, shape: Shape| {
                    let given = slot == Slot::Action;
                    let var = leaf(shape, take(&mut rest, shape.count()), given && wanted.actions);
                    inputs.push(var.id());
                    actions.extend(given.then(|| var.id()));
                    var
                };
                state = recorder.tick(&tape, state, fields, wanted.params, input, &mut |term| terms.push(term.id()));
            }
            self.marks[s].last = parts(&state);
        }
        self.memories[slot] = tape.into_arena();
    }

    fn backward(&mut self, problem: &Problem, control: Control, mut loss: Loss) {
        let (terms, shared) = (problem.task.terms().len(), control.shared());
        let parameters = if let Control::Policy(_, params) = control { params.theta().len() } else { 0 };
        assert!(loss.own.is_none() || self.segment == 1, "a custom loss needs segments of one tick, not of {}", self.segment);
        let per_tick = self.states[0][PREVIOUS].len();
        zeros(&mut self.action_bar, if self.wanted.actions { self.ticks * per_tick } else { 0 });
        self.start_bar.clear();
        for s in (0..self.marks.len()).rev() {
            let (slot, last) = (self.slot(s), s + 1 == self.marks.len());
            // Segments that were not kept are recomputed, except the last, which is present in the first sweep.
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
                let sizes = [self.states[0][0].len(), self.states[0][POSITIONS].len(), per_tick];
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
            memory.backward_prefetching(shared, &mut self.bars, next);
            // All recordings begin with the same tick, which usually computes all loop-invariant values.
            let ends = s == 0 || !memory.has_same_invariants(&self.memories[self.slot(self.model(s - 1))]);
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
                if self.gradient_decay < 1.0 {
                    let factor = self.gradient_decay.powi(self.ticks_of(s).len() as i32);
                    self.state_bar[part].iter_mut().for_each(|x| *x *= factor);
                }
            }
        }
        add(&mut self.state_bar[0], &self.start_bar);
        self.swept = true;
    }

    /// Computes the gradient of a loss after [`forward`](Self::forward) with the same problem and control, in which all
    /// ticks were finite. It may be called repeatedly, with different losses.
    ///
    /// # Panics
    /// If no gradient was requested.
    pub fn sweep(&mut self, problem: &Problem, control: Control, loss: Loss) -> Gradients<'_> {
        assert!(self.wanted.any(), "a rollout without requested gradients cannot be swept backwards");
        self.backward(problem, control, loss);
        let [z, xi, previous, pending, memory, ..] = &self.state_bar;
        Gradients { params: &self.bars.shared, actions: &self.action_bar, start: z, positions: xi, previous, pending, memory }
    }

    /// Resets the gradient with respect to the parameters; backward sweeps add to it.
    #[doc(hidden)]
    pub fn clear_gradient(&mut self) {
        self.bars.clear_shared();
    }

    /// Scales the gradient with respect to the parameters down to this norm, if its norm is larger.
    #[doc(hidden)]
    pub fn limit_gradient(&mut self, most: f64) {
        let norm = self.bars.shared.iter().map(|&g| g as f64 * g as f64).sum::<f64>().sqrt();
        if norm > most && norm.is_finite() {
            let scale = most / norm;
            self.bars.shared.iter_mut().for_each(|g| *g = (*g as f64 * scale) as Real);
        }
    }

    /// Returns the gradient with respect to the parameters, summed over the backward sweeps since
    /// [`clear_gradient`](Self::clear_gradient).
    #[doc(hidden)]
    pub fn gradient(&self) -> &[Real] {
        &self.bars.shared
    }

    /// Returns the final fields and positions.
    #[doc(hidden)]
    pub fn end(&self) -> (&[Real], &[Real]) {
        let [z, xi, ..] = &self.states[self.state(self.marks.len())];
        (z, xi)
    }

    /// Returns the pending actions at the end, `[batch, agents, decisions·k]`, oldest first.
    #[doc(hidden)]
    pub fn pending(&self) -> &[Real] {
        &self.states[self.state(self.marks.len())][PENDING]
    }

    /// Returns the memory at the end, `[batch, agents, h]`.
    #[doc(hidden)]
    pub fn remembered(&self) -> &[Real] {
        &self.states[self.state(self.marks.len())][MEMORY]
    }

    /// Returns the memory of recorded segments, in bytes.
    #[doc(hidden)]
    pub fn bytes(&self) -> usize {
        self.memories.iter().map(Arena::bytes).sum()
    }
}

/// A computed rollout, ready for a backward sweep.
pub struct Episode<'r> {
    rollout: &'r mut Rollout,
    problem: &'r Problem,
    control: Control<'r>,
    /// The end of the episodes.
    pub outcome: Outcome,
}

impl<'r> Episode<'r> {
    /// Computes the gradient of a loss. The gradient with respect to the parameters is added to that of earlier sweeps;
    /// see [`Rollout::clear_gradient`].
    ///
    /// # Panics
    /// If no gradient was requested.
    pub fn backward(self, loss: Loss) -> Gradients<'r> {
        self.rollout.sweep(self.problem, self.control, loss)
    }
}

fn copy(to: &mut Vec<Real>, from: &[Real]) {
    to.clear();
    to.extend_from_slice(from);
}

/// Copies `from`, or zeros if it is empty.
fn begin(to: &mut Vec<Real>, from: &[Real], count: usize) {
    if from.is_empty() {
        return zeros(to, count);
    }
    assert_eq!(from.len(), count, "an initial state of {} numbers instead of {count}", from.len());
    copy(to, from);
}

fn zeros(to: &mut Vec<Real>, count: usize) {
    to.clear();
    to.resize(count, 0.0);
}

/// Adds `from`; an empty vector counts as zeros.
fn add(to: &mut Vec<Real>, from: &[Real]) {
    if to.is_empty() {
        copy(to, from);
    } else {
        to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
    }
}
