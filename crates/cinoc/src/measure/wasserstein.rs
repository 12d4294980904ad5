//! How far mass has to be carried to turn one density into another.

use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::vectorise;

/// Logarithm of a weight of zero: so low that nothing brings it back, yet a number.
const NEVER: f64 = -1e4;

/// The smallest sum whose logarithm is taken.
const TINY: f64 = 1e-290;

/// The entropy's weight in squared cells: with less, the plan would see the single nodes of the grid.
const CELLS: f64 = 4.0;

/// The 2-Wasserstein distance between two densities on a plane, each divided by its mass: `W₂² = min E|X−Y|²`.
///
/// The motion of the centroid is split off exactly, `W₂² = |μ_a−μ_b|² + W₂²(both centred)`. What is left is computed as a debiased Sinkhorn
/// divergence, `OT(a,b) − ½OT(a,a) − ½OT(b,b)`, whose error is of second order in the weight of the entropy. Its Gaussian kernel is
/// separable, so that an iteration is two thin matrix products; the largest logarithm of each row and column is taken out before, so
/// that nothing overflows.
pub struct Wasserstein2 {
    x: Vec<f64>,
    y: Vec<f64>,
    epsilon: f64,
    /// The longest way there is.
    diagonal: f64,
}

/// A density divided by its mass.
struct Weights {
    weights: Vec<f64>,
    logarithms: Vec<f64>,
    centroid: [f64; 2],
}

/// `exp(−(xᵢ − xₖ − offset)²/ε)` along each axis, the first `[i, k]`, the second `[k, i]`.
struct Kernel {
    x: Vec<f64>,
    y: Vec<f64>,
    epsilon: f64,
}

/// Working space.
struct Room {
    h: Vec<f64>,
    terms: Vec<f64>,
    sums: Vec<f64>,
}

impl Wasserstein2 {
    /// # Panics
    /// On a periodic grid or one that is not two-dimensional.
    pub fn new(grid: &Grid) -> Self {
        assert!(!grid.periodic && grid.dimensions() == 2, "this distance is for planes with walls");
        let longest = grid.spacing(0).max(grid.spacing(1));
        let diagonal = (grid.lengths[0] as f64).hypot(grid.lengths[1] as f64);
        Self { x: grid.positions(0), y: grid.positions(1), epsilon: CELLS * longest * longest, diagonal }
    }

    /// The distance from `a` to `b`. A density without mass is as far away as the plane allows.
    pub fn distance(&self, a: &[Real], b: &[Real]) -> f64 {
        let (Some(a), Some(b)) = (self.weights(a), self.weights(b)) else { return self.diagonal };
        let moved = (a.centroid[0] - b.centroid[0]).powi(2) + (a.centroid[1] - b.centroid[1]).powi(2);
        let room =
            &mut Room { h: vec![0.0; a.weights.len()], terms: vec![0.0; a.weights.len()], sums: vec![0.0; a.weights.len()] };
        let rest = self.between(&a, &b, room) - self.within(&a, room) - self.within(&b, room);
        (moved + rest.max(0.0)).sqrt()
    }

    fn weights(&self, density: &[Real]) -> Option<Weights> {
        let mass: f64 = density.iter().map(|&z| z.max(0.0) as f64).sum();
        if mass <= 0.0 {
            return None;
        }
        let weights: Vec<f64> = density.iter().map(|&z| z.max(0.0) as f64 / mass).collect();
        let logarithms = weights.iter().map(|&w| if w > 0.0 { w.ln() } else { NEVER }).collect();
        let mut centroid = [0.0; 2];
        for (n, w) in weights.iter().enumerate() {
            centroid[0] += w * self.x[n / self.y.len()];
            centroid[1] += w * self.y[n % self.y.len()];
        }
        Some(Weights { weights, logarithms, centroid })
    }

