//! Bumps along one axis of a rectangle or a box.

use super::REACH;
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::LANES;
use cinoc_tape::kernel::math::exp;
use std::ops::Range;

/// Nodes along one axis, and bumps on them.
pub struct Axis {
    /// Number of nodes.
    pub nodes: usize,
    /// Positions of the nodes, padded with zeros to a whole group of lanes.
    pub x: Vec<Real>,
    /// Inverse length scale 1/√2σ.
    pub inverse: Real,
    /// Distance beyond which a bump is below floating-point resolution.
    radius: Real,
    groups_per_length: Real,
    ring: bool,
    length: Real,
    inverse_length: Real,
    /// Nodes per tile along this axis, in whole groups of lanes, and the number of tiles.
    pub tile: usize,
    pub tiles: usize,
}

/// Nodes of a tile along the first axis and along others, unless a bump is wider. The sums of one tile fit in the cache.
const TILE: [usize; 2] = [128, 512];

/// Bump along one axis, its distances, and the nodes it reaches.
pub struct Bump<'a> {
    pub value: &'a mut [Real],
    pub distance: &'a mut [Real],
    pub near: Near,
}

/// Two ranges of an axis, each `(from, to)`; the second is empty unless a bump wraps around a ring.
type Near = [(usize, usize); 2];

impl Axis {
    /// Creates the axis for bumps of width `sigma`.
    pub fn new(grid: &Grid, axis: usize, sigma: f64) -> Self {
        let inverse = 1.0 / (2f64.sqrt() * sigma);
        let mut x: Vec<Real> = grid.positions(axis).iter().map(|&x| x as Real).collect();
        x.resize(x.len().next_multiple_of(LANES), 0.0);
        let radius = (REACH as f64).sqrt() / inverse;
        // At least the width of a bump rounded up to groups of lanes, so that a bump reaches into two tiles at most.
        let least = (2.0 * radius / grid.spacing(axis)).min(x.len() as f64) as usize + 3 * LANES;
        let tile = x.len().div_ceil((x.len() / TILE[axis.min(1)].max(least)).max(1)).next_multiple_of(LANES);
        Self {
            nodes: grid.nodes[axis],
            tile,
            tiles: x.len().div_ceil(tile),
            x,
            inverse: inverse as Real,
            radius: radius as Real,
            groups_per_length: (1.0 / (LANES as f64 * grid.spacing(axis))) as Real,
            ring: grid.periodic[axis],
            length: grid.lengths[axis],
            inverse_length: 1.0 / grid.lengths[axis],
        }
    }

    /// Nodes that a bump at `xi` reaches, in whole groups of lanes; two ranges if it wraps around a ring.
    #[inline(always)]
    fn reach(&self, xi: Real) -> Near {
        let all = self.x.len();
        let xi = if self.ring { xi - self.length * (xi * self.inverse_length).floor() } else { xi };
        let groups = (all / LANES) as Real;
        let group = |x: Real| (x * self.groups_per_length).max(0.0).min(groups) as usize * LANES;
        let (low, high) = (xi - self.radius, xi + self.radius);
        let (first, last) = (group(low), (group(high) + LANES).min(all));
        if !self.ring {
            return [(first, last), (0, 0)];
        }
        let (around, start) = match (low < 0.0, high > self.length) {
            (false, false) => return [(first, last), (0, 0)],
            (true, false) => (last, group(low + self.length)),
            (false, true) => ((group(high - self.length) + LANES).min(all), first),
            (true, true) => (all, 0),
        };
        if around >= start { [(0, all), (0, 0)] } else { [(0, around), (start, all)] }
    }

    /// Tiles that a bump at `xi` reaches: the first, and the second or the first again; `None` if there are more.
    pub fn tiles_of(&self, xi: Real) -> Option<[usize; 2]> {
        let pieces = self.reach(xi).into_iter().filter(|(from, to)| from < to);
        let mut ends = pieces.map(|(from, to)| [from / self.tile, (to - 1) / self.tile]);
        let first = ends.next().unwrap_or([0, 0]);
        match ends.next() {
            None => (first[1] <= first[0] + 1).then_some(first),
            Some(other) => (first[0] == first[1] && other[0] == other[1]).then_some([first[0], other[0]]),
        }
    }

    /// Computes the bump of an agent at `xi` on the part of the axis `within`.
    #[inline(always)]
    pub fn bump(&self, xi: Real, within: &Range<usize>, bump: &mut Bump) {
        bump.near = self.reach(xi);
        for (from, to) in &mut bump.near {
            (*from, *to) = ((*from).clamp(within.start, within.end), (*to).clamp(within.start, within.end));
        }
        for (from, to) in bump.near {
            let (value, distance) = (&mut bump.value[from..to], &mut bump.distance[from..to]);
            let x = &self.x[from..to];
            for i in 0..x.len() {
                let mut d = x[i] - xi;
                if self.ring {
                    d -= self.length * (d * self.inverse_length + 0.5).floor();
                }
                d *= self.inverse;
                distance[i] = d;
                // This comparison keeps NaN.
                value[i] = if d * d >= REACH { 0.0 } else { exp(-d * d) };
            }
        }
    }
}
