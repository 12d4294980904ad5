//! The equation of a problem file as a stepper.

use super::draft::Draft;
use super::known::Known;
use super::operators::CellOperators;
use super::series::mentions;
use super::sides::Sides;
use crate::{Error, Real};
use cinoc_pde::volume::{Linear, Order};
use cinoc_pde::{Grid, Stepper};
use cinoc_tape::{Adjoints, Arena, Tape, Var};
use cinoc_text::{Axis, Expr, Form, Kind, Plan, Scope, Term, Treatment, parse, sum, terms};
use std::sync::Arc;

/// Name of the agents' channel.
pub const PUSH: &str = "push";

/// Steps of a tick beyond which an equation is refused.
const MOST_SUBSTEPS: f64 = 10_000.0;

/// The equation of a problem file, by finite volumes: linear terms that damp are implicit, the others explicit, in as
/// many substeps as they need.
pub struct WrittenEquation {
    known: Arc<Known>,
    operators: CellOperators,
    sides: Sides,
    /// 0 in solid cells, where nothing changes.
    fluid: Option<Vec<Real>>,
    /// Implicit terms with their coefficients: `k`, `σ` and `c`.
    implicit: Option<(Linear, [Vec<Real>; 3])>,
    explicit: Option<Plan>,
    /// True if the explicit terms depend on time.
    changing: bool,
    second_order: bool,
    tick: f64,
    substeps: usize,
    /// Largest explicit step.
    largest: f64,
    /// Treatment of each term.
    pub treatments: Vec<String>,
}

/// Implicit terms as coefficients of a linear operator, and the rest.
struct Sorted {
    /// `k`, `σ` and `c`; empty where there is no such term.
    coefficients: [Vec<Real>; 3],
    explicit: Option<Expr>,
    treatments: Vec<String>,
}

/// What an equation depends on besides the state during a substep.
struct Surroundings<'t> {
    /// The known names and the values of the series.
    known: Vec<Var<'t>>,
    series: Var<'t>,
    /// Numbers of the sides.
    outside: Var<'t>,
}

impl WrittenEquation {
    /// Builds the equation. Its explicit step is chosen by how fast the explicit terms are in these `fields`, at times
    /// spread over an episode of `ticks`.
    pub fn new(draft: &Draft, known: Arc<Known>, tick: f64, ticks: usize, fields: &[Vec<Real>]) -> Result<Self, Error> {
        let key = format!("equations.{}", draft.field);
        let mut scope = known.scope.clone();
        let named = |error: cinoc_text::Error| draft.fault("fields", error.to_string());
        scope.add(&[&draft.field], Kind::FIELD).map_err(named)?;
        scope.add(&[PUSH], Kind::CHANNEL).map_err(named)?;
        known.series.declare(draft, &mut scope)?;
        let rhs = known.parse(draft, &key, &draft.equation, &scope)?;
        if !mentions(&rhs, PUSH) {
            return Err(draft.fault(
                &key,
                format!("the equation does not use {PUSH}, so agents have no effect; add it, as in \"… + {PUSH}\""),
            ));
        }
        let Sorted { coefficients, explicit, treatments } = sorted(draft, &key, &known, &scope, &rhs)?;
        let explicit = match &explicit {
            Some(expr) => Some(known.plan(draft, &key, &[expr], &scope, Axis::Cells)?),
            None => None,
        };
        let (mesh, sides) = Sides::new(draft, &known)?;
        let mut made = Self {
            operators: CellOperators::new(&draft.field, mesh, &known),
            fluid: known.fluid_mask(),
            changing: known.series.occur_in(&rhs),
            known,
            sides,
            implicit: None,
            explicit,
            second_order: draft.time.second_order,
            tick,
            substeps: 1,
            largest: f64::INFINITY,
            treatments,
        };
        let time = |i: usize| (i as f64 + 0.5) / fields.len() as f64 * tick * ticks as f64;
        made.largest = 1.0 / fields.iter().enumerate().map(|(i, z)| made.rate(z, time(i))).fold(0.0, f64::max);
        let needed = (tick / made.largest * (1.0 - 1e-9)).ceil().max(1.0);
        // A diverging sample is no reason to refuse the equation; NaN counts as 1.
        if needed > MOST_SUBSTEPS {
            let reason = format!("its explicit terms need {needed:.0} steps in a tick; at most {MOST_SUBSTEPS} are possible");
            return Err(draft.fault("time.tick", reason));
        }
        made.substeps = draft.time.substeps.unwrap_or(needed as usize);
        let step = tick / made.substeps as f64;
        let order = if made.second_order { Order::Second } else { Order::First };
        if coefficients.iter().any(|all| !all.is_empty()) {
            let linear = made.operators.volume().linear(step, order, !coefficients[2].is_empty());
            made.implicit = Some((linear, coefficients.map(|all| if all.is_empty() { vec![0.0] } else { all })));
        }
        Ok(made)
    }

