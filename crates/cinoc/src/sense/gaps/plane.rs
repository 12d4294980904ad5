//! Gaps on a rectangle, whose axes may be periodic.

use super::cells::Cells;
use super::line::WALL;
use crate::Real;
use crate::geometry::cells_of_chunk;
use cinoc_tape::kernel::parallel;

/// Number of sectors.
pub const SECTORS: usize = 8;

/// Unit vectors along the middles of the sectors.
const AXES: [[Real; 2]; SECTORS] = {
    let h = std::f64::consts::FRAC_1_SQRT_2 as Real;
    [[1.0, 0.0], [h, h], [0.0, 1.0], [-h, h], [-1.0, 0.0], [-h, -h], [0.0, -1.0], [h, -h]]
};

/// Tangent of half a sector.
const HALF: Real = 0.414_213_56;

/// Term that keeps the distance of coincident agents differentiable.
const SOFTENING: Real = 1e-8;

/// Number of agents up to which all pairs are tested.
const ALL_PAIRS: usize = 48;

/// Sector of a direction; none for the zero vector.
#[inline]
fn sector([dx, dy]: [Real; 2]) -> Option<usize> {
    let (ax, ay) = (dx.abs(), dy.abs());
    match (dx > 0.0, dy > 0.0) {
        _ if ax + ay == 0.0 => None,
        (right, _) if ay <= HALF * ax => Some(if right { 0 } else { 4 }),
        (_, up) if ax <= HALF * ay => Some(if up { 2 } else { 6 }),
        (true, true) => Some(1),
        (false, true) => Some(3),
        (false, false) => Some(5),
        (true, false) => Some(7),
    }
}

/// Gaps on a rectangle.
pub struct GapsInPlane {
    lengths: [Real; 2],
    periodic: [bool; 2],
}

impl GapsInPlane {
    pub fn new(lengths: [Real; 2], periodic: [bool; 2]) -> Self {
        Self { lengths, periodic }
    }

    /// Scratch size for `agents` agents.
    pub fn work(agents: usize) -> usize {
        Cells::work(agents)
    }

    /// Vector from one agent to another, to the nearest image along periodic axes.
    #[inline]
    fn apart(&self, from: &[Real], to: &[Real]) -> [Real; 2] {
        let mut d = [to[0] - from[0], to[1] - from[1]];
        for c in (0..2).filter(|&c| self.periodic[c]) {
            d[c] -= self.lengths[c] * (d[c] / self.lengths[c]).round();
        }
        d
    }

    /// Distance to the wall along the middle of a sector, and the axis it is measured along; infinite without a wall.
    fn wall(&self, xi: &[Real], k: usize) -> (Real, usize) {
        let along = |c: usize| match AXES[k][c] {
            _ if self.periodic[c] => Real::INFINITY,
            a if a > 0.1 => (self.lengths[c] - xi[c]) / a,
            a if a < -0.1 => xi[c] / -a,
            _ => Real::INFINITY,
        };
        let (x, y) = (along(0), along(1));
        if x <= y { (x, 0) } else { (y, 1) }
    }

    fn empty_sector(&self, xi: &[Real], k: usize) -> Real {
        let (wall, _) = self.wall(xi, k);
        let around = |c: usize| if self.periodic[c] { self.lengths[c] } else { 0.0 };
        if wall == Real::INFINITY { around(0).max(around(1)) } else { wall }
    }

    /// Computes the gaps of each agent in each sector, and what ends them.
    pub fn gaps(&self, xi: &[Real], strength: &[Real], gaps: &mut [Real], ends: &mut [Real], work: &mut [Real]) {
        let agents = strength.len();
        if agents <= ALL_PAIRS {
            let (gaps, ends) = (gaps.as_chunks_mut::<SECTORS>().0, ends.as_chunks_mut::<SECTORS>().0);
            for (i, (gaps, ends)) in gaps.iter_mut().zip(ends).enumerate() {
                let mut search = Search::new(self, i, &xi[2 * i..2 * i + 2], gaps, ends);
                (0..agents).for_each(|j| search.at(j, &[xi[2 * j], xi[2 * j + 1], strength[j]]));
            }
            return;
        }
        let cells = Cells::new(self.lengths, self.periodic, xi, strength, work);
        let order = &cells.order;
        let some = cells_of_chunk(order, agents, 40 * SECTORS);
        let rows = (order.scatter(gaps, SECTORS, some), order.scatter(ends, SECTORS, some));
        parallel::for_each_part(rows, |_, (mut gaps, mut ends)| {
            for slot in gaps.positions() {
                let (gaps, ends) = (gaps.row(slot).as_chunks_mut::<SECTORS>().0, ends.row(slot).as_chunks_mut::<SECTORS>().0);
                let at = &cells.agents[slot][..2];
                let mut search = Search::new(self, order.get(slot), at, &mut gaps[0], &mut ends[0]);
                // Agents in outer rings are no closer than those rings.
                let mut ring = 0;
                while cells.ring(at, ring, &mut |j, other| search.at(j, other)) && search.beyond(ring as Real * cells.size) {
                    ring += 1;
                }
            }
        });
    }

