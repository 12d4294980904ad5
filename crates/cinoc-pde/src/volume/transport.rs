//! Transport by a given velocity.

use super::Mesh;
use super::lines::Lines;
use super::mesh::Face;
use super::spread::Spread;
use super::upwind::Faces;
use crate::Real;
use cinoc_tape::kernel::{parallel, vectorise};
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

/// Arithmetic of a cell along an axis, forwards.
const COST: usize = 30;

/// Parts of the working space: a component of the velocity and its cotangent, those of the numbers outside, and lines.
struct Space<'a> {
    v: &'a mut [Real],
    v_bar: &'a mut [Real],
    outside: &'a mut [Real],
    outside_bar: &'a mut [Real],
    lines: &'a mut [Real],
}

/// Lines of the working space of the backward pass, and numbers beyond their ends.
const LINES: usize = 9;
const BEYOND: usize = 4;

impl Transport {
    fn layout(&self, x: &[Shape]) -> (Spread, [Spread; 3]) {
        let (d, batch) = (self.mesh.dimensions(), self.mesh.batch("transport", x[0]));
        assert_eq!(x.len(), 2 + d, "transport: a field, numbers outside and {d} components of the velocity");
        let v = [0, 1, 2].map(|axis| Spread::new("velocity", x[2 + axis.min(d - 1)], batch, self.mesh.count()));
        (Spread::new("numbers outside", x[1], batch, self.mesh.faces()), v)
    }