    /// The steps of a tick, in words.
    pub fn steps(&self) -> String {
        let order = if self.second_order { "second" } else { "first" };
        let largest = match self.largest {
            largest if largest.is_finite() => format!("largest stable step of the explicit terms {largest:.3e}"),
            _ => "no explicit term limits the step".into(),
        };
        format!("{largest}; a tick of {:?} is {} of {order} order", self.tick, count(self.substeps))
    }

    /// The surroundings at the times `t`, `[batch, 1]`.
    fn at<'t>(&self, tape: &'t Tape<'t>, t: Option<Var<'t>>) -> Surroundings<'t> {
        let known = self.known.record(tape);
        let series = self.known.series.at(&known, t);
        Surroundings { outside: self.sides.at(&known, series), known, series }
    }

    /// Rate of change of the field by the explicit terms.
    fn explicit<'t>(&self, z: Var<'t>, force: Var<'t>, now: &Surroundings<'t>) -> Var<'t> {
        let Some(plan) = &self.explicit else { return z.tape().zeros(z.shape()) };
        let arrays = [&now.known[..], &[z, force, now.series]].concat();
        let rate = plan.record(&arrays, &self.operators.at(now.outside));
        let batch = z.shape().sizes()[0];
        let rate = if rate.shape().rows() == batch { rate } else { rate.repeat_rows(batch) };
        let rate = rate.reshape(z.shape());
        match &self.fluid {
            Some(mask) => rate * z.tape().constant(&z.shape().sizes()[1..], mask),
            None => rate,
        }
    }

    /// Rate of the explicit terms at a field: the largest of their transposed derivative along patterns of signs, which
    /// include those that first and second differences change most.
    fn rate(&self, z: &[Real], t: f64) -> f64 {
        let (mesh, n) = (self.operators.volume().mesh(), z.len());
        let signs: [fn(usize) -> Real; 3] =
            [|_| 1.0, |i| if i % 2 == 0 { 1.0 } else { -1.0 }, |i| if i % 4 < 2 { 1.0 } else { -1.0 }];
        let tape = Tape::new(Arena::default(), &[]);
        let z = tape.input(mesh.shape(1), z);
        let now = self.at(&tape, Some(tape.constant([1, 1], &[t as Real])));
        let rate = self.explicit(z, tape.zeros(mesh.shape(1)), &now);
        let (z, rate) = (z.id(), rate.id());
        let arena = tape.into_arena();
        let mut bars = Adjoints::default();
        let inner = mesh.cells().get(1).copied().unwrap_or(1);
        let mut fastest = 0.0;
        for along_x in signs {
            for along_y in &signs[..if inner > 1 { 3 } else { 1 }] {
                let pattern: Vec<Real> = (0..n).map(|i| along_x(i / inner) * along_y(i % inner)).collect();
                bars.start(&arena, 0);
                bars.seed(&arena, rate, &pattern);
                arena.backward(&[], &mut bars);
                fastest = bars.of(&arena, z).iter().fold(fastest, |most: f64, x| most.max(x.abs() as f64));
            }
        }
        fastest
    }
}

impl Stepper for WrittenEquation {
    fn grid(&self) -> &Grid {
        &self.known.grid
    }

    fn dt(&self) -> Real {
        self.tick as Real
    }

    fn substeps(&self) -> usize {
        self.substeps
    }

