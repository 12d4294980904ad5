//! The equations of a problem file as a stepper.

use super::draft::Draft;
use super::known::{Known, mentions};
use super::operators::{CellOperators, OfFields};
use super::sides::Sides;
use super::sorted::{Sorted, sorted};
use super::stable_step::{Sizes, stable_step};
use crate::{Error, Real};
use cinoc_pde::volume::{Linear, Mesh, Order, System, step_together};
use cinoc_pde::{Grid, Stepper};
use cinoc_tape::{Tape, Var};
use cinoc_text::{Axis, Kind, Plan};
use std::sync::Arc;

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
    /// Sides of each field.
    sides: Vec<Sides>,
    /// 0 in solid cells, where nothing changes.
    fluid: Option<Vec<Real>>,
    /// Implicit terms of each field, if it has any.
    implicit: Vec<Option<Implicit>>,
    /// Explicit terms of all fields.
    explicit: Option<Plan>,
    /// True if the explicit terms depend on time.
    changing: bool,
    /// Number of the agents' channels.
    channels: usize,
    second_order: bool,
    clock: Clock,
    /// Largest explicit step.
    largest: f64,
    /// Treatment of each term.
    pub treatments: Vec<String>,
}

/// Time steps of an episode.
#[derive(Clone, Copy)]
pub struct Clock {
    /// Duration of a tick.
    pub tick: f64,
    pub ticks: usize,
    /// Steps of a tick; 0: chosen by the explicit terms.
    pub substeps: usize,
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

/// Quantities that equations depend on besides the state during a substep.
struct Surroundings<'t> {
    /// The known names and the values of the series.
    known: Vec<Var<'t>>,
    series: Var<'t>,
    /// Numbers of the sides of each field.
    outside: Vec<Var<'t>>,
}

impl WrittenEquation {
    /// Builds the equations. If the clock has no substeps, their number is chosen by how fast the explicit terms are in
    /// these `states`, at times spread over an episode.
    pub fn new(draft: &Draft, known: Arc<Known>, clock: Clock, states: &[Vec<Real>]) -> Result<Self, Error> {
        let mut scope = known.scope.clone();
        let named = |error: cinoc_text::Error| draft.fault("fields", error.to_string());
        scope.add(&draft.names(), Kind::FIELD).map_err(named)?;
        let channels: Vec<&str> = draft.agents.channels.iter().map(|channel| channel.name.as_str()).collect();
        scope.add(&channels, Kind::CHANNEL).map_err(|error| draft.fault("agents", error.to_string()))?;
        known.series.declare(draft, &mut scope)?;
        let (mut all, mut operators, mut every_side) = (Vec::new(), Vec::new(), Vec::new());
        let (mut used, mut changing) = (vec![false; channels.len()], false);
        for field in &draft.fields {
            let key = format!("equations.{}", field.name);
            let rhs = known.parse(draft, &key, &field.equation, &scope)?;
            used.iter_mut().zip(&channels).for_each(|(used, name)| *used |= mentions(&rhs, name));
            changing |= known.series.occur_in(&rhs);
            all.push(sorted(draft, field, &known, &scope, &rhs)?);
            let (mesh, sides) = Sides::new(draft, field, &known)?;
            operators.push(CellOperators::new(&field.name, mesh, &known));
            every_side.push(sides);
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
            fluid: known.fluid_mask(),
            known,
            operators,
            sides: every_side,
            implicit: Vec::new(),
            explicit,
            changing,
            channels: channels.len(),
            second_order: draft.time.second_order,
            clock,
            largest: f64::INFINITY,
            treatments,
        };
        let growth = all.iter().map(|sorted| GROWTH / sorted.growth).fold(f64::INFINITY, f64::min);
        let share = |i: usize| (i as f64 + 0.5) / states.len() as f64;
        let time = |i: usize| draft.time.begin(share(i)) + share(i) * clock.tick * clock.ticks as f64;
        made.largest = states.iter().enumerate().map(|(i, z)| made.largest_step(z, time(i))).fold(growth, f64::min);
        let needed = (clock.tick / made.largest * (1.0 - 1e-9)).ceil().max(1.0);
        // A diverging sample is no reason to refuse the equation; NaN counts as 1.
        if needed > MOST_SUBSTEPS {
            let reason = format!("its explicit terms need {needed:.0} steps in a tick; at most {MOST_SUBSTEPS} are possible");
            return Err(draft.fault("time.tick", reason));
        }
        if clock.substeps == 0 {
            made.clock.substeps = needed as usize;
        }
        let step = clock.tick / made.clock.substeps as f64;
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
        format!("{largest}; a tick of {:?} is {} of {order} order", self.clock.tick, count(self.clock.substeps))
    }

