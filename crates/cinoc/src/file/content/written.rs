//! The equation of a problem file as a stepper.

use super::draft::{Draft, SideText};
use super::known::Known;
use super::operators::CellOperators;
use crate::{Error, Real};
use cinoc_pde::volume::{Linear, Mesh, Order, Side};
use cinoc_pde::{Grid, Stepper};
use cinoc_tape::{Adjoints, Arena, Tape, Var};
use cinoc_text::{Axis, Expr, Form, Kind, Node, Plan, Scope, Term, Treatment, parse, sum, terms};
use std::sync::Arc;

/// Name of the agents' channel.
pub const PUSH: &str = "push";

/// Name of the time.
pub const TIME: &str = "t";

/// Steps of a tick beyond which an equation is refused.
const MOST_SUBSTEPS: f64 = 10_000.0;

/// The equation of a problem file, by finite volumes: linear terms that damp are implicit, the others explicit, in as
/// many substeps as they need.
pub struct WrittenEquation {
    known: Arc<Known>,
    operators: CellOperators,
    /// Implicit terms with their coefficients: `k`, `σ` and `c`.
    implicit: Option<(Linear, [Vec<Real>; 3])>,
    explicit: Option<Plan>,
    timed: bool,
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

impl WrittenEquation {
    /// Builds the equation. Its explicit step is chosen by how fast the explicit terms are in these `fields`.
    pub fn new(draft: &Draft, known: Arc<Known>, tick: f64, fields: &[Vec<Real>]) -> Result<Self, Error> {
        let key = format!("equations.{}", draft.field);
        let mut scope = known.scope.clone();
        let named = |error: cinoc_text::Error| draft.fault("fields", error.to_string());
        scope.add(&[&draft.field], Kind::FIELD).map_err(named)?;
        scope.add(&[PUSH], Kind::CHANNEL).map_err(named)?;
        scope.add(&[TIME], Kind::SERIES).map_err(named)?;
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
        let (mesh, outside) = mesh(draft, &known)?;
        let operators = CellOperators::new(&draft.field, mesh, outside);
        let mut made = Self {
            known,
            operators,
            implicit: None,
            explicit,
            timed: mentions(&rhs, TIME),
            second_order: draft.time.second_order,
            tick,
            substeps: 1,
            largest: f64::INFINITY,
            treatments,
        };
        made.largest = 1.0 / fields.iter().map(|z| made.rate(z)).fold(0.0, f64::max);
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

    /// Rate of change of the field by the explicit terms.
    fn explicit<'t>(&self, z: Var<'t>, force: Var<'t>, time: Var<'t>) -> Var<'t> {
        let Some(plan) = &self.explicit else { return z.tape().zeros(z.shape()) };
        let mut arrays = self.known.record(z.tape());
        arrays.extend([z, force, time]);
        let rate = plan.record(&arrays, &self.operators);
        let batch = z.shape().sizes()[0];
        let rate = if rate.shape().rows() == batch { rate } else { rate.repeat_rows(batch) };
        rate.reshape(z.shape())
    }

