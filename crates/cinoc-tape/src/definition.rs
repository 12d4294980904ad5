//! Definitions of the variables of a recording, for translation into another language.

use crate::node::{Sources, VarId};
use crate::op::Recorded;
use crate::{Arena, Real};

/// Definition of a variable of a recording.
#[derive(Debug)]
pub enum Definition<'a> {
    /// A leaf whose value may change in each replay.
    Placeholder,
    /// A value that is the same in all replays.
    Constant(&'a [Real]),
    /// A copy of another variable.
    Copied(VarId),
    /// The result of an operation on other variables.
    Computed(&'a Recorded, Vec<VarId>),
}

impl Arena {
    /// Returns the definition of a variable; `shared` are the parameters the tape was created with. Following
    /// definitions recursively visits all that a result depends on; the identifier of a variable is larger than those
    /// of its inputs.
    pub fn definition<'a>(&'a self, shared: &'a [Real], id: VarId) -> Definition<'a> {
        let node = &self.nodes()[id.0 as usize];
        let mut inputs = node.inputs[..node.count].iter().map(|&input| VarId(input));
        match (&node.op, inputs.next()) {
            _ if node.is_loop_invariant() => {
                Definition::Constant(Sources { replayed: &[], invariant: self.invariant(), shared }.value(node))
            }
            (Some(op), first) => Definition::Computed(op, first.into_iter().chain(inputs).collect()),
            (None, Some(copied)) => Definition::Copied(copied),
            (None, None) => Definition::Placeholder,
        }
    }
}
