//! The wind of a swarm on a plane.

use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::lanes::{LANES, load, store};
use cinoc_tape::kernel::math::{exp, sum_lanes};
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// `exp(−REACH)` is a quarter of the relative resolution of a number: bumps end there.
const REACH: Real = if cfg!(feature = "f64") { 38.0 } else { 18.0 };

/// Rows of the flow summed at once.
const ROWS: usize = 4;

/// Agents felt at once: their sums share what is read of the flow.
const TOGETHER: usize = 2;

/// `q(x) = gain·Σᵢ vᵢ·exp(−|x−ξᵢ|²/2σ²)`, both components; `v` is the action.
///
/// Never divided by the number of agents: no agent knows how many there are. A bump is a product of one factor per axis, so that the
/// flow is a product of thin matrices. Inputs: actions `[batch, agents, 2]`, positions `[batch, agents, 2]`; output `[batch, 2, Nx, Ny]`.
pub struct Flow2d {
    nx: usize,
    ny: usize,
    /// Positions of the nodes along each axis, and zeros up to a whole group of lanes.
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
    /// On a periodic grid or one that is not two-dimensional.
    pub fn new(grid: &Grid, sigma: f64, gain: f64) -> Self {
        assert!(!grid.periodic && grid.dimensions() == 2, "this flow is for planes with walls");
        let padded = |axis: usize| {
            let mut x: Vec<Real> = grid.positions(axis).iter().map(|&x| x as Real).collect();
            x.resize(x.len().next_multiple_of(LANES), 0.0);
            x
        };
        let inverse = (1.0 / (2f64.sqrt() * sigma)) as Real;
        Self { nx: grid.nodes[0], ny: grid.nodes[1], x: padded(0), y: padded(1), inverse, gain: gain as Real }
    }

    /// An agent's factor along an axis, times `scale`, and, where `slid` has room, the same times its distance in units of √2σ.
    #[inline(always)]
    fn bump(&self, nodes: &[Real], xi: Real, scale: Real, to: &mut [Real], mut slid: Option<&mut [Real]>) {
        for j in (0..nodes.len()).step_by(LANES) {
            let (x, mut b, mut d) = (load(nodes, j), [0.0; LANES], [0.0; LANES]);
            for l in 0..LANES {
                d[l] = (x[l] - xi) * self.inverse;
                let square = d[l] * d[l];
                b[l] = if square > REACH { 0.0 } else { scale * exp(-square) };
                d[l] *= b[l];
            }
            store(to, j, b, true);
            if let Some(slid) = &mut slid {
                store(slid, j, d, true);
            }
        }
    }

    /// `out_c = Σ_m coefficients_c[m]·y[m]`, one matrix per component; `along_x` holds both coefficients of an agent, one behind the other.
    #[inline(always)]
    fn blow(&self, along_x: &[Real], along_y: &[Real], out: &mut [Real]) {
        let (px, py) = (self.x.len(), self.y.len());
        let (out_x, out_y) = out.split_at_mut(self.nx * self.ny);
        for i in (0..self.nx).step_by(ROWS) {
            for j in (0..self.ny).step_by(LANES) {
                let mut sums = [[[0.0; LANES]; 2]; ROWS];
                for (x, y) in along_x.chunks_exact(2 * px).zip(along_y.chunks_exact(py)) {
                    let y = load(y, j);
                    for r in 0..ROWS {
                        let (by_x, by_y) = (x[i + r], x[px + i + r]);
                        for l in 0..LANES {
                            sums[r][0][l] += by_x * y[l];
                            sums[r][1][l] += by_y * y[l];
                        }
                    }
                }
                for (r, [x, y]) in sums.into_iter().enumerate().take(self.nx - i) {
                    store(&mut out_x[(i + r) * self.ny..][..self.ny], j, x, true);
                    store(&mut out_y[(i + r) * self.ny..][..self.ny], j, y, true);
                }
            }
        }
    }

