//! Force of a swarm on a field on a rectangle.

use super::axis::{Axis, Bump};
use super::{Push, check};
use crate::Real;
use crate::vector::add;
use cinoc_pde::Grid;
use cinoc_tape::kernel::math::sum_pairs;
use cinoc_tape::kernel::order::Order;
use cinoc_tape::kernel::{parallel, vectorise};
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Force `f(x) = Σᵢ uᵢ·exp(−|x−ξᵢ|²/2σ²)`, nearest image on a ring; `u` is the first component of each action.
///
/// A bump is the product of a bump along x and one along y: an agent costs one exponential per row and column it
/// reaches, and one product per node. The force is not normalised by the number of agents, which no agent knows.
/// Inputs: actions `[batch, agents, k]`, positions `[batch, agents, 2]`; output `[batch, Nx, Ny]`.
pub struct Force2d {
    axes: [Axis; 2],
    scale: Real,
}

impl Force2d {
    /// Creates the force on `grid`.
    ///
    /// # Panics
    /// If the grid is not a rectangle, if one of its axes has no length, or if the width of the push is not positive.
    pub fn new(grid: &Grid, push: &Push) -> Self {
        check(grid, 2, push.sigma);
        Self { axes: [0, 1].map(|axis| Axis::new(grid, axis, push.sigma)), scale: push.scale(2) as Real }
    }

    fn tiles(&self) -> usize {
        self.axes[0].tiles * self.axes[1].tiles
    }

    /// Nodes of a tile along each axis, in whole groups of lanes; all nodes for `None`.
    fn tile(&self, tile: Option<usize>) -> [Range<usize>; 2] {
        let Some(tile) = tile else { return [0, 1].map(|axis| 0..self.axes[axis].x.len()) };
        let index = [tile / self.axes[1].tiles, tile % self.axes[1].tiles];
        [0, 1].map(|axis| {
            let Axis { tile, ref x, .. } = self.axes[axis];
            index[axis] * tile..((index[axis] + 1) * tile).min(x.len())
        })
    }

