//! Where the variables of a recording come from, for those who translate it.

use crate::node::{Lent, VarId};
use crate::op::Recorded;
use crate::{Memory, Real};

/// Where a variable of a recording comes from.
pub enum Origin<'a> {
    /// It may have another value in each replay.
    Given,
    /// It is the same in all of them: these numbers.
    Constant(&'a [Real]),
    /// It is a copy of another.
    Copied(VarId),
    /// It follows from others by an operation.
    Computed(&'a Recorded, Vec<VarId>),
}

impl Memory {
    /// Where a variable comes from; `shared` are the parameters that the tape was made with. Those who ask for the origins of origins have
    /// seen the whole recording that a result depends on, and a variable's name is larger than those that it follows from.
    pub fn origin<'a>(&'a self, shared: &'a [Real], id: VarId) -> Origin<'a> {
        let node = &self.nodes()[id.0 as usize];
        let mut inputs = node.inputs[..node.count].iter().map(|&input| VarId(input));
        match (&node.op, inputs.next()) {
            _ if node.is_loop_invariant() => {
                Origin::Constant(Lent { arena: &[], invariant: self.invariant(), shared }.value(node))
            }
            (Some(op), first) => Origin::Computed(op, first.into_iter().chain(inputs).collect()),
            (None, Some(copied)) => Origin::Copied(copied),
            (None, None) => Origin::Given,
        }
    }
}
