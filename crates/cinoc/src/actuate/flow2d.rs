//! Flow that a swarm drives in the plane.

use super::{REACH, check};
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::{LANES, load, store};
use cinoc_tape::kernel::gemm::{Left, Right, Start, gemm};
use cinoc_tape::kernel::math::{exp, sum_pairs};
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Flow `q(x) = gain·Σᵢ vᵢ·exp(−|x−ξᵢ|²/2σ²)`, both components; `v` is the action.
///
/// It is not normalised by the number of agents, which no agent knows. A bump is a product of one factor along each
/// axis, so the flow is a product of two thin matrices. Inputs: actions `[batch, agents, 2]`, positions
/// `[batch, agents, 2]`; output `[batch, 2, Nx, Ny]`.
pub struct Flow2d {
    /// Positions of the nodes along each axis.
    x: Vec<Real>,
    y: Vec<Real>,
    /// Inverse length scale 1/√2σ.
    inverse: Real,
    gain: Real,
}

impl Flow2d {
    /// Creates a flow of bumps of width `sigma`, multiplied by `gain`.
    ///
    /// # Panics
    /// If an axis of the grid is periodic, if it is not a rectangle, if one of its axes has no length, or if `sigma` is not positive.
    pub fn new(grid: &Grid, sigma: f64, gain: f64) -> Self {
        check(grid, 2, sigma);
        assert!(grid.has_walls(), "the flow needs a plane with walls");
        let nodes = |axis: usize| grid.positions(axis).iter().map(|&x| x as Real).collect();
        Self { x: nodes(0), y: nodes(1), inverse: (1.0 / (2f64.sqrt() * sigma)) as Real, gain: gain as Real }
    }

    /// Writes the factors of an agent along an axis to the first half of `rows` and, to the second half, the factors
    /// times the distances in units of √2σ.
    #[inline(always)]
    fn bump(&self, nodes: &[Real], xi: Real, rows: &mut [Real]) {
        let (factors, weighted) = rows.split_at_mut(nodes.len());
        for j in (0..nodes.len()).step_by(LANES) {
            let (mut d, mut factor) = (load(nodes, j), [0.0; LANES]);
            for l in 0..LANES {
                d[l] = (d[l] - xi) * self.inverse;
                factor[l] = if d[l] * d[l] > REACH { 0.0 } else { exp(-d[l] * d[l]) };
                d[l] *= factor[l];
            }
            store(factors, j, factor, true);
            store(weighted, j, d, true);
        }
    }
}

impl Op for Flow2d {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0] == x[1] && x[0].sizes().len() == 3 && x[0].last() == 2;
        assert!(fits, "flow: actions {:?}, positions {:?}", x[0], x[1]);
        Shape::new(&[x[0].sizes()[0], 2, self.x.len(), self.y.len()])
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        let agents = x[0].sizes()[1];
        2 * agents * (self.x.len() + 3 * self.y.len()) + 2 * x[0].count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let &[_, agents, _] = x.shape(0).sizes() else { unreachable!() };
        let (nx, ny) = (self.x.len(), self.y.len());
        let (along_x, along_y) = scratch.split_at_mut(2 * agents * nx);
        for (b, y) in y.chunks_exact_mut(2 * nx * ny).enumerate() {
            vectorise(
                #[inline(always)]
                || {
                    for m in 0..agents {
                        let at = 2 * (b * agents + m);
                        self.bump(&self.y, x[1][at + 1], &mut along_y[2 * m * ny..][..2 * ny]);
                        let rows = &mut along_x[2 * m * nx..][..2 * nx];
                        self.bump(&self.x, x[1][at], rows);
                        // Overwrites the factor with the factor times each component of the velocity.
                        let (by_x, by_y) = rows.split_at_mut(nx);
                        let (vx, vy) = (self.gain * x[0][at], self.gain * x[0][at + 1]);
                        for (by_x, by_y) in by_x.iter_mut().zip(by_y) {
                            (*by_x, *by_y) = (vx * *by_x, vy * *by_x);
                        }
                    }
                },
            );
            // [2·Nx, agents]·[agents, Ny]
            gemm(2 * nx, ny, agents, Left::transposed(along_x, 2 * nx), Right::columns(along_y, 2 * ny, 0), y, Start::Zero);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let &[batch, agents, _] = x.shape(0).sizes() else { unreachable!() };
        let (nx, ny) = (self.x.len(), self.y.len());
        let (along_x, rest) = scratch.split_at_mut(2 * agents * nx);
        let (along_y, rest) = rest.split_at_mut(2 * agents * ny);
        let (sums, rest) = rest.split_at_mut(4 * agents * ny);
        let (action_bars, xi_bars) = rest.split_at_mut(2 * batch * agents);
        for (b, flow_bar) in y_bar.chunks_exact(2 * nx * ny).enumerate() {
            let (v, xi) = (&x[0][2 * b * agents..][..2 * agents], &x[1][2 * b * agents..][..2 * agents]);
            vectorise(
                #[inline(always)]
                || {
                    for m in 0..agents {
                        self.bump(&self.x, xi[2 * m], &mut along_x[2 * m * nx..][..2 * nx]);
                        self.bump(&self.y, xi[2 * m + 1], &mut along_y[2 * m * ny..][..2 * ny]);
                    }
                },
            );
            // Sums along x for each component of the flow: [factor and weighted factor of each agent, Nx]·[Nx, Ny].
            for (flow_bar, sums) in flow_bar.chunks_exact(nx * ny).zip(sums.chunks_exact_mut(2 * agents * ny)) {
                gemm(2 * agents, ny, nx, Left::rows(along_x, nx), Right::columns(flow_bar, ny, 0), sums, Start::Zero);
            }
            vectorise(
                #[inline(always)]
                || {
                    let dot = |a: &[Real], b: &[Real]| sum_pairs(a, b, |a, b| a * b);
                    for m in 0..agents {
                        let part = 2 * m * ny..2 * (m + 1) * ny;
                        let (factor, weighted_factor) = along_y[part.clone()].split_at(ny);
                        let (x, x_weighted) = sums[part.clone()].split_at(ny);
                        let (y, y_weighted) = sums[2 * agents * ny..][part].split_at(ny);
                        let at = 2 * (b * agents + m);
                        let (vx, vy) = (v[2 * m], v[2 * m + 1]);
                        // The derivative of a bump with respect to ξ is twice the bump times its distance, in units of
                        // √2σ.
                        let slope = 2.0 * self.inverse * self.gain;
                        action_bars[at] = self.gain * dot(x, factor);
                        action_bars[at + 1] = self.gain * dot(y, factor);
                        xi_bars[at] = slope * (vx * dot(x_weighted, factor) + vy * dot(y_weighted, factor));
                        xi_bars[at + 1] = slope * (vx * dot(x, weighted_factor) + vy * dot(y, weighted_factor));
                    }
                },
            );
        }
        for (input, bar) in [(0, action_bars), (1, xi_bars)] {
            if let Some(to) = bars.get(input) {
                to.iter_mut().zip(bar.iter()).for_each(|(to, bar)| *to += bar);
            }
        }
    }
}