    /// Adds the cotangent of the positions.
    pub fn back(&self, xi: &[Real], gaps_bar: &[Real], ends: &[Real], per_unit: Real, xi_bar: &mut [Real]) {
        for (n, (bar, end)) in gaps_bar.iter().zip(ends).enumerate() {
            let (i, k, bar) = (n / SECTORS, n % SECTORS, per_unit * bar);
            let at = &xi[2 * i..2 * i + 2];
            if *end != WALL {
                let j = *end as usize;
                let d = self.apart(at, &xi[2 * j..]);
                let distance = (d[0] * d[0] + d[1] * d[1] + SOFTENING).sqrt();
                for c in 0..2 {
                    xi_bar[2 * j + c] += bar * d[c] / distance;
                    xi_bar[2 * i + c] -= bar * d[c] / distance;
                }
            } else if let (wall, c) = self.wall(at, k)
                && wall != Real::INFINITY
            {
                xi_bar[2 * i + c] -= bar / AXES[k][c];
            }
        }
    }
}

/// Search for the nearest neighbours of one agent.
struct Search<'a> {
    plane: &'a GapsInPlane,
    own: usize,
    from: &'a [Real],
    gaps: &'a mut [Real; SECTORS],
    ends: &'a mut [Real; SECTORS],
}

impl<'a> Search<'a> {
    /// Starts with empty sectors.
    fn new(
        plane: &'a GapsInPlane,
        own: usize,
        from: &'a [Real],
        gaps: &'a mut [Real; SECTORS],
        ends: &'a mut [Real; SECTORS],
    ) -> Self {
        *gaps = std::array::from_fn(|k| plane.empty_sector(from, k));
        *ends = [WALL; SECTORS];
        Self { plane, own, from, gaps, ends }
    }

    /// Considers agent `j` with this position and strength.
    fn at(&mut self, j: usize, other: &[Real; 3]) {
        if j == self.own || other[2] <= 0.0 {
            return;
        }
        let d = self.plane.apart(self.from, &other[..2]);
        let Some(k) = sector(d) else { return };
        let distance = (d[0] * d[0] + d[1] * d[1] + SOFTENING).sqrt();
        // Of equally distant agents the smallest index counts, in any order of the search.
        if distance < self.gaps[k] || (distance == self.gaps[k] && (j as Real) < self.ends[k]) {
            (self.gaps[k], self.ends[k]) = (distance, j as Real);
        }
    }

    /// Returns true if an agent further away than `distance` may still be nearer than one found.
    fn beyond(&self, distance: Real) -> bool {
        self.gaps.iter().any(|gap| *gap > distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc_tape::check::noise;

    #[test]
    fn cells_find_what_all_pairs_find() {
        for periodic in [[false, false], [true, true], [true, false], [false, true]] {
            let plane = GapsInPlane::new([1.0, 2.0], periodic);
            let agents = 150;
            let xi: Vec<Real> =
                noise(2 * agents, 3).iter().enumerate().map(|(i, x)| (0.5 + 0.5 * x) * plane.lengths[i % 2]).collect();
            let strength: Vec<Real> = (0..agents).map(|i| if i % 7 == 0 { 0.0 } else { 1.0 }).collect();
            let mut found = [(); 2].map(|()| vec![0.0; SECTORS * agents]);
            let [gaps, ends] = &mut found;
            plane.gaps(&xi, &strength, gaps, ends, &mut vec![0.0; GapsInPlane::work(agents)]);
            for i in 0..agents {
                let at = &xi[2 * i..2 * i + 2];
                let mut nearest: [Real; SECTORS] = std::array::from_fn(|k| plane.empty_sector(at, k));
                for j in (0..agents).filter(|&j| j != i && strength[j] > 0.0) {
                    let d = plane.apart(at, &xi[2 * j..]);
                    let k = sector(d).expect("no two agents coincide");
                    nearest[k] = nearest[k].min((d[0] * d[0] + d[1] * d[1] + SOFTENING).sqrt());
                }
                assert_eq!(nearest[..], gaps[SECTORS * i..][..SECTORS], "agent {i}, periodic {periodic:?}");
            }
        }
    }
}
