//! Agents sorted into square cells, to be looked at ring by ring.

use crate::Real;

/// Agents in cells of a rectangle, about one in each.
pub struct Cells<'a> {
    /// Edge of a cell.
    pub size: Real,
    count: [usize; 2],
    torus: bool,
    /// Where the agents of each cell begin among all, and where those of the last end.
    first: &'a [Real],
    agents: &'a [Real],
}

impl<'a> Cells<'a> {
    /// Numbers of working space for so many agents. Numbers of agents are exact in them up to 16 million.
    pub const fn work(agents: usize) -> usize {
        3 * agents + 4
    }

    pub fn new(lengths: [Real; 2], torus: bool, xi: &[Real], work: &'a mut [Real]) -> Self {
        let agents = xi.len() / 2;
        let size = (lengths[0] * lengths[1] / agents as Real).sqrt();
        // Never more cells than agents and a few: there is no room for them.
        let count = lengths.map(|length| ((length / size) as usize).clamp(1, agents));
        let size = (lengths[0] / count[0] as Real).max(lengths[1] / count[1] as Real);
        let (first, rest) = work.split_at_mut(count[0] * count[1] + 1);
        let all = &mut rest[..agents];
        let cell = |i: usize| {
            let [x, y] = home(size, count, &xi[2 * i..]);
            x * count[1] + y
        };
        first.fill(0.0);
        (0..agents).for_each(|i| first[cell(i) + 1] += 1.0);
        (1..first.len()).for_each(|c| first[c] += first[c - 1]);
        // Filling each cell from its end leaves its beginning in `first`.
        (0..agents).for_each(|i| {
            let end = &mut first[cell(i) + 1];
            *end -= 1.0;
            all[*end as usize] = i as Real;
        });
        first.copy_within(1.., 0);
        *first.last_mut().expect("one more than there are cells") = agents as Real;
        Self { size, count, torus, first, agents: all }
    }

    /// Calls `f` with everybody in the cells `ring` cells away from that of `at`; false if there are no such cells.
    pub fn ring(&self, at: &[Real], ring: usize, f: &mut impl FnMut(usize)) -> bool {
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
                    let inside = self.first[cell] as usize..self.first[cell + 1] as usize;
                    self.agents[inside].iter().for_each(|&j| f(j as usize));
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
