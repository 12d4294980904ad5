//! Computing a recording once more with other values: what a tick costs after the first.

use crate::Real;
use crate::kernel::buffer::Buffer;
use crate::kernel::crew;
use crate::memory::{Memory, Recording};
use crate::node::{Home, Lent, Node, VarId};
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
    /// Leaves without other values have those of the recording, or those of the last time the same recording was computed here. Loop-invariant
    /// values are not computed again. `scratch` is working space: the same for many replays stays in the cache.
    pub fn replay<'a>(
        &mut self,
        model: &Memory,
        shared: &[Real],
        leaves: impl IntoIterator<Item = (VarId, &'a [Real])>,
        scratch: &mut Buffer,
    ) {
        let again = self.replays(model);
        self.recording = model.recording.clone();
        (self.used, self.cotangents_used, self.read) = (model.used, model.cotangents_used, model.read);
        self.values.grow_to(self.used);
        if let Some(recording) = &model.recording {
            scratch.grow_to(recording.scratch);
            recording.compute(&mut self.values, scratch, shared, leaves, (!again).then_some(&model.values));
        }
    }

    /// Computes its own recording once more, in its place: half the room where nobody asks for what was there before.
    pub fn renew<'a>(&mut self, shared: &[Real], leaves: impl IntoIterator<Item = (VarId, &'a [Real])>) {
        if let Some(recording) = &self.recording {
            self.scratch.grow_to(recording.scratch);
            recording.compute(&mut self.values, &mut self.scratch, shared, leaves, None);
        }
    }

    /// Whether the cotangents of loop-invariant nodes may be added up over the backward sweeps of both memories, to be swept through once at the end.
    /// So it is for replays of one recording, and for two recordings that differ in nothing but what changes from replay to replay.
    pub fn sweeps_with(&self, other: &Memory) -> bool {
        let same = match (&self.recording, &other.recording) {
            (Some(a), Some(b)) => a.sweeps_with(b),
            _ => false,
        };
        self.replayable() && other.replayable() && same
    }

    /// Whether both hold the same recording.
    fn replays(&self, other: &Memory) -> bool {
        matches!((&self.recording, &other.recording), (Some(a), Some(b)) if Arc::ptr_eq(a, b))
    }
}

impl Recording {
    /// Computes all that is not loop-invariant into `values`, with other values for some leaves; those without have the numbers of `old`, or if
    /// there are none keep what they have.
    fn compute<'a>(
        &self,
        values: &mut [Real],
        scratch: &mut [Real],
        shared: &[Real],
        leaves: impl IntoIterator<Item = (VarId, &'a [Real])>,
        old: Option<&[Real]>,
    ) {
        let (nodes, invariant) = (&self.nodes, &self.invariant);
        let mut leaves = leaves.into_iter().peekable();
        for (index, node) in nodes.iter().enumerate() {
            let Home::Arena { start, .. } = node.home else { continue };
            if node.op.is_some() || node.count == 1 {
                let (arena, room) = values.split_at_mut(start);
                node.compute(nodes, &Lent { arena, invariant, shared }, room, scratch);
                continue;
            }
            let place = start..start + node.shape.count();
            if let Some((_, given)) = leaves.next_if(|(leaf, _)| leaf.0 as usize == index) {
                crew::copy(given, &mut values[place]);
            } else if let Some(old) = old {
                crew::copy(&old[place.clone()], &mut values[place]);
            }
        }
        assert!(
            leaves.next().is_none(),
            "leaves to be replaced are given in the order in which they were recorded, and are not constants"
        );
    }

    /// Whether both have the same loop-invariant nodes with a cotangent, at the same places: the same operations on the same inputs. A sweep
    /// through those of either is then a sweep through those of both.
    pub fn sweeps_with(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        fn swept(recording: &Recording) -> impl Iterator<Item = (usize, &Node)> {
            recording
                .nodes
                .iter()
                .enumerate()
                .filter(|(_, node)| node.bar.is_some() && matches!(node.home, Home::Invariant { .. }))
        }
        Arc::ptr_eq(self, other)
            || swept(self).count() == swept(other).count()
                && swept(self).zip(swept(other)).all(|((i, a), (j, b))| {
                    let inputs = &a.inputs[..a.count];
                    (i, a.bar, a.shape, &a.op, inputs) == (j, b.bar, b.shape, &b.op, &b.inputs[..b.count])
                        && inputs.iter().all(|&input| self.same_input(other, input as usize))
                })
    }

    /// Whether node `index`, an input of a loop-invariant node, is the same in both. One with a cotangent among the loop-invariant ones is
    /// compared on its own.
    fn same_input(&self, other: &Self, index: usize) -> bool {
        let (a, b) = (&self.nodes[index], &other.nodes[index]);
        (a.shape, a.bar) == (b.shape, b.bar)
            && match (a.home, b.home) {
                (Home::Shared { start }, Home::Shared { start: other }) => start == other,
                (Home::Invariant { start, .. }, Home::Invariant { start: there, .. }) => {
                    let count = a.shape.count();
                    a.bar.is_some() || same_bits(&self.invariant[start..][..count], &other.invariant[there..][..count])
                }
                _ => false,
            }
    }
}

fn same_bits(a: &[Real], b: &[Real]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
