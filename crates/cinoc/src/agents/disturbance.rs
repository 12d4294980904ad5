//! Disturbances: sensor noise and bias, lost readings, actuator noise and delay.

use super::Losses;
use crate::Real;
use crate::random::{Rng, Stream};
use std::ops::Range;

/// Sensor noise and bias, lost readings, actuator noise and actuation delay; none by default.
///
/// Noise is a function of the seed of an episode and the tick: an environment, a rollout and a run on any number of
/// threads draw the same values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disturbance {
    /// Standard deviation of the noise on every value of the observed field, drawn in each tick and shared by all
    /// agents. The field itself and its target are unchanged.
    pub sensor: f64,
    /// Draws sensor noise for every sample of every agent instead of every value of the field: separate sensors,
    /// of which no two share their noise. Slopes have the noise of a difference over two cells.
    pub each_sensor: bool,
    /// Standard deviation of the bias of an agent's sensors: an offset of the field in all its samples, constant over
    /// an episode and drawn for each agent.
    pub bias: f64,
    /// Samples of the field that do not reach an agent.
    pub lost: Losses,
    /// Standard deviation of the noise on the push of every active agent in each tick, applied after its limits and
    /// before the safety layer. It also acts under zero control, so that uncontrolled episodes are disturbed alike. For
    /// agents whose velocity drives the field instead of a push, it acts on each component of the velocity.
    pub actuator: f64,
    /// Standard deviation of the bias of each agent's push: an offset that lasts for an episode and is drawn for each
    /// agent and component, like a load on the system. It acts where actuator noise does.
    pub actuator_bias: f64,
    /// Ticks from a decision to its effect; the control is zero until the first decision takes effect.
    pub delay: usize,
}

impl Disturbance {
    /// Returns true if pushes are disturbed.
    #[doc(hidden)]
    pub fn on_actuators(&self) -> bool {
        self.actuator > 0.0 || self.actuator_bias > 0.0
    }

    /// Number of pending decisions, if each is repeated for `hold` ticks.
    #[doc(hidden)]
    pub fn pending(&self, hold: usize) -> usize {
        self.delay.div_ceil(hold)
    }

    /// Appends to `out` the sensor noise of one tick on the `nodes` values of the observed field.
    pub(super) fn add_sensor_noise(&self, seed: u64, tick: usize, nodes: usize, out: &mut Vec<Real>) {
        let mut rng = Rng::new(seed, Stream::Sensor, tick as u64);
        out.extend((0..nodes).map(|_| (self.sensor * rng.normal()) as Real));
    }

    /// Appends to `out` the noise and bias of one tick on the observed values of `viewers` agents: standard deviations
    /// of both, in units of those of the field, are in `scales`.
    pub(super) fn add_reading_noise(&self, seed: u64, tick: usize, viewers: usize, scales: &[[Real; 2]], out: &mut Vec<Real>) {
        let mut rng = Rng::new(seed, Stream::Sensor, tick as u64);
        let sensor = if self.each_sensor { self.sensor as Real } else { 0.0 };
        for viewer in 0..viewers {
            let bias = (self.bias * Rng::new(seed, Stream::Bias, viewer as u64).normal()) as Real;
            for [noise, offset] in scales {
                let drawn = if sensor > 0.0 { sensor * noise * rng.normal() as Real } else { 0.0 };
                out.push(drawn + offset * bias);
            }
        }
    }

    /// Appends to `out` the actuator noise of several ticks, `[agents, ticks, width]`: noise on the first `push_width`
    /// components of each action, zero on the others.
    pub(super) fn add_actuator_noise(
        &self,
        seed: u64,
        ticks: Range<usize>,
        agents: usize,
        [push_width, width]: [usize; 2],
        out: &mut Vec<Real>,
    ) {
        let (first, each) = (out.len(), ticks.len() * width);
        out.resize(first + agents * each, 0.0);
        let mut rng = Rng::new(seed, Stream::ActuatorBias, 0);
        let biased = self.actuator_bias > 0.0;
        let mut bias = || if biased { (self.actuator_bias * rng.normal()) as Real } else { 0.0 };
        let biases: Vec<Real> = (0..agents * push_width).map(|_| bias()).collect();
        for (i, tick) in ticks.enumerate() {
            let mut rng = Rng::new(seed, Stream::Actuator, tick as u64);
            for (agent, biases) in out[first..].chunks_exact_mut(each).zip(biases.chunks_exact(push_width)) {
                let noise = agent[i * width..][..push_width].iter_mut().zip(biases);
                noise.for_each(|(noise, bias)| *noise = (self.actuator * rng.normal()) as Real + bias);
            }
        }
    }
}
