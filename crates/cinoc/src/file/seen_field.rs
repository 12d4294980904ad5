//! Sensors of a problem file: a field computed from the state.

use super::draft::Draft;
use super::known::Known;
use super::operators::CellOperators;
use super::written_task::{bare_operators, with_fields};
use crate::sense::{Features, Instrument, Observation, Sense, Sight, Visible};
use crate::{Error, Real};
use cinoc_tape::Var;
use cinoc_text::{Axis, Plan};
use std::sync::Arc;

/// Sensor of the error of the field, or of a field that a text computes from the state and the target.
pub struct SeenField {
    sight: Sight,
    text: Option<Seen>,
}

/// The text and what it needs.
struct Seen {
    known: Arc<Known>,
    operators: CellOperators,
    plan: Plan,
    has_target: bool,
}

impl SeenField {
    /// Lets `sight` see what the file says.
    pub fn new(draft: &Draft, known: Arc<Known>, sight: Sight) -> Result<Self, Error> {
        let Some(text) = &draft.agents.error else { return Ok(Self { sight, text: None }) };
        let (key, scope) = ("agents.see.error", with_fields(draft, &known)?);
        let expr = known.parse(draft, key, text, &scope)?;
        let plan = known.plan(draft, key, &[&expr], &scope, Axis::Cells)?;
        let (operators, has_target) = (bare_operators(draft, &known), draft.task.target.is_some());
        Ok(Self { sight, text: Some(Seen { known, operators, plan, has_target }) })
    }

    fn through<'t>(&self, visible: &Visible<'t>) -> Visible<'t> {
        let Some(Seen { known, operators, plan, has_target }) = &self.text else { return *visible };
        let (tape, shape) = (visible.z.tape(), visible.z.shape());
        let mut arrays = known.record(tape);
        arrays.push(visible.z);
        arrays.extend(has_target.then_some(visible.target));
        let seen = plan.record(&arrays, operators);
        let batch = shape.sizes()[0];
        let seen = if seen.shape().rows() == batch { seen } else { seen.repeat_rows(batch) };
        Visible { z: seen.reshape(shape), target: tape.zeros(shape), ..*visible }
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
