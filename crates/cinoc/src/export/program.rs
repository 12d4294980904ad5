//! What one agent computes in a tick, recorded once.

use crate::policy::{Context, Policy};
use crate::sense::Instrument;
use crate::{Error, Problem, Real};
use cinoc_tape::op::{Arrange, Recorded};
use cinoc_tape::{Memory, Origin, Params, Shape, Tape, Var, VarId};
use std::collections::BTreeMap;

/// What one agent computes in a tick, from what its instruments read to what it does.
pub struct Program {
    recording: Memory,
    params: Params,
    inputs: Vec<Input>,
    action: VarId,
    /// What it remembers before and after the tick.
    memory: Option<[VarId; 2]>,
}

/// Something that an agent is given in every tick.
pub struct Input {
    /// What it is.
    pub instrument: Instrument,
    id: VarId,
}

/// One step of a program: an operation on what was computed or given before.
pub struct Line<'a> {
    /// The name of the result.
    pub id: VarId,
    /// Its shape.
    pub shape: Shape,
    /// A plain operation.
    pub op: &'a Recorded,
    /// What it is applied to.
    pub inputs: Vec<VarId>,
}

/// Where a number comes from.
pub enum Value<'a> {
    /// From this instrument.
    Input(usize),
    /// From what the agent remembers.
    Memory,
    /// It never changes.
    Constant(&'a [Real]),
    /// It is the result of a line.
    Computed,
}

impl Program {
    /// Records what a policy decides for one agent, `plainly` for translation, or with the fused operations of training and evaluation.
    pub fn record(problem: &Problem, policy: &dyn Policy, params: &Params, plainly: bool) -> Result<Self, Error> {
        let (swarm, declared) = (&problem.swarm, policy.declared());
        if declared.everything || policy.fixed_agents().is_some() {
            let reason = "it sees everything and drives all agents at once; export a policy of agents that decide by themselves";
            return Err(Error::Export { reason: reason.into() });
        }
        let mut instruments = swarm.instruments();
        let seen = instruments.len();
        if declared.noise > 0 {
            instruments.push(Instrument::new("noise", declared.noise, "standard normal numbers, new ones in every tick"));
        }
        if declared.clock {
            instruments.push(Instrument::new("clock", 1, "the share of the episode that is over, from 0 to 1"));
        }
        let params = params.clone();
        let tape = Tape::new(Memory::default(), params.shared()).plainly(plainly);
        let (ids, action, memory) = {
            let given: Vec<Var> = instruments.iter().map(|one| tape.given([1, 1, one.count], &vec![0.0; one.count])).collect();
            let memory = (declared.memory > 0).then(|| tape.given([1, 1, declared.memory], &vec![0.0; declared.memory]));
            let (readings, mut more) = (&given[..seen], given[seen..].iter().copied());
            let noise = if declared.noise > 0 { more.next() } else { None };
            let clock = more.next().map(|clock| clock.reshape([1, 1]));
            let context = Context { memory, noise, clock, everything: None, hold: 1 };
            let decision = policy.act(&params.leaves(&tape, false), &swarm.shown(readings), &context);
            let strength = readings[seen - 1].reshape([1, 1]);
            let after = decision.memory.map(|memory| crate::rollout::living(memory, strength).id());
            let action = swarm.act_alone(decision.raw, readings);
            let ids: Vec<VarId> = given.iter().map(|var| var.id()).collect();
            (ids, action.id(), memory.map(|before| before.id()).zip(after).map(|(before, after)| [before, after]))
        };
        let recording = tape.into_memory();
        if !recording.replayable() {
            let reason = "it reads values while it decides, so that its operations may differ from tick to tick; write it without `Var::read` and `Var::value`";
            return Err(Error::Export { reason: reason.into() });
        }
        let inputs = instruments.into_iter().zip(ids).map(|(instrument, id)| Input { instrument, id }).collect();
        Ok(Self { recording, params, inputs, action, memory })
    }

    /// What an agent is given in every tick, in order.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// How many numbers that is.
    pub fn readings(&self) -> usize {
        self.inputs.iter().map(|input| input.instrument.count).sum()
    }

