//! Names of what was recorded.

use super::tick::State;
use cinoc_tape::{Var, VarId};

/// Parts of a state: field, positions, previous action, what is pending, memory.
pub const PARTS: usize = 5;

/// The names of a segment's variables, the same for every segment of the same length.
#[derive(Clone, Default)]
pub struct Marks {
    /// What differs from tick to tick, in the order of recording.
    pub inputs: Vec<VarId>,
    /// The state at the start and at the end; the last two only where there are any.
    pub first: [Option<VarId>; PARTS],
    pub last: [Option<VarId>; PARTS],
    /// The field that the episode started from.
    pub start: Option<VarId>,
    /// Given actions of each tick.
    pub actions: Vec<VarId>,
    /// The cost terms of each tick in turn.
    pub terms: Vec<VarId>,
}

impl Marks {
    /// As a clone, in the room there is.
    pub fn copy(&mut self, other: &Self) {
        (self.first, self.last, self.start) = (other.first, other.last, other.start);
        self.inputs.clone_from(&other.inputs);
        self.actions.clone_from(&other.actions);
        self.terms.clone_from(&other.terms);
    }

    pub fn clear(&mut self) {
        self.inputs.clear();
        self.actions.clear();
        self.terms.clear();
    }
}

/// The names of the parts of a state.
pub fn parts(state: &State) -> [Option<VarId>; PARTS] {
    [Some(state.z), Some(state.xi), Some(state.previous), state.pending, state.memory].map(|var: Option<Var>| var.map(Var::id))
}
