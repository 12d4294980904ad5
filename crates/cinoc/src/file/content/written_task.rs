//! The task of a problem file: start, target, cost and score as texts.

use super::draft::{Draft, FieldText, When};
use super::known::Known;
use super::operators::{AtSides, CellOperators};
use super::random_field::RandomField;
use crate::random::{Rng, Split, Stream};
use crate::settings::lasting;
use crate::task::{Instance, PlotFields, PlotLabels, Status, Task, Transition, Units, mean_square, with_unit};
use crate::{Error, Real};
use cinoc_pde::volume::{Mesh, Side};
use cinoc_tape::{Arena, Tape, Var};
use cinoc_text::{Axis, Call, Kind, Operator, Operators, Plan, Scope};
use std::sync::Arc;

/// Name of the target.
pub const TARGET: &str = "target";

/// Nodes along an axis above which random fields between walls must be smooth, and the largest length of the domain
/// then, in correlation lengths.
const FINE: (usize, f64) = (384, 150.0);

/// The task of a problem file.
pub struct WrittenTask {
    known: Arc<Known>,
    operators: CellOperators,
    /// Starts of the fields.
    starts: Vec<Sampled>,
    /// Target of the first field.
    target: Option<Sampled>,
    terms: Vec<&'static str>,
    whens: Vec<When>,
    cost: Plan,
    score: Plan,
    when: When,
    /// Duration of a tick.
    tick: f64,
    /// Earliest and latest time at which an episode begins.
    begin: [f64; 2],
    /// True if the equation, what agents see, the cost or the score depend on time.
    pub timed: bool,
    /// True if the score is the mean square of `z − target`.
    square: bool,
    fields: PlotFields,
    units: Units,
}

/// A text of start or target, with its random fields.
struct Sampled {
    plan: Plan,
    fields: Vec<(Call, RandomField)>,
}

/// Operators of such texts, with drawn random fields.
struct Drawn<'a> {
    operators: AtSides<'a>,
    fields: Vec<(&'a Call, Vec<Real>)>,
}

impl Operators for Drawn<'_> {
    fn record<'t>(&self, tape: &'t Tape<'t>, call: &Call, inputs: &[Var<'t>]) -> Var<'t> {
        match self.fields.iter().find(|(known, _)| *known == call) {
            Some((_, values)) => tape.constant([1, values.len()], values),
            None => self.operators.record(tape, call, inputs),
        }
    }
}

impl Sampled {
    /// Compiles a text; it may use the starts of the fields `before` it.
    fn new(draft: &Draft, key: &str, text: &str, known: &Known, before: &[&str]) -> Result<Self, Error> {
        let mut scope = known.scope.clone().with_random();
        if !before.is_empty() {
            scope.add(before, Kind::MAP).map_err(|error| draft.fault("fields", error.to_string()))?;
        }
        let expr = known.parse(draft, key, text, &scope)?;
        let plan = known.plan(draft, key, &[&expr], &scope, Axis::Cells)?;
        let mut fields = Vec::new();
        for call in plan.calls() {
            let Operator::Random { length, .. } = call.operator else { continue };
            let length = f64::from_bits(length);
            for ((nodes, size), periodic) in known.grid.nodes.iter().zip(&draft.size).zip(&known.grid.periodic) {
                let least = if !periodic && *nodes > FINE.0 { size / FINE.1 } else { 1e-6 * size };
                if !(length >= least && length <= 1e3 * size) {
                    let reason = format!("the length of random({length}) must be from {least} to {}", 1e3 * size);
                    return Err(draft.fault(key, reason));
                }
            }
            fields.push((call.clone(), RandomField::new(&known.grid, length)));
        }
        Ok(Self { plan, fields })
    }

    fn draw(&self, known: &Known, operators: &CellOperators, rng: &mut Rng, before: &[Real]) -> Vec<Real> {
        let real = |z: Vec<f64>| z.into_iter().map(|z| z as Real).collect();
        let fields = self.fields.iter().map(|(call, field)| (call, real(field.draw(&rng.normals(field.numbers()))))).collect();
        let tape = Tape::new(Arena::default(), &[]);
        let mut arrays = known.record(&tape);
        arrays.extend((!before.is_empty()).then(|| tape.constant([1, before.len()], before)));
        let operators = operators.at(tape.zeros([1]));
        self.plan.record(&arrays, &Drawn { operators, fields }).value()
    }
}

