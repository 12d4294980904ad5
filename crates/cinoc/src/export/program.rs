//! The decision of one agent in a tick, recorded once.

use super::guard::{self, Guard};
use crate::policy::{Context, Policy};
use crate::rollout::{decide_once, mask_failed};
use crate::sense::Instrument;
use crate::{Error, Problem, Real};
use cinoc_tape::op::{Arrange, Recorded};
use cinoc_tape::{Arena, Definition, Params, Shape, Tape, Var, VarId};
use std::collections::BTreeMap;

/// The decision of one agent in a tick, from readings to an action.
///
/// Between ticks an agent keeps a *state*: the memory of its policy, then the last valid reading of each sensor and
/// the age of each sample ([`guard`]).
pub struct Program {
    recording: Arena,
    params: Params,
    inputs: Vec<Input>,
    /// Index of the input that is the agent's strength.
    strength: usize,
    guard: Guard,
    action: VarId,
    limits: Vec<Real>,
    /// The memory before and after the tick.
    memory: Option<[VarId; 2]>,
}

/// An input of a program: readings of one instrument.
pub struct Input {
    /// The instrument.
    pub instrument: Instrument,
    id: VarId,
}

/// One step of a program: an operation on inputs and earlier results.
pub struct Instruction<'a> {
    /// The result.
    pub id: VarId,
    /// Its shape.
    #[doc(hidden)]
    pub shape: Shape,
    /// A plain operation.
    pub op: &'a Recorded,
    /// Its operands.
    #[doc(hidden)]
    pub inputs: Vec<VarId>,
}

/// The origin of a variable.
pub enum Value<'a> {
    /// Readings of this instrument.
    Input(usize),
    /// The agent's memory.
    Memory,
    /// Numbers that never change.
    Constant(&'a [Real]),
    /// The result of an instruction.
    Computed,
}

impl Program {
    /// Records the decision of a policy for one agent, `plainly` for translation, or with the fused operations of
    /// training and evaluation.
    ///
    /// # Errors
    /// If the policy drives all agents at once, or reads values while it decides.
    pub fn record(problem: &Problem, policy: &dyn Policy, params: &Params, plainly: bool) -> Result<Self, Error> {
        let (swarm, declared) = (&problem.swarm, policy.declared());
        if declared.everything || policy.fixed_agents().is_some() {
            let reason =
                "it sees the whole field and drives all agents at once; export a policy of which each agent runs its own copy";
            return Err(Error::Export { reason: reason.into() });
        }
        if declared.messages > 0 {
            let reason = "its agents talk to each other, which exported files cannot; export a policy with policy.messages=0";
            return Err(Error::Export { reason: reason.into() });
        }
        if swarm.shares_limit() {
            let reason = "its agents share a limit, which one agent alone cannot keep; export a policy of a file without \
                          agents.limit, or keep the limit in the plant";
            return Err(Error::Export { reason: reason.into() });
        }
        let mut instruments = swarm.instruments();
        let seen = instruments.len();
        if declared.noise > 0 {
            instruments.push(Instrument::new("noise", declared.noise, "standard normal numbers, drawn in every tick"));
        }
        if declared.clock {
            instruments.push(Instrument::new("clock", 1, "the elapsed fraction of the episode, from 0 to 1"));
        }
        let params = params.clone();
        let tape = Tape::new(Arena::default(), params.shared()).primitives_only(plainly);
        let (ids, action, memory) = {
            let given: Vec<Var> =
                instruments.iter().map(|one| tape.placeholder([1, 1, one.count], &vec![0.0; one.count])).collect();
            let memory = (declared.memory > 0).then(|| tape.placeholder([1, 1, declared.memory], &vec![0.0; declared.memory]));
            let (readings, mut more) = (&given[..seen], given[seen..].iter().copied());
            let noise = if declared.noise > 0 { more.next() } else { None };
            let clock = more.next().map(|clock| clock.reshape([1, 1]));
            let context = Context { memory, heard: None, noise, clock, everything: None, action_repeat: 1 };
            let strength = readings[seen - 1].reshape([1, 1]);
            let limit = |raw| mask_failed(swarm.act_alone(raw, readings), strength);
            let (theta, shown) = (params.leaves(&tape, false), swarm.shown(readings));
            let (action, after) = decide_once(policy, &theta, &shown, &context, strength, limit);
            let ids: Vec<VarId> = given.iter().map(|var| var.id()).collect();
            (ids, action.id(), memory.zip(after).map(|(before, after)| [before.id(), after.id()]))
        };
        let recording = tape.into_arena();
        if !recording.replayable() {
            let reason = "it reads values while it decides, so that its operations may differ from tick to tick; write it without `Var::read` and `Var::value`";
            return Err(Error::Export { reason: reason.into() });
        }
        let inputs: Vec<Input> = instruments.into_iter().zip(ids).map(|(instrument, id)| Input { instrument, id }).collect();
        let guard = Guard::new(inputs.iter().map(|input: &Input| &input.instrument), seen - 1, swarm.reading_range());
        Ok(Self { recording, params, inputs, strength: seen - 1, guard, action, limits: swarm.limits(), memory })
    }

    /// Returns the inputs, in order.
    #[doc(hidden)]
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Returns the index of the input that is the agent's strength.
    #[doc(hidden)]
    pub fn strength(&self) -> usize {
        self.strength
    }

    /// Returns the samples that can be marked as lost, if ages are sensed.
    pub(super) fn samples(&self) -> Option<guard::MaskedSamples> {
        self.guard.samples
    }

