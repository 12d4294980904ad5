//! Settings: every problem has a complete default; files and `--set` change single keys of it.

mod overlay;

pub use overlay::{Overlay, distance, overlay};

use crate::Error;
use crate::problem::{Preset, defaults};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Named numbers whose names a problem chooses.
pub type Numbers = BTreeMap<String, f64>;

/// Named words whose names a problem chooses.
pub type Words = BTreeMap<String, String>;

/// Everything that defines a training run except its seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Name of the problem.
    pub problem: String,
    /// What a problem leaves to choose by a word, like one of several schemes; only where it does.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub choice: Words,
    /// Discs that agents keep out of, `[x, y, radius]` each; only where the problem has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<[f64; 3]>,
    /// Constants of the equation, grid, time step and horizon.
    pub physics: Numbers,
    /// The agents.
    pub swarm: SwarmConfig,
    /// What an agent sees.
    pub observe: ObserveConfig,
    /// The network.
    pub policy: PolicyConfig,
    /// How instances are drawn.
    pub data: Numbers,
    /// Weights and radii of the cost.
    pub cost: Numbers,
    /// How it is trained.
    pub train: TrainConfig,
}

/// The agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwarmConfig {
    /// How many there are in training.
    pub agents: usize,
    /// Width of an agent's push.
    pub sigma: f64,
    /// `"peak"`: the push of an agent is u at its centre; `"unit-mass"`: its integral is u.
    pub kernel: String,
    /// Largest intensity |u|.
    pub u_limit: f64,
    /// Largest velocity.
    pub v_limit: f64,
    /// Whether agents start in the middles of equal cells, one each, instead of on a lattice that the next two describe.
    #[serde(default)]
    pub start_in_cells: bool,
    /// Whether agents that stay in place in the plane stand in rows shifted against each other, on the most even lattice that there is for their
    /// number, instead of in the middles of square cells.
    #[serde(default)]
    pub staggered: bool,
    /// Agents start on an even lattice this far from the walls.
    pub start_margin: f64,
    /// The same for any other number of agents than the trained one.
    pub start_margin_other: f64,
    /// Whether a safety layer keeps agents out of the obstacles, whatever the policy says.
    #[serde(default)]
    pub safety: bool,
    /// Distance from an obstacle that the safety layer keeps.
    #[serde(default)]
    pub clearance: f64,
    /// How crowded a place may be (an agent by itself counts 1, others within about two widths of a push up to 1 each) before agents there
    /// push less, so that many push as strongly as a few; 0: they never do.
    #[serde(default)]
    pub crowd: f64,
    /// How far others count, in widths of a push: 1 where pushes overlap, more where agents stand too far apart for that.
    #[serde(default = "whole")]
    pub crowd_width: f64,
}

/// What an agent sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObserveConfig {
    /// Samples (along each axis) of the patch.
    pub points: usize,
    /// Width of the patch.
    pub window: f64,
    /// Whether the derivative flows through the position of the samples.
    pub through_position: bool,
    /// Factor on the error before the network sees it; the physics does not change.
    pub gain: f64,
    /// Whether an agent sees how far and in which direction the nearest obstacle is.
    #[serde(default)]
    pub obstacles: bool,
    /// Whether an agent knows where in the domain it is. If not, a policy holds on domains of any size.
    #[serde(default = "yes")]
    pub position: bool,
}

/// The network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyConfig {
    /// `"deeponet"`.
    pub kind: String,
    /// Widths of the branch; after convolutions, the one width it ends in.
    pub branch: Vec<usize>,
    /// Channels of the two convolutions that a branch on images starts with, like `[16, 32]`; none if empty.
    #[serde(default)]
    pub convolutions: Vec<usize>,
    /// Pixels from one window of a convolution to the next.
    #[serde(default = "one")]
    pub stride: usize,
    /// Widths of the trunk.
    pub trunk: Vec<usize>,
    /// Width of the head.
    pub head: usize,
    /// `"concat"` or `"product"`.
    pub fusion: String,
    /// Whether the opposite error gets the opposite answer, and none gets none: no biases but in the trunk. Needs `fusion = "product"`.
    #[serde(default)]
    pub odd: bool,
    /// Factor on the first weights of the output layer: small, agents begin by standing still.
    #[serde(default = "whole")]
    pub output_scale: f64,
}