    fn workspace(&self) -> [usize; 2] {
        let n = self.known.grid.count();
        [16 * n * self.substeps, 64 * n]
    }

    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
        self.step_at(z, force, None)
    }

    fn timed(&self) -> bool {
        self.changing || self.sides.timed
    }

    fn step_at<'t>(&self, z: Var<'t>, force: Var<'t>, now: Option<Var<'t>>) -> Var<'t> {
        let (tape, step) = (z.tape(), (self.tick / self.substeps as f64) as Real);
        // After so many substeps; explicit terms have the time of the middle of a substep.
        let after = |substeps: f64| {
            let within = substeps * self.tick / self.substeps as f64;
            let time = |now: Var<'t>| now.affine(self.tick as Real, within as Real).reshape([now.shape().count(), 1]);
            self.at(tape, now.filter(|_| self.timed()).map(time))
        };
        let at = |substep: usize| after(substep as f64 + 0.5);
        let Some((linear, coefficients)) = &self.implicit else {
            // Euler's or Heun's method.
            return (0..self.substeps).fold(z, |z, substep| {
                let now = at(substep);
                let rate = self.explicit(z, force, &now);
                let ahead = z + rate * step;
                if self.second_order { z + (rate + self.explicit(ahead, force, &now)) * (0.5 * step) } else { ahead }
            });
        };
        let mesh = self.operators.volume().mesh();
        let [k, decay, fourth] = coefficients.each_ref().map(|all| match all.len() {
            1 => tape.constant([1], all),
            _ => tape.constant(mesh.shape(1), all),
        });
        let system = linear.factor(k, decay, fourth);
        (0..self.substeps).fold(z, |z, substep| {
            let now = at(substep);
            let outside = |share: f64| if self.sides.timed { after(substep as f64 + share).outside } else { now.outside };
            system.step_between(z, outside, |z| self.explicit(z, force, &now))
        })
    }
}

/// Divides the right-hand side into implicit terms and the rest.
fn sorted(draft: &Draft, key: &str, known: &Known, scope: &Scope, rhs: &Expr) -> Result<Sorted, Error> {
    let mut sorted = Sorted { coefficients: Default::default(), explicit: None, treatments: Vec::new() };
    let mut explicit: Vec<Term> = Vec::new();
    for term in terms(rhs, &draft.field) {
        let said = term.to_string();
        let Some((which, text)) = coefficient(&term) else {
            sorted.treatments.push(said.replace(": implicit", ": explicit (a map is in front of it)"));
            explicit.push(term);
            continue;
        };
        let expr = parse(&text, scope).map_err(|error| draft.fault(key, error.to_string()))?;
        let values = known.coefficient(draft, key, &expr)?;
        // Names count as positive in texts; their values decide.
        if values.iter().any(|value| *value < 0.0) {
            sorted.treatments.push(said.replace(": implicit", ": explicit (its coefficient is negative)"));
            explicit.push(term);
            continue;
        }
        sorted.treatments.push(said);
        let all = &mut sorted.coefficients[which];
        *all = match (all.len(), values.len()) {
            (0, _) => values,
            (1, _) => values.iter().map(|x| x + all[0]).collect(),
            (_, 1) => all.iter().map(|x| x + values[0]).collect(),
            _ => all.iter().zip(&values).map(|(a, b)| a + b).collect(),
        };
    }
    sorted.explicit = sum(&explicit);
    Ok(sorted)
}

/// Index of the coefficient that an implicit term adds to, and the text of what it adds; `None` for other terms.
fn coefficient(term: &Term) -> Option<(usize, String)> {
    if term.treatment != Treatment::Implicit {
        return None;
    }
    match &term.form {
        Form::Diffusion { outside, .. } | Form::FourthOrder { outside } if outside.kind.axis == Axis::Cells => None,
        Form::Diffusion { outside, inside: None } => Some((0, outside.to_string())),
        Form::Diffusion { outside, inside: Some(inside) } => Some((0, format!("({outside})*({inside})"))),
        Form::Rate { rate } => Some((1, format!("-({rate})"))),
        Form::FourthOrder { outside } => Some((2, format!("-({outside})"))),
        _ => None,
    }
}

fn count(steps: usize) -> String {
    if steps == 1 { "one step".into() } else { format!("{steps} steps") }
}
