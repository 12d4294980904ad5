//! Who decides.

use crate::Real;
use crate::policy::{Declared, Policy};
use cinoc_tape::Params;

/// Who decides in a tick.
#[derive(Clone, Copy)]
pub enum Driver<'a> {
    Policy(&'a dyn Policy, &'a Params),
    Actions(&'a [Real]),
}

impl<'a> Driver<'a> {
    /// Parameters that its tape reads.
    pub fn shared(self) -> &'a [Real] {
        if let Self::Policy(_, params) = self { params.shared() } else { &[] }
    }

    /// What it needs besides what is seen.
    pub fn declared(self) -> Declared {
        if let Self::Policy(policy, _) = self { policy.declared() } else { Declared::default() }
    }
}
