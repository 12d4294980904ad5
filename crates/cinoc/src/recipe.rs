//! Training recipes: a kind of policy with its settings, and the settings of its training.

use crate::policy::PolicyDefinition;
use crate::{settings, words};
use toml::{Table, Value};

words! {
    /// Schedule of the learning rate.
    pub enum Schedule {
        /// `rate · 0.5^(step/half_life)`
        Exp = "exp",
        /// `rate_start` → `rate` over the warm-up, then a half cosine to `rate_end`
        WarmupCosine = "warmup-cosine",
    }
}

settings! {
    /// Settings of training.
    pub struct Train {
        /// Instances per update.
        batch: usize = 1..=65_536,
        /// Total number of updates.
        updates: usize = 0..=100_000_000,
        /// Ticks of a training episode; 0: those of the problem.
        ticks: usize = 0..=1_000_000,
        /// Schedule of the learning rate.
        schedule: Schedule = (),
        /// Peak learning rate.
        rate: f64 = 1e-12..=10.0,
        /// Learning rate at the start of the warm-up.
        rate_start: f64 = 0.0..=10.0,
        /// Learning rate at the end of the cosine.
        rate_end: f64 = 0.0..=10.0,
        /// Number of warm-up updates.
        warmup: usize = 0..=100_000_000,
        /// Half-life of the exponential schedule, in updates.
        half_life: f64 = 1e-3..=1e9,
        /// Gradient clipping: largest norm of the gradient.
        clip: f64 = 1e-9..=1e9,
        /// Largest norm of the gradient of a shard, of its mean cost: one shard whose gradient explodes does not drown the
        /// others; 0: no limit.
        #[absent = 0.0]
        clip_shard: f64 = 0.0..=1e9,
        /// Factor per decision on gradients through time: the effect of a decision on a cost n decisions later counts by
        /// its n-th power, which keeps gradients of long episodes from exploding.
        #[absent = 1.0]
        gradient_decay: f64 = 0.0..=1.0,
        /// Decay of the exponential moving average of the parameters (EMA), which is validated and saved; 0: no
        /// averaging.
        average: f64 = 0.0..=0.999999,
        /// Updates between two validations.
        validate_every: usize = 1..=100_000_000,
        /// Instances per validation.
        validate_instances: usize = 1..=65_536,
        /// Updates between two checkpoints.
        checkpoint_every: usize = 1..=100_000_000,
        /// Every second instance is the previous one with the sign of both fields flipped, for sign-symmetric
        /// equations.
        mirror: bool = (),
        /// Numbers of agents to train with, one sampled per shard (repeat one to weight it). Empty: that of the
        /// problem.
        #[absent = Vec::new()]
        agents: Vec<usize> = (0..=64, 1..=10_000),
        /// Action repeat in training: ticks per decision (1 in use). 2 halves the cost of an episode.
        #[absent = 1]
        hold: usize = 1..=100,
        /// Largest random displacement of the initial positions.
        start_jitter: f64 = 0.0..=1e6,
        /// Fraction of instances whose agents start clustered in a part of the domain.
        #[absent = 0.0]
        clustered: f64 = 0.0..=1.0,
        /// Fraction of instances whose agents start at independent uniform positions.
        #[absent = 0.0]
        scattered: f64 = 0.0..=1.0,
        /// Fraction of instances in which agents fail, all at the same random tick.
        #[absent = 0.0]
        deaths: f64 = 0.0..=1.0,
        /// Fraction of those in which 20 to 45 % of the agents, all neighbours, fail; else each fails with probability
        /// 0.3.
        #[absent = 0.0]
        blocks: f64 = 0.0..=1.0,
        /// Probability that an agent is inactive for a whole training instance.
        dropout: f64 = 0.0..=1.0,
        /// Range of the actuator strength of an instance, a factor sampled log-uniformly.
        strength: [f64; 2] = 1e-3..=1e3,
        /// Fraction of instances whose strength is sampled; it is 1 in the others.
        strength_share: f64 = 0.0..=1.0,
        /// Variation of the strength between agents: half-width of a uniform distribution in the logarithm.
        #[absent = 0.0]
        strength_each: f64 = 0.0..=10.0,
        /// Largest additional factor on pushes with more agents than the problem has; it imitates even larger swarms.
        #[absent = 1.0]
        strength_many: f64 = 1.0..=1e3,
        /// Settings of the problem that differ from shard to shard, each a line `key = values`: alternatives separated by
        /// `|`, each a value or a range `low..high`, spaced evenly in the logarithm unless its ends are whole numbers or
        /// not positive.
        #[absent = Vec::<String>::new()]
        vary: Vec<String> = (0..=32, 200),
        /// Number of variants drawn from `vary`, of which each shard takes one.
        #[absent = 32]
        variants: usize = 1..=1024,
        /// Range of the factor on the sensor noise of an instance, sampled log-uniformly.
        #[absent = [1.0, 1.0]]
        noise_factor: [f64; 2] = 1e-3..=1e3,
        /// Variants to validate with as well, each a line of changes like `swarm.delay=3 swarm.sensor_noise=0.01`.
        #[absent = Vec::<String>::new()]
        validate_variants: Vec<String> = (0..=32, 200),
        /// Numbers of agents to validate with; scores are combined by their geometric mean. Empty: that of the problem.
        #[absent = Vec::new()]
        validate_agents: Vec<usize> = (0..=16, 1..=10_000),
        /// Fraction of the agents that fail halfway in one additional validation; 0: none.
        #[absent = 0.0]
        validate_fail: f64 = 0.0..=1.0,
        /// Instances per shard, the unit of work of a thread. It affects rounding only; the number of threads affects
        /// nothing.
        shard: usize = 1..=65_536,
        /// Ticks per recorded segment of the backward pass.
        segment: usize = 1..=1_000_000,
        /// Megabytes for intermediate values; beyond, cheap ones, then whole segments, are recomputed. The gradient is
        /// the same.
        memory_mb: usize = 1..=1_000_000,
    }
}

impl Default for Train {
    /// The paper's settings: Adam at 1e-3, halved every 2000 updates.
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
            clip_shard: 0.0,
            gradient_decay: 1.0,
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
            vary: vec![],
            variants: 32,
            noise_factor: [1.0, 1.0],
            validate_variants: vec![],
            validate_agents: vec![],
            validate_fail: 0.0,
            shard: 8,
            segment: 1,
            memory_mb: 1024,
        }
    }
}

/// A kind of policy with its settings, and the settings of its training.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The section `policy`: `kind` and the settings of that kind.
    pub(crate) policy: Table,
    /// The section `train`.
    pub train: Train,
}

impl Recipe {
    /// Creates a recipe for a policy.
    pub fn new<P: PolicyDefinition>(policy: P, train: Train) -> Self {
        Self { policy: section(&policy), train }
    }
}

/// Returns the section `policy` for these settings.
pub(crate) fn section<P: PolicyDefinition>(policy: &P) -> Table {
    let mut table = Table::from_iter([("kind".to_owned(), Value::String(P::NAME.into()))]);
    table.extend(Table::try_from(policy).expect("settings are plain data"));
    table
}
