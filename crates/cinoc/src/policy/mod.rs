//! Policies, which map observations to actions. One policy serves any number of agents.

mod centralised;
mod deeponet;
mod pi;
mod recurrent;
mod state_feedback;
mod uncontrolled;

#[doc(hidden)]
pub use centralised::Centralised;
#[doc(hidden)]
pub use deeponet::{DeepONet, Fusion};
#[doc(hidden)]
pub use pi::Pi;
pub use recurrent::Recurrent;
#[doc(hidden)]
pub use state_feedback::StateFeedback;
#[doc(hidden)]
pub use uncontrolled::{Uncontrolled, ZeroControl};

use crate::random::Rng;
use crate::sense::{Features, Observation};
use crate::settings::Settings;
use crate::{Error, Real};
use cinoc_tape::{Leaves, Params, Shape, Var};

/// Inputs of a policy besides observations. Everything that changes from tick to tick is declared here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolicyInputs {
    /// Size of each agent's memory, which is zero at the start and for failed agents.
    pub memory: usize,
    /// Numbers that an agent tells its neighbours, who hear them in the next tick: the last ones of its memory.
    #[doc(hidden)]
    pub messages: usize,
    /// Standard normal numbers per agent and tick.
    pub noise: usize,
    /// True if it uses the elapsed fraction of the episode.
    pub clock: bool,
    /// True if it uses the whole state; local policies do not.
    pub everything: bool,
}

/// The declared inputs of a policy in one tick.
#[derive(Clone, Copy)]
pub struct Context<'t> {
    /// Memory, `[batch, agents, memory]`.
    pub memory: Option<Var<'t>>,
    /// Messages of neighbours, `[batch, agents, neighbours·messages]`.
    #[doc(hidden)]
    pub heard: Option<Var<'t>>,
    /// Standard normal numbers, `[batch, agents, noise]`.
    pub noise: Option<Var<'t>>,
    /// Elapsed fraction of the episode, `[batch, 1]`.
    pub clock: Option<Var<'t>>,
    /// The whole state.
    pub everything: Option<Everything<'t>>,
    /// Number of ticks until the next decision.
    pub action_repeat: usize,
}

/// The whole state, for policies that declare it.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct Everything<'t> {
    /// Field, `[batch, nodes…]`.
    pub z: Var<'t>,
    /// Target field, `[batch, nodes…]`.
    pub target: Var<'t>,
    /// Positions of all agents, `[batch, agents, d]`.
    pub xi: Var<'t>,
}

impl<'t> Everything<'t> {
    /// Returns field, target and positions of each instance as one row each.
    ///
    /// # Panics
    /// If there are not `agents` agents.
    fn rows(&self, agents: usize) -> [Var<'t>; 3] {
        let found = self.xi.shape().sizes()[1];
        assert_eq!(found, agents, "this policy drives {agents} agents");
        [self.z, self.target, self.xi].map(|x| {
            let batch = x.shape().sizes()[0];
            x.reshape([batch, x.shape().count() / batch])
        })
    }
}

impl Default for Context<'_> {
    /// No declared inputs, and a decision in every tick.
    fn default() -> Self {
        Self { memory: None, heard: None, noise: None, clock: None, everything: None, action_repeat: 1 }
    }
}

/// The decision of a policy in one tick.
#[derive(Clone, Copy)]
pub struct Decision<'t> {
    /// Raw actions, `[batch, agents, k]`, before the limits of the actuators.
    pub raw: Var<'t>,
    /// New memory, if declared.
    pub memory: Option<Var<'t>>,
}

impl<'t> From<Var<'t>> for Decision<'t> {
    /// Creates a decision without memory.
    fn from(raw: Var<'t>) -> Self {
        Self { raw, memory: None }
    }
}