    /// For two agents at once: the cotangents of velocity and position. `along_x` and `along_y` hold, per agent, its factor and the slid one.
    #[inline(always)]
    fn feel(
        &self,
        flow_bar: &[Real],
        v: [[Real; 2]; TOGETHER],
        along_x: [&[Real]; TOGETHER],
        along_y: [&[Real]; TOGETHER],
    ) -> [[Real; 4]; TOGETHER] {
        let (px, py) = (self.x.len(), self.y.len());
        let (bar_x, bar_y) = flow_bar.split_at(self.nx * self.ny);
        let mut lanes = [[[0.0; LANES]; 4]; TOGETHER];
        for j in (0..self.ny).step_by(LANES) {
            // Sums over the rows: q̄x and q̄y with the factor along x, then both with the slid factor.
            let mut sums = [[[0.0; LANES]; 4]; TOGETHER];
            for (i, (x, y)) in bar_x.chunks_exact(self.ny).zip(bar_y.chunks_exact(self.ny)).enumerate() {
                let (x, y) = (load(x, j), load(y, j));
                for m in 0..TOGETHER {
                    let (factor, slid) = (along_x[m][i], along_x[m][px + i]);
                    for l in 0..LANES {
                        sums[m][0][l] += factor * x[l];
                        sums[m][1][l] += factor * y[l];
                        sums[m][2][l] += slid * x[l];
                        sums[m][3][l] += slid * y[l];
                    }
                }
            }
            for m in 0..TOGETHER {
                let (factor, slid) = (load(&along_y[m][..py], j), load(&along_y[m][py..], j));
                let [vx, vy] = v[m];
                for l in 0..LANES {
                    let [x, y, x_slid, y_slid] = [0, 1, 2, 3].map(|c: usize| sums[m][c][l]);
                    lanes[m][0][l] += x * factor[l];
                    lanes[m][1][l] += y * factor[l];
                    lanes[m][2][l] += (vx * x_slid + vy * y_slid) * factor[l];
                    lanes[m][3][l] += (vx * x + vy * y) * slid[l];
                }
            }
        }
        let mut felt = [[0.0; 4]; TOGETHER];
        for m in 0..TOGETHER {
            for c in 0..4 {
                // ∂/∂ξ of a bump is 2·(distance in units of √2σ)·bump/√2σ.
                felt[m][c] = if c < 2 { self.gain } else { 2.0 * self.inverse * self.gain } * sum_lanes(lanes[m][c]);
            }
        }
        felt
    }
}

impl Op for Flow2d {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0] == x[1] && x[0].sizes().len() == 3 && x[0].last() == 2;
        assert!(fits, "flow: actions {:?}, positions {:?}", x[0], x[1]);
        Shape::new(&[x[0].sizes()[0], 2, self.nx, self.ny])
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        let agents = x[0].sizes()[1];
        2 * agents * (self.x.len() + self.y.len()) + 2 * x[0].count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let &[_, agents, _] = x.shape(0).sizes() else { unreachable!() };
        let (px, py) = (self.x.len(), self.y.len());
        let (along_x, along_y) = scratch.split_at_mut(2 * agents * px);
        let along_y = &mut along_y[..agents * py];
        vectorise(
            #[inline(always)]
            || {
                for (b, y) in y.chunks_exact_mut(2 * self.nx * self.ny).enumerate() {
                    for m in 0..agents {
                        let at = 2 * (b * agents + m);
                        let (v, xi) = (&x[0][at..at + 2], &x[1][at..at + 2]);
                        let (by_x, by_y) = along_x[2 * m * px..][..2 * px].split_at_mut(px);
                        self.bump(&self.x, xi[0], self.gain, by_x, None);
                        for i in 0..px {
                            (by_x[i], by_y[i]) = (v[0] * by_x[i], v[1] * by_x[i]);
                        }
                        self.bump(&self.y, xi[1], 1.0, &mut along_y[m * py..][..py], None);
                    }
                    self.blow(along_x, along_y, y);
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let &[batch, agents, _] = x.shape(0).sizes() else { unreachable!() };
        let (px, py) = (self.x.len(), self.y.len());
        let (along_x, rest) = scratch.split_at_mut(2 * agents * px);
        let (along_y, rest) = rest.split_at_mut(2 * agents * py);
        let (pushed, slid) = rest.split_at_mut(2 * batch * agents);
        vectorise(
            #[inline(always)]
            || {
                for (b, flow_bar) in y_bar.chunks_exact(2 * self.nx * self.ny).enumerate() {
                    let xi = &x[1][2 * b * agents..][..2 * agents];
                    for m in 0..agents {
                        let (factor, slid) = along_x[2 * m * px..][..2 * px].split_at_mut(px);
                        self.bump(&self.x, xi[2 * m], 1.0, factor, Some(slid));
                        let (factor, slid) = along_y[2 * m * py..][..2 * py].split_at_mut(py);
                        self.bump(&self.y, xi[2 * m + 1], 1.0, factor, Some(slid));
                    }
                    for first in (0..agents).step_by(TOGETHER) {
                        // An odd one out is felt twice.
                        let group: [usize; TOGETHER] = std::array::from_fn(|g| (first + g).min(agents - 1));
                        let v = group.map(|m| [x[0][2 * (b * agents + m)], x[0][2 * (b * agents + m) + 1]]);
                        let (by_x, by_y) =
                            (group.map(|m| &along_x[2 * m * px..][..2 * px]), group.map(|m| &along_y[2 * m * py..][..2 * py]));
                        for (m, felt) in group.into_iter().zip(self.feel(flow_bar, v, by_x, by_y)) {
                            let at = 2 * (b * agents + m);
                            pushed[at..at + 2].copy_from_slice(&felt[..2]);
                            slid[at..at + 2].copy_from_slice(&felt[2..]);
                        }
                    }
                }
            },
        );
        for (input, bar) in [(0, pushed), (1, slid)] {
            if let Some(to) = bars.get(input) {
                to.iter_mut().zip(bar.iter()).for_each(|(to, bar)| *to += bar);
            }
        }
    }
}
