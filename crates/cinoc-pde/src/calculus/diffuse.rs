//! Diffusion of a density between reflecting walls.

use super::frame::Frame;
use crate::{Grid, Real};
use cinoc_tape::kernel::chunk::{LANES, load, store};
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Densities below this are set to zero: far below the resolution of a sum over the plane, and a guard against
/// subnormal numbers, which are a hundred times slower.
const NOTHING: Real = 1e-20;

/// Explicit diffusion step `max(ρ + r·(Σ four neighbours − 4ρ), 0)` in grid units, without flux through the walls.
/// Input and output `[batch, Nx, Ny]`.
///
/// With `r ≤ ¼` all weights are positive and a density stays nonnegative; the maximum acts on other inputs only. Its
/// derivative at zero is one.
#[derive(Debug)]
pub struct Diffuse {
    rate: Real,
    frame: Frame,
}

impl Diffuse {
    /// Creates the step with rate `r`.
    ///
    /// # Panics
    /// On a grid that is periodic or not two-dimensional, or with a rate outside [0, ¼], where the step is unstable.
    pub fn new(grid: &Grid, rate: f64) -> Self {
        grid.assert_dimensions("the diffusion of a density", &[2]);
        grid.assert_ends("the diffusion of a density", false);
        assert!((0.0..=0.25).contains(&rate), "diffusion per step in grid units must be from 0 to 0.25, not {rate}");
        Self { rate: rate as Real, frame: Frame::new(grid.nodes[0], grid.nodes[1]) }
    }

    /// Applies the stencil to a group of nodes. It is symmetric, hence its own adjoint.
    #[inline(always)]
    fn stencil(&self, framed: &[Real], i: usize, j: usize) -> [Real; LANES] {
        let v = self.frame.around(framed, i, j);
        let mut spread = [0.0; LANES];
        for l in 0..LANES {
            let centre = v[1][l + 1];
            spread[l] = centre + self.rate * ((v[0][l + 1] + v[2][l + 1]) + (v[1][l] + v[1][l + 2]) - 4.0 * centre);
        }
        spread
    }
}

impl Op for Diffuse {
    fn name(&self) -> &'static str {
        "diffuse"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let nodes = self.frame.nodes();
        assert!(x[0].count() == x[0].sizes()[0] * nodes, "diffuse: density {:?}, {nodes} nodes", x[0]);
        x[0]
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        2 * self.frame.len()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let (nodes, ny) = (self.frame.nodes(), self.frame.ny);
        let (framed, _) = scratch.split_at_mut(self.frame.len());
        vectorise(
            #[inline(always)]
            || {
                for (y, density) in y.chunks_exact_mut(nodes).zip(x[0].chunks_exact(nodes)) {
                    self.frame.enclose(density, framed);
                    for (i, y) in y.chunks_exact_mut(ny).enumerate() {
                        for j in (0..ny).step_by(LANES) {
                            let mut spread = self.stencil(framed, i, j);
                            for l in 0..LANES {
                                // A comparison that propagates NaN, so that divergence is detected.
                                spread[l] = if spread[l] < NOTHING { 0.0 } else { spread[l] };
                            }
                            store(y, j, spread, true);
                        }
                    }
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let Some((density_bar, fresh)) = bars.slot(0) else { return };
        let Frame { ny, stride, .. } = self.frame;
        let nodes = self.frame.nodes();
        let (framed, bar_framed) = scratch.split_at_mut(self.frame.len());
        vectorise(
            #[inline(always)]
            || {
                for (b, density_bar) in density_bar.chunks_exact_mut(nodes).enumerate() {
                    self.frame.enclose(&x[0][b * nodes..][..nodes], framed);
                    for (i, y_bar) in y_bar[b * nodes..][..nodes].chunks_exact(ny).enumerate() {
                        let to = &mut bar_framed[(i + 1) * stride + 1..][..ny];
                        for j in (0..ny).step_by(LANES) {
                            let (spread, mut y_bar) = (self.stencil(framed, i, j), load(y_bar, j));
                            for l in 0..LANES {
                                y_bar[l] = if spread[l] < 0.0 { 0.0 } else { y_bar[l] };
                            }
                            store(to, j, y_bar, true);
                        }
                    }
                    self.frame.repeat_edge(bar_framed);
                    for (i, density_bar) in density_bar.chunks_exact_mut(ny).enumerate() {
                        for j in (0..ny).step_by(LANES) {
                            store(density_bar, j, self.stencil(bar_framed, i, j), fresh);
                        }
                    }
                }
            },
        );
    }
}