/// A policy: maps observations to raw actions.
///
/// ```
/// use cinoc::prelude::*;
///
/// /// One gain per observed number and action.
/// struct Proportional([usize; 2]);
///
/// impl Policy for Proportional {
///     fn shapes(&self) -> Vec<(String, Shape)> {
///         vec![("gain".into(), self.0.into())]
///     }
///
///     fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>, _: &Context<'t>) -> Decision<'t> {
///         seen.each_agent(seen.patch().matmul(theta.get(0))).into()
///     }
/// }
/// ```
pub trait Policy: Send + Sync {
    /// Returns name and shape of each parameter, in order.
    fn shapes(&self) -> Vec<(String, Shape)>;

    /// Samples initial parameters. By default matrices are LeCun-normal (variance 1/fan-in) and everything else is
    /// zero.
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

    /// Returns the inputs that it needs besides observations.
    fn declared(&self) -> PolicyInputs {
        PolicyInputs::default()
    }

    /// Decides for all agents of all instances.
    ///
    /// # Contract
    /// `act` is called once; its recording is replayed for the other ticks of an episode with other values of `seen`
    /// and `context`. Everything that changes from tick to tick must therefore come from these two, and must be
    /// [`declared`](Self::declared): a random number drawn here, a counter or a clock would keep its first value. The
    /// recorded operations must not depend on values either; a policy that reads values while recording is recorded
    /// again for every tick, which is correct but slow. [`assert_replayable`](crate::env::assert_replayable) detects a
    /// policy that breaks this contract.
    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>, context: &Context<'t>) -> Decision<'t>;

    /// Returns the only number of agents that it can drive; `None` if any.
    #[doc(hidden)]
    fn fixed_agents(&self) -> Option<usize> {
        None
    }

    /// Estimates the number of intermediate values of one decision of all agents of an instance; for memory estimates.
    #[doc(hidden)]
    fn room(&self, _agents: usize) -> usize {
        0
    }

    /// Returns the floating-point operations of one decision of all agents of an instance; for reports.
    #[doc(hidden)]
    fn flops(&self, _agents: usize) -> usize {
        0
    }
}

/// The controlled system, as far as the sizes of a policy depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plant {
    /// Kind and sizes of an observation.
    pub features: Features,
    /// Numbers per action.
    pub action_width: usize,
    /// Number of agents in training, used only by policies with a fixed number.
    pub agents: usize,
    /// Size of the whole state: field, target and all positions.
    pub everything: usize,
    /// Number of neighbours that an agent can hear; 0: none.
    #[doc(hidden)]
    pub neighbours: usize,
}

impl Plant {
    /// Creates a plant of agents that observe `features` and act with `action_width` numbers.
    pub fn new(features: Features, action_width: usize) -> Self {
        Self { features, action_width, agents: 0, everything: 0, neighbours: 0 }
    }

    /// Returns true if a policy that was built for this plant can act on another one.
    #[doc(hidden)]
    pub fn serves(&self, policy: &dyn Policy, other: &Self) -> bool {
        let whole = !policy.declared().everything || self.everything == other.everything;
        let heard = policy.declared().messages == 0 || self.neighbours == other.neighbours;
        whole && heard && (self.features, self.action_width) == (other.features, other.action_width)
    }
}

/// Returns parameters of these names and shapes, all zero.
fn zeros(shapes: Vec<(String, Shape)>) -> Params {
    let mut params = Params::default();
    for (name, shape) in shapes {
        params.push(&name, shape, &vec![0.0; shape.count()]);
    }
    params
}

/// A kind of policy defined by its settings (the section `policy` of a configuration) and a builder.
///
/// [`Registry::policy`](crate::Registry::policy) registers it.
pub trait PolicyDefinition: Settings {
    /// Name in `policy.kind`.
    const NAME: &'static str;

    /// One-line description.
    const ABOUT: &'static str;

    /// Returns default settings, used where a problem has none.
    fn preset() -> Self;

    /// Builds the policy for a plant.
    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error>;
}
