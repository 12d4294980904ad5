//! Operators of texts on the cells of a domain.

use super::known::{Known, Zones};
use crate::Real;
use cinoc_pde::volume::{Mesh, Side, Volume};
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Tape, Var, VarId};
use cinoc_text::{Axis, Call, Operator, Operators, Reduction};
use std::sync::Arc;

/// Operators on a field with conditions at the sides, and on anything else with none.
pub struct CellOperators {
    field: String,
    sides: Volume,
    bare: Volume,
    /// The cells that count in means, sums and maxima; `None` for all.
    fluid: Option<Arc<[u32]>>,
    zones: Arc<Zones>,
    largest: Arc<Largest>,
}

/// These operators with the numbers of the sides.
pub struct AtSides<'a> {
    operators: &'a CellOperators,
    outside: VarId,
}

impl CellOperators {
    /// Creates the operators for the field of this name.
    pub fn new(field: &str, mesh: Mesh, known: &Known) -> Self {
        let end = |side: &Side| if *side == Side::Periodic { Side::Periodic } else { Side::Open };
        let ends = mesh.sides().iter().map(|ends| [end(&ends[0]), end(&ends[1])]).collect();
        let lengths: Vec<f64> = (0..mesh.dimensions()).map(|axis| mesh.spacing(axis) * mesh.cells()[axis] as f64).collect();
        let bare = Volume::new(known.with_solid(Mesh::new(mesh.cells(), &lengths, ends)));
        Self {
            field: field.into(),
            sides: Volume::new(mesh),
            bare,
            fluid: known.fluid.clone(),
            zones: known.zones.clone(),
            largest: Arc::new(Largest),
        }
    }

    /// The operators with the numbers of the sides.
    pub fn at(&self, outside: Var) -> AtSides<'_> {
        AtSides { operators: self, outside: outside.id() }
    }

    /// The operators on the field.
    pub fn volume(&self) -> &Volume {
        &self.sides
    }

    /// Values as a field, of at least `batch` instances.
    fn shaped<'t>(&self, values: Var<'t>, batch: usize) -> Var<'t> {
        let rows = values.shape().rows();
        let shape = self.sides.mesh().shape(rows.max(batch));
        let values = if rows < batch { values.repeat_rows(batch) } else { values };
        if values.shape() == shape { values } else { values.reshape(shape) }
    }
}

/// Operators on several fields, each with its own sides.
pub struct OfFields<'a>(pub Vec<AtSides<'a>>);

impl Operators for OfFields<'_> {
    fn record<'t>(&self, tape: &'t Tape<'t>, call: &Call, inputs: &[Var<'t>]) -> Var<'t> {
        let own = self.0.iter().find(|at| call.of.as_ref() == Some(&at.operators.field));
        own.unwrap_or(&self.0[0]).record(tape, call, inputs)
    }
}

impl Operators for AtSides<'_> {
    fn record<'t>(&self, tape: &'t Tape<'t>, call: &Call, inputs: &[Var<'t>]) -> Var<'t> {
        let cells = self.operators;
        let own = call.of.as_ref() == Some(&cells.field);
        let volume = if own { &cells.sides } else { &cells.bare };
        let outside = if own { tape.var(self.outside) } else { tape.zeros([1]) };
        let batch = inputs.iter().map(|input| input.shape().rows()).max().unwrap_or(1);
        let field = |i: usize| cells.shaped(inputs[i], batch);
        let map = |i: usize| cells.shaped(inputs[i], 1);
        let last = inputs.len() - 1;
        let result = match &call.operator {
            Operator::Laplacian => volume.laplacian(field(0), outside),
            Operator::Diffusion => volume.diffusion(field(1), map(0), outside),
            Operator::Derivative(axis) => volume.gradient(*axis, field(0), outside),
            Operator::Advection => volume.advection(field(last), &(0..last).map(map).collect::<Vec<_>>(), outside),
            Operator::Transport => volume.transport(field(last), &(0..last).map(map).collect::<Vec<_>>(), outside),
            Operator::Divergence => {
                let along = |axis: usize| cells.bare.gradient(axis, field(axis), tape.zeros([1]));
                (1..inputs.len()).fold(along(0), |sum, axis| sum + along(axis))
            }
            Operator::Reduction { reduction, axis, zone } => {
                let zone = zone.as_ref().and_then(|zone| cells.zones.get(zone));
                let all = match (zone.or(cells.fluid.as_ref()), axis) {
                    (Some(part), Axis::Cells) => inputs[0].gather(part),
                    _ => inputs[0],
                };
                let values = match (reduction, axis) {
                    (Reduction::Maximum, _) => all.apply(&cells.largest),
                    (Reduction::Sum, _) => all.sum_keeping(1),
                    (Reduction::Mean, Axis::Cells | Axis::Agents | Axis::Instance) => all.mean_keeping(1),
                };
                return values.reshape([all.shape().rows(), 1]);
            }
            Operator::Random { .. } => unreachable!("equations have no random fields"),
        };
        let shape = result.shape();
        result.reshape([shape.sizes()[0], shape.count() / shape.sizes()[0]])
    }
}

/// Largest value of each row. Input `[batch, n]`; output `[batch]`. The derivative is that of the first largest one.
struct Largest;

impl Largest {
    fn first(row: &[Real]) -> usize {
        (1..row.len()).fold(0, |best, i| if row[i] > row[best] || row[best].is_nan() { i } else { best })
    }
}

impl Op for Largest {
    fn name(&self) -> &'static str {
        "largest"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        Shape::new(&[x[0].rows()])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let n = x.shape(0).last();
        y.iter_mut().zip(x[0].chunks_exact(n)).for_each(|(y, row)| *y = row[Self::first(row)]);
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let n = x.shape(0).last();
        let Some(bar) = bars.get(0) else { return };
        for ((bar, row), y_bar) in bar.chunks_exact_mut(n).zip(x[0].chunks_exact(n)).zip(y_bar) {
            bar[Self::first(row)] += y_bar;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc_tape::check::{assert_derivative, noise};

    #[test]
    fn the_derivative_of_the_largest_value_is_exact() {
        let op = Arc::new(Largest);
        assert_derivative(&[(&[2, 5], &noise(10, 1))], |x| x[0].apply(&op));
    }
}
