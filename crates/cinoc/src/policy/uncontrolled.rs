//! Zero control.

use super::{Context, Decision, Plant, Policy, PolicyDefinition};
use crate::random::Rng;
use crate::sense::Observation;
use crate::{Error, settings};
use cinoc_tape::{Leaves, Params, Shape};

settings! {
    /// Zero actions, the reference of every relative score.
    pub struct Uncontrolled {}
}

impl PolicyDefinition for Uncontrolled {
    const NAME: &'static str = "uncontrolled";
    const ABOUT: &'static str = "Zero control, the reference of every relative score.";

    fn preset() -> Self {
        Self {}
    }

    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error> {
        Ok(Box::new(ZeroControl { action_width: plant.action_width }))
    }
}

/// A policy whose actions are zero.
pub struct ZeroControl {
    /// Numbers per action.
    pub action_width: usize,
}

impl Policy for ZeroControl {
    fn shapes(&self) -> Vec<(String, Shape)> {
        Vec::new()
    }

    fn init(&self, _: &mut Rng) -> Params {
        Params::default()
    }

    fn act<'t>(&self, _: &Leaves<'t>, seen: &Observation<'t>, _: &Context<'t>) -> Decision<'t> {
        let shape = seen.position().shape().with_last(self.action_width);
        seen.position().tape().zeros(shape).into()
    }
}
