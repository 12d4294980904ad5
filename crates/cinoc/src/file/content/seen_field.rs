//! Sensors of a problem file: a field computed from the state.

use super::draft::Draft;
use super::known::Known;
use super::operators::CellOperators;
use super::written_task::{TARGET, bare_operators, with_fields};
use crate::sense::{Features, Instrument, Observation, Sense, Sight, Visible};
use crate::{Error, Real};
use cinoc_tape::{Arena, Tape, Var};
use cinoc_text::{Axis, Plan};
use std::sync::Arc;

/// Sensor of the error of the field, or of a field that a text computes from the state and the target.
pub struct SeenField {
    sight: Sight,
    text: Option<Seen>,
}

/// A field as a text of the state and the target.
pub struct Seen {
    known: Arc<Known>,
    operators: CellOperators,
    plan: Plan,
    has_target: bool,
    /// 0 in solid cells, where there is no error.
    fluid: Option<Vec<Real>>,
    /// Duration of a tick.
    tick: f64,
    /// True if it depends on time.
    timed: bool,
}

impl Seen {
    /// Compiles the text of the file, if it has one; of the error, if there are solid cells.
    pub fn new(draft: &Draft, known: Arc<Known>, tick: f64) -> Result<Option<Self>, Error> {
        let has_target = draft.task.target.is_some();
        let text = match &draft.agents.error {
            Some(text) => text.clone(),
            None if known.fluid.is_none() => return Ok(None),
            None if has_target => format!("{} - {TARGET}", draft.field),
            None => draft.field.clone(),
        };
        let (key, scope) = ("agents.see.error", with_fields(draft, &known)?);
        let expr = known.parse(draft, key, &text, &scope)?;
        let plan = known.plan(draft, key, &[&expr], &scope, Axis::Cells)?;
        let (operators, fluid, timed) = (bare_operators(draft, &known), known.fluid_mask(), known.series.occur_in(&expr));
        Ok(Some(Self { known, operators, plan, has_target, fluid, tick, timed }))
    }

    fn record<'t>(&self, z: Var<'t>, target: Var<'t>, now: Option<Var<'t>>) -> Var<'t> {
        let (tape, mut arrays) = (z.tape(), self.known.record(z.tape()));
        let series = self.known.series.after(&arrays, now, self.tick);
        arrays.push(z);
        arrays.extend(self.has_target.then_some(target));
        arrays.push(series);
        let seen = self.plan.record(&arrays, &self.operators.at(tape.zeros([1])));
        let batch = z.shape().sizes()[0];
        let seen = if seen.shape().rows() == batch { seen } else { seen.repeat_rows(batch) };
        let seen = seen.reshape(z.shape());
        match &self.fluid {
            Some(mask) => seen * tape.constant(&z.shape().sizes()[1..], mask),
            None => seen,
        }
    }

    /// Values for one instance.
    pub fn values(&self, z: &[Real], target: &[Real]) -> Vec<Real> {
        let tape = Tape::new(Arena::default(), &[]);
        let [z, target] = [z, target].map(|z| tape.constant([1, z.len()], z));
        let start = tape.constant([1], &[0.0]);
        self.record(z, target, Some(start)).value()
    }
}

impl SeenField {
    /// Lets `sight` see what the file says.
    pub fn new(draft: &Draft, known: Arc<Known>, sight: Sight, tick: f64) -> Result<Self, Error> {
        Ok(Self { sight, text: Seen::new(draft, known, tick)? })
    }

    /// Returns true if what agents see depends on time.
    pub fn timed(&self) -> bool {
        self.text.as_ref().is_some_and(|seen| seen.timed)
    }

    fn through<'t>(&self, visible: &Visible<'t>) -> Visible<'t> {
        let Some(seen) = &self.text else { return *visible };
        let (z, target) = (seen.record(visible.z, visible.target, visible.now), visible.z.tape().zeros(visible.z.shape()));
        Visible { z, target, ..*visible }
    }
}

impl Sense for SeenField {
    fn features(&self) -> Features {
        self.sight.features()
    }

    fn observe<'t>(&self, visible: &Visible<'t>) -> Observation<'t> {
        self.sight.observe(&self.through(visible))
    }

    fn sensor_scales(&self) -> Vec<[Real; 2]> {
        self.sight.sensor_scales()
    }

    fn points(&self) -> usize {
        self.sight.points()
    }

    fn instruments(&self) -> Vec<Instrument> {
        self.sight.instruments()
    }

    fn readings<'t>(&self, visible: &Visible<'t>) -> Vec<Var<'t>> {
        self.sight.readings(&self.through(visible))
    }

    fn shown<'t>(&self, readings: &[Var<'t>]) -> Observation<'t> {
        self.sight.shown(readings)
    }
}
