//! Force of a swarm on a field in a box.

use super::axis::{Axis, Bump};
use super::{Push, check};
use crate::Real;
use crate::vector::add;
use cinoc_pde::Grid;
use cinoc_tape::kernel::math::sum_pairs;
use cinoc_tape::kernel::{parallel, vectorise};
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::ops::Range;

/// Force `f(x) = Σᵢ uᵢ·exp(−|x−ξᵢ|²/2σ²)`, nearest image in a periodic box; `u` is the first component of each action.
///
/// A bump is the product of one bump per axis, as in [`Force2d`](super::Force2d).
/// Inputs: actions `[batch, agents, k]`, positions `[batch, agents, 3]`; output `[batch, Nx, Ny, Nz]`.
pub struct Force3d {
    axes: [Axis; 3],
    scale: Real,
}

/// Sums of one agent: of `f̄·b`, and of `f̄·b·d` along each axis.
const SUMS: usize = 4;

impl Force3d {
    /// Creates the force on `grid`.
    ///
    /// # Panics
    /// If the grid is not a box, if one of its axes has no length, or if the width of the push is not positive.
    pub fn new(grid: &Grid, push: &Push) -> Self {
        check(grid, 3, push.sigma);
        Self { axes: [0, 1, 2].map(|axis| Axis::new(grid, axis, push.sigma)), scale: push.scale(3) as Real }
    }

    fn nodes(&self) -> [usize; 3] {
        self.axes.each_ref().map(|axis| axis.nodes)
    }

    /// Calls `f` with space for a bump along each axis and for a row.
    fn with_bumps(&self, f: impl FnOnce([Bump; 3], &mut [Real])) {
        let sizes = self.axes.each_ref().map(|axis| axis.x.len());
        parallel::with_scratch(2 * sizes.iter().sum::<usize>() + sizes[2], |mut room| {
            let mut take = |count: usize| room.split_off_mut(..count).expect("room for bumps");
            let bumps = sizes.map(|n| Bump { value: take(n), distance: take(n), near: [(0, 0); 2] });
            f(bumps, take(sizes[2]));
        });
    }

    /// Adds the pushes of all agents of an instance to some planes of nodes.
    fn push(&self, actions: &[Real], xi: &[Real], planes: &Range<usize>, field: &mut [Real]) {
        let ([_, ny, nz], k) = (self.nodes(), 3 * actions.len() / xi.len());
        self.with_bumps(|[mut x, mut y, mut z], _| {
            vectorise(
                #[inline(always)]
                || {
                    field.fill(0.0);
                    for (action, xi) in actions.chunks_exact(k).zip(xi.as_chunks::<3>().0) {
                        self.axes[0].bump(xi[0], planes, &mut x);
                        if x.near.iter().all(|(from, to)| from >= to) {
                            continue;
                        }
                        self.axes[1].bump(xi[1], &(0..ny), &mut y);
                        self.axes[2].bump(xi[2], &(0..nz), &mut z);
                        for i in each(&x) {
                            for j in each(&y) {
                                let factor = self.scale * action[0] * x.value[i] * y.value[j];
                                let row = &mut field[((i - planes.start) * ny + j) * nz..][..nz];
                                for (from, to) in z.near {
                                    add(&mut row[from..], &z.value[from..to], factor);
                                }
                            }
                        }
                    }
                },
            );
        });
    }

    /// Computes the sums of an agent at `xi` over the cotangents of the force.
    fn sums(&self, xi: &[Real; 3], f_bar: &[Real], slide: bool, [x, y, z]: &mut [Bump; 3], along: &mut [Real]) -> [Real; SUMS] {
        let [nx, ny, nz] = self.nodes();
        self.axes[0].bump(xi[0], &(0..nx), x);
        self.axes[1].bump(xi[1], &(0..ny), y);
        self.axes[2].bump(xi[2], &(0..nz), z);
        for (from, to) in z.near {
            (from..to).for_each(|l| along[l] = z.value[l] * z.distance[l]);
        }
        let mut sums = [0.0; SUMS];
        for i in each(x) {
            // Sums over the plane: of f̄·b, of f̄·b·d along y and along z.
            let mut plane = [0.0; 3];
            for j in each(y) {
                let row = &f_bar[(i * ny + j) * nz..][..nz];
                for (from, to) in z.near {
                    let push = y.value[j] * sum_pairs(&z.value[from..to], &row[from..to], |z, f| z * f);
                    plane[0] += push;
                    if slide {
                        plane[1] += push * y.distance[j];
                        plane[2] += y.value[j] * sum_pairs(&along[from..to], &row[from..to], |z, f| z * f);
                    }
                }
            }
            let [push, along_y, along_z] = plane.map(|sum| x.value[i] * sum);
            sums.iter_mut().zip([push, push * x.distance[i], along_y, along_z]).for_each(|(sum, term)| *sum += term);
        }
        sums
    }
}

/// Nodes that a bump reaches.
#[inline(always)]
fn each(bump: &Bump) -> impl Iterator<Item = usize> + use<> {
    let [(a, b), (c, d)] = bump.near;
    (a..b).chain(c..d)
}

