//! Advection of a density.

use super::frame::Frame;
use crate::{Grid, Real};
use cinoc_tape::kernel::chunk::{LANES, load, store};
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Advection scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportScheme {
    /// Forward: the mass of each node moves by its displacement and is distributed bilinearly to the surrounding nodes;
    /// walls are impermeable. `ρ_t + ∇·(ρq) = 0`: conserves mass to round-off.
    Conservative,
    /// Backward (semi-Lagrangian): each node takes the density, bilinearly interpolated, at the departure point,
    /// clamped to the domain. `ρ_t + q·∇ρ = 0`: preserves values; mass is not conserved if the flow converges or
    /// diverges.
    Backward,
}

/// One step of transport. Inputs: density `[batch, Nx, Ny]`, displacement in cells `[batch, 2, Nx, Ny]`, each component
/// at most one cell.
///
/// With displacements below one cell a node interacts with its eight neighbours, so both schemes are sums over nine
/// shifted planes. With weights `w₋, w₀, w₊ = max(−s, 0), 1 − |s|, max(s, 0)` along each axis, the matrix of the
/// conservative scheme is `A(s)`: `A(s)ᵀ` gathers `Σ w_a w_b v(i+a, j+b)` with the edge repeated beyond the walls. The
/// backward scheme gathers from departure points, so its matrix is `A(−s)ᵀ`: two kernels, `gather` and `scatter`,
/// compute values and cotangents of both.
///
/// The derivative with respect to a displacement of exactly zero is the mean of the one-sided derivatives.
#[derive(Debug)]
pub struct Transport {
    scheme: TransportScheme,
    frame: Frame,
}

/// A sum over neighbours and its derivatives with respect to the displacement.
struct Stencil {
    value: [Real; LANES],
    by_x: [Real; LANES],
    by_y: [Real; LANES],
}

/// Weights of the lower neighbour, the node and the upper neighbour. A displacement of NaN gives a weight of NaN.
#[inline(always)]
fn shares(s: Real) -> [Real; 3] {
    [if s < 0.0 { -s } else { 0.0 }, 1.0 - s.abs(), if s > 0.0 { s } else { 0.0 }]
}

/// Derivative of `shares(s)·v` with respect to `s`.
#[inline(always)]
fn slope(s: Real, v: [Real; 3]) -> Real {
    let up = if s > 0.0 { 1.0 } else { 0.0 };
    let down = if s < 0.0 { 1.0 } else { 0.0 };
    let up = 0.5 * (1.0 + up - down);
    up * (v[2] - v[1]) + (1.0 - up) * (v[1] - v[0])
}

impl Transport {
    /// Creates the step.
    ///
    /// # Panics
    /// On a grid that is periodic or not two-dimensional.
    pub fn new(grid: &Grid, scheme: TransportScheme) -> Self {
        grid.assert_dimensions("transport", &[2]);
        grid.assert_ends("transport", false);
        Self { scheme, frame: Frame::new(grid.nodes[0], grid.nodes[1]) }
    }

    /// +1 if a displacement points to the destination, −1 if to the departure point.
    fn sign(&self) -> Real {
        if self.scheme == TransportScheme::Conservative { 1.0 } else { -1.0 }
    }

    /// Length of the working space of [`scatter`](Self::scatter): nine rows, shifted by up to two columns.
    fn parts(&self) -> usize {
        9 * (self.frame.stride + LANES)
    }

    /// Returns the displacements of the nodes from `j` on in row `i`.
    #[inline(always)]
    fn shift(&self, shift: &[Real], i: usize, j: usize) -> [[Real; LANES]; 2] {
        let Frame { ny, .. } = self.frame;
        let (x, y) = shift.split_at(self.frame.nodes());
        let (mut x, mut y) = (load(&x[i * ny..][..ny], j), load(&y[i * ny..][..ny], j));
        for l in 0..LANES {
            x[l] *= self.sign();
            y[l] *= self.sign();
        }
        [x, y]
    }

    /// Computes `Σ w_a w_b v(i+a, j+b)` and its derivatives.
    #[inline(always)]
    fn gather(&self, framed: &[Real], [x, y]: [[Real; LANES]; 2], i: usize, j: usize) -> Stencil {
        let v = self.frame.around(framed, i, j);
        let mut felt = Stencil { value: [0.0; LANES], by_x: [0.0; LANES], by_y: [0.0; LANES] };
        for l in 0..LANES {
            let (wx, wy) = (shares(x[l]), shares(y[l]));
            let (mut rows, mut columns) = ([0.0; 3], [0.0; 3]);
            for a in 0..3 {
                rows[a] = wy[0] * v[a][l] + wy[1] * v[a][l + 1] + wy[2] * v[a][l + 2];
                columns[a] = wx[0] * v[0][l + a] + wx[1] * v[1][l + a] + wx[2] * v[2][l + a];
            }
            felt.value[l] = wx[0] * rows[0] + wx[1] * rows[1] + wx[2] * rows[2];
            felt.by_x[l] = slope(x[l], rows);
            felt.by_y[l] = slope(y[l], columns);
        }
        felt
    }