    /// Sorts agents by the tiles that their pushes reach: four entries per agent, unused ones last. `None` if there is
    /// only one tile, or if a push reaches more than two per axis: then all agents act on all nodes.
    fn by_tiles<'a>(&self, xi: &[Real], work: &'a mut [Real]) -> Option<Order<'a>> {
        let count = self.tiles();
        if count == 1 {
            return None;
        }
        let fits = AtomicBool::new(true);
        let tile = |item: usize| {
            let m = item / 4;
            let [Some(x), Some(y)] = [0, 1].map(|axis| self.axes[axis].tiles_of(xi[2 * m + axis])) else {
                fits.store(false, Ordering::Relaxed);
                return count;
            };
            // The second tile along an axis may equal the first.
            let [other_x, other_y] = [item / 2 % 2, item % 2];
            let duplicate = other_x == 1 && x[0] == x[1] || other_y == 1 && y[0] == y[1];
            if duplicate { count } else { x[other_x] * self.axes[1].tiles + y[other_y] }
        };
        let order = Order::new(2 * xi.len(), count + 1, tile, work);
        fits.load(Ordering::Relaxed).then_some(order)
    }

    /// Sums the pushes of all agents, or of those of a tile, over some nodes.
    fn push(
        &self,
        actions: &[Real],
        xi: &[Real],
        tile: Option<(&Order, usize)>,
        [rows, columns]: [&Range<usize>; 2],
        field: &mut [Real],
        [mut along_x, mut along_y]: [Bump; 2],
    ) {
        let (agents, nx, width) = (xi.len() / 2, self.axes[0].nodes, columns.len());
        let k = actions.len() / agents;
        let slots = tile.map_or(0..agents, |(order, tile)| order.first(tile)..order.first(tile + 1));
        vectorise(
            #[inline(always)]
            || {
                field.fill(0.0);
                for slot in slots {
                    let m = match tile {
                        Some((order, _)) => order.get(slot) / 4,
                        None => slot,
                    };
                    let u = self.scale * actions[m * k];
                    self.axes[0].bump(xi[2 * m], rows, &mut along_x);
                    self.axes[1].bump(xi[2 * m + 1], columns, &mut along_y);
                    for (first, last) in along_x.near {
                        for i in first..last.min(nx) {
                            if along_x.value[i] == 0.0 {
                                continue;
                            }
                            let (row, factor) = (&mut field[(i - rows.start) * width..][..width], u * along_x.value[i]);
                            for (from, to) in along_y.near {
                                add(&mut row[from - columns.start..], &along_y.value[from..to], factor);
                            }
                        }
                    }
                }
            },
        );
    }

    /// Splits the scratch space: a field with padded rows, a bump along each axis, and two rows.
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
        let back = self.axes[0].nodes * ny + 2 * nx + 4 * ny + 3 * x[1].rows();
        back.max(Order::work(4 * x[1].sizes()[1], self.tiles() + 1))
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let &[_, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let [nx, ny] = [0, 1].map(|axis| self.axes[axis].nodes);
        let instances = x[0].chunks_exact(agents * k).zip(x[1].chunks_exact(2 * agents));
        for (y, (actions, xi)) in y.chunks_exact_mut(nx * ny).zip(instances) {
            let order = self.by_tiles(xi, scratch);
            let tile = if order.is_some() { [0, 1].map(|axis| self.axes[axis].tile) } else { [nx, ny] };
            parallel::for_each_part(parallel::tiles(y, ny, tile), |t, mut y| {
                let [rows, columns] = self.tile(order.as_ref().map(|_| t));
                let width = columns.len();
                let (sums, bumps) = (rows.len() * width, [0, 1].map(|axis| self.axes[axis].x.len()));
                parallel::with_scratch(sums + 2 * bumps[0] + 2 * bumps[1], |room| {
                    let (field, mut room) = room.split_at_mut(sums);
                    let mut take = |count: usize| room.split_off_mut(..count).expect("room for bumps");
                    let bumps = bumps.map(|n| Bump { value: take(n), distance: take(n), near: [(0, 0); 2] });
                    self.push(actions, xi, order.as_ref().map(|order| (order, t)), [&rows, &columns], field, bumps);
                    for i in 0..y.rows() {
                        let to = y.row(i);
                        to.copy_from_slice(&field[i * width..][..to.len()]);
                    }
                });
            });
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let &[batch, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let [nx, ny] = [0, 1].map(|axis| self.axes[axis].nodes);
        let stride = self.axes[1].x.len();
        let (scratch, bar_sums) = scratch.split_at_mut(scratch.len() - 3 * batch * agents);
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
                        self.axes[0].bump(x[1][2 * m], &(0..self.axes[0].x.len()), &mut along_x);
                        self.axes[1].bump(x[1][2 * m + 1], &(0..stride), &mut along_y);
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
                        bar_sums[3 * m..][..3].copy_from_slice(&sums);
                    }
                }
            },
        );
        let (bar_sums, _) = bar_sums.as_chunks::<3>();
        if let Some(action_bar) = bars.get(0) {
            action_bar
                .chunks_exact_mut(k)
                .zip(bar_sums)
                .for_each(|(action_bar, bar_sums)| action_bar[0] += self.scale * bar_sums[0]);
        }
        if let Some(xi_bar) = bars.get(1) {
            for (m, xi_bar) in xi_bar.chunks_exact_mut(2).enumerate() {
                for axis in 0..2 {
                    xi_bar[axis] += 2.0 * self.axes[axis].inverse * self.scale * x[0][m * k] * bar_sums[m][1 + axis];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actuate::Kernel;
    use cinoc_tape::check::noise;
    use cinoc_tape::{Arena, Tape};
    use std::sync::Arc;

    /// Tiled and untiled sums are equal to the bit: walls and torus, pushes that reach around corners, invalid
    /// positions.
    #[test]
    fn tiles_have_the_sums_of_the_whole() {
        for (periodic, odd) in [(false, false), (true, false), (true, true)] {
            let grid = Grid::plane([288, 1104], [1.0, 4.0], periodic);
            let force = Force2d::new(&grid, &Push { sigma: 0.01, kernel: Kernel::Peak });
            assert_eq!(force.axes.each_ref().map(|axis| axis.tiles), [2, 2]);
            let mut whole = Force2d::new(&grid, &Push { sigma: 0.01, kernel: Kernel::Peak });
            for axis in &mut whole.axes {
                (axis.tile, axis.tiles) = (axis.x.len(), 1);
            }
            let mut xi: Vec<Real> = noise(600, 3).iter().enumerate().map(|(i, x)| (0.5 + 0.5 * x) * [1.0, 4.0][i % 2]).collect();
            xi[..8].copy_from_slice(&[0.0, 0.0, 1.0, 4.0, 0.5, 2.0, 0.001, 3.999]);
            if odd {
                xi[8..12].copy_from_slice(&[1e30, -1e30, 7.3, Real::MAX]);
            }
            let actions = noise(300, 4);
            let sum = |force: Force2d| {
                let tape = Tape::new(Arena::default(), &[]);
                let (u, xi) = (tape.placeholder([1, 300, 1], &actions), tape.placeholder([1, 300, 2], &xi));
                tape.record(&Arc::new(force), [u, xi]).value().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            assert!(sum(force) == sum(whole), "periodic {periodic}, odd {odd}");
        }
    }
}
