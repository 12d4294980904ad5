//! Agents sorted into square cells, to be looked at ring by ring.

use crate::Real;
use cinoc_tape::kernel::order::Order;

/// Agents in cells of a rectangle, about one in each.
pub struct Cells<'a> {
    /// Edge of a cell.
    pub size: Real,
    count: [usize; 2],
    torus: bool,
    /// Agents by their cells.
    pub order: Order<'a>,
    /// Position and strength of each, in that order.
    pub agents: &'a [[Real; 3]],
}

impl<'a> Cells<'a> {
    /// Numbers of working space for so many agents.
    pub const fn work(agents: usize) -> usize {
        Order::work(agents, agents + 3) + 3 * agents
    }

    pub fn new(lengths: [Real; 2], torus: bool, xi: &[Real], strength: &[Real], work: &'a mut [Real]) -> Self {
        let agents = xi.len() / 2;
        let size = (lengths[0] * lengths[1] / agents as Real).sqrt();
        // Never more cells than agents and a few: there is no room for them.
        let count = lengths.map(|length| ((length / size) as usize).clamp(1, agents));
        let size = (lengths[0] / count[0] as Real).max(lengths[1] / count[1] as Real);
        let (all, work) = work.split_at_mut(3 * agents);
        let cell = |i: usize| {
            let [x, y] = home(size, count, &xi[2 * i..]);
            x * count[1] + y
        };
        let order = Order::new(agents, count[0] * count[1], cell, work);
        let (all, _) = all.as_chunks_mut::<3>();
        for (place, at) in all.iter_mut().enumerate() {
            let i = order.get(place);
            *at = [xi[2 * i], xi[2 * i + 1], strength[i]];
        }
        Self { size, count, torus, order, agents: all }
    }

    /// Calls `f` with the number, position and strength of everybody in the cells `ring` cells away from that of `at`; false if there are no such
    /// cells.
    pub fn ring(&self, at: &[Real], ring: usize, f: &mut impl FnMut(usize, &[Real; 3])) -> bool {
        let home = home(self.size, self.count, at).map(|c| c as isize);
        let far = ring as isize;
        let most = self.count[0].max(self.count[1]) as isize;
        if far > if self.torus { most / 2 + 1 } else { most } {
            return false;
        }
        for dx in -far..=far {
            // Whole columns at both ends, the first and the last cell of those between.
            let step = if dx.abs() == far || far == 0 { 1 } else { 2 * far };
            for dy in (-far..=far).step_by(step as usize) {
                if let (Some(x), Some(y)) = (self.index(home[0] + dx, 0), self.index(home[1] + dy, 1)) {
                    let cell = x * self.count[1] + y;
                    let inside = self.order.first(cell)..self.order.first(cell + 1);
                    inside.for_each(|place| f(self.order.get(place), &self.agents[place]));
                }
            }
        }
        true
    }

    fn index(&self, at: isize, axis: usize) -> Option<usize> {
        let count = self.count[axis] as isize;
        match self.torus {
            true => Some(at.rem_euclid(count) as usize),
            false => (0..count).contains(&at).then_some(at as usize),
        }
    }
}

/// The cell of a place; one outside, or nowhere, is in a cell at the edge.
fn home(size: Real, count: [usize; 2], at: &[Real]) -> [usize; 2] {
    [0, 1].map(|c| ((at[c] / size) as usize).min(count[c] - 1))
}
