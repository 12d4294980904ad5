//! Replays: recomputation of a recording with other values, which every tick after the first is.

use crate::Real;
use crate::arena::{Arena, Recording};
use crate::kernel::buffer::Buffer;
use crate::kernel::parallel;
use crate::node::{Node, Sources, Storage, VarId};
use std::sync::Arc;

impl Arena {
    /// Returns true if [`replay`](Self::replay) equals recording again. It does not if values were read during the
    /// recording, since the choice of operations may then depend on them.
    pub fn replayable(&self) -> bool {
        !self.read
    }

    /// Releases the recording, so that the arena it was replayed from can reuse its capacity for another.
    pub fn release(&mut self) {
        self.recording = None;
    }

    /// Computes the recording of `model` into this arena, with new values for some of its leaves; identifiers of
    /// variables stay valid. Other leaves keep the values of the recording, or of the last replay of the same recording
    /// in this arena. Loop-invariant values are not recomputed. `scratch` is working space, which stays in the cache if
    /// it is reused for many replays.
    pub fn replay<'a>(
        &mut self,
        model: &Arena,
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

    /// Recomputes its own recording in place: half the memory of a replay if the previous values are not needed.
    pub fn replay_in_place<'a>(&mut self, shared: &[Real], leaves: impl IntoIterator<Item = (VarId, &'a [Real])>) {
        if let Some(recording) = &self.recording {
            self.scratch.grow_to(recording.scratch);
            recording.compute(&mut self.values, &mut self.scratch, shared, leaves, None);
        }
    }

    /// Returns true if the cotangents of loop-invariant nodes may accumulate over the backward sweeps of both arenas:
    /// for replays of one recording, and for recordings that differ only in what changes between replays.
    pub fn has_same_invariants(&self, other: &Arena) -> bool {
        let same = match (&self.recording, &other.recording) {
            (Some(a), Some(b)) => a.has_same_invariants(b),
            _ => false,
        };
        self.replayable() && other.replayable() && same
    }

    /// Returns true if both hold the same recording.
    fn replays(&self, other: &Arena) -> bool {
        matches!((&self.recording, &other.recording), (Some(a), Some(b)) if Arc::ptr_eq(a, b))
    }
}

impl Recording {
    /// Computes all nodes that are not loop-invariant into `values`, with new values for some leaves; other leaves take
    /// the numbers of `old`, or without `old` keep their own.
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
            let Storage::Replayed { start, .. } = node.storage else { continue };
            if node.op.is_some() || node.count == 1 {
                let (replayed, room) = values.split_at_mut(start);
                node.compute(nodes, &Sources { replayed, invariant, shared }, room, scratch);
                continue;
            }
            let place = start..start + node.shape.count();
            if let Some((_, given)) = leaves.next_if(|(leaf, _)| leaf.0 as usize == index) {
                parallel::copy(given, &mut values[place]);
            } else if let Some(old) = old {
                parallel::copy(&old[place.clone()], &mut values[place]);
            }
        }
        assert!(
            leaves.next().is_none(),
            "leaves to be replaced are given in the order in which they were recorded, and are not constants"
        );
    }

    /// Returns true if both have the same loop-invariant nodes with a cotangent, in the same positions: the same
    /// operations on the same inputs. One sweep through them then serves both.
    pub fn has_same_invariants(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        fn swept(recording: &Recording) -> impl Iterator<Item = (usize, &Node)> {
            recording
                .nodes
                .iter()
                .enumerate()
                .filter(|(_, node)| node.bar.is_some() && matches!(node.storage, Storage::Invariant { .. }))
        }
        Arc::ptr_eq(self, other)
            || swept(self).count() == swept(other).count()
                && swept(self).zip(swept(other)).all(|((i, a), (j, b))| {
                    let inputs = &a.inputs[..a.count];
                    (i, a.bar, a.shape, &a.op, inputs) == (j, b.bar, b.shape, &b.op, &b.inputs[..b.count])
                        && inputs.iter().all(|&input| self.same_input(other, input as usize))
                })
    }

    /// Returns true if node `index`, an input of a loop-invariant node, is the same in both. Loop-invariant nodes with
    /// a cotangent are compared by the caller.
    fn same_input(&self, other: &Self, index: usize) -> bool {
        let (a, b) = (&self.nodes[index], &other.nodes[index]);
        (a.shape, a.bar) == (b.shape, b.bar)
            && match (a.storage, b.storage) {
                (Storage::Shared { start }, Storage::Shared { start: other }) => start == other,
                (Storage::Invariant { start, .. }, Storage::Invariant { start: there, .. }) => {
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
