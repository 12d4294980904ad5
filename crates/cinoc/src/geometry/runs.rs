//! Cell lists for large swarms, with neighbours contiguous in memory.

use crate::Real;
use cinoc_tape::kernel::order::Order;
use std::ops::Range;

/// Agents sorted into cells such that all neighbours of an agent lie in a few runs of consecutive agents. Sums over
/// many neighbours read whole runs without indirection.
pub struct Runs<'a> {
    /// Positions in cell order; on a line the first coordinates are all zero.
    pub xi: [&'a mut [Real]; 2],
    /// Permutation from cell order to agents, with the first agent of each cell.
    pub order: Order<'a>,
    cells: [usize; 2],
    /// Joins the cells at both ends of an axis.
    periodic: [bool; 2],
}

/// Runs around a cell: a row of cells is one run, or two if it wraps around a ring.
pub struct Beside {
    runs: [Range<usize>; 6],
    count: usize,
}

impl Beside {
    /// All runs; some may be empty.
    #[inline(always)]
    pub fn runs(&self) -> &[Range<usize>] {
        &self.runs[..self.count]
    }

    #[inline(always)]
    fn push(&mut self, run: Range<usize>) {
        self.runs[self.count] = run;
        self.count += 1;
    }
}

/// Division of one axis into cells.
#[derive(Clone, Copy)]
struct Axis {
    cells: usize,
    low: Real,
    per_length: Real,
    /// Length of the axis if it is periodic.
    around: Option<Real>,
}

impl Axis {
    /// A single cell.
    const WHOLE: Self = Self { cells: 1, low: 0.0, per_length: 0.0, around: None };

    /// Divides the range from the first agent to the last.
    fn walls(at: impl Iterator<Item = Real> + Clone, reach: Real, most: usize) -> Self {
        let low = at.clone().fold(Real::INFINITY, Real::min);
        let extent = at.fold(Real::NEG_INFINITY, Real::max) - low;
        let cells = ((extent / reach) as usize).clamp(1, most);
        Self { cells, low, per_length: if extent > 0.0 { cells as Real / extent } else { 0.0 }, around: None }
    }

    /// Divides a ring. With two cells the left neighbour would also be the right one, so fewer than three are merged
    /// into one.
    fn ring(length: Real, reach: Real, most: usize) -> Self {
        match ((length / reach) as usize).min(most) {
            0..3 => Self::WHOLE,
            cells => Self { cells, low: 0.0, per_length: cells as Real / length, around: Some(length) },
        }
    }

    /// Returns the cell of a position; an arbitrary one if the position is not finite.
    fn cell(&self, x: Real) -> usize {
        let x = self.around.map_or(x, |length| x - length * (x / length).floor());
        (((x - self.low) * self.per_length) as usize).min(self.cells - 1)
    }
}

impl<'a> Runs<'a> {
    /// Size of `work` for `agents` agents.
    pub const fn work(agents: usize) -> usize {
        2 * agents + Order::work(agents, agents)
    }

    /// Sorts agents `[.., d]`, on a line or in the plane, into cells at least `reach` wide; `around`: lengths of periodic
    /// axes.
    pub fn new(xi: &[Real], d: usize, reach: Real, around: &[Option<Real>], work: &'a mut [Real]) -> Self {
        let agents = xi.len() / d;
        let most = if d == 2 { (agents as f64).sqrt() as usize } else { agents }.max(1);
        let (mut axes, mut periodic) = ([Axis::WHOLE; 2], [false; 2]);
        for c in 0..d {
            periodic[c + 2 - d] = around[c].is_some();
            axes[c + 2 - d] = match around[c] {
                Some(length) => Axis::ring(length, reach, most),
                None => Axis::walls(xi.iter().skip(c).step_by(d).copied(), reach, most),
            };
        }
        Self::sorted(xi, d, axes, periodic, work)
    }

    /// Puts agents `[.., d]` into one cell, in their original order.
    pub fn unsorted(xi: &[Real], d: usize, work: &'a mut [Real]) -> Self {
        Self::sorted(xi, d, [Axis::WHOLE; 2], [false; 2], work)
    }

    fn sorted(xi: &[Real], d: usize, axes: [Axis; 2], periodic: [bool; 2], work: &'a mut [Real]) -> Self {
        let agents = xi.len() / d;
        let at = |m: usize, axis: usize| if d == 2 { xi[2 * m + axis] } else { [0.0, xi[m]][axis] };
        let cells = axes.map(|axis| axis.cells);
        let cell = |m: usize| axes[0].cell(at(m, 0)) * cells[1] + axes[1].cell(at(m, 1));
        let (x, rest) = work.split_at_mut(agents);
        let (y, rest) = rest.split_at_mut(agents);
        let order = Order::new(agents, cells[0] * cells[1], cell, rest);
        for slot in 0..agents {
            let m = order.get(slot);
            (x[slot], y[slot]) = (at(m, 0), at(m, 1));
        }
        Self { xi: [x, y], order, cells, periodic }
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.cells[0] * self.cells[1]
    }

