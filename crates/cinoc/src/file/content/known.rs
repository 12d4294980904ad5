//! Names whose values are the same in all ticks: coordinates, maps and constants.

use super::draft::Draft;
use crate::{Error, Real};
use cinoc_pde::Grid;
use cinoc_tape::{Arena, Shape, Tape, Var};
use cinoc_text::{Axis, Call, Expr, Kind, Operators, Plan, Scope, parse};

/// Names of the coordinates.
const COORDINATES: [&str; 3] = ["x", "y", "z"];

/// Coordinates, maps and constants with their values, and the grid that agents see.
///
/// Values belong to the centres of cells. On a periodic domain these are the nodes of the grid. Between walls the grid
/// reaches from the first centre to the last, so its positions are half a cell less than those in texts.
pub struct Known {
    pub grid: Grid,
    pub scope: Scope,
    arrays: Vec<(Shape, Vec<Real>)>,
}

/// No operators: in texts of numbers.
struct Without;

impl Operators for Without {
    fn record<'t>(&self, tape: &'t Tape<'t>, _: &Call, inputs: &[Var<'t>]) -> Var<'t> {
        inputs.first().copied().unwrap_or_else(|| tape.zeros([1, 1]))
    }
}

impl Known {
    /// Computes the values for these cells along each axis and these constants.
    pub fn new(draft: &Draft, cells: &[usize], constants: &[f64]) -> Result<Self, Error> {
        let (periodic, d) = (draft.periodic(), cells.len());
        let spacing = |axis: usize| draft.size[axis] / cells[axis] as f64;
        let length = |axis: usize| (draft.size[axis] - if periodic { 0.0 } else { spacing(axis) }) as Real;
        let grid = Grid { nodes: cells.to_vec(), lengths: (0..d).map(length).collect(), periodic };
        let (count, shift) = (grid.count(), if periodic { 0.0 } else { 0.5 });
        let mut values = Vec::with_capacity(d * count);
        for axis in 0..d {
            let stride: usize = cells[axis + 1..].iter().product();
            values.extend((0..count).map(|i| (((i / stride % cells[axis]) as f64 + shift) * spacing(axis)) as Real));
        }
        let mut names: Vec<&str> = COORDINATES[..d].to_vec();
        let mut known = Self { grid, scope: Scope::new(d), arrays: Vec::new() };
        known.fill(draft, &names, values.clone(), constants)?;
        if draft.maps.is_empty() {
            return Ok(known);
        }
        for (name, text) in &draft.maps {
            let key = format!("maps.{name}");
            let map = known.parse(draft, &key, text, &known.scope)?;
            values.extend(known.cells(draft, &key, &map)?);
            names.push(name);
        }
        known.fill(draft, &names, values, constants)?;
        Ok(known)
    }

    fn fill(&mut self, draft: &Draft, maps: &[&str], values: Vec<Real>, constants: &[f64]) -> Result<(), Error> {
        let named = |error: cinoc_text::Error| draft.fault("a name", error.to_string());
        self.scope = Scope::new(self.grid.dimensions());
        self.scope.add(maps, Kind::MAP).map_err(named)?;
        self.arrays = vec![(Shape::new(&[1, values.len()]), values)];
        if !constants.is_empty() {
            let names: Vec<&str> = draft.constants.iter().map(|constant| constant.name.as_str()).collect();
            self.scope.add(&names, Kind::CONSTANT).map_err(named)?;
            self.arrays.push((Shape::new(&[1, constants.len()]), constants.iter().map(|x| *x as Real).collect()));
        }
        Ok(())
    }

    /// Position of a point of the domain on the grid, and of one beyond its ends at an end.
    pub fn on_grid(&self, point: &[f64]) -> Vec<Real> {
        let shift = |axis: usize| if self.grid.periodic { 0.0 } else { 0.5 * self.grid.spacing(axis) };
        let at = |(axis, x): (usize, &f64)| ((x - shift(axis)) as Real).clamp(0.0, self.grid.lengths[axis]);
        point.iter().enumerate().map(at).collect()
    }

    /// Parses a text; `key` names it in errors.
    pub fn parse(&self, draft: &Draft, key: &str, text: &str, scope: &Scope) -> Result<Expr, Error> {
        parse(text, scope).map_err(|error| draft.fault(key, error.to_string()))
    }

    /// Compiles expressions along an axis.
    pub fn plan(&self, draft: &Draft, key: &str, exprs: &[&Expr], scope: &Scope, axis: Axis) -> Result<Plan, Error> {
        Plan::new(scope, exprs, axis).map_err(|error| draft.fault(key, error.to_string()))
    }

    /// Records the values on a tape: the first arrays of every scope.
    pub fn record<'t>(&self, tape: &'t Tape<'t>) -> Vec<Var<'t>> {
        self.arrays.iter().map(|(shape, values)| tape.constant(*shape, values)).collect()
    }

    /// Records the values with those of the fields behind them, and of the target if there is one: that of the first field.
    pub fn with_state<'t>(&self, z: Var<'t>, target: Option<Var<'t>>) -> Vec<Var<'t>> {
        let mut arrays = self.record(z.tape());
        arrays.push(z);
        arrays.extend(target.map(|target| {
            let (batch, n) = (target.shape().sizes()[0], self.grid.count());
            let all = target.shape().count() / batch;
            if all == n { target } else { target.reshape([batch, all]).columns(0, n) }
        }));
        arrays
    }

    /// Values of an expression of these names.
    fn evaluate(&self, draft: &Draft, key: &str, expr: &Expr, axis: Axis) -> Result<Vec<Real>, Error> {
        let plan = self.plan(draft, key, &[expr], &self.scope, axis)?;
        if plan.calls().next().is_some() {
            return Err(draft.fault(key, "operators and means are not possible here; write a text of coordinates and constants"));
        }
        let tape = Tape::new(Arena::default(), &[]);
        let values = plan.record(&self.record(&tape), &Without).value();
        match values.iter().find(|x| !x.is_finite()) {
            Some(wrong) => Err(draft.fault(key, format!("{expr} is {wrong}; correct it or the constants"))),
            None => Ok(values),
        }
    }

    /// Values of an expression in all cells.
    pub fn cells(&self, draft: &Draft, key: &str, expr: &Expr) -> Result<Vec<Real>, Error> {
        self.evaluate(draft, key, expr, Axis::Cells)
    }

    /// Values of a coefficient: one for each cell, or one if they are all the same.
    pub fn coefficient(&self, draft: &Draft, key: &str, expr: &Expr) -> Result<Vec<Real>, Error> {
        let axis = if expr.kind.axis == Axis::Cells { Axis::Cells } else { Axis::Instance };
        self.evaluate(draft, key, expr, axis)
    }

    /// Value of a text of constants.
    pub fn number(&self, draft: &Draft, key: &str, text: &str) -> Result<Real, Error> {
        let expr = self.parse(draft, key, text, &self.scope)?;
        Ok(self.evaluate(draft, key, &expr, Axis::Instance)?[0])
    }
}
