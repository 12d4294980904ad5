//! Nobody does anything.

use super::Policy;
use crate::random::Rng;
use crate::sense::Observation;
use cinoc_tape::{Leaves, Params, Var};

/// Zero actions: what every score is compared with.
pub struct Uncontrolled {
    /// Numbers per action.
    pub action_width: usize,
}

impl Policy for Uncontrolled {
    fn init(&self, _: &mut Rng) -> Params {
        Params::default()
    }

    fn act<'t>(&self, _: &Leaves<'t>, seen: &Observation<'t>) -> Var<'t> {
        let shape = seen.position().shape().with_last(self.action_width);
        seen.position().tape().zeros(shape)
    }
}
