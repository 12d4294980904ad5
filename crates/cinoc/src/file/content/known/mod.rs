//! Names whose values are the same in all ticks: coordinates, maps and constants.

mod curves;
mod map_data;
mod series;

pub use series::mentions;

use super::draft::{Draft, Map, MapText};
use crate::{Error, Real};
use cinoc_pde::Grid;
use cinoc_pde::volume::Mesh;
use cinoc_tape::{Arena, Shape, Tape, Var};
use cinoc_text::{Axis, Call, Expr, Kind, Operators, Plan, Scope, parse};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names of the coordinates.
const COORDINATES: [&str; 3] = ["x", "y", "z"];

/// Coordinates, maps and constants with their values, and the grid that agents see.
///
/// Values belong to the centres of cells. Along a periodic axis these are the nodes of the grid. Between walls
/// the grid reaches from the first centre to the last, so its positions are half a cell less than those in texts.
pub struct Known {
    pub grid: Grid,
    pub scope: Scope,
    arrays: Vec<(Shape, Vec<Real>)>,
    /// Indices of the cells that are not solid; `None` if no cell is.
    pub fluid: Option<Arc<[u32]>>,
    /// Indices of the cells of each zone that are not solid.
    pub zones: Arc<Zones>,
    pub series: series::Series,
}

/// Cells of zones by name.
pub type Zones = BTreeMap<String, Arc<[u32]>>;

