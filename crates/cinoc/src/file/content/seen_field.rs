//! Sensors of a problem file: a field computed from the fields of the state.

use super::also_seen::AlsoSeen;
use super::draft::Draft;
use super::known::Known;
use super::operators::CellOperators;
use super::written_task::{bare_operators, with_fields};
use crate::sense::{Features, Instrument, Observation, Sense, Sight, Visible};
use crate::{Error, Real};
use cinoc_tape::{Arena, Tape, Var};
use cinoc_text::{Axis, Plan};
use std::sync::Arc;

/// Sensor of the error of the field, or of a field that a text computes from the state and the target.
pub struct SeenField {
    sight: Sight,
    text: Option<Seen>,
    also: AlsoSeen,
}

/// A field as a text of the fields and the target.
pub struct Seen {
    known: Arc<Known>,
    operators: CellOperators,
    plan: Plan,
    has_target: bool,
}

impl Seen {
    /// Compiles the text of the file, or that of several fields.
    pub fn new(draft: &Draft, known: Arc<Known>) -> Result<Option<Self>, Error> {
        let several = || (draft.fields.len() > 1).then(|| draft.error());
        let Some(text) = &draft.agents.error.clone().or_else(several) else { return Ok(None) };
        let (key, scope) = ("agents.see.error", with_fields(draft, &known)?);
        let expr = known.parse(draft, key, text, &scope)?;
        let plan = known.plan(draft, key, &[&expr], &scope, Axis::Cells)?;
        let (operators, has_target) = (bare_operators(draft, &known), draft.task.target.is_some());
        Ok(Some(Self { known, operators, plan, has_target }))
    }

    fn record<'t>(&self, z: Var<'t>, target: Var<'t>) -> Var<'t> {
        let arrays = self.known.with_state(z, self.has_target.then_some(target));
        let seen = self.plan.record(&arrays, &self.operators);
        let batch = z.shape().sizes()[0];
        let seen = if seen.shape().rows() == batch { seen } else { seen.repeat_rows(batch) };
        seen.reshape(self.operators.volume().mesh().shape(batch))
    }

    /// Values for one instance.
    pub fn values(&self, z: &[Real], target: &[Real]) -> Vec<Real> {
        let tape = Tape::new(Arena::default(), &[]);
        let [z, target] = [z, target].map(|z| tape.constant([1, z.len()], z));
        self.record(z, target).value()
    }
}

impl SeenField {
    /// Lets `sight` see what the file says.
    pub fn new(draft: &Draft, known: Arc<Known>, sight: Sight, also: AlsoSeen) -> Result<Self, Error> {
        Ok(Self { sight, text: Seen::new(draft, known)?, also })
    }

    /// True if what agents see depends on time.
    pub fn timed(&self) -> bool {
        self.also.timed()
    }

    fn with_also<'t>(&self, seen: Observation<'t>, readings: &[Var<'t>]) -> Observation<'t> {
        self.also.shown(readings).map_or(seen, |also| seen.with_known(also))
    }

    fn through<'t>(&self, visible: &Visible<'t>) -> Visible<'t> {
        let Some(seen) = &self.text else { return *visible };
        let z = seen.record(visible.z, visible.target);
        Visible { z, target: z.tape().zeros(z.shape()), ..*visible }
    }
}

impl Sense for SeenField {
    fn features(&self) -> Features {
        let (features, also) = (self.sight.features(), self.also.count());
        Features { position: features.position + also, signal: also, signal_from: features.position, ..features }
    }

    fn observe<'t>(&self, visible: &Visible<'t>) -> Observation<'t> {
        let seen = self.sight.observe(&self.through(visible));
        self.with_also(seen, &self.also.readings(visible))
    }

    fn sensor_scales(&self) -> Vec<[Real; 2]> {
        self.sight.sensor_scales()
    }

    fn points(&self) -> usize {
        self.sight.points()
    }

    fn instruments(&self) -> Vec<Instrument> {
        [self.sight.instruments(), self.also.instruments().to_vec()].concat()
    }

    fn readings<'t>(&self, visible: &Visible<'t>) -> Vec<Var<'t>> {
        [self.sight.readings(&self.through(visible)), self.also.readings(visible)].concat()
    }

    fn shown<'t>(&self, readings: &[Var<'t>]) -> Observation<'t> {
        let (sight, also) = readings.split_at(readings.len() - self.also.instruments().len());
        self.with_also(self.sight.shown(sight), also)
    }
}
