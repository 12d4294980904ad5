//! Gaps on an interval or a ring.

use crate::Real;

/// Marker of a gap that ends at a wall, in place of the index of an agent; for the backward pass.
pub const WALL: Real = -1.0;

/// Gaps on an interval or a ring.
pub struct GapsOnLine {
    pub length: Real,
    pub ring: bool,
}

impl GapsOnLine {
    /// Computes the gaps to the left and to the right of each agent, and what ends them. Of agents at the same position
    /// the one with the smaller index is on the left.
    pub fn gaps(&self, xi: &[Real], strength: &[Real], gaps: &mut [Real], ends: &mut [Real], order: &mut [Real]) {
        let agents = xi.len();
        let order = &mut order[..agents];
        order.iter_mut().enumerate().for_each(|(i, at)| *at = i as Real);
        order.sort_unstable_by(|&a, &b| xi[a as usize].total_cmp(&xi[b as usize]).then(a.total_cmp(&b)));
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            // Rightwards for left gaps, leftwards for right gaps; a ring is traversed twice, to find the predecessor of
            // the first agent.
            let walk = |step: usize| order[if side == 0 { step % agents } else { agents - 1 - step % agents }] as usize;
            let mut last: Option<usize> = None;
            for step in 0..if self.ring { 2 * agents } else { agents } {
                let i = walk(step);
                let (gap, end) = match last {
                    Some(j) if j != i => {
                        let gap = sign * (xi[i] - xi[j]);
                        (if self.ring && gap < 0.0 { gap + self.length } else { gap }, j as Real)
                    }
                    _ if self.ring => (self.length, WALL),
                    _ => (if side == 0 { xi[i] } else { self.length - xi[i] }, WALL),
                };
                (gaps[2 * i + side], ends[2 * i + side]) = (gap, end);
                if strength[i] > 0.0 {
                    last = Some(i);
                }
            }
        }
    }

    /// Adds the cotangent of the positions.
    pub fn back(&self, gaps_bar: &[Real], ends: &[Real], per_unit: Real, xi_bar: &mut [Real]) {
        for (k, (bar, end)) in gaps_bar.iter().zip(ends).enumerate() {
            let bar = if k % 2 == 0 { per_unit * bar } else { -per_unit * bar };
            if *end != WALL {
                xi_bar[*end as usize] -= bar;
            }
            if *end != WALL || !self.ring {
                xi_bar[k / 2] += bar;
            }
        }
    }
}
