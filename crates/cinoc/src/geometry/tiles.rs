//! Spatial ordering of large swarms for cache locality.

use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::order::Order;
use cinoc_tape::kernel::parallel;

/// Nodes along an edge of a tile; the field read around the agents of one tile fits in the cache.
const EDGE: usize = 64;

/// Number of agents below which they keep their original order.
const MANY: usize = 512;

/// Square tiles of a grid, by which agents are sorted: reading the field around each agent in that order hits the
/// cache. No result depends on the order.
pub struct Tiles {
    counts: [usize; 2],
    per_length: [Real; 2],
}

impl Tiles {
    /// Creates the tiles of a line or a plane.
    pub fn new(grid: &Grid) -> Self {
        let axis = |c: usize| (c < grid.dimensions()).then(|| (grid.nodes[c], grid.lengths[c]));
        let [x, y] = [0, 1].map(|c| axis(c).unwrap_or((1, 1.0)));
        let counts = [x, y].map(|(nodes, _)| nodes.div_ceil(EDGE));
        Self { counts, per_length: [counts[0] as Real / x.1, counts[1] as Real / y.1] }
    }

    fn count(&self, agents: usize) -> usize {
        if agents < MANY { 1 } else { self.counts[0] * self.counts[1] }
    }

    /// Size of `work` for `agents` agents.
    pub fn work(&self, agents: usize) -> usize {
        Order::work(agents, self.count(agents))
    }

    /// Sorts agents `[.., d]` by tile; those outside the domain or with NaN positions go to a tile at the edge.
    pub fn order<'a>(&self, xi: &[Real], d: usize, work: &'a mut [Real]) -> Order<'a> {
        let agents = xi.len() / d;
        let count = self.count(agents);
        let index = |m: usize, c: usize| match c < d {
            true => ((xi[m * d + c] * self.per_length[c]) as usize).min(self.counts[c] - 1),
            false => 0,
        };
        Order::new(agents, count, |m| if count > 1 { index(m, 0) * self.counts[1] + index(m, 1) } else { 0 }, work)
    }
}

/// Number of cells per parallel chunk, if one agent costs arithmetic on `cost` values.
pub fn cells_of_chunk(order: &Order, agents: usize, cost: usize) -> usize {
    let per_cell = (agents / order.cells()).max(1);
    parallel::chunk_size(order.cells(), per_cell.saturating_mul(cost), 1)
}