    /// The regularised cost from `a` to `b`, both centred: the sum of both potentials.
    fn between(&self, a: &Weights, b: &Weights, room: &mut Room) -> f64 {
        let mut epsilon = self.diagonal * self.diagonal / 4.0;
        let (mut f, mut g) = (vec![0.0; a.weights.len()], vec![0.0; a.weights.len()]);
        let offset = [a.centroid[0] - b.centroid[0], a.centroid[1] - b.centroid[1]];
        let mut cost = f64::INFINITY;
        // From a wide kernel, which soon knows the rough plan, to the narrow one.
        loop {
            epsilon = (epsilon / 4.0).max(self.epsilon);
            let last = epsilon == self.epsilon;
            let to_a = Kernel::new(self, offset, epsilon);
            let to_b = Kernel::new(self, offset.map(|d| -d), epsilon);
            for _ in 0..if last { 300 } else { 4 } {
                to_a.soft_min(b, &g, &mut f, room);
                to_b.soft_min(a, &f, &mut g, room);
                let before = std::mem::replace(&mut cost, mean(a, &f) + mean(b, &g));
                if last && (cost - before).abs() < 1e-8 {
                    break;
                }
            }
            if last {
                return cost;
            }
        }
    }

    /// Half the regularised cost from a density to itself.
    fn within(&self, a: &Weights, room: &mut Room) -> f64 {
        let kernel = Kernel::new(self, [0.0; 2], self.epsilon);
        let (mut f, mut next) = (vec![0.0; a.weights.len()], vec![0.0; a.weights.len()]);
        let mut cost = f64::INFINITY;
        for _ in 0..100 {
            kernel.soft_min(a, &f, &mut next, room);
            // The mean of this potential and the next: alone, they would swing around the one that is its own next.
            f.iter_mut().zip(&next).for_each(|(f, next)| *f = 0.5 * (*f + next));
            let before = std::mem::replace(&mut cost, mean(a, &f));
            if (cost - before).abs() < 1e-9 {
                break;
            }
        }
        cost
    }
}

fn mean(density: &Weights, potential: &[f64]) -> f64 {
    density.weights.iter().zip(potential).map(|(w, f)| w * f).sum()
}

impl Kernel {
    fn new(plane: &Wasserstein2, offset: [f64; 2], epsilon: f64) -> Self {
        let matrix = |x: &[f64], offset: f64| -> Vec<f64> {
            x.iter().flat_map(|xi| x.iter().map(move |xk| (-(xi - xk - offset).powi(2) / epsilon).exp())).collect()
        };
        Self { x: matrix(&plane.x, offset[0]), y: matrix(&plane.y, -offset[1]), epsilon }
    }

