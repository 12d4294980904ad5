//! The Laplacian.

use super::Mesh;
use super::spread::Spread;
use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::sync::Arc;

/// `lap z`. Inputs: `z`, `outside`. The same as diffusion with `k = 1`, whose conductances are computed once.
#[derive(Debug)]
pub(super) struct Laplacian {
    mesh: Arc<Mesh>,
    conductances: Vec<Real>,
}

impl Laplacian {
    pub fn new(mesh: &Arc<Mesh>) -> Self {
        Self { mesh: mesh.clone(), conductances: mesh.unit_conductances() }
    }

    fn layout(&self, x: &[Shape]) -> Spread {
        Spread::new("numbers outside", x[1], self.mesh.batch("laplacian", x[0]), self.mesh.faces())
    }
}

impl Op for Laplacian {
    fn name(&self) -> &'static str {
        "laplacian"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        self.layout(x);
        x[0]
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        self.mesh.faces()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], outside: &mut [Real]) {
        let (n, outside_at, g) = (self.mesh.count(), self.layout(x.shapes()), self.mesh.conductances(&self.conductances));
        let outside = &mut outside[..self.mesh.faces()];
        for (b, (z, y)) in x[0].chunks_exact(n).zip(y.chunks_exact_mut(n)).enumerate() {
            outside_at.expand(&x[1], b, outside);
            g.matrix.apply(z, [z, z], y, |y, az, _, _| *y = -az);
            self.mesh.add_inflow(g.sides, outside, 1.0, y);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, outside_bar: &mut [Real]) {
        let (n, outside_at, g) = (self.mesh.count(), self.layout(x.shapes()), self.mesh.conductances(&self.conductances));
        let outside_bar = &mut outside_bar[..self.mesh.faces()];
        for (b, w) in y_bar.chunks_exact(n).enumerate() {
            if let Some(z_bar) = bars.get(0) {
                g.matrix.apply(w, [w, w], &mut z_bar[b * n..][..n], |z_bar, aw, _, _| *z_bar -= aw);
            }
            if let Some(bar) = bars.get(1) {
                outside_bar.fill(0.0);
                self.mesh.pull_inflow(g.sides, w, 1.0, outside_bar);
                outside_at.add(outside_bar, b, bar);
            }
        }
    }
}