    /// Returns the largest magnitude of a reading that is not missing.
    #[doc(hidden)]
    pub fn range(&self) -> Real {
        self.guard.range
    }

    /// Returns the number of readings of all inputs.
    #[doc(hidden)]
    pub fn readings(&self) -> usize {
        self.inputs.iter().map(|input| input.instrument.count).sum()
    }

    /// Returns the variable of the action.
    #[doc(hidden)]
    pub fn action(&self) -> VarId {
        self.source(self.action)
    }

    /// Returns the largest magnitude of each number of an action.
    #[doc(hidden)]
    pub fn limits(&self) -> &[Real] {
        &self.limits
    }

    /// Returns the variable of the memory after the tick.
    #[doc(hidden)]
    pub fn next_memory(&self) -> Option<VarId> {
        self.memory.map(|[_, after]| self.source(after))
    }

    /// Returns the number of values of an action.
    #[doc(hidden)]
    pub fn width(&self) -> usize {
        self.shape(self.action).last()
    }

    /// Returns the number of values in the memory of the policy.
    #[doc(hidden)]
    pub fn memory(&self) -> usize {
        self.memory.map_or(0, |[before, _]| self.shape(before).last())
    }

    /// Returns the number of values that an agent keeps between ticks: memory, then the last valid readings. All are
    /// zero before the first tick.
    pub fn state(&self) -> usize {
        self.memory() + self.readings()
    }

    /// Returns the shape of a variable.
    #[doc(hidden)]
    pub fn shape(&self, id: VarId) -> Shape {
        self.recording.shape(id)
    }

    /// Returns the name of the parameter with these values, if there is one.
    #[doc(hidden)]
    pub fn parameter(&self, values: &[Real]) -> Option<&str> {
        self.params.iter().find(|(_, _, own)| std::ptr::eq(*own, values)).map(|(name, ..)| name)
    }

    /// The origin of a variable.
    #[doc(hidden)]
    pub fn value(&self, id: VarId) -> Value<'_> {
        match self.recording.definition(self.params.shared(), id) {
            Definition::Constant(values) => Value::Constant(values),
            Definition::Placeholder => self.inputs.iter().position(|input| input.id == id).map_or(Value::Memory, Value::Input),
            _ => Value::Computed,
        }
    }

    /// Returns the original of a copied variable.
    fn source(&self, id: VarId) -> VarId {
        match self.recording.definition(self.params.shared(), id) {
            Definition::Copied(from) => self.source(from),
            _ => id,
        }
    }

    /// Returns all instructions that the action and the memory depend on, in order.
    ///
    /// # Errors
    /// Names the first operation that is not plain.
    #[doc(hidden)]
    pub fn instructions(&self) -> Result<Vec<Instruction<'_>>, Error> {
        let mut lines = BTreeMap::new();
        let mut open: Vec<VarId> = [Some(self.action()), self.next_memory()].into_iter().flatten().collect();
        while let Some(id) = open.pop() {
            let Definition::Computed(op, inputs) = self.recording.definition(self.params.shared(), id) else { continue };
            if lines.contains_key(&id) {
                continue;
            }
            if !op.is_primitive() {
                let name = op.op().name();
                let reason = format!(
                    "its operation {name:?} cannot be exported; implement `Op::decompose` for it, which writes it with plain operations"
                );
                return Err(Error::Export { reason });
            }
            let inputs: Vec<VarId> = inputs.into_iter().map(|id| self.source(id)).collect();
            open.extend(&inputs);
            lines.insert(id, Instruction { id, shape: self.shape(id), op, inputs });
        }
        Ok(lines.into_values().collect())
    }

    /// Decides once with the engine: returns the action and advances the agent's `state`.
    ///
    /// Missing readings are replaced by the last valid ones ([`guard`]); an inactive agent (strength 0) has the action
    /// 0 and forgets.
    ///
    /// # Panics
    /// Unless the lengths are those of [`readings`](Self::readings) and [`state`](Self::state).
    #[doc(hidden)]
    pub fn run(&mut self, readings: &[Real], state: &mut [Real]) -> Vec<Real> {
        assert_eq!((readings.len(), state.len()), (self.readings(), self.state()), "readings and state");
        let (memory, held) = state.split_at_mut(self.memory());
        guard::check_memory(memory);
        self.guard.hold(readings, held);
        let mut rest = &*held;
        let mut leaves: Vec<(VarId, &[Real])> = Vec::new();
        for Input { instrument, id } in &self.inputs {
            let (now, after) = rest.split_at(instrument.count);
            leaves.push((*id, now));
            rest = after;
        }
        leaves.extend(self.memory.map(|[before, _]| (before, &*memory)));
        self.recording.replay_in_place(self.params.shared(), leaves);
        if let Some([_, after]) = self.memory {
            memory.copy_from_slice(self.recording.value(self.params.shared(), after));
            guard::check_memory(memory);
        }
        let mut action = self.recording.value(self.params.shared(), self.action).to_vec();
        guard::limit(&mut action, &self.limits);
        action
    }
}

/// Returns the offset of the first element if an instruction only renames values: all of them, or a contiguous part.
pub(super) fn renames(line: &Instruction) -> Option<usize> {
    match line.op {
        Recorded::Arrange(Arrange::Reshape(_)) => Some(0),
        Recorded::Arrange(Arrange::Columns(from, _)) if line.shape.rows() == 1 => Some(*from),
        _ => None,
    }
}
