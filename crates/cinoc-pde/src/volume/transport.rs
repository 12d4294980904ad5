//! Transport by a given velocity.

use super::Mesh;
use super::mesh::{Face, Run};
use super::spread::Spread;
use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::sync::Arc;

/// `div(v z)`, or `v·grad z = div(v z) − z div v`. Inputs: `z`, `outside`, and a component of `v` for each axis.
///
/// A face has the mean velocity of its two cells and the value of the upwind one, extrapolated by half of the limited
/// difference of van Leer: second order where the field is smooth, first at extrema, beside solids and at sides. Explicit
/// Euler steps within [`super::Rates::tick`] create no new extrema if `div v = 0`, and no negative densities for any
/// `v`.
#[derive(Debug)]
pub(super) struct Transport {
    pub mesh: Arc<Mesh>,
    pub conservative: bool,
}

/// Limited difference from those before and after a cell: their harmonic mean, or 0 if their signs differ.
#[inline(always)]
fn limited(before: Real, after: Real) -> Real {
    if before * after > 0.0 { 2.0 * before * (after / (before + after)) } else { 0.0 }
}

/// Derivatives of [`limited`].
#[inline(always)]
fn limited_slopes(before: Real, after: Real) -> [Real; 2] {
    if before * after > 0.0 {
        let share = before / (before + after);
        [2.0 * (1.0 - share) * (1.0 - share), 2.0 * share * share]
    } else {
        [0.0; 2]
    }
}

/// Working space, for the cells and for the faces on sides.
struct Space<'a> {
    v: &'a mut [Real],
    v_bar: &'a mut [Real],
    /// Differences to the preceding and to the following cell.
    before: &'a mut [Real],
    after: &'a mut [Real],
    slope: &'a mut [Real],
    slope_bar: &'a mut [Real],
    outside: &'a mut [Real],
    outside_bar: &'a mut [Real],
}

impl Transport {
    fn layout(&self, x: &[Shape]) -> (Spread, [Spread; 3]) {
        let (d, batch) = (self.mesh.dimensions(), self.mesh.batch("transport", x[0]));
        assert_eq!(x.len(), 2 + d, "transport: a field, numbers outside and {d} components of the velocity");
        let v = [0, 1, 2].map(|axis| Spread::new("velocity", x[2 + axis.min(d - 1)], batch, self.mesh.count()));
        (Spread::new("numbers outside", x[1], batch, self.mesh.faces()), v)
    }

    fn space<'a>(&self, scratch: &'a mut [Real]) -> Space<'a> {
        let (cells, sides) = scratch.split_at_mut(6 * self.mesh.count());
        let mut cells = cells.chunks_exact_mut(self.mesh.count());
        let (outside, outside_bar) = sides[..2 * self.mesh.faces()].split_at_mut(self.mesh.faces());
        let [v, v_bar, before, after, slope, slope_bar] = std::array::from_fn(|_| cells.next().expect("six arrays"));
        Space { v, v_bar, before, after, slope, slope_bar, outside, outside_bar }
    }

    /// Pairs of neighbours along an axis, upper and lower, between which transport passes.
    fn pairs(&self, axis: usize) -> impl Iterator<Item = [usize; 2]> + '_ {
        let all = self.mesh.runs(axis).flat_map(|Run { upper, lower, length }| (0..length).map(move |j| [upper + j, lower + j]));
        all.filter(move |&[upper, _]| self.mesh.weights(axis)[upper] > 0.0)
    }

    /// Faces on the sides of an axis through which transport passes, numbered.
    fn open(&self, axis: usize) -> impl Iterator<Item = (usize, &Face)> {
        self.mesh.boundary().iter().enumerate().filter(move |(_, face)| face.axis == axis && face.passes_transport)
    }

    /// Computes differences and slopes along an axis.
    fn slopes(&self, axis: usize, z: &[Real], space: &mut Space) {
        let Space { before, after, slope, .. } = space;
        before.fill(0.0);
        after.fill(0.0);
        for [upper, lower] in self.pairs(axis) {
            let difference = z[upper] - z[lower];
            (before[upper], after[lower]) = (difference, difference);
        }
        for ((slope, before), after) in slope.iter_mut().zip(&**before).zip(&**after) {
            *slope = limited(*before, *after);
        }
    }

    /// Share of the flux that counts in a cell: in `v·grad z` the value of the cell is subtracted.
    fn relative(&self, value: Real, own: Real) -> Real {
        if self.conservative { value } else { value - own }
    }
}

