//! The equations of a problem file as a stepper.

use super::draft::{Draft, FieldText, SideText};
use super::known::Known;
use super::operators::{CellOperators, OfFields};
use super::stable_step::{Sizes, stable_step};
use crate::{Error, Real};
use cinoc_pde::volume::{Linear, Mesh, Order, Side, System, step_together};
use cinoc_pde::{Grid, Stepper};
use cinoc_tape::{Tape, Var};
use cinoc_text::{Axis, Expr, Form, Kind, Node, Plan, Scope, Term, Treatment, parse, sum, terms};
use std::sync::Arc;

/// Name of the time.
pub const TIME: &str = "t";

/// Steps of a tick beyond which an equation is refused.
const MOST_SUBSTEPS: f64 = 10_000.0;

/// Largest growth by implicit terms in a step.
const GROWTH: f64 = 0.5;

/// The equations of a problem file, by finite volumes: linear terms that damp are implicit, the others explicit, in as
/// many substeps as they need.
pub struct WrittenEquation {
    known: Arc<Known>,
    /// Operators on each field.
    operators: Vec<CellOperators>,
    /// Implicit terms of each field, if it has any.
    implicit: Vec<Option<Implicit>>,
    /// Explicit terms of all fields.
    explicit: Option<Plan>,
    timed: bool,
    /// Number of the agents' channels.
    channels: usize,
    second_order: bool,
    tick: f64,
    substeps: usize,
    /// Largest explicit step.
    largest: f64,
    /// Treatment of each term.
    pub treatments: Vec<String>,
}

/// Implicit terms of a field with their coefficients `k`, `σ` and `c`, each a number or a map.
struct Implicit {
    linear: Linear,
    coefficients: [Vec<Real>; 3],
}

impl Implicit {
    fn factor<'t>(&self, tape: &'t Tape<'t>, mesh: &Mesh) -> System<'t> {
        let [k, decay, fourth] = self.coefficients.each_ref().map(|all| match all.len() {
            1 => tape.constant([1], all),
            _ => tape.constant(mesh.shape(1), all),
        });
        self.linear.factor(k, decay, fourth)
    }
}

/// Implicit terms as coefficients of a linear operator, and the rest.
struct Sorted {
    /// `k`, `σ` and `c`; empty where there is no such term.
    coefficients: [Vec<Real>; 3],
    /// Largest growth rate by them.
    growth: f64,
    explicit: Option<Expr>,
    treatments: Vec<String>,
}

impl Sorted {
    /// Makes `backward` diffusion implicit if a term of fourth order outweighs it: `-b*lap(z) - c*lap(lap(z))` grows by
    /// `b²/4c` at most.
    fn outweigh(&mut self, backward: &[(usize, usize, Real)], explicit: &mut Vec<Term>) {
        let [k, _, fourth] = &mut self.coefficients;
        let (&[c], true) = (&fourth[..], k.len() <= 1 && !backward.is_empty()) else { return };
        let net = k.first().unwrap_or(&0.0) + backward.iter().map(|(_, _, value)| value).sum::<Real>();
        *k = vec![net];
        self.growth = (net.min(0.0).powi(2) / (4.0 * c)) as f64;
        for &(all, own, _) in backward.iter().rev() {
            explicit.remove(own);
            let said = &self.treatments[all];
            self.treatments[all] =
                said.split(": explicit").next().unwrap_or(said).to_owned() + ": implicit with the fourth order";
        }
    }
}

