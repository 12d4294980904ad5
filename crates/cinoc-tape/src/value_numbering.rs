//! Value numbering of loop-invariant nodes.
//!
//! A value is *loop-invariant* if it depends on constants and parameters alone: it is the same in all replays of a
//! recording. One segment of a rollout records several ticks, each of which uses the same parameters, zeros and
//! functions of them. As a compiler does, the tape creates one node per such expression and reuses it. Each is computed
//! once per recording, and the cotangents of all its uses accumulate in one place, through which the backward sweep
//! passes once.
//!
//! Two nodes are merged only if both are loop-invariant and the same expression (see [`Expression`]). Values of
//! constants are not compared, and operations behind a pointer are equal only if the pointers are. Nodes that change
//! between replays are never merged.

use crate::Shape;
use crate::arena::Recording;
use crate::node::{Node, Sources, Storage, VarId};
use crate::op::Recorded;

/// Expression that a loop-invariant node computes.
pub(crate) enum Expression<'a> {
    /// Zeros of a shape; any constant of zeros matches.
    Zeros(Shape),
    /// A piece of the shared parameters; `bar` is the offset of its cotangent, if it has one.
    Parameter { start: usize, shape: Shape, bar: Option<usize> },
    /// A copy of a variable through which no derivative passes.
    Detached(VarId),
    /// An operation applied to nodes.
    Applied(&'a Recorded, &'a [u32]),
}

impl Recording {
    /// Finds the first loop-invariant node that computes `expression`.
    ///
    /// A linear search suffices: a recording has a few dozen nodes, and replays do not search.
    pub fn find(&self, expression: &Expression) -> Option<VarId> {
        let found = self.nodes.iter().position(|node| node.is_loop_invariant() && self.computes(node, expression))?;
        Some(VarId(found as u32))
    }

    fn computes(&self, node: &Node, expression: &Expression) -> bool {
        match *expression {
            Expression::Zeros(shape) => {
                let leaf = matches!(node.storage, Storage::Invariant { .. }) && node.op.is_none() && node.shape == shape;
                let sources = Sources { replayed: &[], invariant: &self.invariant, shared: &[] };
                leaf && sources.value(node).iter().all(|z| z.to_bits() == 0)
            }
            Expression::Parameter { start, shape, bar } => {
                matches!(node.storage, Storage::Shared { start: at } if at == start) && node.shape == shape && node.bar == bar
            }
            Expression::Detached(id) => node.op.is_none() && node.inputs[..node.count] == [id.0],
            Expression::Applied(op, inputs) => node.op.as_ref() == Some(op) && node.inputs[..node.count] == *inputs,
        }
    }
}
