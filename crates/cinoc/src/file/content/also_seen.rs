//! Further senses of agents of a problem file beside the error: texts at their position, their last action, their tanks, and the
//! used share of limits that they share.

use super::draft::{AlsoText, Draft};
use super::known::Known;
use super::operators::CellOperators;
use super::written_task::{WrittenTask, bare_operators, with_fields};
use crate::agents::{LAST, LEVEL};
use crate::limit::Actuators;
use crate::random::{Rng, Split, Stream};
use crate::sense::{Instrument, Lens, Probe, Visible};
use crate::settings::lasting;
use crate::task::{Instance, Task, mean_square};
use crate::{Error, Real};
use cinoc_tape::{Arena, Tape, Var};
use cinoc_text::{Axis, Plan};
use std::sync::Arc;

/// Number of instances and of times, of which the typical size of a text is the root mean square.
const TYPICAL: usize = 8;

/// Further instruments of an agent.
pub struct AlsoSeen {
    ground: Ground,
    texts: Vec<Text>,
    probe: Arc<Probe>,
    tick: f64,
    /// Number of components of an action, if agents see the last one.
    last: Option<usize>,
    tanks: usize,
    shared: Option<Arc<Actuators>>,
    /// Factors from readings to what policies see.
    factors: Vec<Real>,
    instruments: Vec<Instrument>,
}

/// Names that texts refer to.
struct Ground {
    known: Arc<Known>,
    operators: CellOperators,
    has_target: bool,
}

/// A text at the agent.
struct Text {
    plan: Plan,
    /// False if it is the same for all cells.
    cells: bool,
    /// True if it depends on time.
    timed: bool,
    /// Time by which it looks ahead.
    ahead: f64,
}

impl Ground {
    fn new(draft: &Draft, known: Arc<Known>) -> Self {
        Self { operators: bare_operators(draft, &known), has_target: draft.task.target.is_some(), known }
    }

    /// Values of a text, `[1 or batch, cells]`, or `[1 or batch, 1]`.
    fn record<'t>(&self, text: &Text, z: Var<'t>, target: Var<'t>, now: Option<Var<'t>>, tick: f64) -> Var<'t> {
        let now = if text.ahead > 0.0 { now.map(|now| now + (text.ahead / tick) as Real) } else { now };
        let arrays = self.known.with_state(z, self.has_target.then_some(target), now, tick);
        text.plan.record(&arrays, &self.operators.at(z.tape().zeros([1])))
    }
}

impl Text {
    fn new(draft: &Draft, known: &Known, AlsoText { text, ahead, .. }: &AlsoText) -> Result<Self, Error> {
        let (key, scope) = ("agents.see.also", with_fields(draft, known)?);
        let expr = known.parse(draft, key, text, &scope)?;
        let cells = expr.kind.axis == Axis::Cells;
        let plan = known.plan(draft, key, &[&expr], &scope, if cells { Axis::Cells } else { Axis::Instance })?;
        let timed = known.series.occur_in(&expr);
        if *ahead > 0.0 && !timed {
            return Err(draft.fault(key, format!("{expr} does not depend on time; use t or a series, or remove ahead")));
        }
        Ok(Self { plan, cells, timed, ahead: *ahead })
    }

    /// Typical size, with the constants and cells of the file, so that it is the same for all settings.
    fn typical(&self, draft: &Draft) -> Result<f64, Error> {
        let constants: Vec<f64> = draft.constants.iter().map(|constant| constant.value).collect();
        let ground = Ground::new(draft, Arc::new(Known::new(draft, &draft.cells, &constants)?));
        let task = WrittenTask::new(draft, ground.known.clone(), draft.time.tick)?;
        let square = |i: usize| {
            let Instance { start, target } = task.sample(&mut Rng::new(0, Stream::Validate, i as u64), Split::Validation);
            let tape = Tape::new(Arena::default(), &[]);
            let [z, target] = [start, target].map(|z| tape.constant([1, z.len()], &z));
            let share = (i as f64 + 0.5) / TYPICAL as f64;
            let now = draft.time.begin(share) / draft.time.tick + share * draft.time.ticks as f64;
            let values = ground.record(self, z, target, Some(tape.constant([1], &[now as Real])), draft.time.tick).value();
            mean_square(&values, &vec![0.0; values.len()])
        };
        let size = ((0..TYPICAL).map(square).sum::<f64>() / TYPICAL as f64).sqrt();
        Ok(if size.is_finite() && size > 1e-12 { size } else { 1.0 })
    }
}