impl WrittenEquation {
    /// Builds the equations, with `substeps` in a tick. If that is 0, their number is chosen by how fast the explicit terms
    /// are in these `states`.
    pub fn new(draft: &Draft, known: Arc<Known>, tick: f64, substeps: usize, states: &[Vec<Real>]) -> Result<Self, Error> {
        let mut scope = known.scope.clone();
        let named = |error: cinoc_text::Error| draft.fault("fields", error.to_string());
        scope.add(&draft.names(), Kind::FIELD).map_err(named)?;
        let channels: Vec<&str> = draft.agents.channels.iter().map(|channel| channel.name.as_str()).collect();
        scope.add(&channels, Kind::CHANNEL).map_err(|error| draft.fault("agents", error.to_string()))?;
        scope.add(&[TIME], Kind::SERIES).map_err(named)?;
        let (mut all, mut operators, mut used, mut timed) = (Vec::new(), Vec::new(), vec![false; channels.len()], false);
        for field in &draft.fields {
            let key = format!("equations.{}", field.name);
            let rhs = known.parse(draft, &key, &field.equation, &scope)?;
            used.iter_mut().zip(&channels).for_each(|(used, name)| *used |= mentions(&rhs, name));
            timed |= mentions(&rhs, TIME);
            all.push(sorted(draft, field, &known, &scope, &rhs)?);
            let (mesh, outside) = mesh(draft, field, &known)?;
            operators.push(CellOperators::new(&field.name, mesh, outside));
        }
        let key = if let [field] = &draft.fields[..] { format!("equations.{}", field.name) } else { "equations".into() };
        if let Some((unused, _)) = channels.iter().zip(&used).find(|(_, used)| !**used) {
            let which = if draft.fields.len() > 1 { "no equation uses" } else { "the equation does not use" };
            let reason = format!("{which} {unused}, so agents have no effect; add it, as in \"… + {unused}\"");
            return Err(draft.fault(&key, reason));
        }
        let none = known.parse(draft, &key, "0", &scope)?;
        let rates: Vec<_> = all.iter().map(|sorted| sorted.explicit.as_ref().unwrap_or(&none)).collect();
        let explicit = match all.iter().any(|sorted| sorted.explicit.is_some()) {
            true => Some(known.plan(draft, &key, &rates, &scope, Axis::Cells)?),
            false => None,
        };
        let treatments = all.iter_mut().flat_map(|sorted| std::mem::take(&mut sorted.treatments)).collect();
        let mut made = Self {
            known,
            operators,
            implicit: Vec::new(),
            explicit,
            timed,
            channels: channels.len(),
            second_order: draft.time.second_order,
            tick,
            substeps: 1,
            largest: f64::INFINITY,
            treatments,
        };
        let growth = all.iter().map(|sorted| GROWTH / sorted.growth).fold(f64::INFINITY, f64::min);
        made.largest = states.iter().map(|z| made.largest_step(z)).fold(growth, f64::min);
        let needed = (tick / made.largest * (1.0 - 1e-9)).ceil().max(1.0);
        // A diverging sample is no reason to refuse the equation; NaN counts as 1.
        if needed > MOST_SUBSTEPS {
            let reason = format!("its explicit terms need {needed:.0} steps in a tick; at most {MOST_SUBSTEPS} are possible");
            return Err(draft.fault("time.tick", reason));
        }
        made.substeps = if substeps > 0 { substeps } else { needed as usize };
        let step = tick / made.substeps as f64;
        let order = if made.second_order { Order::Second } else { Order::First };
        let linear = |(Sorted { coefficients, .. }, operators): (Sorted, &CellOperators)| {
            let any = coefficients.iter().any(|all| !all.is_empty());
            any.then(|| {
                let linear = operators.volume().linear(step, order, !coefficients[2].is_empty());
                Implicit { linear, coefficients: coefficients.map(|all| if all.is_empty() { vec![0.0] } else { all }) }
            })
        };
        made.implicit = all.into_iter().zip(&made.operators).map(linear).collect();
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

    /// Rate of change of the fields by the explicit terms.
    fn explicit<'t>(&self, z: Var<'t>, force: Var<'t>, time: Var<'t>) -> Var<'t> {
        let Some(plan) = &self.explicit else { return z.tape().zeros(z.shape()) };
        let mut arrays = self.known.record(z.tape());
        arrays.extend([z, force, time]);
        let rate = plan.record(&arrays, &OfFields(&self.operators));
        let batch = z.shape().sizes()[0];
        let rate = if rate.shape().rows() == batch { rate } else { rate.repeat_rows(batch) };
        rate.reshape(z.shape())
    }

    /// Largest stable step of the explicit terms at a state.
    fn largest_step(&self, z: &[Real]) -> f64 {
        let mesh = self.operators[0].volume().mesh();
        let sizes = Sizes { state: self.state(1), fields: self.fields(), cells: mesh.cells() };
        let force = [1, self.channels * mesh.count()];
        stable_step(&sizes, z, self.second_order, |z| self.explicit(z, z.tape().zeros(force), z.tape().zeros([1, 1])))
    }
}

impl Stepper for WrittenEquation {
    fn grid(&self) -> &Grid {
        &self.known.grid
    }

    fn fields(&self) -> usize {
        self.operators.len()
    }

    fn dt(&self) -> Real {
        self.tick as Real
    }

    fn substeps(&self) -> usize {
        self.substeps
    }

