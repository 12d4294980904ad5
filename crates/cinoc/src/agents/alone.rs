//! One agent by itself: what it measures, what it is shown, and what it does.

use super::Swarm;
use crate::limit::Safety;
use crate::sense::{Instrument, Observation, Source, Visible};
use cinoc_tape::Var;

/// Instruments of the swarm behind those of the senses, in this order.
struct Own {
    crowd: bool,
    safety: bool,
}

impl Own {
    /// The strength is always the last.
    fn count(&self) -> usize {
        usize::from(self.crowd) + usize::from(self.safety) + 1
    }
}

impl Swarm {
    fn own(&self) -> Own {
        Own { crowd: self.crowd.is_some(), safety: self.safety.is_some() }
    }

    /// What an agent by itself has to measure in order to see and to act as in a swarm.
    pub fn instruments(&self) -> Vec<Instrument> {
        let mut all = self.sense.instruments();
        if let Some(crowd) = &self.crowd {
            let reach = crowd.reach();
            let about = format!(
                "how crowded its place is: the sum of (1 - d^2/r^2)^2 over all living agents at distances d below r = {reach}, itself included, so 1 for an agent by itself"
            );
            all.push(Instrument::new("crowd", 1, about).with_source(Source::Crowd(reach)));
        }
        if self.safety.is_some() {
            let about = "the nearest disc to keep out of (with the strip to a wall that leaves no room to pass): how far its edge is, the unit vector away from it, x and y, and its velocity, x and y, zero at rest";
            all.push(Instrument::new("keep_out", Safety::KNOWN, about));
        }
        all.push(Instrument::new(
            "strength",
            1,
            "1 in good health; less or more multiplies the push, 0 is a dead agent, which does nothing",
        ));
        all
    }

    /// What the instruments of all agents read, `[batch, agents, count]` each.
    pub fn readings<'t>(&self, visible: &Visible<'t>) -> Vec<Var<'t>> {
        let &Visible { xi, strength, now, .. } = visible;
        let of_each = |x: Var<'t>| x.reshape(xi.shape().with_last(1));
        let mut all = self.sense.readings(visible);
        all.extend(self.crowd.iter().map(|crowd| of_each(crowd.reading(strength, xi))));
        all.extend(self.safety.iter().map(|safety| safety.reading(xi, now)));
        all.push(of_each(strength));
        all
    }

    /// What agents are shown whose instruments read this.
    pub fn shown<'t>(&self, readings: &[Var<'t>]) -> Observation<'t> {
        self.sense.shown(&readings[..readings.len() - self.own().count()])
    }

    /// What agents do whose instruments read this and whose policy says `raw`: what [`strength`](Self::strength),
    /// [`saturate`](Self::saturate) and [`filter`](Self::filter) give, but for rounding.
    pub fn act_alone<'t>(&self, raw: Var<'t>, readings: &[Var<'t>]) -> Var<'t> {
        let mut own = readings[readings.len() - self.own().count()..].iter().copied();
        let mut next = || own.next().expect("a reading of each instrument");
        let of_each = |x: Var<'t>| x.reshape(&x.shape().sizes()[..2]);
        let crowd = self.crowd.as_ref().map(|crowd| (crowd, of_each(next())));
        let safety = self.safety.as_ref().map(|safety| (safety, next()));
        let strength = of_each(next());
        let action = self.saturate(raw, crowd.map_or(strength, |(crowd, reading)| crowd.divided(strength, reading)));
        safety.map_or(action, |(safety, reading)| safety.known(action, reading))
    }
}