    /// `out(i) = −ε·log Σₖ K(i, k)·wₖ·exp(gₖ/ε)`.
    fn soft_min(&self, from: &Weights, g: &[f64], out: &mut [f64], room: &mut Room) {
        let (nx, ny) = (self.x.len().isqrt(), self.y.len().isqrt());
        let Room { h, terms, sums } = room;
        vectorise(
            #[inline(always)]
            || {
                for ((h, log), g) in h.iter_mut().zip(&from.logarithms).zip(g) {
                    *h = log + g / self.epsilon;
                }
                // Along y: each row by itself.
                for (h, row) in h.chunks_exact_mut(ny).zip(terms.chunks_exact_mut(ny)) {
                    let top = h.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    row.iter_mut().zip(&*h).for_each(|(t, h)| *t = (h - top).exp());
                    h.fill(0.0);
                    for (t, kernel) in row.iter().zip(self.y.chunks_exact(ny)) {
                        h.iter_mut().zip(kernel).for_each(|(h, k)| *h += t * k);
                    }
                    h.iter_mut().for_each(|h| *h = top + h.max(TINY).ln());
                }
                // Along x: each column by itself.
                let top = &mut sums[..ny];
                top.fill(f64::NEG_INFINITY);
                for row in h.chunks_exact(ny) {
                    top.iter_mut().zip(row).for_each(|(top, h)| *top = top.max(*h));
                }
                for (row, h) in terms.chunks_exact_mut(ny).zip(h.chunks_exact(ny)) {
                    row.iter_mut().zip(h).zip(&*top).for_each(|((t, h), top)| *t = (h - top).exp());
                }
                for (out, kernel) in out.chunks_exact_mut(ny).zip(self.x.chunks_exact(nx)) {
                    out.fill(0.0);
                    for (k, row) in kernel.iter().zip(terms.chunks_exact(ny)) {
                        out.iter_mut().zip(row).for_each(|(out, t)| *out += k * t);
                    }
                    out.iter_mut().zip(&*top).for_each(|(out, top)| *out = -self.epsilon * (top + out.max(TINY).ln()));
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn plane() -> Grid {
        Grid { nodes: vec![64, 80], lengths: vec![1.0, 1.25], periodic: false }
    }

    /// A Gaussian by its centre and its width along each axis.
    fn blob(centre: [f64; 2], width: [f64; 2]) -> Vec<Real> {
        let grid = plane();
        let (x, y) = (grid.positions(0), grid.positions(1));
        let bump = |d: f64, width: f64| (-0.5 * (d / width).powi(2)).exp();
        x.iter()
            .flat_map(|x| y.iter().map(move |y| (bump(x - centre[0], width[0]) * bump(y - centre[1], width[1])) as Real))
            .collect()
    }

    fn distance(a: &[Real], b: &[Real]) -> f64 {
        Wasserstein2::new(&plane()).distance(a, b)
    }

    #[test]
    fn a_moved_blob_is_as_far_away_as_it_was_moved() {
        let (a, dx, dy) = (blob([0.35, 0.4], [0.05, 0.05]), 1.0 / 63.0, 1.25 / 79.0);
        assert!(distance(&a, &a) < 1e-3);
        for (right, up) in [(1, 0), (0, 5), (18, 24)] {
            let b = blob([0.35 + right as f64 * dx, 0.4 + up as f64 * dy], [0.05, 0.05]);
            let expected = (right as f64 * dx).hypot(up as f64 * dy);
            let found = distance(&a, &b);
            assert!((found / expected - 1.0).abs() < 2e-3, "{found} not {expected}");
        }
        assert!((distance(&a, &blob([0.6, 0.8], [0.05, 0.05])) - 0.25f64.hypot(0.4)).abs() < 1e-3);
    }

    #[test]
    fn gaussians_of_different_widths_are_as_far_as_known() {
        for (a, b) in [([0.06, 0.06], [0.12, 0.12]), ([0.05, 0.1], [0.1, 0.05]), ([0.08, 0.08], [0.09, 0.09])] {
            let expected = (a[0] - b[0] as f64).hypot(a[1] - b[1]);
            let found = distance(&blob([0.5, 0.6], a), &blob([0.5, 0.6], b));
            assert!((found / expected - 1.0).abs() < 0.02, "{a:?} {b:?}: {found} not {expected}");
            let far = distance(&blob([0.5, 0.6], a), &blob([0.55, 0.65], b));
            let expected = expected.hypot(0.05f64.hypot(0.05));
            assert!((far / expected - 1.0).abs() < 0.02, "{a:?} {b:?}: {far} not {expected}");
        }
    }

    #[test]
    fn splitting_a_blob_costs_the_way_to_both_halves() {
        let (left, right) = (blob([0.3, 0.6], [0.05, 0.05]), blob([0.7, 0.6], [0.05, 0.05]));
        let both: Vec<Real> = left.iter().zip(&right).map(|(a, b)| a + b).collect();
        // Half of it goes 0.2 to the left, half to the right; cutting it in two and moving the halves inside costs a little less.
        let found = distance(&blob([0.5, 0.6], [0.05, 0.05]), &both);
        let split = 0.2 * 0.2 - 2.0 * 0.2 * 0.05 * (2.0 / PI).sqrt();
        assert!(found * found < 0.2 * 0.2 && found * found > split, "{found}");
        assert!((distance(&both, &blob([0.5, 0.6], [0.05, 0.05])) - found).abs() < 1e-3, "both ways are as long");
    }

    #[test]
    fn mass_and_emptiness() {
        let a = blob([0.4, 0.5], [0.06, 0.06]);
        let twice: Vec<Real> = a.iter().map(|z| 2.0 * z).collect();
        assert!(distance(&a, &twice) < 1e-3, "only shapes count");
        assert!((distance(&a, &vec![0.0; 5120]) - 1f64.hypot(1.25)).abs() < 1e-6);
        let mut corners = [vec![0.0; 5120], vec![0.0; 5120]];
        (corners[0][0], corners[1][5119]) = (1.0, 1.0);
        assert!((distance(&corners[0], &corners[1]) - 1f64.hypot(1.25)).abs() < 1e-6, "single nodes");
    }
}
