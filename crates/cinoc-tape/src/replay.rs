//! Computing a recording once more with other values: what a tick costs after the first.

use crate::Real;
use crate::tape::{Home, Memory, VarId, compute};
use std::sync::Arc;

impl Memory {
    /// Whether [`replay`](Self::replay) gives what recording once more would: not if values were read while it was made,
    /// since the choice of operations may then depend on them.
    pub fn replayable(&self) -> bool {
        !self.read
    }

    /// Forgets the recording: the memory it was replayed from can then be recorded into without new room.
    pub fn release(&mut self) {
        self.shared_nodes = None;
    }

    /// Computes `recording` into this memory, with other values for some of its leaves; the names of its variables hold here too.
    /// Leaves without other values have those of the recording, or those of the last time the same recording was computed here.
    pub fn replay<'a>(&mut self, recording: &Memory, shared: &[Real], leaves: impl IntoIterator<Item = (VarId, &'a [Real])>) {
        let again = matches!((&self.shared_nodes, &recording.shared_nodes), (Some(a), Some(b)) if Arc::ptr_eq(a, b));
        self.shared_nodes = recording.shared_nodes.clone();
        (self.used, self.bars_used, self.read) = (recording.used, recording.bars_used, recording.read);
        self.values.grow_to(self.used);
        self.scratch.grow_to(recording.scratch.len());
        let nodes = recording.nodes();
        let mut leaves = leaves.into_iter().peekable();
        for (index, node) in nodes.iter().enumerate() {
            let id = VarId(index as u32);
            let Home::Arena { start, .. } = node.home else { continue };
            let place = start..start + node.shape.count();
            if node.op.is_some() {
                compute(nodes, id, &mut self.values, shared, &mut self.scratch);
            } else if node.count == 1 {
                match nodes[node.inputs[0] as usize].home {
                    Home::Arena { start, .. } => self.values.copy_within(start..start + place.len(), place.start),
                    Home::Shared { start } => self.values[place.clone()].copy_from_slice(&shared[start..start + place.len()]),
                }
            } else if let Some((_, values)) = leaves.next_if(|(leaf, _)| *leaf == id) {
                self.values[place].copy_from_slice(values);
            } else if !again {
                self.values[place.clone()].copy_from_slice(&recording.values[place]);
            }
        }
        assert!(leaves.next().is_none(), "leaves to be replaced are given in the order in which they were recorded");
    }
}
