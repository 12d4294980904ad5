//! Time step of diffusion with a source on a rectangle with zero walls.

use super::Tridiagonal;
use crate::{Grid, Real};
use cinoc_tape::kernel::chunk::LANES;
use cinoc_tape::kernel::{parallel, vectorise};
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Nodes of a row transposed before the next row: a tile that stays in the cache, where rows at a power-of-two stride
/// share few sets.
const TILE: usize = 64;

/// Columns of a large field swept together: narrow enough for the cache, wide enough for its pages.
const PANEL: usize = 256;

/// Peaceman–Rachford step: half a step implicit in x, half a step implicit in y, each with half the source:
///
/// `(1 − ½δx) w = (1 + ½δy) z + ½dt·f`, `(1 − ½δy) z' = (1 + ½δx) w + ½dt·f`, `δx z = (ν·dt/dx²)(zᵢ₋₁ − 2zᵢ + zᵢ₊₁)`.
///
/// Inputs: `z`, `f`, both `[batch, Nx, Ny]`. Their wall values are not read; those of the result are 0.
///
/// On a rectangle δx and δy commute, and the step equals `z' = z + (1 − ½δy)⁻¹(1 − ½δx)⁻¹((δx + δy) z + dt·f)`, which
/// is computed: one stencil instead of two; in `f32` rounding of the coefficients affects the increment only; and as
/// all matrices are symmetric, the adjoint is the same solve followed by the same stencil.
#[derive(Debug)]
pub struct PeacemanRachford {
    nodes: [usize; 2],
    along: [Tridiagonal; 2],
    rates: [Real; 2],
    dt: Real,
    /// Mask of the inner nodes, which turns a loop over rows into one long loop.
    inner: Vec<Real>,
}

impl PeacemanRachford {
    /// Creates the step with diffusivity `nu` and time step `dt`.
    ///
    /// # Panics
    /// On a grid that is periodic or not two-dimensional, or with fewer than four nodes along an axis.
    pub fn new(grid: &Grid, nu: f64, dt: f64) -> Self {
        grid.assert_dimensions("the scheme of alternating directions", &[2]);
        grid.assert_ends("the scheme of alternating directions", false);
        let nodes = [grid.nodes[0], grid.nodes[1]];
        assert!(nodes.iter().all(|&n| n >= 4), "alternating directions need four nodes along each axis, not {nodes:?}");
        let rates = [0, 1].map(|axis| nu * dt / grid.spacing(axis).powi(2));
        let along = [0, 1].map(|axis| Tridiagonal::new(nodes[axis] - 2, 1.0 + rates[axis], -0.5 * rates[axis]));
        let inside = |axis: usize, i: usize| i > 0 && i < nodes[axis] - 1;
        let inner = (0..grid.count()).map(|k| inside(0, k / nodes[1]) && inside(1, k % nodes[1])).map(|x| f64::from(x) as Real);
        Self { nodes, along, rates: rates.map(|r| r as Real), dt: dt as Real, inner: inner.collect() }
    }

    /// Copies with zeros on the walls.
    fn inside(&self, from: &[Real], to: &mut [Real]) {
        parallel::rows(to, 1, 1, |first, to| {
            let (from, inner) = (&from[first..], &self.inner[first..]);
            vectorise(
                #[inline(always)]
                || to.iter_mut().zip(from).zip(inner).for_each(|((to, from), inner)| *to = from * inner),
            );
        });
    }

    /// Calls `combine(out, beside, inner, (δx + δy) z)` at each node of all but the first and the last row; `z` is zero
    /// on the walls.
    fn stencil(&self, z: &[Real], beside: &[Real], out: &mut [Real], combine: impl Fn(&mut Real, Real, Real, Real) + Sync) {
        let ny = self.nodes[1];
        let [rx, ry] = self.rates;
        let inner_rows = ny..z.len() - ny;
        parallel::rows(&mut out[inner_rows], 1, 2, |first, out| {
            let (count, k) = (out.len(), first + ny);
            let (before, here, after) = (&z[k - ny..][..count], &z[k..][..count], &z[k + ny..][..count]);
            let (left, right) = (&z[k - 1..][..count], &z[k + 1..][..count]);
            let (inner, beside) = (&self.inner[k..][..count], &beside[k..][..count]);
            vectorise(
                #[inline(always)]
                || {
                    for k in 0..count {
                        let twice = 2.0 * here[k];
                        let spread = rx * (before[k] - twice + after[k]) + ry * (left[k] - twice + right[k]);
                        combine(&mut out[k], beside[k], inner[k], spread);
                    }
                },
            );
        });
    }