/// Adds the fields, the target if there is one, and the series to the names.
pub fn with_fields(draft: &Draft, known: &Known) -> Result<Scope, Error> {
    let mut scope = known.scope.clone();
    let named = |error: cinoc_text::Error| draft.fault("fields", error.to_string());
    scope.add(&draft.names(), Kind::FIELD).map_err(named)?;
    if draft.task.target.is_some() {
        scope.add(&[TARGET], Kind::MAP).map_err(named)?;
    }
    known.series.declare(draft, &mut scope)?;
    Ok(scope)
}

/// The content of plots.
fn plot_fields(draft: &Draft, known: &Known) -> PlotFields {
    let texts = draft.agents.also.iter().map(|also| &also.text).chain(&draft.agents.error);
    let names_target = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == TARGET);
    PlotFields {
        names: draft.names().into_iter().map(Into::into).collect(),
        solid: known.fluid_mask().map_or_else(Vec::new, |mask| mask.iter().map(|fluid| *fluid == 0.0).collect()),
        sees_target: draft.task.target.is_some()
            && (draft.agents.error.is_none() || texts.into_iter().any(|text| names_target(text))),
    }
}

/// Names and units of the quantities of a file.
pub fn units(draft: &Draft) -> Units {
    let pair = |name: &str, unit: &str| [name.to_owned(), unit.to_owned()];
    Units {
        length: draft.unit.clone(),
        time: draft.time.unit.clone(),
        fields: draft.fields.iter().map(|field| pair(&field.name, &field.unit)).collect(),
        channels: draft.agents.channels.iter().map(|channel| pair(&channel.name, &channel.unit)).collect(),
    }
}

/// Operators without conditions at the sides.
pub fn bare_operators(draft: &Draft, known: &Known) -> CellOperators {
    let side = |periodic: &bool| if *periodic { Side::Periodic } else { Side::Open };
    let sides = known.grid.periodic.iter().map(|periodic| [side(periodic), side(periodic)]).collect();
    CellOperators::new("", known.with_solid(Mesh::new(&known.grid.nodes, &draft.size, sides)), known)
}

impl WrittenTask {
    pub fn new(draft: &Draft, known: Arc<Known>, tick: f64) -> Result<Self, Error> {
        let (names, mut starts) = (draft.names(), Vec::new());
        for (i, FieldText { name, start, .. }) in draft.fields.iter().enumerate() {
            starts.push(Sampled::new(draft, &format!("fields.{name}.start"), start, &known, &names[..i])?);
        }
        let target = draft.task.target.as_ref().map(|text| Sampled::new(draft, "task.target", text, &known, &[]));
        let scope = with_fields(draft, &known)?;
        let score = known.parse(draft, "task.score", &draft.task.score, &scope)?;
        let square = known.parse(draft, "task.score", &format!("mean(({})^2)", draft.error()), &scope)?;
        // Means count no solid cells.
        let square = draft.fields.len() == 1 && known.fluid.is_none() && square == score;
        let mut timed = known.series.occur_in(&score);
        let score = known.plan(draft, "task.score", &[&score], &scope, Axis::Instance)?;
        let mut acting = scope;
        let mut names: Vec<String> = draft.agents.channels.iter().map(|channel| format!("{}.u", channel.name)).collect();
        if draft.agents.speed.is_some() {
            names.extend(["x", "y", "z"][..draft.size.len()].iter().map(|axis| format!("move.{axis}")));
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        acting.add(&names, Kind::ACTION).map_err(|error| draft.fault("agents", error.to_string()))?;
        let mut exprs = Vec::new();
        for term in &draft.task.cost {
            exprs.push(known.parse(draft, &format!("task.cost.{}", term.name), &term.text, &acting)?);
        }
        timed |= exprs.iter().any(|expr| known.series.occur_in(expr));
        let cost = known.plan(draft, "task.cost", &exprs.iter().collect::<Vec<_>>(), &acting, Axis::Instance)?;
        Ok(Self {
            operators: bare_operators(draft, &known),
            starts,
            target: target.transpose()?,
            terms: draft.task.cost.iter().map(|term| lasting(&term.name)).collect(),
            whens: draft.task.cost.iter().map(|term| term.when).collect(),
            cost,
            score,
            when: draft.task.when,
            tick,
            begin: draft.time.start,
            timed,
            square,
            fields: plot_fields(draft, &known),
            units: units(draft),
            known,
        })
    }

    /// The arrays of the fields and the series on a tape, after `now` ticks, `[batch]`.
    fn arrays<'t>(&self, z: Var<'t>, target: Var<'t>, now: Option<Var<'t>>) -> Vec<Var<'t>> {
        self.known.with_state(z, self.target.is_some().then_some(target), now, self.tick)
    }

    /// The text of the score at one moment.
    fn score_of(&self, status: &Status) -> f64 {
        let tape = Tape::new(Arena::default(), &[]);
        let field = |z: &[Real]| tape.constant([1, z.len()], z);
        let now = self.timed.then(|| tape.constant([1], &[(status.begins + status.tick as f64) as Real]));
        let arrays = self.arrays(field(status.z), field(status.target), now);
        self.score.record(&arrays, &self.operators.at(tape.zeros([1]))).value()[0] as f64
    }
}

