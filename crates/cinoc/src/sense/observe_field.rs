//! View of a whole plane, shared by all agents.

use super::Patch;
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Channels per node of the image.
const CHANNELS: usize = 3;

/// Error `e = gain·(z − z*)` and its two differences per node, as an image `[x, y, channel]`, once per instance.
///
/// Differences are central, one-sided at walls. Inputs: `z`, `z*`, both `[batch, Nx, Ny]`; output `[batch, 3·Nx·Ny]`.
pub struct ObserveField {
    nx: usize,
    ny: usize,
    gain: Real,
}

/// Nodes whose difference is taken at node `i` of `n`, and its factor.
#[inline(always)]
fn sides(i: usize, n: usize) -> (usize, usize, Real) {
    let (low, high) = (i.saturating_sub(1), (i + 1).min(n - 1));
    (low, high, if high - low == 2 { 0.5 } else { 1.0 })
}

impl ObserveField {
    /// Creates the operation.
    ///
    /// # Panics
    /// If an axis of the grid is periodic, it is not two-dimensional, or has fewer than 2 nodes along an axis.
    pub fn new(grid: &Grid, gain: f64) -> Self {
        assert!(grid.has_walls() && grid.dimensions() == 2, "this view needs a plane with walls");
        assert!(grid.nodes.iter().all(|&n| n >= 2), "a view of a field needs 2 nodes along each axis: {grid:?}");
        Self { nx: grid.nodes[0], ny: grid.nodes[1], gain: gain as Real }
    }

    /// Noise and bias of the values of a patch, in units of those of the field.
    pub(super) fn sensor_scales(&self) -> Vec<[Real; 2]> {
        let difference = [self.gain / (2.0 as Real).sqrt(), 0.0];
        [[self.gain; 2], difference, difference].repeat(self.nx * self.ny)
    }

    /// Layout of the patch.
    pub fn image(&self) -> Patch {
        Patch::Image { height: self.nx, width: self.ny, channels: CHANNELS }
    }
}

impl Op for ObserveField {
    fn name(&self) -> &'static str {
        "observe"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0] == x[1] && x[0].count() == x[0].sizes()[0] * self.nx * self.ny;
        assert!(fits, "observe: field {:?}, target {:?}", x[0], x[1]);
        Shape::new(&[x[0].sizes()[0], self.image().count()])
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        self.nx * self.ny + 2 * self.ny + 2
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let (nx, ny) = (self.nx, self.ny);
        let e = &mut scratch[..nx * ny];
        vectorise(
            #[inline(always)]
            || {
                for (b, y) in y.chunks_exact_mut(self.image().count()).enumerate() {
                    let part = b * nx * ny..(b + 1) * nx * ny;
                    for ((e, z), target) in e.iter_mut().zip(&x[0][part.clone()]).zip(&x[1][part]) {
                        *e = self.gain * (z - target);
                    }
                    for (i, y) in y.chunks_exact_mut(CHANNELS * ny).enumerate() {
                        let (low, high, half) = sides(i, nx);
                        let (here, low, high) = (&e[i * ny..][..ny], &e[low * ny..][..ny], &e[high * ny..][..ny]);
                        let pixels = &mut y.as_chunks_mut::<CHANNELS>().0[..ny];
                        for j in 1..ny - 1 {
                            pixels[j] = [here[j], half * (high[j] - low[j]), 0.5 * (here[j + 1] - here[j - 1])];
                        }
                        let end = ny - 1;
                        pixels[0] = [here[0], half * (high[0] - low[0]), here[1] - here[0]];
                        pixels[end] = [here[end], half * (high[end] - low[end]), here[end] - here[end - 1]];
                    }
                }
            },
        );
    }

    fn vjp(&self, _: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (nx, ny) = (self.nx, self.ny);
        let (e_bar, rest) = scratch.split_at_mut(nx * ny);
        let (across, along) = rest.split_at_mut(ny);
        for (b, y_bar) in y_bar.chunks_exact(self.image().count()).enumerate() {
            vectorise(
                #[inline(always)]
                || {
                    e_bar.fill(0.0);
                    for (i, y_bar) in y_bar.chunks_exact(CHANNELS * ny).enumerate() {
                        let (low, high, half) = sides(i, nx);
                        let pixels = &y_bar.as_chunks::<CHANNELS>().0[..ny];
                        for j in 0..ny {
                            e_bar[i * ny + j] += pixels[j][0];
                            across[j] = half * pixels[j][1];
                            along[j + 1] = 0.5 * pixels[j][2];
                        }
                        // One-sided differences have twice the factor and include the wall's node.
                        (along[1], along[ny]) = (2.0 * along[1], 2.0 * along[ny]);
                        (along[0], along[ny + 1]) = (-along[1], -along[ny]);
                        for j in 0..ny {
                            e_bar[i * ny + j] += along[j] - along[j + 2];
                            e_bar[high * ny + j] += across[j];
                        }
                        for j in 0..ny {
                            e_bar[low * ny + j] -= across[j];
                        }
                    }
                },
            );
            let part = b * nx * ny..(b + 1) * nx * ny;
            for (input, factor) in [(0, self.gain), (1, -self.gain)] {
                if let Some(bar) = bars.get(input) {
                    bar[part.clone()].iter_mut().zip(&*e_bar).for_each(|(bar, e_bar)| *bar += factor * e_bar);
                }
            }
        }
    }
}
