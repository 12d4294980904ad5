//! Mass, centroid and spread of a density.

use crate::{Grid, Real};
use cinoc_tape::kernel::chunk::{LANES, load, store};
use cinoc_tape::kernel::math::sum_lanes;
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Moments `[m, μx, μy, s]` of a density on a plane: mass `m = Σρ`, centroid `μ = Σρx/m`, spread `s = √(Σρ|x−μ|²/m)`,
/// sums over nodes.
///
/// Input `[batch, Nx, Ny]`, output `[batch, 4]`. All derive from the sums along each axis, one pass over the plane.
/// Without mass, centroid and spread are zero and constant.
#[derive(Debug)]
pub struct Moments {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Moments {
    /// Numbers per instance.
    pub const COUNT: usize = 4;

    /// Creates the operation.
    ///
    /// # Panics
    /// On a grid that is not two-dimensional.
    pub fn new(grid: &Grid) -> Self {
        grid.assert_dimensions("moments of a density", &[2]);
        Self { x: grid.positions(0), y: grid.positions(1) }
    }

    /// Returns the moments of one density.
    pub fn measure(&self, density: &[Real]) -> [f64; 4] {
        self.of(density, &mut vec![0.0; self.x.len()], &mut vec![0.0; self.y.len()])
    }

    /// Returns the moments of one density; `along_x` and `along_y` receive the sums along each axis.
    #[inline(always)]
    fn of(&self, density: &[Real], along_x: &mut [Real], along_y: &mut [Real]) -> [f64; 4] {
        let ny = self.y.len();
        along_y.fill(0.0);
        for (row, sum) in density.chunks_exact(ny).zip(along_x.iter_mut()) {
            let mut lanes = [0.0; LANES];
            for j in (0..ny).step_by(LANES) {
                let density = load(row, j);
                for l in 0..LANES {
                    lanes[l] += density[l];
                }
                store(along_y, j, density, false);
            }
            *sum = sum_lanes(lanes);
        }
        let (mut mass, mut x, mut y, mut square) = (0.0, 0.0, 0.0, 0.0);
        for (w, at) in along_x.iter().zip(&self.x) {
            mass += *w as f64;
            x += *w as f64 * at;
        }
        if mass == 0.0 {
            return [0.0; 4];
        }
        along_y.iter().zip(&self.y).for_each(|(w, at)| y += *w as f64 * at);
        (x, y) = (x / mass, y / mass);
        along_x.iter().zip(&self.x).for_each(|(w, at)| square += *w as f64 * (at - x) * (at - x));
        along_y.iter().zip(&self.y).for_each(|(w, at)| square += *w as f64 * (at - y) * (at - y));
        [mass, x, y, (square / mass).max(0.0).sqrt()]
    }
}

impl Op for Moments {
    fn name(&self) -> &'static str {
        "moments"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let batch = x[0].sizes()[0];
        assert_eq!(x[0].count(), batch * self.x.len() * self.y.len(), "moments: density {:?}", x[0]);
        Shape::new(&[batch, Self::COUNT])
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        self.x.len() + self.y.len()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let (along_x, along_y) = scratch.split_at_mut(self.x.len());
        vectorise(
            #[inline(always)]
            || {
                for (density, y) in x[0].chunks_exact(self.x.len() * self.y.len()).zip(y.chunks_exact_mut(Self::COUNT)) {
                    let found = self.of(density, along_x, along_y);
                    y.iter_mut().zip(found).for_each(|(y, found)| *y = found as Real);
                }
            },
        );
    }

    fn vjp(&self, _: &Inputs, y: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let Some((density_bar, fresh)) = bars.slot(0) else { return };
        let (nodes, ny) = (self.x.len() * self.y.len(), self.y.len());
        let (along_x, along_y) = scratch.split_at_mut(self.x.len());
        vectorise(
            #[inline(always)]
            || {
                for (b, density_bar) in density_bar.chunks_exact_mut(nodes).enumerate() {
                    let [m, x, y, s] = std::array::from_fn(|c| y[b * Self::COUNT + c] as f64);
                    let [m_bar, x_bar, y_bar, s_bar] = std::array::from_fn(|c| y_bar[b * Self::COUNT + c] as f64);
                    let inverse = if m == 0.0 { 0.0 } else { 1.0 / m };
                    let square = if s > 0.0 { s_bar * inverse / (2.0 * s) } else { 0.0 };
                    // ∂/∂ρ is a function of x plus a function of y.
                    for (to, at) in along_x.iter_mut().zip(&self.x) {
                        let d = at - x;
                        *to = (m_bar + x_bar * inverse * d + square * (d * d - s * s)) as Real;
                    }
                    for (to, at) in along_y.iter_mut().zip(&self.y) {
                        let d = at - y;
                        *to = (y_bar * inverse * d + square * d * d) as Real;
                    }
                    for (row, along_x) in density_bar.chunks_exact_mut(ny).zip(&*along_x) {
                        for j in (0..ny).step_by(LANES) {
                            let mut sum = load(along_y, j);
                            for l in 0..LANES {
                                sum[l] += along_x;
                            }
                            store(row, j, sum, fresh);
                        }
                    }
                }
            },
        );
    }
}