impl Op for Transport {
    fn name(&self) -> &'static str {
        "transport by volumes"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        self.layout(x);
        x[0]
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        6 * self.mesh.count() + 2 * self.mesh.faces()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let n = self.mesh.count();
        let (outside_at, v_at) = self.layout(x.shapes());
        let mut space = self.space(scratch);
        y.fill(0.0);
        for (b, (z, y)) in x[0].chunks_exact(n).zip(y.chunks_exact_mut(n)).enumerate() {
            outside_at.expand(&x[1], b, space.outside);
            for axis in 0..self.mesh.dimensions() {
                let per_length = (1.0 / self.mesh.spacing(axis)) as Real;
                v_at[axis].expand(&x[2 + axis], b, space.v);
                self.slopes(axis, z, &mut space);
                for [upper, lower] in self.pairs(axis) {
                    let v = 0.5 * per_length * (space.v[upper] + space.v[lower]);
                    let value = if v > 0.0 { z[lower] + 0.5 * space.slope[lower] } else { z[upper] - 0.5 * space.slope[upper] };
                    y[lower] += v * self.relative(value, z[lower]);
                    y[upper] -= v * self.relative(value, z[upper]);
                }
                for (f, face) in self.open(axis) {
                    let (i, leaving) = (face.cell, face.normal * per_length * space.v[face.cell]);
                    let value = if leaving > 0.0 { z[i] } else { space.outside[f] };
                    y[i] += leaving * self.relative(value, z[i]);
                }
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let n = self.mesh.count();
        let (outside_at, v_at) = self.layout(x.shapes());
        let mut space = self.space(scratch);
        // What the value in a cell contributes besides the flux: `∂ relative / ∂ own`.
        let own = if self.conservative { 0.0 } else { -1.0 };
        for (b, (z, w)) in x[0].chunks_exact(n).zip(y_bar.chunks_exact(n)).enumerate() {
            outside_at.expand(&x[1], b, space.outside);
            space.outside_bar.fill(0.0);
            for axis in 0..self.mesh.dimensions() {
                let per_length = (1.0 / self.mesh.spacing(axis)) as Real;
                v_at[axis].expand(&x[2 + axis], b, space.v);
                self.slopes(axis, z, &mut space);
                let mut z_bar = bars.get(0).map(|z_bar| &mut z_bar[b * n..][..n]);
                let mut add = |i: usize, bar: Real| {
                    if let Some(z_bar) = &mut z_bar {
                        z_bar[i] += bar;
                    }
                };
                space.v_bar.fill(0.0);
                space.slope_bar.fill(0.0);
                for [upper, lower] in self.pairs(axis) {
                    let v = 0.5 * per_length * (space.v[upper] + space.v[lower]);
                    let (from, sign) = if v > 0.0 { (lower, 0.5) } else { (upper, -0.5) };
                    let value = z[from] + sign * space.slope[from];
                    let value_bar = v * (w[lower] - w[upper]);
                    add(from, value_bar);
                    add(lower, own * v * w[lower]);
                    add(upper, -own * v * w[upper]);
                    space.slope_bar[from] += sign * value_bar;
                    let v_bar = w[lower] * self.relative(value, z[lower]) - w[upper] * self.relative(value, z[upper]);
                    space.v_bar[upper] += 0.5 * per_length * v_bar;
                    space.v_bar[lower] += 0.5 * per_length * v_bar;
                }
                // Differences give way to their cotangents.
                for i in 0..n {
                    let [by_before, by_after] = limited_slopes(space.before[i], space.after[i]);
                    (space.before[i], space.after[i]) = (by_before * space.slope_bar[i], by_after * space.slope_bar[i]);
                }
                for [upper, lower] in self.pairs(axis) {
                    let bar = space.before[upper] + space.after[lower];
                    add(upper, bar);
                    add(lower, -bar);
                }
                for (f, face) in self.open(axis) {
                    let (i, scale) = (face.cell, face.normal * per_length);
                    let leaving = scale * space.v[i];
                    let value = if leaving > 0.0 { z[i] } else { space.outside[f] };
                    if leaving > 0.0 {
                        add(i, leaving * w[i]);
                    } else {
                        space.outside_bar[f] += leaving * w[i];
                    }
                    add(i, own * leaving * w[i]);
                    space.v_bar[i] += scale * w[i] * self.relative(value, z[i]);
                }
                if let Some(bar) = bars.get(2 + axis) {
                    v_at[axis].add(space.v_bar, b, bar);
                }
            }
            if let Some(bar) = bars.get(1) {
                outside_at.add(space.outside_bar, b, bar);
            }
        }
    }
}
