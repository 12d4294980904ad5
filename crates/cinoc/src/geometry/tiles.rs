//! Very many agents in an order in which neighbours follow one another.

use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::crew;
use cinoc_tape::kernel::order::Order;

/// Nodes along an edge of a tile: what is read around the agents of one stays in the cache.
const EDGE: usize = 64;

/// Fewer agents than this are worked on as they are numbered.
const MANY: usize = 512;

/// A grid in square tiles, by which agents are sorted: whoever reads the field around each in that order finds most of it in the cache. Nothing
/// that is computed for an agent depends on the order.
pub struct Tiles {
    counts: [usize; 2],
    per_length: [Real; 2],
}

impl Tiles {
    /// Tiles of a line or a plane.
    pub fn new(grid: &Grid) -> Self {
        let axis = |c: usize| (c < grid.dimensions()).then(|| (grid.nodes[c], grid.lengths[c]));
        let [x, y] = [0, 1].map(|c| axis(c).unwrap_or((1, 1.0)));
        let counts = [x, y].map(|(nodes, _)| nodes.div_ceil(EDGE));
        Self { counts, per_length: [counts[0] as Real / x.1, counts[1] as Real / y.1] }
    }

    fn count(&self, agents: usize) -> usize {
        if agents < MANY { 1 } else { self.counts[0] * self.counts[1] }
    }

    /// Numbers that `work` holds for so many agents.
    pub fn work(&self, agents: usize) -> usize {
        Order::work(agents, self.count(agents))
    }

    /// Agents `[.., d]` sorted by tile; those outside, or nowhere, are in a tile at the edge.
    pub fn order<'a>(&self, xi: &[Real], d: usize, work: &'a mut [Real]) -> Order<'a> {
        let agents = xi.len() / d;
        let count = self.count(agents);
        let place = |m: usize, c: usize| match c < d {
            true => ((xi[m * d + c] * self.per_length[c]) as usize).min(self.counts[c] - 1),
            false => 0,
        };
        Order::new(agents, count, |m| if count > 1 { place(m, 0) * self.counts[1] + place(m, 1) } else { 0 }, work)
    }
}

/// How many cells of an order are a chunk, if an agent takes the time of plain arithmetic on `cost` numbers.
pub fn cells_of_chunk(order: &Order, agents: usize, cost: usize) -> usize {
    let per_cell = (agents / order.cells()).max(1);
    crew::chunk(order.cells(), per_cell.saturating_mul(cost), 1)
}
