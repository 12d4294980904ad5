//! The wind of a swarm on a plane.

use super::{REACH, check};
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::{LANES, load, store};
use cinoc_tape::kernel::gemm::{Left, Right, Start, gemm};
use cinoc_tape::kernel::math::{exp, sum_pairs};
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// `q(x) = gain·Σᵢ vᵢ·exp(−|x−ξᵢ|²/2σ²)`, both components; `v` is the action.
///
/// Never divided by the number of agents: no agent knows how many there are. A bump is a product of one factor along each axis, so that the
/// flow is a product of two thin matrices. Inputs: actions `[batch, agents, 2]`, positions `[batch, agents, 2]`; output
/// `[batch, 2, Nx, Ny]`.
pub struct Flow2d {
    /// Positions of the nodes along each axis.
    x: Vec<Real>,
    y: Vec<Real>,
    /// 1/√2σ: distances are measured in it.
    inverse: Real,
    gain: Real,
}

impl Flow2d {
    /// Bumps of width `sigma`, multiplied by `gain`.
    ///
    /// # Panics
    /// Where the grid is periodic or not a rectangle, one of its axes has no length, or the bumps no width.
    pub fn new(grid: &Grid, sigma: f64, gain: f64) -> Self {
        check(grid, 2, sigma);
        assert!(!grid.periodic, "this flow is for planes with walls");
        let nodes = |axis: usize| grid.positions(axis).iter().map(|&x| x as Real).collect();
        Self { x: nodes(0), y: nodes(1), inverse: (1.0 / (2f64.sqrt() * sigma)) as Real, gain: gain as Real }
    }

    /// The factor of an agent along an axis and a second row behind it: the factor times the distance in units of √2σ.
    #[inline(always)]
    fn bump(&self, nodes: &[Real], xi: Real, rows: &mut [Real]) {
        let (factors, slid) = rows.split_at_mut(nodes.len());
        for j in (0..nodes.len()).step_by(LANES) {
            let (mut d, mut factor) = (load(nodes, j), [0.0; LANES]);
            for l in 0..LANES {
                d[l] = (d[l] - xi) * self.inverse;
                factor[l] = if d[l] * d[l] > REACH { 0.0 } else { exp(-d[l] * d[l]) };
                d[l] *= factor[l];
            }
            store(factors, j, factor, true);
            store(slid, j, d, true);
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
                        // In the place of the factor: the factor times each component of the velocity.
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
        let (pushed, slid) = rest.split_at_mut(2 * batch * agents);
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
            // For each component of the flow, summed along x: [factor and slid factor of each agent, Nx]·[Nx, Ny].
            for (flow_bar, sums) in flow_bar.chunks_exact(nx * ny).zip(sums.chunks_exact_mut(2 * agents * ny)) {
                gemm(2 * agents, ny, nx, Left::rows(along_x, nx), Right::columns(flow_bar, ny, 0), sums, Start::Zero);
            }
            vectorise(
                #[inline(always)]
                || {
                    let dot = |a: &[Real], b: &[Real]| sum_pairs(a, b, |a, b| a * b);
                    for m in 0..agents {
                        let part = 2 * m * ny..2 * (m + 1) * ny;
                        let (factor, slid_factor) = along_y[part.clone()].split_at(ny);
                        let (x, x_slid) = sums[part.clone()].split_at(ny);
                        let (y, y_slid) = sums[2 * agents * ny..][part].split_at(ny);
                        let at = 2 * (b * agents + m);
                        let (vx, vy) = (v[2 * m], v[2 * m + 1]);
                        // ∂/∂ξ of a bump is the bump times its distance, both in units of √2σ, twice.
                        let slope = 2.0 * self.inverse * self.gain;
                        pushed[at] = self.gain * dot(x, factor);
                        pushed[at + 1] = self.gain * dot(y, factor);
                        slid[at] = slope * (vx * dot(x_slid, factor) + vy * dot(y_slid, factor));
                        slid[at + 1] = slope * (vx * dot(x, slid_factor) + vy * dot(y, slid_factor));
                    }
                },
            );
        }
        for (input, bar) in [(0, pushed), (1, slid)] {
            if let Some(to) = bars.get(input) {
                to.iter_mut().zip(bar.iter()).for_each(|(to, bar)| *to += bar);
            }
        }
    }
}