    /// Rate of the explicit terms at a field: the largest of their transposed derivative along patterns of signs, which
    /// include those that first and second differences change most.
    fn rate(&self, z: &[Real]) -> f64 {
        let mesh = self.operators.volume().mesh();
        let tape = Tape::new(Arena::default(), &[]);
        let z = tape.input(mesh.shape(1), z);
        let rate = self.explicit(z, tape.zeros(mesh.shape(1)), tape.zeros([1, 1]));
        let (z, rate) = (z.id(), rate.id());
        let arena = tape.into_arena();
        let mut bars = Adjoints::default();
        let mut fastest = 0.0;
        for pattern in patterns(mesh.cells()) {
            bars.start(&arena, 0);
            bars.seed(&arena, rate, &pattern);
            arena.backward(&[], &mut bars);
            fastest = bars.of(&arena, z).iter().fold(fastest, |most: f64, x| most.max(x.abs() as f64));
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
        self.timed
    }

    fn step_at<'t>(&self, z: Var<'t>, force: Var<'t>, now: Option<Var<'t>>) -> Var<'t> {
        let (tape, step) = (z.tape(), (self.tick / self.substeps as f64) as Real);
        // The time of a substep is that of its middle.
        let time = |substep: usize| match now {
            Some(now) if self.timed => {
                let within = (substep as f64 + 0.5) * self.tick / self.substeps as f64;
                now.affine(self.tick as Real, within as Real).reshape([now.shape().count(), 1])
            }
            _ => tape.zeros([1, 1]),
        };
        let explicit = |substep: usize| {
            let time = time(substep);
            move |z: Var<'t>| self.explicit(z, force, time)
        };
        let Some((linear, coefficients)) = &self.implicit else {
            // Euler's or Heun's method.
            return (0..self.substeps).fold(z, |z, substep| {
                let explicit = explicit(substep);
                let rate = explicit(z);
                let ahead = z + rate * step;
                if self.second_order { z + (rate + explicit(ahead)) * (0.5 * step) } else { ahead }
            });
        };
        let mesh = self.operators.volume().mesh();
        let [k, decay, fourth] = coefficients.each_ref().map(|all| match all.len() {
            1 => tape.constant([1], all),
            _ => tape.constant(mesh.shape(1), all),
        });
        let (system, outside) = (linear.factor(k, decay, fourth), self.operators.outside(tape));
        (0..self.substeps).fold(z, |z, substep| system.step(z, outside, explicit(substep)))
    }
}

/// Patterns of signs over cells: products of those along each axis, all alike, alternating, and in pairs.
fn patterns(cells: &[usize]) -> impl Iterator<Item = Vec<Real>> {
    let sign = |pattern: usize, i: usize| match pattern {
        1 if i % 2 == 1 => -1.0,
        2 if i % 4 > 1 => -1.0,
        _ => 1.0,
    };
    (0..3usize.pow(cells.len() as u32)).map(move |choice| {
        let (mut all, mut choice) = (vec![1.0], choice);
        for count in cells.iter().rev() {
            let inner = all;
            all = (0..*count).flat_map(|i| inner.iter().map(move |x| x * sign(choice % 3, i))).collect();
            choice /= 3;
        }
        all
    })
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

/// The mesh with its sides, and the numbers of their faces.
fn mesh(draft: &Draft, known: &Known) -> Result<(Mesh, Vec<Real>), Error> {
    let number = |text: &String| known.number(draft, "domain", text);
    let mut numbers = Vec::new();
    let mut side = |side: &SideText| -> Result<Side, Error> {
        let (kind, outside) = match side {
            SideText::Periodic => (Side::Periodic, 0.0),
            SideText::Value(value) => (Side::Value, number(value)?),
            SideText::Flux(flux) => (Side::Flux, number(flux)?),
            SideText::Open(inflow) => (Side::Open, number(inflow)?),
            SideText::Exchange { coefficient, outside } => {
                let h = number(coefficient)?;
                if h < 0.0 {
                    return Err(
                        draft.fault("domain", format!("the coefficient of an exchange cannot be {h}; it must be at least 0"))
                    );
                }
                (Side::exchange(h), number(outside)?)
            }
        };
        numbers.push(outside);
        Ok(kind)
    };
    let mut sides = Vec::new();
    for [low, high] in &draft.sides {
        sides.push([side(low)?, side(high)?]);
    }
    let mesh = Mesh::new(&known.grid.nodes, &draft.size, sides);
    let mut outside = vec![0.0; mesh.faces()];
    for axis in 0..mesh.dimensions() {
        for end in 0..2 {
            outside[mesh.side(axis, end)].fill(numbers[2 * axis + end]);
        }
    }
    Ok((mesh, outside))
}

fn count(steps: usize) -> String {
    if steps == 1 { "one step".into() } else { format!("{steps} steps") }
}

/// Returns true if a name occurs in an expression.
fn mentions(expr: &Expr, name: &str) -> bool {
    match &expr.node {
        Node::Number(_) => false,
        Node::Name(found) => found == name,
        Node::Minus(a) => mentions(a, name),
        Node::Infix(_, sides) => sides.iter().any(|side| mentions(side, name)),
        Node::Call(_, all) => all.iter().any(|argument| mentions(argument, name)),
    }
}