    /// The variable of its action.
    pub fn action(&self) -> VarId {
        self.source(self.action)
    }

    /// The variable of what it remembers after the tick.
    pub fn remembered(&self) -> Option<VarId> {
        self.memory.map(|[_, after]| self.source(after))
    }

    /// Numbers of its action.
    pub fn width(&self) -> usize {
        self.shape(self.action).last()
    }

    /// Numbers that it remembers.
    pub fn memory(&self) -> usize {
        self.memory.map_or(0, |[before, _]| self.shape(before).last())
    }

    /// The shape of a variable.
    pub fn shape(&self, id: VarId) -> Shape {
        self.recording.shape(id)
    }

    /// The name of a parameter, for numbers that are one.
    pub fn parameter(&self, values: &[Real]) -> Option<&str> {
        self.params.iter().find(|(_, _, own)| std::ptr::eq(*own, values)).map(|(name, ..)| name)
    }

    /// Where a variable comes from.
    pub fn value(&self, id: VarId) -> Value<'_> {
        match self.recording.origin(self.params.shared(), id) {
            Origin::Constant(values) => Value::Constant(values),
            Origin::Given => self.inputs.iter().position(|input| input.id == id).map_or(Value::Memory, Value::Input),
            _ => Value::Computed,
        }
    }

    /// What a copy is a copy of.
    fn source(&self, id: VarId) -> VarId {
        match self.recording.origin(self.params.shared(), id) {
            Origin::Copied(from) => self.source(from),
            _ => id,
        }
    }

    /// All that is to be computed, in order.
    ///
    /// # Errors
    /// Names the first operation that is not plain.
    pub fn lines(&self) -> Result<Vec<Line<'_>>, Error> {
        let mut lines = BTreeMap::new();
        let mut open: Vec<VarId> = [Some(self.action()), self.remembered()].into_iter().flatten().collect();
        while let Some(id) = open.pop() {
            let Origin::Computed(op, inputs) = self.recording.origin(self.params.shared(), id) else { continue };
            if lines.contains_key(&id) {
                continue;
            }
            if !op.is_plain() {
                let name = op.op().name();
                let reason = format!(
                    "its operation {name:?} is not known outside; say in `Op::plain` how it is written with plain operations"
                );
                return Err(Error::Export { reason });
            }
            let inputs: Vec<VarId> = inputs.into_iter().map(|id| self.source(id)).collect();
            open.extend(&inputs);
            lines.insert(id, Line { id, shape: self.shape(id), op, inputs });
        }
        Ok(lines.into_values().collect())
    }

    /// One tick by our own engine: the action, and what is remembered afterwards.
    ///
    /// # Panics
    /// Unless there are as many numbers as [`readings`](Self::readings) and [`memory`](Self::memory) say.
    pub fn run(&mut self, readings: &[Real], memory: &mut [Real]) -> Vec<Real> {
        assert_eq!((readings.len(), memory.len()), (self.readings(), self.memory()), "readings and memory");
        let mut rest = readings;
        let mut leaves: Vec<(VarId, &[Real])> = Vec::new();
        for Input { instrument, id } in &self.inputs {
            let (now, after) = rest.split_at(instrument.count);
            leaves.push((*id, now));
            rest = after;
        }
        leaves.extend(self.memory.map(|[before, _]| (before, &*memory)));
        self.recording.renew(self.params.shared(), leaves);
        if let Some([_, after]) = self.memory {
            memory.copy_from_slice(self.recording.value(self.params.shared(), after));
        }
        self.recording.value(self.params.shared(), self.action).to_vec()
    }
}

/// Whether a line only gives numbers another name: the same ones, or those from some place on.
pub(super) fn renames(line: &Line) -> Option<usize> {
    match line.op {
        Recorded::Arrange(Arrange::Reshape(_)) => Some(0),
        Recorded::Arrange(Arrange::Columns(from, _)) if line.shape.rows() == 1 => Some(*from),
        _ => None,
    }
}