/// No operators: in texts of numbers.
pub struct Without;

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
        let length = |axis: usize| (draft.size[axis] - if periodic[axis] { 0.0 } else { spacing(axis) }) as Real;
        let grid = Grid { nodes: cells.to_vec(), lengths: (0..d).map(length).collect(), periodic };
        let count = grid.count();
        let mut values = Vec::with_capacity(d * count);
        for axis in 0..d {
            let (stride, shift) = (cells[axis + 1..].iter().product::<usize>(), if grid.periodic[axis] { 0.0 } else { 0.5 });
            values.extend((0..count).map(|i| (((i / stride % cells[axis]) as f64 + shift) * spacing(axis)) as Real));
        }
        let mut names: Vec<&str> = COORDINATES[..d].to_vec();
        let (scope, fluid, series) = (Scope::new(d), None, series::Series::default());
        let mut known = Self { grid, scope, arrays: Vec::new(), fluid, zones: Arc::default(), series };
        known.fill(draft, &names, values.clone(), constants)?;
        for Map { name, text, .. } in &draft.maps {
            if let Some(on_cells) = map_data::on_cells(draft, &format!("maps.{name}"), text, &known)? {
                values.extend(on_cells);
                names.push(name);
            }
        }
        known.fill(draft, &names, values.clone(), constants)?;
        for Map { name, text, .. } in &draft.maps {
            if let MapText::Text(text) = text {
                values.extend(known.text(draft, &format!("maps.{name}"), text)?);
                names.push(name);
            }
        }
        known.fill(draft, &names, values, constants)?;
        known.add_vectors(draft)?;
        let zones = known.add_zones(draft)?;
        known.fluid = known.fluid_cells(draft)?;
        known.zones = Arc::new(known.without_solid(draft, zones)?);
        known.series = series::Series::new(draft, &known)?;
        Ok(known)
    }

    fn add_vectors(&mut self, draft: &Draft) -> Result<(), Error> {
        for Map { name, text, .. } in &draft.maps {
            let MapText::Vector(texts) = text else { continue };
            let (key, d) = (format!("maps.{name}"), self.grid.dimensions());
            if texts.len() != d {
                let reason = format!("a vector has a text for each axis, here {d}, like wind = [\"0.1\", \"x\"] in the plane");
                return Err(draft.fault(key, reason));
            }
            let mut values = Vec::new();
            for text in texts {
                values.extend(self.text(draft, &key, text)?);
            }
            self.scope.add(&[name], Kind::MAP.vector()).map_err(|error| draft.fault(key, error.to_string()))?;
            self.arrays.push((Shape::new(&[1, values.len()]), values));
        }
        Ok(())
    }

    /// Adds the zones to the names and returns the values of each: 1 in its cells, else 0.
    fn add_zones(&mut self, draft: &Draft) -> Result<Vec<Vec<Real>>, Error> {
        let mut all = Vec::new();
        for Map { name, text, .. } in &draft.zones {
            let key = format!("zones.{name}");
            let values = match (map_data::on_cells(draft, &key, text, self)?, text) {
                (Some(values), _) => values,
                (None, MapText::Text(text)) => self.condition(draft, &key, text)?,
                _ => return Err(draft.fault(key, "it must be a condition, like \"x < 2 && y < 1\", or a map of data")),
            };
            all.push(values.into_iter().map(|value| if value == 0.0 { 0.0 } else { 1.0 }).collect());
        }
        let names: Vec<&str> = draft.zones.iter().map(|zone| zone.name.as_str()).collect();
        if !names.is_empty() {
            self.scope.add(&names, Kind::ZONE).map_err(|error| draft.fault("zones", error.to_string()))?;
            let values: Vec<Real> = all.concat();
            self.arrays.push((Shape::new(&[1, values.len()]), values));
        }
        Ok(all)
    }

    /// The cells of zones that are not solid.
    fn without_solid(&self, draft: &Draft, zones: Vec<Vec<Real>>) -> Result<Zones, Error> {
        let mut all = Zones::new();
        let fluid = self.fluid_mask();
        for (zone, values) in draft.zones.iter().zip(zones) {
            let inside = |i: &usize| values[*i] > 0.0 && fluid.as_ref().is_none_or(|fluid| fluid[*i] > 0.0);
            let cells: Arc<[u32]> = (0..values.len()).filter(inside).map(|i| i as u32).collect();
            if cells.is_empty() {
                let reason = "no cell is in this zone, except solid ones; correct its condition, or use more cells";
                return Err(draft.fault(format!("zones.{}", zone.name), reason));
            }
            all.insert(zone.name.clone(), cells);
        }
        Ok(all)
    }

    /// Values of a condition in all cells, or of a number.
    fn condition(&self, draft: &Draft, key: &str, text: &str) -> Result<Vec<Real>, Error> {
        let condition = format!("where({text}, 1, 0)");
        let is_condition = parse(&condition, &self.scope).is_ok();
        self.text(draft, key, if is_condition { &condition } else { text })
    }

    fn fluid_cells(&self, draft: &Draft) -> Result<Option<Arc<[u32]>>, Error> {
        let Some(text) = &draft.solid else { return Ok(None) };
        let key = "domain.solid";
        let solid = self.condition(draft, key, text)?;
        let fluid: Vec<u32> = (0..).zip(&solid).filter(|(_, solid)| **solid == 0.0).map(|(i, _)| i).collect();
        if fluid.is_empty() {
            return Err(draft.fault(key, "all cells are solid; correct the condition, like \"walls > 0.5\""));
        }
        Ok((fluid.len() < solid.len()).then(|| fluid.into()))
    }

    /// The mesh with the solid cells.
    pub fn with_solid(&self, mesh: Mesh) -> Mesh {
        match self.fluid_mask() {
            Some(mask) => mesh.with_solid(&mask.iter().map(|fluid| *fluid == 0.0).collect::<Vec<_>>()),
            None => mesh,
        }
    }

    /// One for each cell, 0 if it is solid, else 1; `None` if no cell is.
    pub fn fluid_mask(&self) -> Option<Vec<Real>> {
        let mut mask = vec![0.0; self.grid.count()];
        self.fluid.as_ref()?.iter().for_each(|i| mask[*i as usize] = 1.0);
        Some(mask)
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
        let shift = |axis: usize| if self.grid.periodic[axis] { 0.0 } else { 0.5 * self.grid.spacing(axis) };
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

    /// Records the values with those of the fields behind them, of the target if there is one (that of the first field),
    /// and of the series after `now` ticks, `[batch]`.
    pub fn with_state<'t>(&self, z: Var<'t>, target: Option<Var<'t>>, now: Option<Var<'t>>, tick: f64) -> Vec<Var<'t>> {
        let mut arrays = self.record(z.tape());
        let series = self.series.after(&arrays, now, tick);
        arrays.push(z);
        arrays.extend(target.map(|target| {
            let (batch, n) = (target.shape().sizes()[0], self.grid.count());
            let all = target.shape().count() / batch;
            if all == n { target } else { target.reshape([batch, all]).columns(0, n) }
        }));
        arrays.push(series);
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

    /// Values of a text in all cells.
    fn text(&self, draft: &Draft, key: &str, text: &str) -> Result<Vec<Real>, Error> {
        self.evaluate(draft, key, &self.parse(draft, key, text, &self.scope)?, Axis::Cells)
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
