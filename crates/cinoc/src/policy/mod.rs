//! Policies: from what an agent sees to what it does. One policy serves any number of agents.

mod centralised;
mod deeponet;
mod recurrent;
mod uncontrolled;

pub use centralised::Centralised;
pub use deeponet::{DeepONet, Fusion};
pub use recurrent::Recurrent;
pub use uncontrolled::{Idle, Uncontrolled};

use crate::random::Rng;
use crate::sense::{Features, Observation};
use crate::settings::Settings;
use crate::{Error, Real};
use cinoc_tape::{Leaves, Params, Shape, Var};

/// What a policy needs besides what is seen: whatever differs from tick to tick is declared here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Numbers that each agent remembers from tick to tick; zero at the start, and for the dead.
    pub memory: usize,
    /// Standard normal numbers that each agent is given in every tick.
    pub noise: usize,
    /// Whether it is told which share of the episode is over.
    pub clock: bool,
    /// Whether it sees everything. A policy of agents that see what is near them does not.
    pub everything: bool,
}

/// What a policy declared, in one tick.
#[derive(Clone, Copy)]
pub struct Context<'t> {
    /// What each agent remembers, `[batch, agents, memory]`.
    pub memory: Option<Var<'t>>,
    /// New random numbers, `[batch, agents, noise]`.
    pub noise: Option<Var<'t>>,
    /// The share of the episode that is over, `[batch, 1]`.
    pub clock: Option<Var<'t>>,
    /// Everything there is to see.
    pub everything: Option<Everything<'t>>,
    /// Ticks until the next decision.
    pub hold: usize,
}

/// The whole state, for policies that declare to need it.
#[derive(Clone, Copy)]
pub struct Everything<'t> {
    /// The field, `[batch, nodes…]`.
    pub z: Var<'t>,
    /// The field to be reached, `[batch, nodes…]`.
    pub target: Var<'t>,
    /// The positions of all agents, `[batch, agents, d]`.
    pub xi: Var<'t>,
}

impl Default for Context<'_> {
    /// Nothing declared, and a decision in every tick.
    fn default() -> Self {
        Self { memory: None, noise: None, clock: None, everything: None, hold: 1 }
    }
}

/// What a policy decides in one tick.
#[derive(Clone, Copy)]
pub struct Decision<'t> {
    /// Raw actions `[batch, agents, k]`, before the actuators' limits.
    pub raw: Var<'t>,
    /// What each agent remembers, where it declared to.
    pub memory: Option<Var<'t>>,
}

impl<'t> From<Var<'t>> for Decision<'t> {
    /// Raw actions of agents that remember nothing.
    fn from(raw: Var<'t>) -> Self {
        Self { raw, memory: None }
    }
}

/// A decision rule.
pub trait Policy: Send + Sync {
    /// Name and shape of each piece of its parameters, in order, without making them.
    fn shapes(&self) -> Vec<(String, Shape)>;

    /// Fresh parameters. Unless told otherwise matrices are LeCun-normal, of variance 1/fan-in, and everything else is zero.
    fn init(&self, rng: &mut Rng) -> Params {
        let mut params = Params::default();
        for (name, shape) in self.shapes() {
            let values: Vec<Real> = match *shape.sizes() {
                [inputs, outputs] => (0..inputs * outputs).map(|_| (rng.normal() / (inputs as f64).sqrt()) as Real).collect(),
                _ => vec![0.0; shape.count()],
            };
            params.push(&name, shape, &values);
        }
        params
    }

    /// What it needs besides what is seen.
    fn declared(&self) -> Declared {
        Declared::default()
    }

    /// Decides for all agents of all instances.
    ///
    /// # Contract
    /// This is called once, and what it records is replayed for the other ticks of an episode with other values of `seen` and `context`. So
    /// everything that differs from tick to tick must come from these two, and what is needed must be [`declared`](Self::declared): a number
    /// drawn here, a counter or a clock of one's own would be frozen at its first value. Which operations are recorded must not depend on
    /// values either; a policy that reads values while it records is recorded anew for every tick, which is right but slow.
    /// [`assert_replayable`](crate::env::assert_replayable) catches a policy that breaks this.
    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>, context: &Context<'t>) -> Decision<'t>;

    /// The only number of agents that it can drive, where it is not any.
    fn fixed_agents(&self) -> Option<usize> {
        None
    }

    /// Numbers that one decision of all agents of an instance goes through, roughly; for estimates of memory.
    fn room(&self, _agents: usize) -> usize {
        0
    }

    /// Multiplications and additions of one decision of all agents of an instance, counted twice as usual; for reports.
    fn flops(&self, _agents: usize) -> usize {
        0
    }
}

/// What a policy drives, as far as its sizes depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plant {
    /// What each agent is shown.
    pub features: Features,
    /// Numbers that each acts with.
    pub action_width: usize,
    /// Agents in training. Only a policy that drives no other number has a use for it.
    pub agents: usize,
    /// Numbers that tell everything: those of the field, of its target and of all positions.
    pub everything: usize,
}

impl Plant {
    /// Agents that are shown `features` and act with `action_width` numbers, each by itself.
    pub fn new(features: Features, action_width: usize) -> Self {
        Self { features, action_width, agents: 0, everything: 0 }
    }
}

/// A policy as a file: its settings (the section `policy` of a configuration) and its builder.
///
/// One line makes it known to everything else: [`Registry::policy`](crate::Registry::policy).
pub trait PolicyDefinition: Settings {
    /// Its name in `policy.kind`.
    const NAME: &'static str;

    /// One line about it.
    const ABOUT: &'static str;

    /// Settings to start from where a problem proposes none.
    fn preset() -> Self;

    /// A policy for a plant.
    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error>;
}
