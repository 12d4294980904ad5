//! How a policy is trained, and which: what a problem's preset proposes.

use crate::policy::PolicyDefinition;
use crate::{settings, words};
use toml::{Table, Value};

words! {
    /// How the learning rate goes.
    pub enum Schedule {
        /// `rate · 0.5^(step/half_life)`
        Exp = "exp",
        /// `rate_start` → `rate` over the warm-up, then a half cosine to `rate_end`
        WarmupCosine = "warmup-cosine",
    }
}

settings! {
    /// How a policy is trained.
    pub struct Train {
        /// Instances per update.
        batch: usize = 1..=65_536,
        /// Updates in all.
        updates: usize = 0..=100_000_000,
        /// Ticks of a training episode; 0 takes the problem's.
        ticks: usize = 0..=1_000_000,
        /// How the learning rate goes.
        schedule: Schedule = (),
        /// Highest learning rate.
        rate: f64 = 1e-12..=10.0,
        /// First learning rate of a warm-up.
        rate_start: f64 = 0.0..=10.0,
        /// Last learning rate of a cosine.
        rate_end: f64 = 0.0..=10.0,
        /// Updates of warm-up.
        warmup: usize = 0..=100_000_000,
        /// Updates in which the exponential schedule halves the rate.
        half_life: f64 = 1e-3..=1e9,
        /// Largest norm of the gradient; a longer one is scaled down to it.
        clip: f64 = 1e-9..=1e9,
        /// Exponential moving average of the parameters (EMA): weight of the past. The mean is what is validated and kept; 0 keeps the parameters themselves.
        average: f64 = 0.0..=0.999999,
        /// Updates between two validations.
        validate_every: usize = 1..=100_000_000,
        /// Instances per validation.
        validate_instances: usize = 1..=65_536,
        /// Updates between two checkpoints.
        checkpoint_every: usize = 1..=100_000_000,
        /// Every second instance is the one before it with the sign of both fields changed: less noise where the equation does not care about the sign.
        mirror: bool = (),
        /// Numbers of agents to train with, one drawn for each shard; a number that stands there twice is drawn twice as often. Empty: the problem's own.
        #[absent = Vec::new()]
        agents: Vec<usize> = (0..=64, 1..=10_000),
        /// Ticks that a decision holds for in training; in use every tick has its own. Halves the cost of an episode where it is 2.
        #[absent = 1]
        hold: usize = 1..=100,
        /// Agents start up to this far from their regular place.
        start_jitter: f64 = 0.0..=1e6,
        /// Share of the instances whose agents start in a part of the domain, not all over it.
        #[absent = 0.0]
        clustered: f64 = 0.0..=1.0,
        /// Share of the instances whose agents start anywhere, independently.
        #[absent = 0.0]
        scattered: f64 = 0.0..=1.0,
        /// Share of the instances in which agents die, all at one moment of the episode.
        #[absent = 0.0]
        deaths: f64 = 0.0..=1.0,
        /// Share of those in which neighbours die, two to four in ten; in the others each agent dies with a chance of 0.3.
        #[absent = 0.0]
        blocks: f64 = 0.0..=1.0,
        /// Chance of each agent to be dead in a training instance.
        dropout: f64 = 0.0..=1.0,
        /// The strength of all pushes of an instance is drawn between these two factors, evenly in the logarithm.
        strength: [f64; 2] = 1e-3..=1e3,
        /// Share of the instances whose strength is drawn; the others have 1.
        strength_share: f64 = 0.0..=1.0,
        /// The strength of each agent differs from that by up to this much in the logarithm.
        #[absent = 0.0]
        strength_each: f64 = 0.0..=10.0,
        /// With more agents than the problem has, pushes are up to this many times stronger: what even more agents would do.
        #[absent = 1.0]
        strength_many: f64 = 1.0..=1e3,
        /// Numbers of agents to validate with; the geometric mean of the scores counts. Empty: the problem's own.
        #[absent = Vec::new()]
        validate_agents: Vec<usize> = (0..=16, 1..=10_000),
        /// Share of the problem's own agents that die halfway in one more validation; 0: there is none.
        #[absent = 0.0]
        validate_fail: f64 = 0.0..=1.0,
        /// Instances worked on together by one thread. Changes the rounding, not the mathematics; the number of threads changes neither.
        shard: usize = 1..=65_536,
        /// Ticks recorded as one piece of the backward pass.
        segment: usize = 1..=1_000_000,
        /// Keep all intermediate values if they fit into this many megabytes; else keep only what cannot be computed again (rematerialise); else compute each segment twice. The gradient is the same.
        memory_mb: usize = 1..=1_000_000,
    }
}

impl Default for Train {
    /// The paper's: Adam at 1e-3, halved every 2000 updates.
    fn default() -> Self {
        Self {
            batch: 32,
            updates: 500,
            ticks: 0,
            schedule: Schedule::Exp,
            rate: 1e-3,
            rate_start: 0.0,
            rate_end: 0.0,
            warmup: 0,
            half_life: 2000.0,
            clip: 1.0,
            average: 0.0,
            validate_every: 25,
            validate_instances: 64,
            checkpoint_every: 10,
            mirror: false,
            agents: vec![],
            hold: 1,
            start_jitter: 0.0,
            clustered: 0.0,
            scattered: 0.0,
            deaths: 0.0,
            blocks: 0.0,
            dropout: 0.0,
            strength: [1.0, 1.0],
            strength_share: 1.0,
            strength_each: 0.0,
            strength_many: 1.0,
            validate_agents: vec![],
            validate_fail: 0.0,
            shard: 8,
            segment: 1,
            memory_mb: 1024,
        }
    }
}

/// A policy with its settings, and how it is trained.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The section `policy`: `kind` and the settings of that kind.
    pub(crate) policy: Table,
    /// The section `train`.
    pub train: Train,
}

impl Recipe {
    /// A recipe for a kind of policy.
    pub fn new<P: PolicyDefinition>(policy: P, train: Train) -> Self {
        Self { policy: section(&policy), train }
    }
}

/// The section `policy` of a kind with these settings.
pub(crate) fn section<P: PolicyDefinition>(policy: &P) -> Table {
    let mut table = Table::from_iter([("kind".to_owned(), Value::String(P::NAME.into()))]);
    table.extend(Table::try_from(policy).expect("settings are plain data"));
    table
}
