//! One tick of field and swarm as a map of a state vector, with the derivatives of decision and effect.

use super::closed_loop::ClosedLoop;
use cinoc::Real;
use cinoc::internal::rollout::{FIELD, MEMORY, PENDING, POSITIONS, PREVIOUS, Slot, TickRecorder, parts};
use cinoc::rollout::{Control, State};
use cinoc_tape::{Adjoints, Arena, Shape, Tape, Var, VarId};

/// Field, memory, positions, actions.
const PARTS: usize = 4;
const Z: usize = 0;
const H: usize = 1;
const XI: usize = 2;
const U: usize = 3;

/// The order in which leaves are recorded.
const ORDER: [usize; PARTS] = [U, Z, XI, H];

/// A recording with the variables of each part before and after it.
#[derive(Default)]
struct Recorded {
    arena: Arena,
    first: [Option<VarId>; PARTS],
    last: [Option<VarId>; PARTS],
}

/// A recorded tick of several states: the decision from field, memory and positions to memory and action, and the effect
/// of an action on field and positions.
///
/// Without delay the decision is recorded as a part of the whole tick.
pub struct Tick<'a> {
    closed: &'a ClosedLoop<'a>,
    /// Number of states.
    batch: usize,
    decision: Recorded,
    effect: Recorded,
    /// True if the effect is that of the last decision.
    current: bool,
    bars: Adjoints,
}

impl<'a> Tick<'a> {
    /// Records a tick of `batch` states at rest.
    pub fn new(closed: &'a ClosedLoop<'a>, batch: usize) -> Self {
        let (decision, effect) = Default::default();
        let mut tick = Self { closed, batch, decision, effect, current: false, bars: Adjoints::default() };
        tick.next(&closed.rest().repeat(batch));
        tick
    }

    /// Returns the states one tick later, `[batch, size]`, if actions act at once. A fixed point is one with any delay.
    pub fn next(&mut self, x: &[f64]) -> Vec<f64> {
        let state = self.split(x, false);
        self.decide(&state);
        let shared = self.closed.params.shared();
        if self.closed.delay() == 0 {
            self.current = false;
            let after = |id: Option<VarId>| id.map_or(&[][..], |id| self.decision.arena.value(shared, id));
            return self.join(self.decision.last.map(after), false);
        }
        self.act();
        let after = [Z, H, XI, U].map(|part| match part {
            H => self.decision.last[H].map_or(&[][..], |id| self.decision.arena.value(shared, id)),
            _ => self.effect.last[part].map_or(&[][..], |id| self.effect.arena.value(&[], id)),
        });
        self.join(after, false)
    }

    /// Multiplies each row by the derivative of the opened loop at the states of the last [`next`](Self::next): of state
    /// and decided actions after a tick with respect to the state before it and the actions that act in it, `[batch, size +
    /// actions]`.
    pub fn pull(&mut self, rows: &[f64]) -> Vec<f64> {
        if !self.current {
            self.act();
        }
        let rows = self.split(rows, true);
        let mut sums = self.sizes().map(|size| vec![0.0; size * self.batch]);
        let halves = [(&self.decision, [H, U], self.closed.params.shared()), (&self.effect, [Z, XI], &[][..])];
        for (half, seeded, shared) in halves {
            if seeded.iter().all(|&part| rows[part].iter().all(|&x| x == 0.0)) {
                continue;
            }
            self.bars.start(&half.arena, 0);
            for part in seeded {
                half.last[part].iter().for_each(|id| self.bars.seed(&half.arena, *id, &rows[part]));
            }
            half.arena.backward(shared, &mut self.bars);
            for (sum, id) in sums.iter_mut().zip(half.first) {
                let bar = id.map_or(&[][..], |id| self.bars.of(&half.arena, id));
                sum.iter_mut().zip(bar).for_each(|(sum, bar)| *sum += bar);
            }
        }
        self.join([Z, H, XI, U].map(|part| &*sums[part]), true)
    }

    /// Computes the decisions in these states.
    fn decide(&mut self, state: &[Vec<Real>; PARTS]) {
        let shared = self.closed.params.shared();
        if self.decision.first[Z].is_some() && self.decision.arena.replayable() {
            return self.decision.replay(shared, state);
        }
        let arena = std::mem::take(&mut self.decision.arena);
        self.decision = self.record(arena, Control::Policy(self.closed.policy, self.closed.params), state);
    }

