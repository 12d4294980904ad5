//! Lost readings: samples of the field that do not reach an agent.

use crate::random::{Rng, Stream};
use crate::{Real, settings};

settings! {
    /// Samples of the field that do not reach an agent, which holds the last ones in their place.
    pub struct Losses {
        /// Probability that a sample is lost in a tick.
        readings: f64 = 0.0..=1.0,
        /// Probability that all samples of an agent are lost in a tick, as with late messages.
        views: f64 = 0.0..=1.0,
        /// Probability that a message of a neighbour is lost in a tick, where agents talk.
        #[absent = 0.0]
        messages: f64 = 0.0..=1.0,
        /// Fraction of the sensors that fail for good, each at a random tick of the episode.
        sensors: f64 = 0.0..=1.0,
        /// Fraction of the agents whose sensors all fail for good, each at a random tick of the episode.
        blind: f64 = 0.0..=1.0,
    }
}

impl Copy for Losses {}

impl Default for Losses {
    /// No losses.
    fn default() -> Self {
        Self { readings: 0.0, views: 0.0, messages: 0.0, sensors: 0.0, blind: 0.0 }
    }
}

/// Age in ticks beyond which readings no longer serve: an agent all of whose readings are older rests.
pub const REST: Real = 10.0;

/// The ticks at which agents read their sensors.
#[derive(Clone, Copy)]
pub struct ReadTick {
    /// Current tick.
    pub tick: usize,
    /// Ticks between two readings.
    pub every: usize,
    /// Ticks of the episode, during which sensors fail.
    pub ticks: usize,
}

impl Losses {
    /// Returns true if anything can be lost.
    pub fn any(&self) -> bool {
        [self.readings, self.views, self.sensors, self.blind].into_iter().any(|share| share > 0.0)
    }

    /// Appends to `out` 1 for each of `count` messages that arrives in a tick, and 0 for each that is lost.
    pub fn add_arrivals(&self, seed: u64, tick: usize, count: usize, out: &mut Vec<Real>) {
        let drawn = Draws(Rng::seed(seed, Stream::Loss, 0));
        let arrives = |message: usize| drawn.uniform(Purpose::Message, tick, message) >= self.messages;
        out.extend((0..count).map(|message| Real::from(u8::from(arrives(message)))));
    }

    /// Appends to `out` the age of the last reading of every sensor, `[agents, points]`, in ticks: 0 for a reading of
    /// this tick. Before the first reading, ages count from the start of the episode.
    ///
    /// Losses are a function of seed, tick and sensor, so that ages can be computed for any tick.
    pub fn add_ages(&self, seed: u64, at: ReadTick, agents: usize, points: usize, out: &mut Vec<Real>) {
        let drawn = Draws(Rng::seed(seed, Stream::Loss, 0));
        for agent in 0..agents {
            let blind = drawn.failure(self.blind, at.ticks, Purpose::Blind, agent);
            let from = agent * points;
            out.extend((from..from + points).map(|sensor| {
                let failed = drawn.failure(self.sensors, at.ticks, Purpose::Sensor, sensor);
                let failed = [blind, failed].into_iter().flatten().min();
                let lost = |tick: usize| {
                    drawn.uniform(Purpose::Reading, tick, sensor) < self.readings
                        || drawn.uniform(Purpose::View, tick, agent) < self.views
                };
                age(at, failed, lost) as Real
            }));
        }
    }
}

/// Returns the age of a reading of a sensor that may have `failed` at some tick, and of which readings may be `lost`.
fn age(ReadTick { tick, every, .. }: ReadTick, failed: Option<usize>, lost: impl Fn(usize) -> bool) -> usize {
    let mut age = match failed {
        Some(failed) if tick >= failed => ((tick - failed) / every + 1) * every,
        _ => 0,
    };
    while age <= tick && lost(tick - age) {
        age += every;
    }
    age
}

