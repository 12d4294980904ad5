//! Components of the gradient.

use super::Mesh;
use super::mesh::{Law, Run};
use super::spread::Spread;
use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::sync::Arc;

/// `∂z/∂x` along an axis. Inputs: `z`, `outside`.
///
/// Centred differences; of first order in cells beside a solid or a side.
#[derive(Debug)]
pub(super) struct Gradient {
    mesh: Arc<Mesh>,
    axis: usize,
    /// Factors of the differences towards the preceding and the following cell or value outside.
    before: Vec<Real>,
    after: Vec<Real>,
}

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
        Self { mesh: mesh.clone(), axis, before, after }
    }

    fn layout(&self, x: &[Shape]) -> Spread {
        Spread::new("numbers outside", x[1], self.mesh.batch("gradient", x[0]), self.mesh.faces())
    }

    /// Calls `f(face, cell, factor)` for each face with a given value; its term is `factor·(outside − z)`.
    fn for_each_side(&self, mut f: impl FnMut(usize, usize, Real)) {
        for (i, face) in self.mesh.boundary().iter().enumerate().filter(|(_, face)| face.axis == self.axis && given(face.law)) {
            let factor = if face.normal < 0.0 { -self.before[face.cell] } else { self.after[face.cell] };
            f(i, face.cell, factor);
        }
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
        y.fill(0.0);
        for (b, (z, y)) in x[0].chunks_exact(n).zip(y.chunks_exact_mut(n)).enumerate() {
            for Run { upper, lower, length } in self.mesh.runs(self.axis) {
                // Beyond the ends of an axis that is not periodic, nothing is added.
                for j in (0..length).filter(|j| self.mesh.weights(self.axis)[upper + j] > 0.0) {
                    let difference = z[upper + j] - z[lower + j];
                    y[upper + j] += self.before[upper + j] * difference;
                    y[lower + j] += self.after[lower + j] * difference;
                }
            }
            outside_at.expand(&x[1], b, &mut outside[..self.mesh.faces()]);
            self.for_each_side(|face, cell, factor| y[cell] += factor * (outside[face] - z[cell]));
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, outside: &mut [Real]) {
        let (n, outside_at) = (self.mesh.count(), self.layout(x.shapes()));
        for (b, w) in y_bar.chunks_exact(n).enumerate() {
            if let Some(z_bar) = bars.get(0) {
                let z_bar = &mut z_bar[b * n..][..n];
                for Run { upper, lower, length } in self.mesh.runs(self.axis) {
                    for j in (0..length).filter(|j| self.mesh.weights(self.axis)[upper + j] > 0.0) {
                        let bar = self.before[upper + j] * w[upper + j] + self.after[lower + j] * w[lower + j];
                        z_bar[upper + j] += bar;
                        z_bar[lower + j] -= bar;
                    }
                }
                self.for_each_side(|_, cell, factor| z_bar[cell] -= factor * w[cell]);
            }
            if let Some(bar) = bars.get(1) {
                let outside = &mut outside[..self.mesh.faces()];
                outside.fill(0.0);
                self.for_each_side(|face, cell, factor| outside[face] = factor * w[cell]);
                outside_at.add(outside, b, bar);
            }
        }
    }
}
