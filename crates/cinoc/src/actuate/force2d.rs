//! The push of a swarm on a field on a rectangle.

use super::{Push, REACH, check};
use crate::Real;
use crate::vector::add;
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::LANES;
use cinoc_tape::kernel::math::{exp, sum_pairs};
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// `f(x) = Σᵢ uᵢ·exp(−|x−ξᵢ|²/2σ²)`, nearest image on a ring; `u` is the first number of each action.
///
/// A bump is the product of a bump along x and one along y: an agent costs one exponential per row and column it reaches, and a product per node.
/// Never divided by the number of agents: no agent knows how many there are.
/// Inputs: actions `[batch, agents, k]`, positions `[batch, agents, 2]`; output `[batch, Nx, Ny]`.
pub struct Force2d {
    axes: [Axis; 2],
    scale: Real,
}

/// The nodes along one axis, and bumps on them.
struct Axis {
    nodes: usize,
    /// Positions of the nodes, and zeros up to a whole group of lanes.
    x: Vec<Real>,
    /// 1/√2σ: distances are measured in it.
    inverse: Real,
    /// Distance at which a bump falls below the resolution of a number.
    radius: Real,
    groups_per_length: Real,
    ring: bool,
    length: Real,
    inverse_length: Real,
}

/// A bump along one axis, its distances, and the nodes it reaches.
struct Bump<'a> {
    value: &'a mut [Real],
    distance: &'a mut [Real],
    near: Near,
}

/// Two pieces of an axis, from and to; the second is empty unless a bump goes around a ring.
type Near = [(usize, usize); 2];

impl Axis {
    fn new(grid: &Grid, axis: usize, sigma: f64) -> Self {
        let inverse = 1.0 / (2f64.sqrt() * sigma);
        let mut x: Vec<Real> = grid.positions(axis).iter().map(|&x| x as Real).collect();
        x.resize(x.len().next_multiple_of(LANES), 0.0);
        Self {
            nodes: grid.nodes[axis],
            x,
            inverse: inverse as Real,
            radius: ((REACH as f64).sqrt() / inverse) as Real,
            groups_per_length: (1.0 / (LANES as f64 * grid.spacing(axis))) as Real,
            ring: grid.periodic,
            length: grid.lengths[axis],
            inverse_length: 1.0 / grid.lengths[axis],
        }
    }

    /// Nodes that a bump at `xi` reaches, in whole groups of lanes: two pieces where it goes around a ring.
    #[inline(always)]
    fn reach(&self, xi: Real) -> Near {
        let all = self.x.len();
        let xi = if self.ring { xi - self.length * (xi * self.inverse_length).floor() } else { xi };
        let groups = (all / LANES) as Real;
        let group = |x: Real| (x * self.groups_per_length).max(0.0).min(groups) as usize * LANES;
        let (low, high) = (xi - self.radius, xi + self.radius);
        let (first, last) = (group(low), (group(high) + LANES).min(all));
        if !self.ring {
            return [(first, last), (0, 0)];
        }
        let (around, start) = match (low < 0.0, high > self.length) {
            (false, false) => return [(first, last), (0, 0)],
            (true, false) => (last, group(low + self.length)),
            (false, true) => ((group(high - self.length) + LANES).min(all), first),
            (true, true) => (all, 0),
        };
        if around >= start { [(0, all), (0, 0)] } else { [(0, around), (start, all)] }
    }

    /// The bump of an agent at `xi`.
    #[inline(always)]
    fn bump(&self, xi: Real, bump: &mut Bump) {
        bump.near = self.reach(xi);
        for (from, to) in bump.near {
            let (value, distance) = (&mut bump.value[from..to], &mut bump.distance[from..to]);
            let x = &self.x[from..to];
            for i in 0..x.len() {
                let mut d = x[i] - xi;
                if self.ring {
                    d -= self.length * (d * self.inverse_length + 0.5).floor();
                }
                d *= self.inverse;
                distance[i] = d;
                // A comparison that keeps NaN.
                value[i] = if d * d >= REACH { 0.0 } else { exp(-d * d) };
            }
        }
    }
}

impl Force2d {
    /// # Panics
    /// Where the grid is not a rectangle, one of its axes has no length, or the push no width.
    pub fn new(grid: &Grid, push: &Push) -> Self {
        check(grid, 2, push.sigma);
        Self { axes: [0, 1].map(|axis| Axis::new(grid, axis, push.sigma)), scale: push.scale(2) as Real }
    }

    /// A field with padded rows, a bump along each axis, and two rows.
    fn work<'a>(&self, scratch: &'a mut [Real]) -> (&'a mut [Real], [Bump<'a>; 2], [&'a mut [Real]; 2]) {
        let mut rest = scratch;
        let mut take = |count: usize| rest.split_off_mut(..count).expect("enough scratch");
        let [nx, ny] = [0, 1].map(|axis| self.axes[axis].x.len());
        let field = take(self.axes[0].nodes * ny);
        let bumps = [nx, ny].map(|n| Bump { value: take(n), distance: take(n), near: [(0, 0); 2] });
        (field, bumps, [take(ny), take(ny)])
    }
}

