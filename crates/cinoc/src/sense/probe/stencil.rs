//! Linear interpolation along an axis.

use crate::Real;

/// Nodes along an axis.
pub struct ProbeAxis {
    pub nodes: usize,
    pub periodic: bool,
    /// Cells per unit of length.
    pub inverse_dx: Real,
}

/// Nodes around a point along an axis, and their weights.
#[derive(Clone, Copy)]
pub struct Stencil {
    pub nodes: [usize; 4],
    value: [Real; 4],
    /// Weights of the slope per cell.
    slope: [Real; 4],
    /// Changes of both with the position, in cells; zero beyond a wall.
    value_change: [Real; 4],
    slope_change: [Real; 4],
}

impl ProbeAxis {
    /// Stencil of the point at `t`, in cells; of the first node if that is not a number.
    #[inline(always)]
    pub fn at(&self, t: Real) -> Stencil {
        if self.nodes == 1 {
            let nothing = [0.0; 4];
            let value = [0.0, 1.0, 0.0, 0.0];
            return Stencil { nodes: [0; 4], value, slope: nothing, value_change: nothing, slope_change: nothing };
        }
        let (n, nodes) = (self.nodes, self.nodes as Real);
        let inside = match self.periodic {
            true => (t - nodes * (t / nodes).floor()).max(0.0).min(nodes),
            false => t.max(0.0).min(nodes - 1.0),
        };
        let first = (inside as usize).min(if self.periodic { n - 1 } else { n - 2 });
        let w = inside - first as Real;
        let mut slope = [-0.5 * (1.0 - w), -0.5 * w, 0.5 * (1.0 - w), 0.5 * w];
        let free = if self.periodic || inside == t { 1.0 } else { 0.0 };
        let mut slope_change = [0.5, -0.5, -0.5, 0.5].map(|x: Real| free * x);
        let mut indices = [(first + n - 1) % n, first, (first + 1) % n, (first + 2) % n];
        if !self.periodic {
            // Beyond a wall the field is reflected through its value there: e₋₁ = 2e₀ − e₁.
            for weights in [&mut slope, &mut slope_change] {
                if first == 0 {
                    (weights[1], weights[2], weights[0]) = (weights[1] + 2.0 * weights[0], weights[2] - weights[0], 0.0);
                }
                if first + 2 == n {
                    (weights[2], weights[1], weights[3]) = (weights[2] + 2.0 * weights[3], weights[1] - weights[3], 0.0);
                }
            }
            indices = [first.saturating_sub(1), first, first + 1, (first + 2).min(n - 1)];
        }
        Stencil { nodes: indices, value: [0.0, 1.0 - w, w, 0.0], slope, value_change: [0.0, -free, free, 0.0], slope_change }
    }
}

impl Stencil {
    /// Weights for the slope along this axis, or for the value.
    #[inline(always)]
    pub fn weights(&self, slope: bool) -> &[Real; 4] {
        if slope { &self.slope } else { &self.value }
    }

    /// Their changes with the position.
    #[inline(always)]
    pub fn change(&self, slope: bool) -> &[Real; 4] {
        if slope { &self.slope_change } else { &self.value_change }
    }
}