    /// Computes the effect of the last decisions.
    fn act(&mut self) {
        let (shared, decision) = (self.closed.params.shared(), &self.decision);
        let value = |id: Option<VarId>| id.map_or_else(Vec::new, |id| decision.arena.value(shared, id).to_vec());
        let state = [value(decision.first[Z]), Vec::new(), value(decision.first[XI]), value(decision.last[U])];
        self.current = true;
        if self.effect.first[Z].is_some() && self.effect.arena.replayable() {
            return self.effect.replay(&[], &state);
        }
        let arena = std::mem::take(&mut self.effect.arena);
        self.effect = self.record(arena, Control::Actions(&[]), &state);
    }

    /// Records a tick of these states into an arena.
    fn record(&self, arena: Arena, control: Control, [z, memory, xi, actions]: &[Vec<Real>; PARTS]) -> Recorded {
        let ClosedLoop { problem, params, agents, ref strength, ref places, moving, .. } = *self.closed;
        let (size, by_policy) = (self.batch, matches!(control, Control::Policy(..)));
        let tape = Tape::new(arena, if by_policy { params.shared() } else { &[] });
        let recorder = TickRecorder { problem, control, size, agents, action_repeat: 1, lossy: false };
        let width = problem.swarm.action_width();
        let acting = (!by_policy).then(|| tape.input([size, agents, width], actions));
        let state = recorder.state(|part, shape| match (part, acting) {
            (FIELD, _) => tape.input(shape, z),
            (POSITIONS, _) if moving => tape.input(shape, xi),
            (POSITIONS, _) => tape.constant(shape, &places.repeat(size)),
            (MEMORY, _) => tape.input(shape, memory),
            // The oldest acts in this tick.
            (PENDING, Some(acting)) if shape.last() > width => acting.join(tape.zeros(shape.with_last(shape.last() - width))),
            (PENDING, Some(acting)) => acting,
            _ => tape.zeros(shape),
        });
        let input = |slot: Slot, shape: Shape| match (slot, acting) {
            (Slot::Strength, _) => tape.constant(shape, &strength.repeat(size)),
            (Slot::Action, Some(acting)) if state.pending.is_none() => acting,
            _ => tape.zeros(shape),
        };
        let rest = tape.zeros(recorder.field());
        let after = recorder.tick(&tape, state, [rest, rest], false, input, &mut |_| {});
        let newest = |pending: Var| pending.columns(pending.shape().last() - width, pending.shape().last()).id();
        let kept = |state: State| {
            let all = parts(&state);
            [all[FIELD], all[MEMORY], all[POSITIONS].filter(|_| moving), None]
        };
        let (mut first, mut last) = (kept(state), kept(after));
        match acting {
            Some(acting) => first[U] = Some(acting.id()),
            None => last[U] = after.pending.map(newest).or(parts(&after)[PREVIOUS]),
        }
        Recorded { arena: tape.into_arena(), first, last }
    }

    /// Returns the sizes of field, memory, positions and actions of one state.
    fn sizes(&self) -> [usize; PARTS] {
        let [z, memory, xi] = self.closed.sizes();
        [z, memory, xi, self.closed.actions()]
    }

    /// Splits a batch of states, with actions or without, into its parts.
    fn split(&self, x: &[f64], with_actions: bool) -> [Vec<Real>; PARTS] {
        let [z, memory, xi, actions] = self.sizes();
        let sizes = [z, memory, xi, if with_actions { actions } else { 0 }];
        let each = sizes.iter().sum();
        assert_eq!(x.len(), self.batch * each, "numbers of {} states", self.batch);
        let mut first = 0;
        sizes.map(|size| {
            let part = x.chunks_exact(each).flat_map(|x| x[first..first + size].iter().map(|&x| x as Real)).collect();
            first += size;
            part
        })
    }

    fn join(&self, parts: [&[Real]; PARTS], with_actions: bool) -> Vec<f64> {
        let (sizes, count) = (self.sizes(), if with_actions { PARTS } else { PARTS - 1 });
        let parts = &parts[..count];
        let state = |i: usize| parts.iter().zip(sizes).flat_map(move |(part, size)| &part[i * size..(i + 1) * size]);
        (0..self.batch).flat_map(state).map(|&x| x as f64).collect()
    }
}

impl Recorded {
    /// Computes the recording again from other values.
    fn replay(&mut self, shared: &[Real], values: &[Vec<Real>; PARTS]) {
        let leaves = ORDER.into_iter().filter_map(|part| Some((self.first[part]?, values[part].as_slice())));
        self.arena.replay_in_place(shared, leaves);
    }
}
