//! Nodes in space.

use crate::Real;

/// A grid of nodes. With walls both ends are nodes, `xᵢ = i·L/(N−1)`; periodic, `xᵢ = i·L/N`.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Nodes along each axis.
    pub nodes: Vec<usize>,
    /// Length of each axis.
    pub lengths: Vec<Real>,
    /// Whether the ends are joined.
    pub periodic: bool,
}

impl Grid {
    /// An interval with a wall at each end.
    pub fn walls(nodes: usize, length: Real) -> Self {
        Self { nodes: vec![nodes], lengths: vec![length], periodic: false }
    }

    /// A ring.
    pub fn periodic(nodes: usize, length: Real) -> Self {
        Self { nodes: vec![nodes], lengths: vec![length], periodic: true }
    }

    /// A rectangle: walls all around, or both axes joined end to end.
    pub fn plane(nodes: [usize; 2], lengths: [Real; 2], periodic: bool) -> Self {
        Self { nodes: nodes.to_vec(), lengths: lengths.to_vec(), periodic }
    }

    /// A torus.
    pub fn torus(nodes: [usize; 2], lengths: [Real; 2]) -> Self {
        Self::plane(nodes, lengths, true)
    }

    /// Number of nodes in all.
    ///
    /// # Panics
    /// With more nodes than a `usize` counts.
    pub fn count(&self) -> usize {
        let count = self.nodes.iter().try_fold(1, |count: usize, &n| count.checked_mul(n));
        count.unwrap_or_else(|| panic!("a grid of {:?} nodes is too large to count them", self.nodes))
    }

    /// # Panics
    /// Unless the grid has one of these numbers of space dimensions.
    pub(crate) fn assert_dimensions(&self, who: &str, possible: &[usize]) {
        let (found, words) = (self.dimensions(), possible.iter().map(usize::to_string).collect::<Vec<_>>().join(" or "));
        assert!(possible.contains(&found), "{who} needs a grid of dimension {words}, not {found} (nodes {:?})", self.nodes);
    }

    /// # Panics
    /// Unless the grid is periodic, or has walls, as `periodic` says.
    pub(crate) fn assert_ends(&self, who: &str, periodic: bool) {
        let word = |periodic: bool| if periodic { "is periodic" } else { "has walls" };
        assert!(self.periodic == periodic, "{who} needs a grid that {}; this one {}", word(periodic), word(self.periodic));
    }

    /// # Panics
    /// Unless `divisor` divides the number of nodes along each axis, and none is zero.
    pub(crate) fn assert_divisible(&self, who: &str, divisor: usize) {
        let fits = self.nodes.iter().all(|&n| n > 0 && n.is_multiple_of(divisor));
        assert!(fits, "{who} needs a number of nodes that {divisor} divides along each axis, not {:?}", self.nodes);
    }

    /// Number of space dimensions.
    pub fn dimensions(&self) -> usize {
        self.nodes.len()
    }

    /// Distance between neighbours along an axis, in full precision.
    pub fn spacing(&self, axis: usize) -> f64 {
        let cells = if self.periodic { self.nodes[axis] } else { self.nodes[axis] - 1 };
        self.lengths[axis] as f64 / cells as f64
    }

    /// The smallest wavenumber along each axis, 2π/L.
    pub fn wavenumber_units(&self) -> Vec<f64> {
        self.lengths.iter().map(|&length| std::f64::consts::TAU / length as f64).collect()
    }

    /// Positions of the nodes along an axis.
    pub fn positions(&self, axis: usize) -> Vec<f64> {
        let dx = self.spacing(axis);
        (0..self.nodes[axis]).map(|i| i as f64 * dx).collect()
    }
}
