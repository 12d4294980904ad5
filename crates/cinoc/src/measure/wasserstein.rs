//! The 2-Wasserstein distance between densities in the plane.

use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::vectorise;

/// Logarithm assigned to a weight of zero: negligible in every sum, yet finite.
const LOG_ZERO: f64 = -1e4;

/// Threshold below which numbers are set to zero: their products would be subnormal and a hundred times slower.
const TINY: f64 = 1e-150;

/// Weight of the entropy in squared cells: with a smaller one, the plan would resolve single nodes of the grid.
const CELLS: f64 = 8.0;

/// Over-relaxation factor: the same limit in a third of the steps.
const OVERRELAXATION: f64 = 1.4;

/// The 2-Wasserstein distance between two densities on a plane, each divided by its mass: `W₂² = min E|X−Y|²`.
///
/// The motion of the centroid is split off exactly, `W₂² = |μ_a−μ_b|² + W₂²(both centred)`. The rest is computed as a
/// debiased Sinkhorn divergence, `OT(a,b) − ½OT(a,a) − ½OT(b,b)`, whose error is of second order in the weight of the
/// entropy. Its Gaussian kernel is separable, so that an iteration is two thin matrix products; the largest logarithm
/// of each row and column is factored out first, so that nothing overflows.
pub struct Wasserstein2 {
    x: Vec<f64>,
    y: Vec<f64>,
    epsilon: f64,
    /// Length of the diagonal, the largest possible distance.
    diagonal: f64,
}

/// A density divided by its mass.
struct Weights {
    weights: Vec<f64>,
    logarithms: Vec<f64>,
    centroid: [f64; 2],
}

/// Kernel `exp(−(xᵢ − xₖ − offset)²/ε)` along each axis, the first as `[i, k]`, the second as `[k, i]`.
struct Kernel {
    x: Vec<f64>,
    y: Vec<f64>,
    epsilon: f64,
}

/// Working space.
struct Workspace {
    h: Vec<f64>,
    terms: Vec<f64>,
    sums: Vec<f64>,
}

impl Wasserstein2 {
    /// # Panics
    /// On a grid with a periodic axis or one that is not two-dimensional.
    pub fn new(grid: &Grid) -> Self {
        assert!(grid.has_walls() && grid.dimensions() == 2, "this distance is for planes with walls");
        let longest = grid.spacing(0).max(grid.spacing(1));
        let diagonal = (grid.lengths[0] as f64).hypot(grid.lengths[1] as f64);
        Self { x: grid.positions(0), y: grid.positions(1), epsilon: CELLS * longest * longest, diagonal }
    }

    /// Returns the distance from `a` to `b`. A density without mass is at the largest possible distance.
    pub fn distance(&self, a: &[Real], b: &[Real]) -> f64 {
        let (Some(a), Some(b)) = (self.weights(a), self.weights(b)) else { return self.diagonal };
        let moved = (a.centroid[0] - b.centroid[0]).powi(2) + (a.centroid[1] - b.centroid[1]).powi(2);
        let workspace =
            &mut Workspace { h: vec![0.0; a.weights.len()], terms: vec![0.0; a.weights.len()], sums: vec![0.0; a.weights.len()] };
        let rest = self.between(&a, &b, workspace) - self.within(&a, workspace) - self.within(&b, workspace);
        (moved + rest.max(0.0)).sqrt()
    }

    fn weights(&self, density: &[Real]) -> Option<Weights> {
        let mass: f64 = density.iter().map(|&z| z.max(0.0) as f64).sum();
        if mass <= 0.0 {
            return None;
        }
        let weights: Vec<f64> = density.iter().map(|&z| z.max(0.0) as f64 / mass).collect();
        let logarithms = weights.iter().map(|&w| if w > 0.0 { w.ln() } else { LOG_ZERO }).collect();
        let mut centroid = [0.0; 2];
        for (n, w) in weights.iter().enumerate() {
            centroid[0] += w * self.x[n / self.y.len()];
            centroid[1] += w * self.y[n % self.y.len()];
        }
        Some(Weights { weights, logarithms, centroid })
    }

