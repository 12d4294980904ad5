//! Components of the gradient.

use super::Mesh;
use super::lines::Lines;
use super::mesh::{Law, Run};
use super::spread::Spread;
use crate::Real;
use cinoc_tape::kernel::{parallel, vectorise};
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::sync::Arc;

/// `∂z/∂x` along an axis. Inputs: `z`, `outside`.
///
/// Centred differences; of first order in cells beside a solid or a side.
#[derive(Debug)]
pub(super) struct Gradient {
    mesh: Arc<Mesh>,
    axis: usize,
    /// Factors of the differences towards the preceding and the following cell; 0 where the face between is closed.
    before: Vec<Real>,
    after: Vec<Real>,
    sides: Vec<Beside>,
}

/// A cell beside a given value, the number of its face, and the factor of `outside − z`.
#[derive(Debug)]
struct Beside {
    face: usize,
    cell: usize,
    factor: Real,
}

/// Arithmetic of a cell.
const COST: usize = 6;

/// Numbers beyond the ends of a line.
const BEYOND: usize = 2;

impl Gradient {
    pub fn new(mesh: &Arc<Mesh>, axis: usize) -> Self {
        let half = (0.5 / mesh.spacing(axis)) as Real;
        let (mut before, mut after) = (vec![0.0; mesh.count()], vec![0.0; mesh.count()]);
        for Run { upper, lower, length } in mesh.runs(axis) {
            for j in (0..length).filter(|j| mesh.weights(axis)[upper + j] > 0.0) {
                (before[upper + j], after[lower + j]) = (half, half);
            }
        }
        for face in mesh.boundary().iter().filter(|face| face.axis == axis && given(face.law)) {
            // Half a cell away.
            (if face.normal < 0.0 { &mut before } else { &mut after })[face.cell] = 2.0 * half;
        }
        for (before, after) in before.iter_mut().zip(&mut after) {
            match (*before > 0.0, *after > 0.0) {
                (true, false) => *before *= 2.0,
                (false, true) => *after *= 2.0,
                _ => {}
            }
        }
        let mut sides = Vec::new();
        for (face, at) in mesh.boundary().iter().enumerate().filter(|(_, face)| face.axis == axis && given(face.law)) {
            let factor = std::mem::take(if at.normal < 0.0 { &mut before[at.cell] } else { &mut after[at.cell] });
            sides.push(Beside { face, cell: at.cell, factor: at.normal * factor });
        }
        Self { mesh: mesh.clone(), axis, before, after, sides }
    }

    fn layout(&self, x: &[Shape]) -> Spread {
        Spread::new("numbers outside", x[1], self.mesh.batch("gradient", x[0]), self.mesh.faces())
    }

    /// Calls `cells` for each line of the result with the preceding, the own and the following values of three arrays.
    #[inline(always)]
    fn lines(&self, [a, b, c]: [&[Real]; 3], y: &mut [Real], cells: impl Fn([[&[Real]; 3]; 3], &mut [Real]) + Sync) {
        let (lines, axis) = (Lines::of(&self.mesh), self.axis);
        let n = lines.length();
        parallel::rows(y, n, COST * n, |first, y| {
            parallel::with_scratch(3 * (n + BEYOND), |pad| {
                let (pad_a, rest) = pad.split_at_mut(n + BEYOND);
                let (pad_b, pad_c) = rest.split_at_mut(n + BEYOND);
                vectorise(
                    #[inline(always)]
                    || {
                        for (line, y) in (first..).zip(y.chunks_exact_mut(n)) {
                            let along = lines.along(line, axis);
                            let a = along.around(a, -1, pad_a);
                            let b = along.around(b, -1, pad_b);
                            let c = along.around(c, -1, pad_c);
                            cells([a, b, c], y);
                        }
                    },
                );
            });
        });
    }
}

/// Returns true if the value on the face is given.
fn given(law: Law) -> bool {
    matches!(law, Law::Exchange(h) if h.is_infinite())
}

impl Op for Gradient {
    fn name(&self) -> &'static str {
        "gradient"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        self.layout(x);
        x[0]
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        self.mesh.faces()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], outside: &mut [Real]) {
        let (n, outside_at) = (self.mesh.count(), self.layout(x.shapes()));
        for (b, (z, y)) in x[0].chunks_exact(n).zip(y.chunks_exact_mut(n)).enumerate() {
            self.lines(
                [z, &self.before, &self.after],
                y,
                #[inline(always)]
                |all, y| {
                    let [[low, here, high], [_, before, _], [_, after, _]] = all.map(|all| all.map(|x| &x[..y.len()]));
                    for j in 0..y.len() {
                        y[j] = before[j] * (here[j] - low[j]) + after[j] * (high[j] - here[j]);
                    }
                },
            );
            outside_at.expand(&x[1], b, &mut outside[..self.mesh.faces()]);
            self.sides.iter().for_each(|side| y[side.cell] += side.factor * (outside[side.face] - z[side.cell]));
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, outside: &mut [Real]) {
        let (n, outside_at) = (self.mesh.count(), self.layout(x.shapes()));
        for (b, w) in y_bar.chunks_exact(n).enumerate() {
            if let Some(z_bar) = bars.get(0) {
                let z_bar = &mut z_bar[b * n..][..n];
                self.lines(
                    [w, &self.before, &self.after],
                    z_bar,
                    #[inline(always)]
                    |all, z_bar| {
                        let [w, before, after] = all.map(|all| all.map(|x| &x[..z_bar.len()]));
                        for j in 0..z_bar.len() {
                            let low = before[1][j] * w[1][j] + after[0][j] * w[0][j];
                            let high = before[2][j] * w[2][j] + after[1][j] * w[1][j];
                            z_bar[j] = z_bar[j] + low - high;
                        }
                    },
                );
                self.sides.iter().for_each(|side| z_bar[side.cell] -= side.factor * w[side.cell]);
            }
            if let Some(bar) = bars.get(1) {
                let outside = &mut outside[..self.mesh.faces()];
                outside.fill(0.0);
                self.sides.iter().for_each(|side| outside[side.face] = side.factor * w[side.cell]);
                outside_at.add(outside, b, bar);
            }
        }
    }
}
