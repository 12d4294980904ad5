//! Policies: from what an agent sees to what it does. One policy serves any number of agents.

mod deeponet;
mod uncontrolled;

pub use deeponet::DeepONet;
pub use uncontrolled::Uncontrolled;

use crate::Error;
use crate::agents::Swarm;
use crate::config::Config;
use crate::random::Rng;
use crate::sense::Observation;
use cinoc_tape::{Leaves, Params, Var};

/// A decision rule.
pub trait Policy: Send + Sync {
    /// Fresh parameters.
    fn init(&self, rng: &mut Rng) -> Params;

    /// Raw actions `[batch, agents, k]`, before the actuators' limits.
    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>) -> Var<'t>;

    /// Multiplications and additions of one decision of all agents of an instance, counted twice as usual; for reports.
    fn flops(&self, _agents: usize) -> usize {
        0
    }
}

/// Names of all policies.
pub const NAMES: &[&str] = &["deeponet", "uncontrolled"];

/// The policy that a configuration names.
pub fn build(config: &Config, swarm: &Swarm) -> Result<Box<dyn Policy>, Error> {
    match config.policy.kind.as_str() {
        "deeponet" => Ok(Box::new(DeepONet::new(&config.policy, swarm.features(), swarm.action_width())?)),
        "uncontrolled" => Ok(Box::new(Uncontrolled { action_width: swarm.action_width() })),
        other => Err(Error::BadValue {
            key: "policy.kind".into(),
            value: format!("{other:?}"),
            expected: format!("one of {}", NAMES.join(", ")),
        }),
    }
}
