//! What keeps agents from seeing and doing exactly what they would.

use crate::Real;
use crate::random::{Rng, Stream};
use std::ops::Range;

/// What keeps agents from seeing and doing exactly what they would; nothing by default.
///
/// Noise is by address, the seed of an episode and the tick: an environment, a rollout and a run on any number of threads meet the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disturbance {
    /// Standard deviation of what is added to every value of the field that policies see, anew in every tick and the same for all agents. The
    /// field itself and its target stay as they are.
    pub sensor: f64,
    /// Standard deviation of what is added to the push of every living agent in every tick, after its limits and before the safety layer;
    /// also to that of an agent which is told to do nothing, so that episodes left alone are disturbed alike. Where agents have no push but a velocity that also drives the field, to each of its components.
    pub actuator: f64,
    /// Ticks from a decision to what it does; agents do nothing before the first arrives.
    pub delay: usize,
}

impl Disturbance {
    /// Decisions that are on their way, where each holds for `hold` ticks.
    pub fn pending(&self, hold: usize) -> usize {
        self.delay.div_ceil(hold)
    }

    /// Adds what a tick adds to the `nodes` values of a field that is seen to the end of `out`.
    pub(super) fn see(&self, seed: u64, tick: usize, nodes: usize, out: &mut Vec<Real>) {
        let mut rng = Rng::new(seed, Stream::Sensor, tick as u64);
        out.extend((0..nodes).map(|_| (self.sensor * rng.normal()) as Real));
    }

    /// Adds what some ticks add to the first `pushes` of the `width` numbers of each agent's action to the end of `out`, `[agents, ticks, width]`.
    pub(super) fn push(&self, seed: u64, ticks: Range<usize>, agents: usize, [pushes, width]: [usize; 2], out: &mut Vec<Real>) {
        let (first, each) = (out.len(), ticks.len() * width);
        out.resize(first + agents * each, 0.0);
        for (i, tick) in ticks.enumerate() {
            let mut rng = Rng::new(seed, Stream::Actuator, tick as u64);
            for agent in out[first..].chunks_exact_mut(each) {
                agent[i * width..][..pushes].iter_mut().for_each(|noise| *noise = (self.actuator * rng.normal()) as Real);
            }
        }
    }
}
