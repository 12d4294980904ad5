//! Nodes of a recording: storage and computation of their values.

use crate::kernel::buffer::align;
use crate::op::{Inputs, MAX_INPUTS, Recorded};
use crate::{Real, Shape, profile};

/// Identifier of a variable in an [`crate::Arena`], valid after the tape is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VarId(pub(crate) u32);

/// Storage of a node's value.
#[derive(Clone, Copy)]
pub(crate) enum Storage {
    /// In the arena, followed by the numbers saved for the backward pass; recomputed in every replay.
    Replayed { start: usize, saved: usize },
    /// In the storage of the recording, laid out likewise. The value is loop-invariant (it depends on constants and
    /// parameters alone) and computed once for all replays; its cotangent accumulates over them.
    Invariant { start: usize, saved: usize },
    /// In the shared parameters, which outlive the tape; their cotangents accumulate over all tapes.
    Shared { start: usize },
}

pub(crate) struct Node {
    /// None for leaves and for detached copies, which have one input.
    pub op: Option<Recorded>,
    pub inputs: [u32; MAX_INPUTS],
    pub count: usize,
    pub shape: Shape,
    pub storage: Storage,
    /// Offset of the cotangent, if the node has one.
    pub bar: Option<usize>,
    pub scratch: usize,
}

/// Borrowed values that a node is computed from.
pub(crate) struct Sources<'a> {
    pub replayed: &'a [Real],
    pub invariant: &'a [Real],
    pub shared: &'a [Real],
}

impl<'a> Sources<'a> {
    pub fn value(&self, node: &Node) -> &'a [Real] {
        let count = node.shape.count();
        match node.storage {
            Storage::Replayed { start, .. } => &self.replayed[start..start + count],
            Storage::Invariant { start, .. } => &self.invariant[start..start + count],
            Storage::Shared { start } => &self.shared[start..start + count],
        }
    }

    /// Returns the inputs of a node.
    pub fn inputs(&self, nodes: &[Node], node: &Node) -> Inputs<'a> {
        let mut values: [&[Real]; MAX_INPUTS] = [&[]; MAX_INPUTS];
        let mut shapes = [Shape::default(); MAX_INPUTS];
        for (i, &input) in node.inputs[..node.count].iter().enumerate() {
            let source = &nodes[input as usize];
            (values[i], shapes[i]) = (self.value(source), source.shape);
        }
        Inputs { values, shapes, count: node.count }
    }
}

impl Node {
    /// Returns true if the value is the same in all replays.
    pub fn is_loop_invariant(&self) -> bool {
        !matches!(self.storage, Storage::Replayed { .. })
    }

    /// Count of numbers in inputs, result and saved intermediate results.
    pub fn moved(&self, nodes: &[Node]) -> usize {
        let saved = match self.storage {
            Storage::Replayed { saved, .. } | Storage::Invariant { saved, .. } => saved,
            Storage::Shared { .. } => 0,
        };
        let inputs = self.inputs[..self.count].iter().map(|&input| nodes[input as usize].shape.count());
        inputs.sum::<usize>() + self.shape.count() + saved
    }

    /// Computes the value into the beginning of `room`, followed by what is saved. Leaves are unchanged.
    pub fn compute(&self, nodes: &[Node], sources: &Sources, room: &mut [Real], scratch: &mut [Real]) {
        let count = self.shape.count();
        match (&self.op, self.storage) {
            (Some(recorded), Storage::Replayed { saved, .. } | Storage::Invariant { saved, .. }) => {
                let x = sources.inputs(nodes, self);
                let (y, kept) = room.split_at_mut(align(count));
                let (since, op) = (profile::start(), recorded.op());
                op.forward(&x, &mut y[..count], &mut kept[..saved], &mut scratch[..self.scratch]);
                profile::book(since, op.name(), true, || [op.flops(x.shapes()), self.moved(nodes)]);
            }
            (None, _) if self.count == 1 => room[..count].copy_from_slice(sources.value(&nodes[self.inputs[0] as usize])),
            _ => {}
        }
    }
}