    /// Computes the transpose of [`gather`](Self::gather): distributes each number of `plane` to its neighbours, into
    /// `framed`.
    #[inline(always)]
    fn scatter(&self, plane: &[Real], shift: &[Real], framed: &mut [Real], parts: &mut [Real]) {
        let Frame { nx, ny, stride } = self.frame;
        framed.fill(0.0);
        // Each row of parts begins with two zeros, for shifts by up to two columns.
        let width = stride + LANES;
        parts.fill(0.0);
        for i in 0..nx {
            let row = &plane[i * ny..][..ny];
            for j in (0..ny).step_by(LANES) {
                let ([x, y], mass) = (self.shift(shift, i, j), load(row, j));
                let (mut along_x, mut along_y) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
                for l in 0..LANES {
                    let (wx, wy) = (shares(x[l]), shares(y[l]));
                    for a in 0..3 {
                        along_x[a][l] = mass[l] * wx[a];
                        along_y[a][l] = wy[a];
                    }
                }
                for n in 0..9 {
                    let part = parts[n * width + 2 + j..].first_chunk_mut::<LANES>().expect("rows end in a spare group of lanes");
                    for l in 0..LANES {
                        part[l] = along_x[n / 3][l] * along_y[n % 3][l];
                    }
                }
            }
            for (a, parts) in parts.chunks_exact(3 * width).enumerate() {
                let to = &mut framed[(i + a) * stride..][..stride];
                let (down, rest) = parts.split_at(width);
                let (stay, up) = rest.split_at(width);
                for j in (0..stride).step_by(LANES) {
                    let (mut sum, stay, up) = (load(down, j + 2), load(stay, j + 1), load(up, j));
                    for l in 0..LANES {
                        sum[l] += stay[l] + up[l];
                    }
                    store(to, j, sum, false);
                }
            }
        }
        self.frame.fold_edge(framed);
    }
}

impl Op for Transport {
    fn name(&self) -> &'static str {
        "transport"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let nodes = self.frame.nodes();
        let fits = x[0].count() == x[0].sizes()[0] * nodes && x[1].count() == 2 * x[0].count();
        assert!(fits, "transport: density {:?}, displacement {:?}, {nodes} nodes", x[0], x[1]);
        x[0]
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        self.frame.len() + self.parts() + x[0].count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let Frame { ny, .. } = self.frame;
        let nodes = self.frame.nodes();
        let (framed, rest) = scratch.split_at_mut(self.frame.len());
        let parts = &mut rest[..self.parts()];
        vectorise(
            #[inline(always)]
            || {
                for (b, y) in y.chunks_exact_mut(nodes).enumerate() {
                    let (density, shift) = (&x[0][b * nodes..][..nodes], &x[1][2 * b * nodes..][..2 * nodes]);
                    if self.scheme == TransportScheme::Conservative {
                        self.scatter(density, shift, framed, parts);
                        y.chunks_exact_mut(ny).enumerate().for_each(|(i, y)| y.copy_from_slice(self.frame.row(framed, i)));
                    } else {
                        self.frame.enclose(density, framed);
                        for (i, y) in y.chunks_exact_mut(ny).enumerate() {
                            for j in (0..ny).step_by(LANES) {
                                store(y, j, self.gather(framed, self.shift(shift, i, j), i, j).value, true);
                            }
                        }
                    }
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let Frame { nx, ny, .. } = self.frame;
        let nodes = self.frame.nodes();
        let (framed, rest) = scratch.split_at_mut(self.frame.len());
        let (parts, gathered) = rest.split_at_mut(self.parts());
        let conservative = self.scheme == TransportScheme::Conservative;
        // ⟨ȳ, y⟩ = Σ mass·gather(field): density and cotangent take these two roles.
        let (mass, field) = if conservative { (&x[0], y_bar) } else { (y_bar, &x[0]) };
        let mut shift_bar = bars.slot(1);
        vectorise(
            #[inline(always)]
            || {
                for b in 0..mass.len() / nodes {
                    let shift = &x[1][2 * b * nodes..][..2 * nodes];
                    self.frame.enclose(&field[b * nodes..][..nodes], framed);
                    for i in 0..nx {
                        let row = b * nodes + i * ny;
                        for j in (0..ny).step_by(LANES) {
                            let mut felt = self.gather(framed, self.shift(shift, i, j), i, j);
                            store(&mut gathered[row..][..ny], j, felt.value, true);
                            let Some((to, fresh)) = &mut shift_bar else { continue };
                            let mass = load(&mass[row..][..ny], j);
                            for l in 0..LANES {
                                felt.by_x[l] *= mass[l] * self.sign();
                                felt.by_y[l] *= mass[l] * self.sign();
                            }
                            let (to_x, to_y) = to[2 * b * nodes..][..2 * nodes].split_at_mut(nodes);
                            store(&mut to_x[i * ny..][..ny], j, felt.by_x, *fresh);
                            store(&mut to_y[i * ny..][..ny], j, felt.by_y, *fresh);
                        }
                    }
                }
            },
        );
        let Some((density_bar, fresh)) = bars.slot(0) else { return };
        vectorise(
            #[inline(always)]
            || {
                for (b, density_bar) in density_bar.chunks_exact_mut(nodes).enumerate() {
                    if !conservative {
                        self.scatter(&y_bar[b * nodes..][..nodes], &x[1][2 * b * nodes..][..2 * nodes], framed, parts);
                    }
                    for (i, density_bar) in density_bar.chunks_exact_mut(ny).enumerate() {
                        let bar = if conservative { &gathered[b * nodes + i * ny..][..ny] } else { self.frame.row(framed, i) };
                        for j in (0..ny).step_by(LANES) {
                            store(density_bar, j, load(bar, j), fresh);
                        }
                    }
                }
            },
        );
    }
}
