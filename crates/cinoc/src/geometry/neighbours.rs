//! Pairs of agents that are near each other.

use crate::Real;
use std::ops::Range;

/// Up to this many agents all pairs are looked at; beyond, only those in neighbouring cells.
const FEW: usize = 64;

/// No agent.
const NOBODY: Real = -1.0;

/// Calls `f(i, j, squared distance)` once for each pair of agents `[.., d]` nearer to each other than `radius`.
/// `work` holds two numbers per agent.
pub fn near_pairs(xi: &[Real], d: usize, radius: Real, work: &mut [Real], mut f: impl FnMut(usize, usize, Real)) {
    let agents = xi.len() / d;
    let mut look = |i: usize, j: usize| {
        let squared: Real = (0..d).map(|c| (xi[i * d + c] - xi[j * d + c]).powi(2)).sum();
        if squared < radius * radius {
            f(i, j, squared);
        }
    };
    if agents > FEW && d <= 2 {
        return Cells::new(xi, d, radius, work).pairs(look);
    }
    for i in 0..agents {
        (i + 1..agents).for_each(|j| look(i, j));
    }
}

/// Agents sorted into cells at least `radius` wide: whoever is near is in the same cell or in a neighbouring one.
struct Cells<'a> {
    counts: [usize; 2],
    /// The first agent of each cell.
    first: &'a mut [Real],
    /// The next agent of the same cell.
    next: &'a mut [Real],
}

impl<'a> Cells<'a> {
    /// Sorts agents `[.., d]`; no more cells than agents. `work` holds two numbers per agent.
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
        first.fill(NOBODY);
        for m in (0..agents).rev() {
            let place = |c: usize| (((xi[m * d + c] - low[c]) * per_length[c]) as usize).min(counts[c] - 1);
            let cell = place(0) * counts[1] + if d > 1 { place(1) } else { 0 };
            next[m] = std::mem::replace(&mut first[cell], m as Real);
        }
        Self { counts, first, next }
    }

    /// The agents from `from` on in its cell.
    fn chain(&self, from: Real) -> impl Iterator<Item = usize> {
        std::iter::successors((from >= 0.0).then_some(from as usize), |&m| (self.next[m] >= 0.0).then_some(self.next[m] as usize))
    }

    /// Calls `f` once for each pair of agents in the same cell or in neighbouring ones.
    fn pairs(&self, mut f: impl FnMut(usize, usize)) {
        let [nx, ny] = self.counts;
        for (a, b) in (0..nx).flat_map(|a| (0..ny).map(move |b| (a, b))) {
            // Half of the neighbours: the others see this cell as theirs.
            let beside = [(a, b + 1), (a + 1, b.wrapping_sub(1)), (a + 1, b), (a + 1, b + 1)];
            for i in self.chain(self.first[a * ny + b]) {
                self.chain(self.next[i]).for_each(|j| f(i, j));
                for (a, b) in beside.into_iter().filter(|&(a, b)| a < nx && b < ny) {
                    self.chain(self.first[a * ny + b]).for_each(|j| f(i, j));
                }
            }
        }
    }
}

/// Agents sorted into cells so that whoever is within reach of an agent is in one of three runs of consecutive agents. For sums over very many
/// neighbours: runs are read without a look at who is where.
pub struct Runs<'a> {
    /// Positions in the order of cells; on a line the first are all zero.
    pub xi: [&'a mut [Real]; 2],
    /// The number each had before.
    pub order: &'a mut [Real],
    cells: [usize; 2],
    /// Where the agents of each cell begin, and the end of the last.
    first: &'a mut [Real],
}

impl<'a> Runs<'a> {
    /// Numbers that `work` holds for so many agents.
    pub const fn work(agents: usize) -> usize {
        4 * agents + 1
    }

    /// Sorts agents `[.., d]` into cells at least `reach` wide. If it is infinite they keep their order.
    pub fn new(xi: &[Real], d: usize, reach: Real, work: &'a mut [Real]) -> Self {
        let agents = xi.len() / d;
        let at = |m: usize, axis: usize| if d == 2 { xi[2 * m + axis] } else { [0.0, xi[m]][axis] };
        let most = if d == 2 { (agents as f64).sqrt() as usize } else { agents };
        let (mut cells, mut low, mut per_length) = ([1; 2], [0.0; 2], [0.0; 2]);
        for axis in 2 - d..2 {
            let all = || (0..agents).map(|m| at(m, axis));
            low[axis] = all().fold(Real::INFINITY, Real::min);
            let extent = all().fold(Real::NEG_INFINITY, Real::max) - low[axis];
            cells[axis] = ((extent / reach) as usize).clamp(1, most);
            per_length[axis] = if extent > 0.0 { cells[axis] as Real / extent } else { 0.0 };
        }
        let cell = |m: usize| {
            let place = |axis: usize| (((at(m, axis) - low[axis]) * per_length[axis]) as usize).min(cells[axis] - 1);
            place(0) * cells[1] + place(1)
        };
        let (order, rest) = work.split_at_mut(agents);
        let (x, rest) = rest.split_at_mut(agents);
        let (y, rest) = rest.split_at_mut(agents);
        let first = &mut rest[..=cells[0] * cells[1]];
        first.fill(0.0);
        (0..agents).for_each(|m| first[cell(m)] += 1.0);
        let mut end = 0.0;
        for count in &mut *first {
            end += *count;
            *count = end;
        }
        // Filled from behind, each cell's mark ends where the cell begins.
        for m in (0..agents).rev() {
            let mark = &mut first[cell(m)];
            *mark -= 1.0;
            let place = *mark as usize;
            (order[place], x[place], y[place]) = (m as Real, at(m, 0), at(m, 1));
        }
        Self { xi: [x, y], order, cells, first }
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.cells[0] * self.cells[1]
    }

    /// The agents of a cell, and the runs that hold everybody within reach of them (some may be empty).
    pub fn around(&self, cell: usize) -> (Range<usize>, [Range<usize>; 3]) {
        let [nx, ny] = self.cells;
        let (a, b) = (cell / ny, cell % ny);
        let begin = |a: usize, b: usize| self.first[a * ny + b] as usize;
        let mut runs = [const { 0..0 }; 3];
        for (run, a) in runs.iter_mut().zip(a.saturating_sub(1)..(a + 2).min(nx)) {
            *run = begin(a, b.saturating_sub(1))..begin(a, (b + 2).min(ny));
        }
        (begin(a, b)..begin(a, b + 1), runs)
    }
}