/// Purpose of a random number.
#[derive(Clone, Copy)]
enum Purpose {
    Reading = 1,
    View = 2,
    Sensor = 3,
    Blind = 4,
    Tick = 5,
    Message = 6,
}

/// Random numbers of an episode, each with an address; cheaper than a generator for each.
struct Draws(u64);

impl Draws {
    /// Returns a uniform number in [0, 1): the finaliser of SplitMix64 applied to the address twice.
    fn uniform(&self, purpose: Purpose, tick: usize, which: usize) -> f64 {
        let first = mix(self.0 ^ ((tick as u64) << 3 | purpose as u64));
        (mix(first.wrapping_add(which as u64)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns the tick at which a sensor or an agent fails, if it does, with probability `share`.
    fn failure(&self, share: f64, ticks: usize, purpose: Purpose, which: usize) -> Option<usize> {
        let fails = share > 0.0 && self.uniform(purpose, 0, which) < share;
        fails.then(|| (self.uniform(Purpose::Tick, purpose as usize, which) * ticks as f64) as usize)
    }
}

fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Sets the strength of agents to 0 that have no reading younger than [`REST`]. Ages are `[views, points]`, with one
/// view for each agent or for several.
pub fn rest_blind(ages: &[Real], points: usize, strength: &mut [Real]) {
    let views = ages.chunks_exact(points.max(1));
    let agents = (strength.len() / views.len().max(1)).max(1);
    for (strength, _) in strength.chunks_mut(agents).zip(views).filter(|(_, ages)| ages.iter().all(|&age| age > REST)) {
        strength.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(losses: Losses, tick: usize, agents: usize, points: usize) -> Vec<Real> {
        let mut out = Vec::new();
        losses.add_ages(7, ReadTick { tick, every: 1, ticks: 100 }, agents, points, &mut out);
        out
    }

    #[test]
    fn readings_are_lost_as_often_as_asked_for() {
        let losses = Losses { readings: 0.2, ..Losses::default() };
        let all: Vec<Real> = (50..150).flat_map(|tick| ages(losses, tick, 8, 12)).collect();
        let share = |least: Real| all.iter().filter(|&&age| age >= least).count() as f64 / all.len() as f64;
        assert!((share(1.0) - 0.2).abs() < 0.02 && (share(2.0) - 0.04).abs() < 0.01, "{} {}", share(1.0), share(2.0));
    }

    #[test]
    fn ages_grow_by_one_until_the_next_reading() {
        let losses = Losses { readings: 0.4, views: 0.1, sensors: 0.2, blind: 0.1, ..Losses::default() };
        for tick in 1..100 {
            for (before, after) in ages(losses, tick - 1, 6, 4).into_iter().zip(ages(losses, tick, 6, 4)) {
                assert!(after == 0.0 || after == before + 1.0, "tick {tick}: {before}, then {after}");
            }
        }
    }

    #[test]
    fn sensors_that_fail_stay_silent_and_the_blind_rest() {
        let losses = Losses { sensors: 0.5, ..Losses::default() };
        let (early, late) = (ages(losses, 0, 10, 40), ages(losses, 1000, 10, 40));
        let dead = late.iter().filter(|&&age| age > 0.0).count();
        assert!((150..=250).contains(&dead) && late.iter().all(|&age| age == 0.0 || age > 900.0), "{dead} of 400");
        assert!(early.iter().filter(|&&age| age > 0.0).count() < 10);
        let mut strength = [1.0; 4];
        rest_blind(&ages(Losses { blind: 1.0, ..Losses::default() }, 1000, 4, 3), 3, &mut strength);
        assert_eq!(strength, [0.0; 4]);
        let mut two = [1.0, 1.0];
        rest_blind(&[11.0, 9.0, 11.0, 12.0], 2, &mut two);
        assert_eq!(two, [1.0, 0.0]);
        rest_blind(&[11.0, 12.0], 2, &mut strength);
        assert_eq!(strength, [0.0; 4]);
    }
}
