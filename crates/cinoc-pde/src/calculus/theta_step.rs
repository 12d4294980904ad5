//! Time step of diffusion with a source between zero walls.

use super::Tridiagonal;
use crate::{Grid, Real};
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// `(1 − θr δ²) z' = (1 + (1−θ)r δ²) z + dt·f` on the inner nodes, `z' = 0` at the walls, `r = ν·dt/dx²`.
///
/// θ = ½ is Crank–Nicolson, θ = 1 implicit Euler. Inputs: `z`, `f`, both `[batch, N]`. Their wall values are not read.
/// Computed as `z' = z + (1 − θr δ²)⁻¹(r δ² z + dt·f)`, which is equal for every θ: in `f32` rounding of the
/// coefficients then affects the increment only.
#[derive(Debug)]
pub struct ThetaStep {
    system: Tridiagonal,
    dt: Real,
    r: Real,
    nodes: usize,
}

impl ThetaStep {
    /// Creates the step with diffusivity `nu` and time step `dt`.
    ///
    /// # Panics
    /// On a grid that is periodic or not one-dimensional, or with fewer than four nodes.
    pub fn new(grid: &Grid, nu: f64, dt: f64, theta: f64) -> Self {
        grid.assert_dimensions("a step between two walls", &[1]);
        grid.assert_ends("a step between two walls", false);
        let nodes = grid.count();
        assert!(nodes >= 4, "a step between two walls needs four nodes, not {nodes}");
        let r = nu * dt / grid.spacing(0).powi(2);
        Self { system: Tridiagonal::new(nodes - 2, 1.0 + 2.0 * theta * r, -theta * r), dt: dt as Real, r: r as Real, nodes }
    }
}

impl Op for ThetaStep {
    fn name(&self) -> &'static str {
        "theta step"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(
            x[0] == x[1] && x[0].last() == self.nodes,
            "theta step: field {:?}, force {:?}, {} nodes",
            x[0],
            x[1],
            self.nodes
        );
        x[0]
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        x[0].count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let n = self.nodes;
        vectorise(
            #[inline(always)]
            || {
                for ((y, z), f) in y.chunks_exact_mut(n).zip(x[0].chunks_exact(n)).zip(x[1].chunks_exact(n)) {
                    (y[0], y[n - 1]) = (0.0, 0.0);
                    for i in 2..n - 2 {
                        y[i] = self.r * (z[i - 1] - 2.0 * z[i] + z[i + 1]) + self.dt * f[i];
                    }
                    y[1] = self.r * (z[2] - 2.0 * z[1]) + self.dt * f[1];
                    y[n - 2] = self.r * (z[n - 3] - 2.0 * z[n - 2]) + self.dt * f[n - 2];
                }
            },
        );
        self.system.solve(y, n, 1);
        for (y, z) in y.chunks_exact_mut(n).zip(x[0].chunks_exact(n)) {
            y[1..n - 1].iter_mut().zip(&z[1..n - 1]).for_each(|(y, z)| *y += z);
        }
    }

    fn vjp(&self, _: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let n = self.nodes;
        scratch.copy_from_slice(y_bar);
        // The matrix and the stencil are symmetric: the adjoint solves the same system, then applies the same stencil.
        self.system.solve(scratch, n, 1);
        for row in scratch.chunks_exact_mut(n) {
            (row[0], row[n - 1]) = (0.0, 0.0);
        }
        if let Some(z_bar) = bars.get(0) {
            vectorise(
                #[inline(always)]
                || {
                    for ((z_bar, w), y_bar) in z_bar.chunks_exact_mut(n).zip(scratch.chunks_exact(n)).zip(y_bar.chunks_exact(n)) {
                        for i in 1..n - 1 {
                            z_bar[i] += y_bar[i] + self.r * (w[i - 1] - 2.0 * w[i] + w[i + 1]);
                        }
                    }
                },
            );
        }
        if let Some(f_bar) = bars.get(1) {
            f_bar.iter_mut().zip(&*scratch).for_each(|(f_bar, w)| *f_bar += self.dt * w);
        }
    }
}
