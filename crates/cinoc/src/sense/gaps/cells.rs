//! Square cells of agents, searched ring by ring.

use crate::Real;
use cinoc_tape::kernel::order::Order;

/// Agents in cells of a rectangle, about one per cell.
pub struct Cells<'a> {
    /// Edge of a cell.
    pub size: Real,
    count: [usize; 2],
    periodic: [bool; 2],
    /// Agents sorted by cell.
    pub order: Order<'a>,
    /// Position and strength of each agent, in that order.
    pub agents: &'a [[Real; 3]],
}

impl<'a> Cells<'a> {
    /// Scratch size for `agents` agents.
    pub const fn work(agents: usize) -> usize {
        Order::work(agents, agents + 3) + 3 * agents
    }

    pub fn new(lengths: [Real; 2], periodic: [bool; 2], xi: &[Real], strength: &[Real], work: &'a mut [Real]) -> Self {
        let agents = xi.len() / 2;
        let size = (lengths[0] * lengths[1] / agents as Real).sqrt();
        // At most a few more cells than agents, which bounds the scratch size.
        let count = lengths.map(|length| ((length / size) as usize).clamp(1, agents));
        let size = (lengths[0] / count[0] as Real).max(lengths[1] / count[1] as Real);
        let (all, work) = work.split_at_mut(3 * agents);
        let cell = |i: usize| {
            let [x, y] = cell_of(size, count, &xi[2 * i..]);
            x * count[1] + y
        };
        let order = Order::new(agents, count[0] * count[1], cell, work);
        let (all, _) = all.as_chunks_mut::<3>();
        for (slot, at) in all.iter_mut().enumerate() {
            let i = order.get(slot);
            *at = [xi[2 * i], xi[2 * i + 1], strength[i]];
        }
        Self { size, count, periodic, order, agents: all }
    }

    /// Calls `f` with the index, position and strength of all agents in the cells at `ring` cells from that of `at`;
    /// returns false if there are no such cells.
    pub fn ring(&self, at: &[Real], ring: usize, f: &mut impl FnMut(usize, &[Real; 3])) -> bool {
        let own = cell_of(self.size, self.count, at).map(|c| c as isize);
        let far = ring as isize;
        let most = [0, 1].map(|axis| if self.periodic[axis] { self.count[axis] / 2 + 1 } else { self.count[axis] });
        if ring > most[0].max(most[1]) {
            return false;
        }
        for dx in -far..=far {
            // Whole columns at both ends; the first and last cell of the others.
            let step = if dx.abs() == far || far == 0 { 1 } else { 2 * far };
            for dy in (-far..=far).step_by(step as usize) {
                if let (Some(x), Some(y)) = (self.index(own[0] + dx, 0), self.index(own[1] + dy, 1)) {
                    let cell = x * self.count[1] + y;
                    let inside = self.order.first(cell)..self.order.first(cell + 1);
                    inside.for_each(|slot| f(self.order.get(slot), &self.agents[slot]));
                }
            }
        }
        true
    }

    fn index(&self, at: isize, axis: usize) -> Option<usize> {
        let count = self.count[axis] as isize;
        match self.periodic[axis] {
            true => Some(at.rem_euclid(count) as usize),
            false => (0..count).contains(&at).then_some(at as usize),
        }
    }
}

/// Returns the cell of a position; positions outside the domain or NaN go to a cell at the edge.
fn cell_of(size: Real, count: [usize; 2], at: &[Real]) -> [usize; 2] {
    [0, 1].map(|c| ((at[c] / size) as usize).min(count[c] - 1))
}
