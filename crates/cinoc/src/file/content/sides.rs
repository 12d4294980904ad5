//! Conditions at the sides of a domain, with numbers that may depend on time.

use super::draft::{Draft, FieldText, SideText};
use super::known::{Known, Without};
use crate::Error;
use cinoc_pde::volume::{Mesh, Side};
use cinoc_tape::{Arena, Tape, Var};
use cinoc_text::{Axis, Plan};
use std::sync::Arc;

/// Numbers of the sides of a mesh.
pub struct Sides {
    /// One expression for each end of each axis.
    plan: Plan,
    /// The expression of each face.
    faces: Arc<[u32]>,
    /// True if they depend on time.
    pub timed: bool,
}

impl Sides {
    /// The mesh with the sides of a field, and their numbers.
    pub fn new(draft: &Draft, field: &FieldText, known: &Known) -> Result<(Mesh, Self), Error> {
        let own = format!("fields.{}", field.name);
        let key = if field.sides == draft.sides { "domain" } else { &own };
        let mut scope = known.scope.clone();
        known.series.declare(draft, &mut scope)?;
        let (mut sides, mut exprs) = (Vec::new(), Vec::new());
        for side in field.sides.iter().flatten() {
            let (kind, outside) = match side {
                SideText::Periodic => (Side::Periodic, "0"),
                SideText::Value(value) => (Side::Value, value.as_str()),
                SideText::Flux(flux) => (Side::Flux, flux.as_str()),
                SideText::Open(inflow) => (Side::Open, inflow.as_str()),
                SideText::Exchange { coefficient, outside } => {
                    if known.series.occur_in(&known.parse(draft, key, coefficient, &scope)?) {
                        let reason = format!("the coefficient of an exchange, {coefficient}, cannot depend on time");
                        return Err(draft.fault(key, reason));
                    }
                    let h = known.number(draft, key, coefficient)?;
                    if h < 0.0 {
                        let reason = format!("the coefficient of an exchange cannot be {h}; it must be at least 0");
                        return Err(draft.fault(key, reason));
                    }
                    (Side::exchange(h), outside.as_str())
                }
            };
            sides.push(kind);
            exprs.push(known.parse(draft, key, outside, &scope)?);
        }
        let pairs = sides.chunks_exact(2).map(|ends| [ends[0].clone(), ends[1].clone()]).collect();
        let mesh = known.with_solid(Mesh::new(&known.grid.nodes, &draft.size, pairs));
        let mut faces = vec![0; mesh.faces()];
        for axis in 0..mesh.dimensions() {
            for end in 0..2 {
                faces[mesh.side(axis, end)].fill((2 * axis + end) as u32);
            }
        }
        let plan = known.plan(draft, key, &exprs.iter().collect::<Vec<_>>(), &scope, Axis::Instance)?;
        if plan.calls().next().is_some() {
            return Err(draft.fault(key, "numbers of sides cannot have operators or means; write texts of t and constants"));
        }
        let timed = exprs.iter().any(|expr| known.series.occur_in(expr));
        let sides = Self { plan, faces: faces.into(), timed };
        let tape = Tape::new(Arena::default(), &[]);
        let arrays = known.record(&tape);
        let start = sides.at(&arrays, known.series.constant(&tape, &arrays, draft.time.begin(0.0))).value();
        match start.iter().find(|x| !x.is_finite()) {
            Some(wrong) => Err(draft.fault(key, format!("a number of a side is {wrong}; correct it or the constants"))),
            None => Ok((mesh, sides)),
        }
    }

    /// The number of each face, from the arrays of known names and the values of the series.
    pub fn at<'t>(&self, known: &[Var<'t>], series: Var<'t>) -> Var<'t> {
        if self.faces.is_empty() {
            return series.tape().zeros([1]);
        }
        self.plan.record(&[known, &[series]].concat(), &Without).gather(&self.faces)
    }
}