    /// Returns the agents of a cell, and the runs that contain all agents within reach of them.
    pub fn around(&self, cell: usize) -> (Range<usize>, Beside) {
        let [nx, ny] = self.cells;
        let (a, b) = (cell / ny, cell % ny);
        let begin = |a: usize, b: usize| self.order.first(a * ny + b);
        let mut beside = Beside { runs: [const { 0..0 }; 6], count: 0 };
        let own = begin(a, b)..begin(a, b + 1);
        // The first of the rows, and their number.
        let (first, rows) = match self.periodic[0] {
            true => (a + nx - 1, nx.min(3)),
            false => (a.saturating_sub(1), (a + 2).min(nx) - a.saturating_sub(1)),
        };
        for a in (first..first + rows).map(|a| a % nx) {
            match b {
                _ if !self.periodic[1] => beside.push(begin(a, b.saturating_sub(1))..begin(a, (b + 2).min(ny))),
                _ if ny == 1 => beside.push(begin(a, 0)..begin(a, 1)),
                0 => {
                    beside.push(begin(a, 0)..begin(a, 2));
                    beside.push(begin(a, ny - 1)..begin(a, ny));
                }
                _ if b == ny - 1 => {
                    beside.push(begin(a, 0)..begin(a, 1));
                    beside.push(begin(a, b - 1)..begin(a, ny));
                }
                _ => beside.push(begin(a, b - 1)..begin(a, b + 2)),
            }
        }
        (own, beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc_tape::check::noise;

    /// Every agent within reach is in exactly one run: walls and rings, few cells and many.
    #[test]
    fn runs_contain_all_agents_within_reach() {
        for (agents, d) in [(1, 2), (40, 2), (300, 2), (300, 1), (7, 1)] {
            for (reach, lengths) in
                [(0.05, [1.0, 1.0]), (0.2, [1.0, 0.5]), (0.3, [1.0, 0.7]), (0.45, [1.0, 1.0]), (3.0, [1.0, 1.0])]
            {
                for periodic in [[false, false], [true, true], [true, false], [false, true]] {
                    // Some agents lie outside the domain.
                    let xi: Vec<Real> = noise(agents * d, 5).iter().map(|x| 0.5 + 0.8 * x).collect();
                    let mut work = vec![0.0; Runs::work(agents)];
                    let around = [0, 1].map(|c| periodic[c].then_some(lengths[c]));
                    let runs = Runs::new(&xi, d, reach, &around[..d], &mut work);
                    let mut seen = vec![0; agents];
                    for cell in 0..runs.cells() {
                        let (own, beside) = runs.around(cell);
                        for i in own {
                            let me = runs.order.get(i);
                            seen[me] += 1;
                            let mut found = vec![0; agents];
                            beside.runs().iter().flat_map(Clone::clone).for_each(|j| found[runs.order.get(j)] += 1);
                            assert!(found.iter().all(|found| *found <= 1), "an agent occurs twice");
                            for other in (0..agents).filter(|&other| found[other] == 0) {
                                let apart = |c: usize| {
                                    let d = xi[me * d + c] - xi[other * d + c];
                                    if periodic[c] { d - lengths[c] * (d / lengths[c]).round() } else { d }
                                };
                                let squared: Real = (0..d).map(|c| apart(c).powi(2)).sum();
                                assert!(
                                    squared > 0.999 * reach * reach,
                                    "{me} and {other} of {agents}: {squared} within {reach}"
                                );
                            }
                        }
                    }
                    assert!(seen.iter().all(|seen| *seen == 1), "each agent is in one cell");
                }
            }
        }
    }

    #[test]
    fn positions_that_are_not_finite_have_a_cell() {
        let xi = [Real::NAN, Real::INFINITY, Real::NEG_INFINITY, 0.2, Real::MAX, Real::MIN, -1e30, 0.7];
        for around in [[None; 2], [Some(1.0); 2], [Some(1.0), None]] {
            let mut work = vec![0.0; Runs::work(4)];
            let runs = Runs::new(&xi, 2, 0.1, &around, &mut work);
            assert_eq!((0..runs.cells()).map(|cell| runs.around(cell).0.len()).sum::<usize>(), 4);
        }
    }
}
