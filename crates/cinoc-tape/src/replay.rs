//! Computing a recording once more with other values: what a tick costs after the first.

use crate::Real;
use crate::memory::Memory;
use crate::node::{Home, Lent, VarId};
use std::sync::Arc;

impl Memory {
    /// Whether [`replay`](Self::replay) gives what recording once more would: not if values were read while it was made,
    /// since the choice of operations may then depend on them.
    pub fn replayable(&self) -> bool {
        !self.read
    }

    /// Forgets the recording: the memory it was replayed from can then be recorded into without new room.
    pub fn release(&mut self) {
        self.recording = None;
    }

    /// Computes the recording of `model` into this memory, with other values for some of its leaves; the names of its variables hold here too.
    /// Leaves without other values have those of the recording, or those of the last time the same recording was computed here. What stands
    /// is not computed again.
    pub fn replay<'a>(&mut self, model: &Memory, shared: &[Real], leaves: impl IntoIterator<Item = (VarId, &'a [Real])>) {
        let again = self.replays(model);
        self.recording = model.recording.clone();
        (self.used, self.bars_used, self.read) = (model.used, model.bars_used, model.read);
        self.values.grow_to(self.used);
        self.scratch.grow_to(model.scratch.len());
        let (nodes, standing) = (model.nodes(), model.standing());
        let mut leaves = leaves.into_iter().peekable();
        for (index, node) in nodes.iter().enumerate() {
            let Home::Arena { start, .. } = node.home else { continue };
            if node.op.is_some() || node.count == 1 {
                let (arena, room) = self.values.split_at_mut(start);
                node.compute(nodes, &Lent { arena, standing, shared }, room, &mut self.scratch);
                continue;
            }
            let place = start..start + node.shape.count();
            if let Some((_, values)) = leaves.next_if(|(leaf, _)| leaf.0 as usize == index) {
                self.values[place].copy_from_slice(values);
            } else if !again {
                self.values[place.clone()].copy_from_slice(&model.values[place]);
            }
        }
        assert!(
            leaves.next().is_none(),
            "leaves to be replaced are given in the order in which they were recorded, and are not constants"
        );
    }

    /// Whether the cotangents of what stands may be added up over the backward sweeps of both: replays of one recording, or recordings that begin
    /// alike, in whose beginning all stands that does.
    pub fn sweeps_with(&self, other: &Memory) -> bool {
        let room = |memory: &Memory| memory.recording.as_ref().map(|recording| recording.bars_used);
        self.replayable() && other.replayable() && room(self) == room(other)
    }

    /// Whether both hold the same recording.
    fn replays(&self, other: &Memory) -> bool {
        matches!((&self.recording, &other.recording), (Some(a), Some(b)) if Arc::ptr_eq(a, b))
    }
}