    /// The surroundings at the times `t`, `[batch, 1]`.
    fn at<'t>(&self, tape: &'t Tape<'t>, t: Option<Var<'t>>) -> Surroundings<'t> {
        let known = self.known.record(tape);
        let series = self.known.series.at(&known, t);
        Surroundings { outside: self.sides.iter().map(|sides| sides.at(&known, series)).collect(), known, series }
    }

    /// Rate of change of the fields by the explicit terms.
    fn explicit<'t>(&self, z: Var<'t>, force: Var<'t>, now: &Surroundings<'t>) -> Var<'t> {
        let Some(plan) = &self.explicit else { return z.tape().zeros(z.shape()) };
        let arrays = [&now.known[..], &[z, force, now.series]].concat();
        let at = self.operators.iter().zip(&now.outside).map(|(operators, outside)| operators.at(*outside)).collect();
        let rate = plan.record(&arrays, &OfFields(at));
        let batch = z.shape().sizes()[0];
        let rate = if rate.shape().rows() == batch { rate } else { rate.repeat_rows(batch) };
        let rate = rate.reshape(z.shape());
        match &self.fluid {
            Some(mask) => rate * z.tape().constant(&z.shape().sizes()[1..], &mask.repeat(self.fields())),
            None => rate,
        }
    }

    /// Largest stable step of the explicit terms at a state and a time.
    fn largest_step(&self, z: &[Real], t: f64) -> f64 {
        let mesh = self.operators[0].volume().mesh();
        let sizes = Sizes { state: self.state(1), fields: self.fields(), cells: mesh.cells() };
        let force = [1, self.channels * mesh.count()];
        stable_step(&sizes, z, self.second_order, |z| {
            let tape = z.tape();
            let now = self.at(tape, Some(tape.constant([1, 1], &[t as Real])));
            self.explicit(z, tape.zeros(force), &now)
        })
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
        self.clock.tick as Real
    }

    fn substeps(&self) -> usize {
        self.clock.substeps
    }

    fn workspace(&self) -> [usize; 2] {
        // The parts of several fields are separated and joined.
        let (n, each) = (self.state_count(), if self.fields() > 1 { 32 } else { 16 });
        [each * n * self.clock.substeps, 64 * n]
    }

    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
        self.step_at(z, force, None)
    }

    fn timed(&self) -> bool {
        self.changing || self.sides.iter().any(|sides| sides.timed)
    }

    fn step_at<'t>(&self, z: Var<'t>, force: Var<'t>, now: Option<Var<'t>>) -> Var<'t> {
        let Clock { tick, substeps, .. } = self.clock;
        let (tape, step) = (z.tape(), (tick / substeps as f64) as Real);
        // After a number of substeps; explicit terms have the time of the middle of a substep.
        let after = |steps: f64| {
            let within = steps * tick / substeps as f64;
            let time = |now: Var<'t>| now.affine(tick as Real, within as Real).reshape([now.shape().count(), 1]);
            self.at(tape, now.filter(|_| self.timed()).map(time))
        };
        let at = |substep: usize| after(substep as f64 + 0.5);
        if self.implicit.iter().all(Option::is_none) {
            // Euler's or Heun's method.
            return (0..substeps).fold(z, |z, substep| {
                let now = at(substep);
                let rate = self.explicit(z, force, &now);
                let ahead = z + rate * step;
                if self.second_order { z + (rate + self.explicit(ahead, force, &now)) * (0.5 * step) } else { ahead }
            });
        }
        let factored = |(implicit, operators): (&Option<Implicit>, &CellOperators)| {
            Some(implicit.as_ref()?.factor(tape, operators.volume().mesh()))
        };
        let systems: Vec<_> = self.implicit.iter().zip(&self.operators).map(factored).collect();
        (0..substeps).fold(z, |z, substep| {
            let now = at(substep);
            let outside = |field: usize, share: f64| match self.sides[field].timed {
                true => after(substep as f64 + share).outside[field],
                false => now.outside[field],
            };
            step_together(&systems, z, outside, |z| self.explicit(z, force, &now))
        })
    }
}

fn count(steps: usize) -> String {
    if steps == 1 { "one step".into() } else { format!("{steps} steps") }
}