    /// Applies `(1 − ½δx)⁻¹` in place: each row is a step of the sweep, for all of its nodes or those of a panel at
    /// once.
    fn solve_x(&self, field: &mut [Real]) {
        let [nx, ny] = self.nodes;
        let inner_rows = &mut field[ny..(nx - 1) * ny];
        let width = if inner_rows.len() < 4 * parallel::GRAIN { ny } else { PANEL };
        parallel::for_each_part(parallel::panels(inner_rows, ny, width), |_, mut panel| {
            vectorise(
                #[inline(always)]
                || self.along[0].solve_panel(&mut panel),
            );
        });
    }

    /// Applies `(1 − ½δy)⁻¹` in place, with [`LANES`] rows as the columns of the same sweep, then adds `more`.
    fn solve_y(&self, field: &mut [Real], more: Option<&[Real]>) {
        let [nx, ny] = self.nodes;
        let size = parallel::chunk_size((nx - 2).div_ceil(LANES), 4 * LANES * ny, 1) * LANES * ny;
        parallel::for_each_part(parallel::chunks(&mut field[ny..(nx - 1) * ny], size), |i, rows| {
            parallel::with_scratch((ny - 2) * LANES, |columns| {
                vectorise(
                    #[inline(always)]
                    || {
                        let (columns, _) = columns.as_chunks_mut::<LANES>();
                        for rows in rows.chunks_mut(LANES * ny) {
                            if rows.len() < LANES * ny {
                                columns.fill([0.0; LANES]);
                            }
                            transpose(rows, ny, columns, |column, x| *column = *x);
                            self.along[1].solve_columns(columns.as_flattened_mut(), LANES);
                            transpose(rows, ny, columns, |column, x| *x = *column);
                        }
                        if let Some(more) = more {
                            rows.iter_mut().zip(&more[ny + i * size..]).for_each(|(x, more)| *x += more);
                        }
                    },
                );
            });
        });
    }
}

/// Calls `f` with each inner node of up to [`LANES`] rows and its index in the columns, tile by tile.
#[inline(always)]
fn transpose(rows: &mut [Real], ny: usize, columns: &mut [[Real; LANES]], f: impl Fn(&mut Real, &mut Real)) {
    for (tile, columns) in columns.chunks_mut(TILE).enumerate() {
        for (lane, row) in rows.chunks_exact_mut(ny).enumerate() {
            let row = &mut row[1 + tile * TILE..][..columns.len()];
            columns.iter_mut().zip(row).for_each(|(column, x)| f(&mut column[lane], x));
        }
    }
}

impl Op for PeacemanRachford {
    fn name(&self) -> &'static str {
        "alternating directions"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0] == x[1] && x[0].sizes().len() == 3 && x[0].sizes()[1..] == self.nodes;
        assert!(fits, "alternating directions: field {:?}, force {:?}, nodes {:?}", x[0], x[1], self.nodes);
        x[0]
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        self.inner.len()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], z: &mut [Real]) {
        let (n, ny) = (self.inner.len(), self.nodes[1]);
        for (b, y) in y.chunks_exact_mut(n).enumerate() {
            self.inside(&x[0][b * n..][..n], z);
            self.stencil(z, &x[1][b * n..][..n], y, |y, f, inner, spread| *y = inner * (spread + self.dt * f));
            self.solve_x(y);
            self.solve_y(y, Some(z));
            for wall in [0..ny, n - ny..n] {
                y[wall.clone()].iter_mut().zip(&z[wall]).for_each(|(y, z)| *y = 0.0 + z);
            }
        }
    }

    fn vjp(&self, _: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, w: &mut [Real]) {
        let n = self.inner.len();
        for (b, y_bar) in y_bar.chunks_exact(n).enumerate() {
            self.inside(y_bar, w);
            self.solve_y(w, None);
            self.solve_x(w);
            if let Some(z_bar) = bars.get(0) {
                let z_bar = &mut z_bar[b * n..][..n];
                self.stencil(w, y_bar, z_bar, |z_bar, y_bar, inner, spread| *z_bar += inner * (y_bar + spread));
            }
            if let Some(f_bar) = bars.get(1) {
                parallel::rows(&mut f_bar[b * n..][..n], 1, 1, |first, f_bar| {
                    vectorise(
                        #[inline(always)]
                        || f_bar.iter_mut().zip(&w[first..]).for_each(|(f_bar, w)| *f_bar += self.dt * w),
                    );
                });
            }
        }
    }
}