    /// Returns the regularised cost from `a` to `b`, both centred: the sum of both potentials.
    fn between(&self, a: &Weights, b: &Weights, workspace: &mut Workspace) -> f64 {
        let mut epsilon = self.diagonal * self.diagonal / 4.0;
        let [mut f, mut g, mut next] = [0; 3].map(|_| vec![0.0; a.weights.len()]);
        let offset = [a.centroid[0] - b.centroid[0], a.centroid[1] - b.centroid[1]];
        let mut cost = f64::INFINITY;
        // From a wide kernel, which finds the rough plan quickly, to the narrow one.
        loop {
            epsilon = (epsilon / 4.0).max(self.epsilon);
            let last = epsilon == self.epsilon;
            let to_a = Kernel::new(self, offset, epsilon);
            let to_b = Kernel::new(self, offset.map(|d| -d), epsilon);
            for _ in 0..if last { 300 } else { 4 } {
                to_a.soft_min(b, &g, &mut next, workspace);
                relax(&mut f, &next, if last { OVERRELAXATION } else { 1.0 });
                to_b.soft_min(a, &f, &mut next, workspace);
                relax(&mut g, &next, if last { OVERRELAXATION } else { 1.0 });
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

    /// Returns half the regularised cost from a density to itself.
    fn within(&self, a: &Weights, workspace: &mut Workspace) -> f64 {
        let kernel = Kernel::new(self, [0.0; 2], self.epsilon);
        let (mut f, mut next) = (vec![0.0; a.weights.len()], vec![0.0; a.weights.len()]);
        let mut cost = f64::INFINITY;
        for _ in 0..100 {
            kernel.soft_min(a, &f, &mut next, workspace);
            // The mean of this potential and the next: the plain iteration would oscillate around the fixed point.
            relax(&mut f, &next, 0.5);
            let before = std::mem::replace(&mut cost, mean(a, &f));
            if (cost - before).abs() < 1e-9 {
                break;
            }
        }
        cost
    }
}

/// Exponential that flushes tiny results to zero.
#[inline(always)]
fn exp(x: f64) -> f64 {
    let y = x.exp();
    if y < TINY { 0.0 } else { y }
}

fn mean(density: &Weights, potential: &[f64]) -> f64 {
    density.weights.iter().zip(potential).map(|(w, f)| w * f).sum()
}

/// Moves a potential towards the next one by a fraction `share` of the step.
fn relax(f: &mut [f64], next: &[f64], share: f64) {
    f.iter_mut().zip(next).for_each(|(f, next)| *f += share * (next - *f));
}

/// `out = Σₖ cₖ·rowₖ`, four rows at a time.
#[inline(always)]
fn combine(c: &[f64], rows: &[f64], out: &mut [f64]) {
    let n = out.len();
    out.fill(0.0);
    let (fours, rest) = c.as_chunks::<4>();
    for (c, rows) in fours.iter().zip(rows.chunks_exact(4 * n)) {
        let (low, high) = rows.split_at(2 * n);
        let ((r0, r1), (r2, r3)) = (low.split_at(n), high.split_at(n));
        for j in 0..n {
            out[j] += (c[0] * r0[j] + c[1] * r1[j]) + (c[2] * r2[j] + c[3] * r3[j]);
        }
    }
    for (c, row) in rest.iter().zip(rows[4 * fours.len() * n..].chunks_exact(n)) {
        for j in 0..n {
            out[j] += c * row[j];
        }
    }
}

impl Kernel {
    fn new(plane: &Wasserstein2, offset: [f64; 2], epsilon: f64) -> Self {
        let matrix = |x: &[f64], offset: f64| -> Vec<f64> {
            x.iter().flat_map(|xi| x.iter().map(move |xk| exp(-(xi - xk - offset).powi(2) / epsilon))).collect()
        };
        Self { x: matrix(&plane.x, offset[0]), y: matrix(&plane.y, -offset[1]), epsilon }
    }

    /// `out(i) = −ε·log Σₖ K(i, k)·wₖ·exp(gₖ/ε)`.
    fn soft_min(&self, from: &Weights, g: &[f64], out: &mut [f64], workspace: &mut Workspace) {
        let (nx, ny) = (self.x.len().isqrt(), self.y.len().isqrt());
        let Workspace { h, terms, sums } = workspace;
        vectorise(
            #[inline(always)]
            || {
                for ((h, log), g) in h.iter_mut().zip(&from.logarithms).zip(g) {
                    *h = log + g / self.epsilon;
                }
                // Along y: each row separately.
                for (h, row) in h.chunks_exact_mut(ny).zip(terms.chunks_exact_mut(ny)) {
                    let top = h.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    row.iter_mut().zip(&*h).for_each(|(t, h)| *t = exp(h - top));
                    combine(row, &self.y, h);
                    h.iter_mut().for_each(|h| *h = top + h.max(TINY * TINY).ln());
                }
                // Along x: each column separately.
                let top = &mut sums[..ny];
                top.fill(f64::NEG_INFINITY);
                for row in h.chunks_exact(ny) {
                    top.iter_mut().zip(row).for_each(|(top, h)| *top = top.max(*h));
                }
                for (row, h) in terms.chunks_exact_mut(ny).zip(h.chunks_exact(ny)) {
                    row.iter_mut().zip(h).zip(&*top).for_each(|((t, h), top)| *t = exp(h - top));
                }
                for (out, kernel) in out.chunks_exact_mut(ny).zip(self.x.chunks_exact(nx)) {
                    combine(kernel, terms, out);
                    out.iter_mut().zip(&*top).for_each(|(out, top)| *out = -self.epsilon * (top + out.max(TINY * TINY).ln()));
                }
            },
        );
    }
}
