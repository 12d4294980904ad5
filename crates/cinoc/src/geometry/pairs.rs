//! Pairs of agents that are near each other.

use super::indices::Indices;
use crate::Real;

/// Number of agents up to which all pairs are tested; beyond, only those in neighbouring cells.
const FEW: usize = 64;

/// Calls `f(i, j, squared distance)` once for each pair of agents `[.., d]` closer than `radius`.
/// `work` holds two values per agent.
pub fn near_pairs(xi: &[Real], d: usize, radius: Real, work: &mut [Real], mut f: impl FnMut(usize, usize, Real)) {
    let agents = xi.len() / d;
    let mut visit = |i: usize, j: usize| {
        let squared: Real = (0..d).map(|c| (xi[i * d + c] - xi[j * d + c]).powi(2)).sum();
        if squared < radius * radius {
            f(i, j, squared);
        }
    };
    if agents > FEW && d <= 2 {
        return CellList::new(xi, d, radius, work).pairs(visit);
    }
    for i in 0..agents {
        (i + 1..agents).for_each(|j| visit(i, j));
    }
}

/// Agents sorted into cells at least `radius` wide: agents closer than that are in the same cell or in neighbouring
/// ones.
struct CellList<'a> {
    counts: [usize; 2],
    /// The first agent of each cell.
    first: Indices<'a>,
    /// The next agent of the same cell.
    next: Indices<'a>,
}

impl<'a> CellList<'a> {
    /// Sorts agents `[.., d]` into at most one cell per agent. `work` holds two values per agent.
    fn new(xi: &[Real], d: usize, radius: Real, work: &'a mut [Real]) -> Self {
        let agents = xi.len() / d;
        let most = (agents as f64).powf(1.0 / d as f64) as usize;
        let (mut counts, mut low, mut per_length) = ([1; 2], [0.0; 2], [0.0; 2]);
        for c in 0..d {
            let along = || xi.iter().skip(c).step_by(d).copied();
            low[c] = along().fold(Real::INFINITY, Real::min);
            let extent = along().fold(Real::NEG_INFINITY, Real::max) - low[c];
            counts[c] = ((extent / radius) as usize).clamp(1, most);
            per_length[c] = if extent > 0.0 { counts[c] as Real / extent } else { 0.0 };
        }
        let (first, next) = work[..2 * agents].split_at_mut(agents);
        let (mut first, mut next) = (Indices::new(first), Indices::new(next));
        first.fill(Indices::NONE);
        for m in (0..agents).rev() {
            let index = |c: usize| (((xi[m * d + c] - low[c]) * per_length[c]) as usize).min(counts[c] - 1);
            let cell = index(0) * counts[1] + if d > 1 { index(1) } else { 0 };
            next.set(m, first.get(cell));
            first.set(cell, m);
        }
        Self { counts, first, next }
    }

    /// Iterates over the agents of a cell, starting with `from`.
    fn chain(&self, from: usize) -> impl Iterator<Item = usize> {
        let valid = |m: usize| (m != Indices::NONE).then_some(m);
        std::iter::successors(valid(from), move |&m| valid(self.next.get(m)))
    }

    /// Calls `f` once for each pair of agents in the same cell or in neighbouring ones.
    fn pairs(&self, mut f: impl FnMut(usize, usize)) {
        let [nx, ny] = self.counts;
        for (a, b) in (0..nx).flat_map(|a| (0..ny).map(move |b| (a, b))) {
            // Half of the neighbours; the other half visit this cell as theirs.
            let beside = [(a, b + 1), (a + 1, b.wrapping_sub(1)), (a + 1, b), (a + 1, b + 1)];
            for i in self.chain(self.first.get(a * ny + b)) {
                self.chain(self.next.get(i)).for_each(|j| f(i, j));
                for (a, b) in beside.into_iter().filter(|&(a, b)| a < nx && b < ny) {
                    self.chain(self.first.get(a * ny + b)).for_each(|j| f(i, j));
                }
            }
        }
    }
}