fn whole() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

/// How it is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainConfig {
    /// Instances per update.
    pub batch: usize,
    /// Updates in all.
    pub updates: usize,
    /// How far from its target an instance still starts at the last update, as a share of the way it was drawn at; 1 changes nothing.
    /// It shrinks from update to update: first the policy learns to get there, then to stay.
    #[serde(default = "whole")]
    pub approach: f64,
    /// Ticks of a training episode; 0 takes the problem's.
    #[serde(default)]
    pub ticks: usize,
    /// `"exp"` (`rate · 0.5^(step/half_life)`) or `"warmup-cosine"` (`rate_start` → `rate` → `rate_end`).
    pub schedule: String,
    /// Highest learning rate.
    pub rate: f64,
    /// First learning rate of a warm-up.
    pub rate_start: f64,
    /// Last learning rate of a cosine.
    pub rate_end: f64,
    /// Updates of warm-up.
    pub warmup: usize,
    /// Updates in which an exponential schedule halves the rate.
    pub half_life: f64,
    /// Largest gradient norm; a longer gradient is scaled down to it.
    pub clip: f64,
    /// Weight of the past in a running mean of the parameters, which is what is validated and kept; 0 keeps the parameters themselves.
    pub average: f64,
    /// Numbers of agents to validate with, the scores multiplied; empty: the trained number alone.
    #[serde(default)]
    pub validate_agents: Vec<usize>,
    /// Updates between two validations.
    pub validate_every: usize,
    /// Instances per validation.
    pub validate_instances: usize,
    /// Updates between two checkpoints.
    pub checkpoint_every: usize,
    /// Training only: every second instance is the one before it with the sign of both fields changed. Where the equation does not
    /// care about the sign, this takes most of the noise out of what the policy does at zero error.
    pub mirror: bool,
    /// Training only: agents start up to this far from their regular place.
    pub start_jitter: f64,
    /// Training only: chance of each agent to be dead in an instance.
    pub dropout: f64,
    /// Training only: the strength of all agents' pushes in an instance is drawn between these two factors (evenly in the logarithm).
    pub strength: [f64; 2],
    /// Training only: share of the instances whose strength is drawn; the others have 1.
    pub strength_share: f64,
    /// Instances worked on together by one thread. Changes the rounding, not the mathematics; the number of threads changes neither.
    pub shard: usize,
    /// Ticks whose intermediate values are held at once in the backward pass.
    pub segment: usize,
    /// Keep all intermediate values if they fit into this many megabytes; otherwise only those that cannot be computed again from the
    /// others, if these fit; otherwise each segment is computed twice. The gradient is the same.
    pub memory_mb: usize,
}

impl Config {
    /// Reads a configuration as stored in a model or a run; settings that did not exist yet get the paper's values.
    pub fn from_toml(text: &str, place: &str) -> Result<Self, Error> {
        let mut changes = Overlay::from_toml(text, place)?;
        let name = changes.take("problem").and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
        // A setting that no longer exists; 0, which every stored configuration has, meant that it was off.
        if changes.number("observe.compress") == Some(0.0) {
            changes.take("observe.compress");
        }
        overlay(&defaults(&name, Preset::Paper)?, &changes)
    }

    /// As text.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a configuration is plain data")
    }
}

/// The number called `name`.
///
/// # Panics
/// When the problem's defaults lack it.
pub fn number(numbers: &Numbers, name: &str) -> f64 {
    *numbers.get(name).unwrap_or_else(|| panic!("the defaults of this problem lack {name:?}"))
}