    fn space<'a>(&self, scratch: &'a mut [Real]) -> Space<'a> {
        let (v, rest) = scratch.split_at_mut(self.mesh.count());
        let (v_bar, rest) = rest.split_at_mut(self.mesh.count());
        let (outside, rest) = rest.split_at_mut(self.mesh.faces());
        let (outside_bar, lines) = rest.split_at_mut(self.mesh.faces());
        Space { v, v_bar, outside, outside_bar, lines }
    }

    /// Faces on the sides of an axis through which transport passes, numbered.
    fn open(&self, axis: usize) -> impl Iterator<Item = (usize, &Face)> {
        self.mesh.boundary().iter().enumerate().filter(move |(_, face)| face.axis == axis && face.passes_transport)
    }

    /// Share of the flux that counts in a cell: in `v·grad z` the value of the cell is subtracted.
    fn relative(&self, value: Real, own: Real) -> Real {
        if self.conservative { value } else { value - own }
    }

    /// Adds the rates along an axis by all faces between cells.
    fn add_rates<const CONSERVATIVE: bool>(&self, axis: usize, z: &[Real], v: &[Real], y: &mut [Real]) {
        let (lines, open) = (Lines::of(&self.mesh), self.mesh.weights(axis));
        let (n, half) = (lines.length(), (0.5 / self.mesh.spacing(axis)) as Real);
        parallel::rows(y, n, COST * n, |first, y| {
            parallel::with_scratch(3 * (n + BEYOND), |pad| {
                let (pad_z, rest) = pad.split_at_mut(n + BEYOND);
                let (pad_open, pad_v) = rest.split_at_mut(n + BEYOND);
                vectorise(
                    #[inline(always)]
                    || {
                        for (line, y) in (first..).zip(y.chunks_exact_mut(n)) {
                            let along = lines.along(line, axis);
                            let [a, b, c, d, e] = along.around(z, -2, pad_z);
                            let [f, g, h, i] = along.around(open, -1, pad_open);
                            let [u, v, w] = along.around(v, -1, pad_v);
                            let before = Faces { z: [a, b, c, d], open: [f, g, h], v: [u, v], half };
                            before.add_rates::<CONSERVATIVE, true>(y);
                            let behind = Faces { z: [b, c, d, e], open: [g, h, i], v: [v, w], half };
                            behind.add_rates::<CONSERVATIVE, false>(y);
                        }
                    },
                );
            });
        });
    }

    /// Adds the cotangents of the field and, if `v_bar` is there, of the velocity along an axis by all faces between cells,
    /// from those of the rates, `w`.
    fn pull<const CONSERVATIVE: bool>(
        &self,
        axis: usize,
        [z, v, w]: [&[Real]; 3],
        mut z_bar: Option<&mut [Real]>,
        mut v_bar: Option<&mut [Real]>,
        space: &mut [Real],
    ) {
        let (lines, open) = (Lines::of(&self.mesh), self.mesh.weights(axis));
        let (n, half) = (lines.length(), (0.5 / self.mesh.spacing(axis)) as Real);
        let mut space = space.chunks_exact_mut(n + BEYOND);
        let [a, b, c, d, sum, pad_z, pad_open, pad_v, pad_w]: [&mut [Real]; LINES] =
            std::array::from_fn(|_| space.next().expect("lines of the working space"));
        vectorise(
            #[inline(always)]
            || {
                for line in 0..z.len() / n {
                    let along = lines.along(line, axis);
                    let faces = Faces {
                        z: along.around(z, -2, pad_z),
                        open: along.around(open, -1, pad_open),
                        v: along.around(v, -1, pad_v),
                        half,
                    };
                    let w = along.around(w, -1, pad_w);
                    if let Some(z_bar) = &mut z_bar {
                        faces.pull::<CONSERVATIVE>(w, [&mut a[..n], &mut b[..n], &mut c[..n], &mut d[..n]]);
                        along.add_around([&a[..n], &b[..n], &c[..n], &d[..n]], -2, z_bar, sum);
                    }
                    if let Some(v_bar) = &mut v_bar {
                        faces.pull_velocity::<CONSERVATIVE>(w, &mut a[..n]);
                        along.add_around([&a[..n], &a[..n]], -1, v_bar, sum);
                    }
                }
            },
        );
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
        2 * self.mesh.count() + 2 * self.mesh.faces() + LINES * (Lines::of(&self.mesh).length() + BEYOND)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let n = self.mesh.count();
        let (outside_at, v_at) = self.layout(x.shapes());
        let Space { v, outside, .. } = self.space(scratch);
        y.fill(0.0);
        for (b, (z, y)) in x[0].chunks_exact(n).zip(y.chunks_exact_mut(n)).enumerate() {
            outside_at.expand(&x[1], b, outside);
            for axis in 0..self.mesh.dimensions() {
                let per_length = (1.0 / self.mesh.spacing(axis)) as Real;
                let v = v_at[axis].view(&x[2 + axis], b, v);
                match self.conservative {
                    true => self.add_rates::<true>(axis, z, v, y),
                    false => self.add_rates::<false>(axis, z, v, y),
                }
                for (f, face) in self.open(axis) {
                    let (i, leaving) = (face.cell, face.normal * per_length * v[face.cell]);
                    let value = if leaving > 0.0 { z[i] } else { outside[f] };
                    y[i] += leaving * self.relative(value, z[i]);
                }
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let n = self.mesh.count();
        let (outside_at, v_at) = self.layout(x.shapes());
        let Space { v, v_bar, outside, outside_bar, lines } = self.space(scratch);
        // What the value in a cell contributes besides the flux: `∂ relative / ∂ own`.
        let own = if self.conservative { 0.0 } else { -1.0 };
        for (b, (z, w)) in x[0].chunks_exact(n).zip(y_bar.chunks_exact(n)).enumerate() {
            outside_at.expand(&x[1], b, outside);
            outside_bar.fill(0.0);
            for axis in 0..self.mesh.dimensions() {
                let per_length = (1.0 / self.mesh.spacing(axis)) as Real;
                let v = v_at[axis].view(&x[2 + axis], b, v);
                v_bar.fill(0.0);
                let moved = bars.wanted(2 + axis);
                let mut z_bar = bars.get(0).map(|z_bar| &mut z_bar[b * n..][..n]);
                let (to_z, to_v) = (z_bar.as_deref_mut(), moved.then_some(&mut *v_bar));
                match self.conservative {
                    true => self.pull::<true>(axis, [z, v, w], to_z, to_v, lines),
                    false => self.pull::<false>(axis, [z, v, w], to_z, to_v, lines),
                }
                for (f, face) in self.open(axis) {
                    let (i, scale) = (face.cell, face.normal * per_length);
                    let leaving = scale * v[i];
                    let value = if leaving > 0.0 { z[i] } else { outside[f] };
                    let upwind = if leaving > 0.0 { 1.0 } else { 0.0 };
                    if let Some(z_bar) = &mut z_bar {
                        z_bar[i] += (upwind + own) * leaving * w[i];
                    }
                    outside_bar[f] += (1.0 - upwind) * leaving * w[i];
                    v_bar[i] += scale * w[i] * self.relative(value, z[i]);
                }
                if let Some(bar) = bars.get(2 + axis) {
                    v_at[axis].add(v_bar, b, bar);
                }
            }
            if let Some(bar) = bars.get(1) {
                outside_at.add(outside_bar, b, bar);
            }
        }
    }
}
