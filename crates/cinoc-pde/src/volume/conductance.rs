//! Conductances of faces, `div(k grad z) = Σ over faces g·(neighbour − z)`, and their derivatives.

use super::Mesh;
use super::mesh::{Face, Law, Run};
use super::stencil::Stencil;
use crate::Real;
use cinoc_tape::kernel::vectorise;

/// Harmonic mean of the coefficients of two cells: that of two layers in series.
#[inline(always)]
fn harmonic(a: Real, b: Real) -> Real {
    let sum = a + b;
    if sum == 0.0 { 0.0 } else { 2.0 * a * (b / sum) }
}

/// Derivative of the harmonic mean with respect to `a`.
#[inline(always)]
fn harmonic_slope(a: Real, b: Real) -> Real {
    let sum = a + b;
    let share = if sum == 0.0 { 0.5 } else { b / sum };
    2.0 * share * share
}

/// Half a cell and an exchange in series: conductance per area and its derivative with respect to `k`.
fn to_outside(k: Real, h: Real, dx: Real) -> [Real; 2] {
    let (half, slope) = (2.0 * k / dx, 2.0 / dx);
    let share = if h.is_infinite() {
        1.0
    } else if half + h == 0.0 {
        0.0
    } else {
        h / (half + h)
    };
    [half * share, slope * share * share]
}

impl Mesh {
    fn dx(&self, face: &Face) -> Real {
        self.spacing(face.axis) as Real
    }

    /// Numbers in [`Conductances`].
    pub(super) fn conductances_len(&self) -> usize {
        (1 + self.dimensions()) * self.count() + self.faces()
    }

    /// Divides storage into conductances.
    pub(super) fn conductances<'a>(&self, all: &'a [Real]) -> Conductances<'a> {
        let (own, rest) = all.split_at(self.count());
        let (faces, rest) = rest.split_at(self.dimensions() * self.count());
        Conductances { matrix: Stencil { cells: self.box_of_cells(), own, faces }, sides: &rest[..self.faces()] }
    }

    /// Conductances of `k = 1`.
    pub(super) fn unit_conductances(&self) -> Vec<Real> {
        let mut all = vec![0.0; self.conductances_len()];
        self.conduct(&vec![1.0; self.count()], 1.0, &mut all);
        all
    }

    /// Computes the conductances of the map `k`, times `factor`, into storage that
    /// [`conductances`](Self::conductances) divides. The own terms are those of the sides.
    pub(super) fn conduct(&self, k: &[Real], factor: Real, all: &mut [Real]) {
        let (own, rest) = all.split_at_mut(self.count());
        let (faces, sides) = rest.split_at_mut(self.dimensions() * self.count());
        own.fill(0.0);
        for (axis, g) in faces.chunks_exact_mut(self.count()).enumerate() {
            for Run { upper, lower, length } in self.runs(axis) {
                let (g, weights) = (&mut g[upper..][..length], &self.weights(axis)[upper..][..length]);
                let (k_upper, k_lower) = (&k[upper..][..length], &k[lower..][..length]);
                vectorise(
                    #[inline(always)]
                    || (0..length).for_each(|j| g[j] = factor * weights[j] * harmonic(k_upper[j], k_lower[j])),
                );
            }
        }
        for (g, face) in sides.iter_mut().zip(self.boundary()) {
            let dx = self.dx(face);
            *g = match face.law {
                Law::Exchange(h) => factor / dx * to_outside(k[face.cell], h, dx)[0],
                Law::Given | Law::None => 0.0,
            };
            own[face.cell] += *g;
        }
    }

    /// Adds the flux through the sides that does not depend on the field; `sides` are their conductances.
    pub(super) fn add_inflow(&self, sides: &[Real], outside: &[Real], factor: Real, y: &mut [Real]) {
        for ((face, g), outside) in self.boundary().iter().zip(sides).zip(outside) {
            match face.law {
                Law::Exchange(_) => y[face.cell] += g * outside,
                Law::Given => y[face.cell] += factor / self.dx(face) * outside,
                Law::None => {}
            }
        }
    }

    /// Adds the cotangent of `outside` in [`add_inflow`](Self::add_inflow) of cotangent `w`.
    pub(super) fn pull_inflow(&self, sides: &[Real], w: &[Real], factor: Real, outside_bar: &mut [Real]) {
        for ((face, g), bar) in self.boundary().iter().zip(sides).zip(outside_bar) {
            match face.law {
                Law::Exchange(_) => *bar += g * w[face.cell],
                Law::Given => *bar += factor / self.dx(face) * w[face.cell],
                Law::None => {}
            }
        }
    }

    /// Computes the cotangent of `k` in `factor·div(k grad z)` of cotangent `w`.
    pub(super) fn pull_conductivity(
        &self,
        k: &[Real],
        z: &[Real],
        w: &[Real],
        outside: &[Real],
        factor: Real,
        k_bar: &mut [Real],
    ) {
        k_bar.fill(0.0);
        for axis in 0..self.dimensions() {
            for Run { upper, lower, length } in self.runs(axis) {
                let weights = &self.weights(axis)[upper..][..length];
                let [(k_upper, k_lower), (z_upper, z_lower), (w_upper, w_lower)] =
                    [k, z, w].map(|all| (&all[upper..][..length], &all[lower..][..length]));
                vectorise(
                    #[inline(always)]
                    || {
                        let bar = |j: usize| factor * weights[j] * (z_upper[j] - z_lower[j]) * (w_lower[j] - w_upper[j]);
                        let to = &mut k_bar[upper..][..length];
                        (0..length).for_each(|j| to[j] += bar(j) * harmonic_slope(k_upper[j], k_lower[j]));
                        let to = &mut k_bar[lower..][..length];
                        (0..length).for_each(|j| to[j] += bar(j) * harmonic_slope(k_lower[j], k_upper[j]));
                    },
                );
            }
        }
        for (face, outside) in self.boundary().iter().zip(outside) {
            let (Law::Exchange(h), i, dx) = (face.law, face.cell, self.dx(face)) else { continue };
            k_bar[i] += factor / dx * to_outside(k[i], h, dx)[1] * (outside - z[i]) * w[i];
        }
    }
}

/// Conductances of a mesh: the matrix `−div(k grad z)` with zero outside, and those of the faces on sides.
#[derive(Clone, Copy)]
pub(super) struct Conductances<'a> {
    pub matrix: Stencil<'a>,
    pub sides: &'a [Real],
}
