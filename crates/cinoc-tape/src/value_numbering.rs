//! Value numbering of loop-invariant nodes.
//!
//! A value is *loop-invariant* if it follows from constants and parameters alone: it is the same in all replays of a recording. One segment of a
//! rollout records several ticks, and each of them asks for the same parameters, the same zeros and the same functions of them.
//! Like a compiler, the tape gives each such expression one node: asked for again, it answers with the node that exists already. So it is
//! computed once per recording, and the cotangents of all its uses add up in one place, through which the backward sweep goes once.
//!
//! When it applies: two nodes are merged only if both are loop-invariant and the same expression (see [`Expression`]), so that
//! they have the same value. Constants of unknown values are not compared, and operations behind a pointer are the same only if the pointer is.
//! Nodes that change from replay to replay are never merged; of those the tape computes exactly what it is told.

use crate::Shape;
use crate::memory::Recording;
use crate::node::{Home, Lent, Node, VarId};
use crate::op::Recorded;

/// What a loop-invariant node is the value of.
pub(crate) enum Expression<'a> {
    /// Zeros of a shape. Any constant that consists of them will do.
    Zeros(Shape),
    /// A piece of the shared parameters; `bar` says where its cotangent adds up, if it wants one.
    Parameter { start: usize, shape: Shape, bar: Option<usize> },
    /// A copy of a variable through which no derivative passes.
    Detached(VarId),
    /// An operation applied to nodes.
    Applied(&'a Recorded, &'a [u32]),
}

impl Recording {
    /// The first loop-invariant node with the value of `expression`.
    ///
    /// A linear search: a recording has a few dozen nodes, and only recording looks for them. Replays do not.
    pub fn find(&self, expression: &Expression) -> Option<VarId> {
        let found = self.nodes.iter().position(|node| node.is_loop_invariant() && self.computes(node, expression))?;
        Some(VarId(found as u32))
    }

    fn computes(&self, node: &Node, expression: &Expression) -> bool {
        match *expression {
            Expression::Zeros(shape) => {
                let leaf = matches!(node.home, Home::Invariant { .. }) && node.op.is_none() && node.shape == shape;
                let lent = Lent { arena: &[], invariant: &self.invariant, shared: &[] };
                leaf && lent.value(node).iter().all(|z| z.to_bits() == 0)
            }
            Expression::Parameter { start, shape, bar } => {
                matches!(node.home, Home::Shared { start: at } if at == start) && node.shape == shape && node.bar == bar
            }
            Expression::Detached(id) => node.op.is_none() && node.inputs[..node.count] == [id.0],
            Expression::Applied(op, inputs) => node.op.as_ref() == Some(op) && node.inputs[..node.count] == *inputs,
        }
    }
}