    fn workspace(&self) -> [usize; 2] {
        // The parts of several fields are separated and joined.
        let (n, each) = (self.state_count(), if self.fields() > 1 { 32 } else { 16 });
        [each * n * self.substeps, 64 * n]
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
        if self.implicit.iter().all(Option::is_none) {
            // Euler's or Heun's method.
            return (0..self.substeps).fold(z, |z, substep| {
                let explicit = explicit(substep);
                let rate = explicit(z);
                let ahead = z + rate * step;
                if self.second_order { z + (rate + explicit(ahead)) * (0.5 * step) } else { ahead }
            });
        }
        let factored = |(implicit, operators): (&Option<Implicit>, &CellOperators)| {
            let system = implicit.as_ref()?.factor(tape, operators.volume().mesh());
            Some((system, operators.outside(tape)))
        };
        let systems: Vec<_> = self.implicit.iter().zip(&self.operators).map(factored).collect();
        (0..self.substeps).fold(z, |z, substep| step_together(&systems, z, explicit(substep)))
    }
}

/// Divides the right-hand side of a field into implicit terms and the rest.
fn sorted(draft: &Draft, field: &FieldText, known: &Known, scope: &Scope, rhs: &Expr) -> Result<Sorted, Error> {
    let key = &format!("equations.{}", field.name);
    let label = if draft.fields.len() > 1 { format!("d{}/dt: ", field.name) } else { String::new() };
    let mut sorted = Sorted { coefficients: Default::default(), growth: 0.0, explicit: None, treatments: Vec::new() };
    // Backward diffusions: index among all terms and among the explicit ones, and their coefficient.
    let (mut explicit, mut backward): (Vec<Term>, Vec<(usize, usize, Real)>) = Default::default();
    for term in terms(rhs, &field.name) {
        let said = format!("{label}{term}");
        let Some((which, text)) = coefficient(&term) else {
            sorted.treatments.push(said.replace(": implicit", ": explicit (a map is in front of it)"));
            explicit.push(term);
            continue;
        };
        let expr = parse(&text, scope).map_err(|error| draft.fault(key, error.to_string()))?;
        let values = known.coefficient(draft, key, &expr)?;
        // Names count as positive in texts; their values decide.
        if values.iter().any(|value| *value < 0.0) {
            if let (0, [value]) = (which, &values[..]) {
                backward.push((sorted.treatments.len(), explicit.len(), *value));
            }
            sorted.treatments.push(said.replace(": implicit", ": explicit (its coefficient is negative)"));
            explicit.push(term);
            continue;
        }
        sorted.treatments.push(said.replace(": explicit backward", ": implicit"));
        let all = &mut sorted.coefficients[which];
        *all = match (all.len(), values.len()) {
            (0, _) => values,
            (1, _) => values.iter().map(|x| x + all[0]).collect(),
            (_, 1) => all.iter().map(|x| x + values[0]).collect(),
            _ => all.iter().zip(&values).map(|(a, b)| a + b).collect(),
        };
    }
    sorted.outweigh(&backward, &mut explicit);
    sorted.explicit = sum(&explicit);
    Ok(sorted)
}

/// Index of the coefficient that an implicit term adds to, and the text of what it adds; `None` for other terms.
fn coefficient(term: &Term) -> Option<(usize, String)> {
    match &term.form {
        Form::Diffusion { outside, .. } | Form::FourthOrder { outside } if outside.kind.axis == Axis::Cells => None,
        // Backward diffusion, which is explicit unless a term of fourth order outweighs it.
        Form::Diffusion { outside, inside: None } if !outside.kind.time => Some((0, outside.to_string())),
        _ if term.treatment != Treatment::Implicit => None,
        Form::Diffusion { outside, inside: None } => Some((0, outside.to_string())),
        Form::Diffusion { outside, inside: Some(inside) } => Some((0, format!("({outside})*({inside})"))),
        Form::Rate { rate } => Some((1, format!("-({rate})"))),
        Form::FourthOrder { outside } => Some((2, format!("-({outside})"))),
        _ => None,
    }
}

/// The mesh with the sides of a field, and the numbers of their faces.
fn mesh(draft: &Draft, field: &FieldText, known: &Known) -> Result<(Mesh, Vec<Real>), Error> {
    let own = format!("fields.{}", field.name);
    let key = if field.sides == draft.sides { "domain" } else { &own };
    let number = |text: &String| known.number(draft, key, text);
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
                    return Err(draft.fault(key, format!("the coefficient of an exchange cannot be {h}; it must be at least 0")));
                }
                (Side::exchange(h), number(outside)?)
            }
        };
        numbers.push(outside);
        Ok(kind)
    };
    let mut sides = Vec::new();
    for [low, high] in &field.sides {
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
pub fn mentions(expr: &Expr, name: &str) -> bool {
    match &expr.node {
        Node::Number(_) => false,
        Node::Name(found) => found == name,
        Node::Minus(a) => mentions(a, name),
        Node::Infix(_, sides) => sides.iter().any(|side| mentions(side, name)),
        Node::Call(_, all) => all.iter().any(|argument| mentions(argument, name)),
    }
}
