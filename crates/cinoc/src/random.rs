//! Random numbers by counter: each draw has an address (seed, stream, index), so resuming needs no state and streams never overlap.

use rand::{Rng as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};

/// What random numbers are for. Training, validation and test instances come from different streams, so they never coincide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Initial weights.
    Init = 1,
    /// Training instances.
    Train = 2,
    /// Instances that choose the best checkpoint.
    Validate = 3,
    /// Held-out instances that scores are reported on.
    Test = 4,
    /// Which agents fail.
    Failure = 5,
    /// States on the attractor of a chaotic equation.
    Attractor = 6,
    /// Noise of policies that declare some.
    Noise = 8,
    /// Resamples of bootstrap intervals.
    Bootstrap = 9,
    /// How many agents a shard of training instances has.
    Cardinality = 10,
    /// Where searches for the best actions begin.
    Search = 11,
    /// Noise of sensors.
    Sensor = 12,
    /// Noise of actuators.
    Actuator = 13,
    /// Random places of agents.
    Places = 14,
}

/// What instances are for: training may draw them differently, scores never do, and no two uses share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// To learn from.
    Training,
    /// To choose the best parameters by.
    Validation,
    /// To be scored on.
    Test,
}

impl Use {
    /// What the instances of a stream are for.
    pub fn of(stream: Stream) -> Self {
        match stream {
            Stream::Train => Self::Training,
            Stream::Validate => Self::Validation,
            _ => Self::Test,
        }
    }
}

/// The key of an address.
fn key(seed: u64, stream: Stream, index: u64) -> [u8; 32] {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(stream as u64).to_le_bytes());
    key[16..24].copy_from_slice(&index.to_le_bytes());
    key
}

/// A generator for one address.
pub struct Rng {
    generator: ChaCha8Rng,
    /// Seed of the address.
    pub seed: u64,
    /// Number of the draw.
    pub index: u64,
}

impl Rng {
    /// The generator of draw `index` of a stream.
    pub fn new(seed: u64, stream: Stream, index: u64) -> Self {
        Self { generator: ChaCha8Rng::from_seed(key(seed, stream, index)), seed, index }
    }

    /// A seed for whatever else is random in draw `index` of a stream; no other draw shares it, nor anything with what is drawn there.
    pub fn seed(seed: u64, stream: Stream, index: u64) -> u64 {
        let mut key = key(seed, stream, index);
        key[24] = 1;
        ChaCha8Rng::from_seed(key).next_u64()
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.generator)
    }

    /// Several of them.
    pub fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    /// A number between two bounds.
    ///
    /// # Panics
    /// Unless `low ≤ high`, both finite.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        if low == high {
            return low;
        }
        Uniform::new(low, high).expect("two finite bounds").sample(&mut self.generator)
    }

    /// `count` different numbers below `bound`, in random order.
    pub fn choose(&mut self, count: usize, bound: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..bound).collect();
        for i in 0..count.min(bound) {
            let j = i + self.uniform(0.0, (bound - i) as f64) as usize;
            all.swap(i, j.min(bound - 1));
        }
        all.truncate(count);
        all
    }
}