impl Op for Force2d {
    fn name(&self) -> &'static str {
        "force"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0].sizes()[..2] == x[1].sizes()[..2] && x[1].last() == 2;
        assert!(fits, "force: actions {:?}, positions {:?}", x[0], x[1]);
        Shape::new(&[x[0].sizes()[0], self.axes[0].nodes, self.axes[1].nodes])
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        let [nx, ny] = [0, 1].map(|axis| self.axes[axis].x.len());
        self.axes[0].nodes * ny + 2 * nx + 4 * ny + 3 * x[1].rows()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let &[_, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let [nx, ny] = [0, 1].map(|axis| self.axes[axis].nodes);
        let stride = self.axes[1].x.len();
        let (field, [mut along_x, mut along_y], _) = self.work(scratch);
        vectorise(
            #[inline(always)]
            || {
                for (b, y) in y.chunks_exact_mut(nx * ny).enumerate() {
                    field.fill(0.0);
                    for m in b * agents..(b + 1) * agents {
                        let u = self.scale * x[0][m * k];
                        self.axes[0].bump(x[1][2 * m], &mut along_x);
                        self.axes[1].bump(x[1][2 * m + 1], &mut along_y);
                        for (first, last) in along_x.near {
                            for i in first..last.min(nx) {
                                if along_x.value[i] == 0.0 {
                                    continue;
                                }
                                let (row, factor) = (&mut field[i * stride..], u * along_x.value[i]);
                                for (from, to) in along_y.near {
                                    add(&mut row[from..], &along_y.value[from..to], factor);
                                }
                            }
                        }
                    }
                    for (y, row) in y.chunks_exact_mut(ny).zip(field.chunks_exact(stride)) {
                        y.copy_from_slice(&row[..ny]);
                    }
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let &[batch, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let [nx, ny] = [0, 1].map(|axis| self.axes[axis].nodes);
        let stride = self.axes[1].x.len();
        let (scratch, felt) = scratch.split_at_mut(scratch.len() - 3 * batch * agents);
        let (f_bar, [mut along_x, mut along_y], [push, slide]) = self.work(scratch);
        vectorise(
            #[inline(always)]
            || {
                f_bar.fill(0.0);
                for (b, y_bar) in y_bar.chunks_exact(nx * ny).enumerate() {
                    for (row, y_bar) in f_bar.chunks_exact_mut(stride).zip(y_bar.chunks_exact(ny)) {
                        row[..ny].copy_from_slice(y_bar);
                    }
                    for m in b * agents..(b + 1) * agents {
                        self.axes[0].bump(x[1][2 * m], &mut along_x);
                        self.axes[1].bump(x[1][2 * m + 1], &mut along_y);
                        let mut sums = [0.0; 3];
                        for (from, to) in along_y.near {
                            // Sums over x for each y: of f̄·b and of f̄·b·d.
                            let (push, slide) = (&mut push[from..to], &mut slide[from..to]);
                            push.fill(0.0);
                            slide.fill(0.0);
                            for (first, last) in along_x.near {
                                for i in first..last.min(nx) {
                                    let (factor, distance) = (along_x.value[i], along_x.distance[i]);
                                    if factor == 0.0 {
                                        continue;
                                    }
                                    let row = &f_bar[i * stride + from..][..push.len()];
                                    for j in 0..row.len() {
                                        push[j] += factor * row[j];
                                        slide[j] += factor * distance * row[j];
                                    }
                                }
                            }
                            let (value, distance) = (&along_y.value[from..to], &along_y.distance[from..to]);
                            sums[0] += sum_pairs(value, push, |value, push| value * push);
                            sums[1] += sum_pairs(value, slide, |value, slide| value * slide);
                            for j in 0..push.len() {
                                push[j] *= value[j];
                            }
                            sums[2] += sum_pairs(distance, push, |distance, push| distance * push);
                        }
                        felt[3 * m..][..3].copy_from_slice(&sums);
                    }
                }
            },
        );
        let (felt, _) = felt.as_chunks::<3>();
        if let Some(action_bar) = bars.get(0) {
            action_bar.chunks_exact_mut(k).zip(felt).for_each(|(action_bar, felt)| action_bar[0] += self.scale * felt[0]);
        }
        if let Some(xi_bar) = bars.get(1) {
            for (m, xi_bar) in xi_bar.chunks_exact_mut(2).enumerate() {
                for axis in 0..2 {
                    xi_bar[axis] += 2.0 * self.axes[axis].inverse * self.scale * x[0][m * k] * felt[m][1 + axis];
                }
            }
        }
    }
}