impl AlsoSeen {
    /// Creates what the file asks for; `limits`: largest magnitude of each component of an action.
    pub fn new(
        draft: &Draft,
        known: Arc<Known>,
        limits: &[f64],
        actuators: Option<Arc<Actuators>>,
        tick: f64,
    ) -> Result<Self, Error> {
        let (mut texts, mut factors, mut instruments) = (Vec::new(), Vec::new(), Vec::new());
        for (i, also) in draft.agents.also.iter().enumerate() {
            let (AlsoText { text, scale, ahead }, made) = (also, Text::new(draft, &known, also)?);
            let scale = scale.map_or_else(|| made.typical(draft), Ok)?;
            factors.push((1.0 / scale) as Real);
            let plain = *ahead == 0.0 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let name = if plain { format!("also_{text}") } else { format!("also_{}", i + 1) };
            let mut about = format!("{text} {}", if made.cells { "where the agent is" } else { "now" });
            if *ahead > 0.0 {
                about += &format!(", {ahead} later");
            }
            instruments.push(Instrument::new(lasting(&name), 1, about));
            texts.push(made);
        }
        let last = draft.agents.last.then_some(limits.len());
        if last.is_some() {
            factors.extend(limits.iter().map(|limit| (1.0 / limit) as Real));
            let about = "the action that the agent carried out in the last tick, 0 before the first one";
            instruments.push(Instrument::new(LAST, limits.len(), about));
        }
        let tanks = draft.agents.channels.iter().filter(|channel| channel.tank.is_some()).count();
        if tanks > 0 {
            factors.resize(factors.len() + tanks, 1.0);
            instruments.push(Instrument::new(LEVEL, tanks, "level of the agent's tank, from 0 to 1"));
        }
        let limited = draft.agents.channels.iter().filter(|channel| channel.shared.is_some()).count();
        let shared = actuators.filter(|_| draft.agents.shared);
        if shared.is_some() {
            factors.resize(factors.len() + limited, 1.0);
            let about = "share of the limit of all agents that was used in the last tick, from 0 to 1";
            instruments.push(Instrument::new("shared", limited, about));
        }
        let probe = Arc::new(Probe::new(&known.grid, &Lens::point(&known.grid), 1.0, None));
        Ok(Self { ground: Ground::new(draft, known), texts, probe, tick, last, tanks, shared, factors, instruments })
    }

    /// True if a text depends on time.
    pub fn timed(&self) -> bool {
        self.texts.iter().any(|text| text.timed)
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        self.factors.len()
    }

    /// The instruments, in order.
    pub fn instruments(&self) -> &[Instrument] {
        &self.instruments
    }

    /// Readings of the instruments.
    pub fn readings<'t>(&self, visible: &Visible<'t>) -> Vec<Var<'t>> {
        let &Visible { z, target, xi, now, previous, stock, .. } = visible;
        let (tape, &[batch, agents, _]) = (z.tape(), xi.shape().sizes()) else { unreachable!("positions of agents") };
        let per_agent = |width: usize| xi.shape().with_last(width);
        let field = self.ground.operators.volume().mesh().shape(batch);
        let text = |text: &Text| {
            let values = self.ground.record(text, z, target, now, self.tick);
            let width = values.shape().last();
            let values = if values.shape().rows() == batch { values } else { values.repeat_rows(batch).reshape([batch, width]) };
            match text.cells {
                true => tape.record(&self.probe, [values.reshape(field), xi]),
                false => values.repeat_rows(agents),
            }
        };
        let mut all: Vec<Var<'t>> = self.texts.iter().map(text).collect();
        all.extend(self.last.map(|width| previous.unwrap_or_else(|| tape.zeros(per_agent(width)))));
        if self.tanks > 0 {
            all.push(stock.unwrap_or_else(|| tape.constant(per_agent(self.tanks), &vec![1.0; batch * agents * self.tanks])));
        }
        let used =
            |limits: &Arc<Actuators>| limits.used(previous.unwrap_or_else(|| tape.zeros(per_agent(limits.channels().len()))));
        all.extend(self.shared.as_ref().and_then(used));
        all
    }

    /// Values that policies see of these readings; `None` if there are none.
    pub fn shown<'t>(&self, readings: &[Var<'t>]) -> Option<Var<'t>> {
        let all = readings.iter().copied().reduce(|all, one| all.join(one))?;
        Some(all * all.tape().constant([self.factors.len()], &self.factors))
    }
}