impl Task for WrittenTask {
    fn sample(&self, rng: &mut Rng, _: Split) -> Instance {
        let mut draw = |sampled: &Sampled, before: &[Real]| sampled.draw(&self.known, &self.operators, rng, before);
        let mut start = Vec::new();
        for sampled in &self.starts {
            let next = draw(sampled, &start);
            start.extend(next);
        }
        let mut target = self.target.as_ref().map_or_else(Vec::new, |target| draw(target, &[]));
        target.resize(start.len(), 0.0);
        if let Some(mask) = self.known.fluid_mask() {
            // Solid cells have no error.
            let cells = start.iter_mut().zip(&target).zip(mask.iter().cycle());
            cells.filter(|(_, fluid)| **fluid == 0.0).for_each(|((start, target), _)| *start = *target);
        }
        Instance { start, target }
    }

    fn plot_labels(&self) -> PlotLabels {
        let Units { length, time, fields, channels } = &self.units;
        let ([field, unit], [channel, of_channel]) = (&fields[0], &channels[0]);
        let within = if unit.is_empty() { String::new() } else { format!(", {field} in {unit}") };
        let has_target = self.target.is_some();
        let (title, axis) = match has_target {
            true => ("error to the target", "mean-square error".into()),
            false => ("mean square of the field", format!("mean {field}²")),
        };
        PlotLabels {
            title: lasting(&format!("{title}{within}")),
            axis: lasting(&axis),
            has_target,
            field: lasting(&with_unit(field, unit)),
            action: lasting(&with_unit(&format!("mean |{channel}|"), of_channel)),
            length: lasting(length),
            time: lasting(time),
        }
    }

    fn plot_fields(&self) -> Option<&PlotFields> {
        Some(&self.fields)
    }

    fn plotted(&self, status: &Status) -> f64 {
        if self.square { mean_square(status.z, status.target) } else { self.score_of(status) }
    }

    fn units(&self) -> Units {
        self.units.clone()
    }

    fn instances(&self) -> usize {
        100
    }

    fn timed(&self) -> bool {
        self.timed
    }

    fn begins(&self, noise: u64) -> f64 {
        let [low, high] = self.begin;
        Rng::new(noise, Stream::Begin, 0).uniform(low, high) / self.tick
    }

    fn terms(&self) -> &[&'static str] {
        &self.terms
    }

    fn weight(&self, term: usize, tick: usize, ticks: usize) -> f64 {
        self.whens[term].weight(tick, ticks)
    }

    fn cost<'t>(&self, after: &Transition<'t>, add: &mut dyn FnMut(Var<'t>)) {
        let mut arrays = self.arrays(after.z, after.target, after.now);
        let &[batch, agents, width] = after.action.shape().sizes() else { unreachable!("actions are [batch, agents, k]") };
        let action = if width == 1 { after.action } else { after.action.transpose_each(agents) };
        arrays.push(action.reshape([batch, width * agents]));
        let all = self.cost.record(&arrays, &self.operators.at(action.tape().zeros([1])));
        let all = if all.shape().rows() == batch { all } else { all.repeat_rows(batch).reshape([batch, self.terms.len()]) };
        (0..self.terms.len()).for_each(|term| add(all.columns(term, term + 1).reshape([batch])));
    }

    fn measures(&self) -> &[&'static str] {
        if self.square { &["mse"] } else { &["score"] }
    }

    fn square_in_score(&self, tick: usize, ticks: usize) -> Option<f64> {
        self.square.then(|| self.when.weight(tick, ticks))
    }

    fn measure(&self, status: &Status, measures: &mut [f64]) {
        let weight = self.when.weight(status.tick, status.ticks);
        if weight > 0.0 {
            measures[0] += weight * self.score_of(status);
        }
    }
}
