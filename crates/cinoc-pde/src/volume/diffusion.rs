//! Diffusion.

use super::Mesh;
use super::spread::Spread;
use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::sync::Arc;

/// `div(k grad z)`. Inputs: `z`, `k`, `outside` ([`super::Volume`] says their shapes).
///
/// Fluxes pass through faces with the harmonic mean of `k` on both sides, the exact one of two layers. The flux through
/// a side acts over half a cell. The matrix is symmetric.
#[derive(Debug)]
pub(super) struct Diffusion {
    pub mesh: Arc<Mesh>,
}

impl Diffusion {
    fn layout(&self, x: &[Shape]) -> [Spread; 2] {
        let batch = self.mesh.batch("diffusion", x[0]);
        let k = Spread::new("coefficient of diffusion", x[1], batch, self.mesh.count());
        [k, Spread::new("numbers outside", x[2], batch, self.mesh.faces())]
    }
}

impl Op for Diffusion {
    fn name(&self) -> &'static str {
        "diffusion"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        self.layout(x);
        x[0]
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        2 * self.mesh.count() + self.mesh.conductances_len() + 2 * self.mesh.faces()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let (mesh, n) = (&*self.mesh, self.mesh.count());
        let [k_at, outside_at] = self.layout(x.shapes());
        let (k, rest) = scratch.split_at_mut(n);
        let (g, rest) = rest.split_at_mut(mesh.conductances_len());
        let outside = &mut rest[..mesh.faces()];
        for (b, (z, y)) in x[0].chunks_exact(n).zip(y.chunks_exact_mut(n)).enumerate() {
            if b == 0 || !k_at.is_shared() {
                k_at.expand(&x[1], b, k);
                mesh.conduct(k, 1.0, g);
            }
            outside_at.expand(&x[2], b, outside);
            let g = mesh.conductances(g);
            g.matrix.apply(z, [z, z], y, |y, az, _, _| *y = -az);
            mesh.add_inflow(g.sides, outside, 1.0, y);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (mesh, n) = (&*self.mesh, self.mesh.count());
        let [k_at, outside_at] = self.layout(x.shapes());
        let (k, rest) = scratch.split_at_mut(n);
        let (k_bar, rest) = rest.split_at_mut(n);
        let (g, rest) = rest.split_at_mut(mesh.conductances_len());
        let (outside, outside_bar) = rest[..2 * mesh.faces()].split_at_mut(mesh.faces());
        for (b, (z, w)) in x[0].chunks_exact(n).zip(y_bar.chunks_exact(n)).enumerate() {
            if b == 0 || !k_at.is_shared() {
                k_at.expand(&x[1], b, k);
                mesh.conduct(k, 1.0, g);
            }
            let g = mesh.conductances(g);
            if let Some(z_bar) = bars.get(0) {
                g.matrix.apply(w, [w, w], &mut z_bar[b * n..][..n], |z_bar, aw, _, _| *z_bar -= aw);
            }
            if let Some(bar) = bars.get(1) {
                outside_at.expand(&x[2], b, outside);
                mesh.pull_conductivity(k, z, w, outside, 1.0, k_bar);
                k_at.add(k_bar, b, bar);
            }
            if let Some(bar) = bars.get(2) {
                outside_bar.fill(0.0);
                mesh.pull_inflow(g.sides, w, 1.0, outside_bar);
                outside_at.add(outside_bar, b, bar);
            }
        }
    }
}