impl Op for Force3d {
    fn name(&self) -> &'static str {
        "force"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0].sizes()[..2] == x[1].sizes()[..2] && x[1].last() == 3;
        assert!(fits, "force: actions {:?}, positions {:?}", x[0], x[1]);
        let [nx, ny, nz] = self.nodes();
        Shape::new(&[x[0].sizes()[0], nx, ny, nz])
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        SUMS * x[1].rows()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let (&[_, agents, k], [nx, ny, nz]) = (x.shape(0).sizes(), self.nodes()) else { unreachable!() };
        let instances = x[0].chunks_exact(agents * k).zip(x[1].chunks_exact(3 * agents));
        for (y, (actions, xi)) in y.chunks_exact_mut(nx * ny * nz).zip(instances) {
            parallel::rows(y, ny * nz, agents * ny * nz, |first, planes| {
                self.push(actions, xi, &(first..first + planes.len() / (ny * nz)), planes);
            });
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, sums: &mut [Real]) {
        let &[_, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let (nodes, slide) = (self.nodes().iter().product::<usize>(), bars.wanted(1));
        parallel::rows(sums, SUMS, 2 * nodes, |first, sums| {
            self.with_bumps(|mut bumps, along| {
                vectorise(
                    #[inline(always)]
                    || {
                        for (m, sums) in sums.as_chunks_mut::<SUMS>().0.iter_mut().enumerate() {
                            let m = first + m;
                            let f_bar = &y_bar[m / agents * nodes..][..nodes];
                            *sums = self.sums(&x[1].as_chunks::<3>().0[m], f_bar, slide, &mut bumps, along);
                        }
                    },
                );
            });
        });
        let sums = sums.as_chunks::<SUMS>().0;
        if let Some(action_bar) = bars.get(0) {
            action_bar.chunks_exact_mut(k).zip(sums).for_each(|(bar, sums)| bar[0] += self.scale * sums[0]);
        }
        if let Some(xi_bar) = bars.get(1) {
            for (m, (bar, sums)) in xi_bar.as_chunks_mut::<3>().0.iter_mut().zip(sums).enumerate() {
                for axis in 0..3 {
                    bar[axis] += 2.0 * self.axes[axis].inverse * self.scale * x[0][m * k] * sums[1 + axis];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actuate::Kernel;
    use cinoc_tape::check::{assert_derivative, noise, pull_back};
    use std::sync::Arc;

    fn grid(periodic: [bool; 3]) -> Grid {
        Grid { nodes: vec![9, 7, 12], lengths: vec![1.0, 0.8, 1.5], periodic: periodic.to_vec() }
    }

    fn positions(count: usize) -> Vec<Real> {
        noise(3 * count, 2).iter().enumerate().map(|(i, x)| (0.5 + 0.45 * x) * [1.0, 0.8, 1.5][i % 3]).collect()
    }

    #[test]
    fn the_force_is_a_sum_of_gaussians() {
        for (periodic, kernel) in [([false; 3], Kernel::Peak), ([true; 3], Kernel::UnitMass), ([true, false, true], Kernel::Peak)]
        {
            let (grid, push) = (grid(periodic), Push { sigma: 0.07, kernel });
            let (op, actions, xi) = (Arc::new(Force3d::new(&grid, &push)), noise(12, 1), positions(6));
            let point = vec![(Shape::new(&[2, 3, 2]), actions.clone()), (Shape::new(&[2, 3, 3]), xi.clone())];
            let (found, _) = pull_back(&point, &|v| v[0].tape().record(&op, [v[0], v[1]]), None);
            let x: Vec<Vec<f64>> = (0..3).map(|axis| grid.positions(axis)).collect();
            for (n, found) in found.iter().enumerate() {
                let (b, i) = (n / grid.count(), [n / 84 % 9, n / 12 % 7, n % 12]);
                let square = |m: usize| -> f64 {
                    let apart = |axis: usize| x[axis][i[axis]] - xi[3 * m + axis] as f64;
                    let around = |axis: usize| {
                        let (d, length) = (apart(axis), grid.lengths[axis] as f64);
                        if periodic[axis] { d - length * (d / length).round() } else { d }
                    };
                    (0..3).map(|axis| around(axis).powi(2)).sum()
                };
                let bump = |m: usize| push.scale(3) * actions[2 * m] as f64 * (-square(m) / (2.0 * 0.07f64.powi(2))).exp();
                let sum: f64 = (3 * b..3 * b + 3).map(bump).sum();
                assert!((*found as f64 - sum).abs() < 1e-5 * push.scale(3), "{found}, not {sum}");
            }
        }
    }

    #[test]
    fn derivatives_are_exact() {
        for periodic in [[false; 3], [true; 3], [false, false, true]] {
            let op = Arc::new(Force3d::new(&grid(periodic), &Push { sigma: 0.1, kernel: Kernel::Peak }));
            assert_derivative(&[(&[2, 3, 2], &noise(12, 1)), (&[2, 3, 3], &positions(6))], |v| {
                v[0].tape().record(&op, [v[0], v[1]])
            });
        }
    }
}
