//! The nodes of a recording: where their values live and how they are computed.

use crate::kernel::buffer::align;
use crate::op::{Inputs, MAX_INPUTS, Recorded};
use crate::{Real, Shape, profile};

/// Names a variable of a [`crate::Memory`] after its tape is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VarId(pub(crate) u32);

/// Where a node's value lives.
#[derive(Clone, Copy)]
pub(crate) enum Home {
    /// In the arena, with the numbers saved for the backward pass behind it.
    Arena { start: usize, saved: usize },
    /// The same in the arena of the recording: it is loop-invariant (it follows from constants and parameters alone), so it is computed once for
    /// all replays. Its cotangent adds up over them.
    Invariant { start: usize, saved: usize },
    /// In the shared parameters, which outlive the tape; their cotangents add up over all tapes.
    Shared { start: usize },
}

pub(crate) struct Node {
    /// None for leaves and for copies cut from what they were computed from, which have one input.
    pub op: Option<Recorded>,
    pub inputs: [u32; MAX_INPUTS],
    pub count: usize,
    pub shape: Shape,
    pub home: Home,
    /// Offset of the cotangent in the arena of cotangents, where the node wants one.
    pub bar: Option<usize>,
    pub scratch: usize,
}

/// Values to compute with.
pub(crate) struct Lent<'a> {
    pub arena: &'a [Real],
    pub invariant: &'a [Real],
    pub shared: &'a [Real],
}

impl<'a> Lent<'a> {
    pub fn value(&self, node: &Node) -> &'a [Real] {
        let count = node.shape.count();
        match node.home {
            Home::Arena { start, .. } => &self.arena[start..start + count],
            Home::Invariant { start, .. } => &self.invariant[start..start + count],
            Home::Shared { start } => &self.shared[start..start + count],
        }
    }

    /// The inputs of a node.
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
    /// Whether the value is the same in all replays.
    pub fn is_loop_invariant(&self) -> bool {
        !matches!(self.home, Home::Arena { .. })
    }

    /// Numbers of inputs, result and what is saved.
    pub fn moved(&self, nodes: &[Node]) -> usize {
        let saved = match self.home {
            Home::Arena { saved, .. } | Home::Invariant { saved, .. } => saved,
            Home::Shared { .. } => 0,
        };
        let inputs = self.inputs[..self.count].iter().map(|&input| nodes[input as usize].shape.count());
        inputs.sum::<usize>() + self.shape.count() + saved
    }

    /// Computes the value from those of the inputs, into the beginning of `room`, and what is saved behind it. Leaves stay as they are.
    pub fn compute(&self, nodes: &[Node], lent: &Lent, room: &mut [Real], scratch: &mut [Real]) {
        let count = self.shape.count();
        match (&self.op, self.home) {
            (Some(recorded), Home::Arena { saved, .. } | Home::Invariant { saved, .. }) => {
                let x = lent.inputs(nodes, self);
                let (y, kept) = room.split_at_mut(align(count));
                let (since, op) = (profile::start(), recorded.op());
                op.forward(&x, &mut y[..count], &mut kept[..saved], &mut scratch[..self.scratch]);
                profile::book(since, op.name(), true, || [op.flops(x.shapes()), self.moved(nodes)]);
            }
            (None, _) if self.count == 1 => room[..count].copy_from_slice(lent.value(&nodes[self.inputs[0] as usize])),
            _ => {}
        }
    }
}
