//! A single agent: its measurements, its observation and its action.

use super::Swarm;
use crate::limit::Safety;
use crate::sense::{Instrument, Observation, Source, Visible};
use cinoc_tape::Var;

/// Name of the instrument that reads the agent's last action.
pub const LAST: &str = "last";

/// Name of the instrument that reads the levels of the agent's tanks.
pub const LEVEL: &str = "level";

/// Instruments of the swarm, which follow those of the sensors in this order.
struct SwarmInstruments {
    lost: bool,
    crowd: bool,
    safety: bool,
}

impl SwarmInstruments {
    /// Number of these instruments; the strength is always the last.
    fn count(&self) -> usize {
        usize::from(self.lost) + usize::from(self.crowd) + usize::from(self.safety) + 1
    }
}

impl Swarm {
    fn swarm_instruments(&self) -> SwarmInstruments {
        SwarmInstruments { lost: self.readout.senses_ages(), crowd: self.crowd.is_some(), safety: self.safety.is_some() }
    }

    /// Indices of error and slope among the instruments of the sensors, if slopes are computed from the errors: they
    /// need not be measured then.
    fn fitted_slopes(&self) -> Option<[usize; 2]> {
        let all = if self.readout.fits_slopes() { self.sense.instruments() } else { Vec::new() };
        let error = all.iter().position(|one| matches!(one.source, Source::Error(_)))?;
        let slope = all.iter().skip(error).position(|one| one.source == Source::Slope)?;
        Some([error, error + slope])
    }

    /// Measurements that a single agent needs in order to observe and act as in a swarm.
    #[doc(hidden)]
    pub fn instruments(&self) -> Vec<Instrument> {
        let (mut all, fitted) = (self.sense.instruments(), self.fitted_slopes());
        if let Some([_, slope]) = fitted {
            all.remove(slope);
        }
        if self.readout.senses_ages() {
            let what = if fitted.is_some() { "the error was" } else { "error and slope were" };
            let about = format!(
                "mask of the samples: 0 where {what} read in this tick, 1 where they were lost; lost ones are held and fade with age, and an agent without readings for more than ten ticks rests"
            );
            all.push(Instrument::new("lost", self.points(), about).with_source(Source::Lost));
        }
        if let Some(crowd) = &self.crowd {
            let reach = crowd.reach();
            let about = format!(
                "crowding: the sum of (1 - d^2/r^2)^2 over all active agents at distances d below r = {reach}, itself included, so 1 for an isolated agent"
            );
            all.push(Instrument::new("crowd", 1, about).with_source(Source::Crowd(reach)));
        }
        if self.safety.is_some() {
            let about = "the nearest keep-out disc (with the strip to a wall that is too narrow to pass): distance to its edge, unit vector away from it, x and y, and its velocity, x and y, zero at rest";
            all.push(Instrument::new("keep_out", Safety::KNOWN, about));
        }
        all.push(Instrument::new(
            "strength",
            1,
            "1 in normal operation; less multiplies the push, and 0 is an inactive agent, whose action is 0; limited to [0, 1]",
        ));
        all
    }

    /// Readings of the instruments of all agents, `[batch, agents, count]` each; none is lost.
    #[doc(hidden)]
    pub fn readings<'t>(&self, visible: &Visible<'t>) -> Vec<Var<'t>> {
        let &Visible { xi, strength, now, .. } = visible;
        let of_each = |x: Var<'t>| x.reshape(xi.shape().with_last(1));
        let mut all = self.sense.readings(visible);
        if let Some([_, slope]) = self.fitted_slopes() {
            all.remove(slope);
        }
        if self.readout.senses_ages() {
            all.push(xi.tape().zeros(xi.shape().with_last(self.points())));
        }
        all.extend(self.crowd.iter().map(|crowd| of_each(crowd.reading(strength, xi))));
        all.extend(self.safety.iter().map(|safety| safety.reading(xi, now)));
        all.push(of_each(strength));
        all
    }

    /// Observations of agents with these instrument readings, where the mask of lost samples holds their ages.
    #[doc(hidden)]
    pub fn shown<'t>(&self, readings: &[Var<'t>]) -> Observation<'t> {
        let (sensed, own) = readings.split_at(readings.len() - self.swarm_instruments().count());
        let mut sensed = sensed.to_vec();
        if let Some([error, slope]) = self.fitted_slopes() {
            // Errors take the place of slopes, which the fit replaces.
            let error = sensed[error];
            sensed.insert(slope, (1..self.dimensions()).fold(error, |all, _| all.join(error)));
        }
        self.readout.finish(self.sense.shown(&sensed), self.readout.senses_ages().then(|| own[0]))
    }

    /// Actions of agents with these instrument readings and policy outputs `raw`. Equal up to rounding to
    /// [`strength`](Self::strength), [`saturate`](Self::saturate), [`constrain`](Self::constrain) and
    /// [`filter`](Self::filter) in turn.
    #[doc(hidden)]
    pub fn act_alone<'t>(&self, raw: Var<'t>, readings: &[Var<'t>]) -> Var<'t> {
        let mut own = readings[readings.len() - self.swarm_instruments().count()..].iter().copied();
        let mut next = || own.next().expect("one reading per instrument");
        let of_each = |x: Var<'t>| x.reshape(&x.shape().sizes()[..2]);
        if self.readout.senses_ages() {
            next();
        }
        let crowd = self.crowd.as_ref().map(|crowd| (crowd, of_each(next())));
        let safety = self.safety.as_ref().map(|safety| (safety, next()));
        let strength = of_each(next());
        let action = self.saturate(raw, crowd.map_or(strength, |(crowd, reading)| crowd.divided(strength, reading)));
        let action = if self.is_constrained() {
            let named = self.instruments();
            let sensed = |name: &str| named.iter().position(|one| one.name == name).map(|i| readings[i]);
            // Only rates need the last action, and agents with a rate sense it.
            self.constrain(action, sensed(LAST).unwrap_or(action), strength, sensed(LEVEL))
        } else {
            action
        };
        safety.map_or(action, |(safety, reading)| safety.known(action, reading))
    }
}
