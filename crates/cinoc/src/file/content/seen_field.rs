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
    /// 0 in solid cells, where there is no error.
    fluid: Option<Vec<Real>>,
    /// Duration of a tick.
    tick: f64,
    /// Typical time at which an episode begins, in ticks.
    begin: f64,
    /// True if it depends on time.
    timed: bool,
}

impl Seen {
    /// Compiles the text of the file; of the error, if there are several fields or solid cells.
    pub fn new(draft: &Draft, known: Arc<Known>, tick: f64) -> Result<Option<Self>, Error> {
        let has_target = draft.task.target.is_some();
        let needed = || (draft.fields.len() > 1 || known.fluid.is_some()).then(|| draft.error());
        let Some(text) = draft.agents.error.clone().or_else(needed) else { return Ok(None) };
        let (key, scope) = ("agents.see.error", with_fields(draft, &known)?);
        let expr = known.parse(draft, key, &text, &scope)?;
        let plan = known.plan(draft, key, &[&expr], &scope, Axis::Cells)?;
        let (operators, fluid, timed) = (bare_operators(draft, &known), known.fluid_mask(), known.series.occur_in(&expr));
        Ok(Some(Self { known, operators, plan, has_target, fluid, tick, begin: draft.time.begin(0.5) / tick, timed }))
    }

    fn record<'t>(&self, z: Var<'t>, target: Var<'t>, now: Option<Var<'t>>) -> Var<'t> {
        let tape = z.tape();
        let arrays = self.known.with_state(z, self.has_target.then_some(target), now, self.tick);
        let seen = self.plan.record(&arrays, &self.operators.at(tape.zeros([1])));
        let batch = z.shape().sizes()[0];
        let seen = if seen.shape().rows() == batch { seen } else { seen.repeat_rows(batch) };
        let seen = seen.reshape(self.operators.volume().mesh().shape(batch));
        match &self.fluid {
            Some(mask) => seen * tape.constant(&seen.shape().sizes()[1..], mask),
            None => seen,
        }
    }

    /// Values for one instance, halfway between the times at which episodes begin.
    pub fn values(&self, z: &[Real], target: &[Real]) -> Vec<Real> {
        let tape = Tape::new(Arena::default(), &[]);
        let [z, target] = [z, target].map(|z| tape.constant([1, z.len()], z));
        let start = tape.constant([1], &[self.begin as Real]);
        self.record(z, target, Some(start)).value()
    }
}

impl SeenField {
    /// Lets `sight` see what the file says.
    pub fn new(draft: &Draft, known: Arc<Known>, sight: Sight, also: AlsoSeen, tick: f64) -> Result<Self, Error> {
        Ok(Self { sight, text: Seen::new(draft, known, tick)?, also })
    }

    /// Returns true if what agents see depends on time.
    pub fn timed(&self) -> bool {
        self.also.timed() || self.text.as_ref().is_some_and(|seen| seen.timed)
    }

    fn with_also<'t>(&self, seen: Observation<'t>, readings: &[Var<'t>]) -> Observation<'t> {
        self.also.shown(readings).map_or(seen, |also| seen.with_known(also))
    }

    fn through<'t>(&self, visible: &Visible<'t>) -> Visible<'t> {
        let Some(seen) = &self.text else { return *visible };
        let z = seen.record(visible.z, visible.target, visible.now);
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
