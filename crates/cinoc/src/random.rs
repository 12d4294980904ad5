//! Counter-based random numbers: each draw has an address (seed, stream, index), so resuming needs no state and streams
//! never overlap.

use rand::{Rng as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};

/// Purpose of random numbers. Training, validation and test instances come from different streams, so they never
/// coincide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Initial weights.
    Init = 1,
    /// Training instances.
    Train = 2,
    /// Validation instances, which select the best checkpoint.
    Validate = 3,
    /// Test instances, on which scores are reported.
    Test = 4,
    /// Selection of failing agents.
    Failure = 5,
    /// States on the attractor of a chaotic equation.
    Attractor = 6,
    /// Noise inputs of policies.
    Noise = 8,
    /// Resamples of bootstrap intervals.
    Bootstrap = 9,
    /// Number of agents of a training shard.
    Cardinality = 10,
    /// Initial guesses of optimal-control searches.
    Search = 11,
    /// Sensor noise.
    Sensor = 12,
    /// Actuator noise.
    Actuator = 13,
    /// Random initial positions of agents.
    Places = 14,
    /// Variants of the problem.
    Variant = 15,
    /// Sensor bias of each agent.
    Bias = 16,
    /// Lost readings.
    Loss = 17,
    /// Bias of each agent's push.
    ActuatorBias = 18,
    /// Times at which episodes begin.
    Begin = 19,
}

/// A split of the instances. Training may sample them differently; no two splits share an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// Instances for training.
    Training,
    /// Instances for selecting parameters.
    Validation,
    /// Instances for reported scores.
    Test,
}

impl Split {
    /// Returns the split that a stream belongs to.
    #[doc(hidden)]
    pub fn of(stream: Stream) -> Self {
        match stream {
            Stream::Train => Self::Training,
            Stream::Validate => Self::Validation,
            _ => Self::Test,
        }
    }
}

/// Returns the key of the generator at an address.
fn key(seed: u64, stream: Stream, index: u64) -> [u8; 32] {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(stream as u64).to_le_bytes());
    key[16..24].copy_from_slice(&index.to_le_bytes());
    key
}

/// A random number generator at one address.
pub struct Rng {
    generator: ChaCha8Rng,
    /// Seed of the address.
    #[doc(hidden)]
    pub seed: u64,
    /// Index of the draw.
    #[doc(hidden)]
    pub index: u64,
}

impl Rng {
    /// Creates the generator of draw `index` of a stream.
    pub fn new(seed: u64, stream: Stream, index: u64) -> Self {
        Self { generator: ChaCha8Rng::from_seed(key(seed, stream, index)), seed, index }
    }

    /// Returns a seed for further random numbers of draw `index` of a stream, independent of the draw itself and of all
    /// other draws.
    #[doc(hidden)]
    pub fn seed(seed: u64, stream: Stream, index: u64) -> u64 {
        let mut key = key(seed, stream, index);
        key[24] = 1;
        ChaCha8Rng::from_seed(key).next_u64()
    }

    /// Samples a standard normal number.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.generator)
    }

    /// Samples `count` standard normal numbers.
    #[doc(hidden)]
    pub fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    /// Samples a uniform number between two bounds.
    ///
    /// # Panics
    /// Unless `low ≤ high`, both finite.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        if low == high {
            return low;
        }
        Uniform::new(low, high).expect("two finite bounds").sample(&mut self.generator)
    }

    /// Samples `count` different integers below `bound`, in random order.
    #[doc(hidden)]
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
