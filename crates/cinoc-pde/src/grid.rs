//! Spatial grids.

use crate::Real;

/// Uniform grid. Along an axis with walls both ends are nodes, `xᵢ = i·L/(N−1)`; along a periodic one `xᵢ = i·L/N`.
///
/// ```
/// use cinoc_pde::Grid;
///
/// let ring = Grid::periodic(128, 22.0);
/// assert_eq!((ring.count(), ring.dimensions()), (128, 1));
/// assert_eq!(Grid::walls(5, 1.0).positions(0), [0.0, 0.25, 0.5, 0.75, 1.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Nodes along each axis.
    pub nodes: Vec<usize>,
    /// Length of each axis.
    pub lengths: Vec<Real>,
    /// True for each periodic axis; others have walls.
    pub periodic: Vec<bool>,
}

impl Grid {
    /// Creates an interval with a wall at each end.
    pub fn walls(nodes: usize, length: Real) -> Self {
        Self { nodes: vec![nodes], lengths: vec![length], periodic: vec![false] }
    }

    /// Creates a periodic interval.
    pub fn periodic(nodes: usize, length: Real) -> Self {
        Self { nodes: vec![nodes], lengths: vec![length], periodic: vec![true] }
    }

    /// Creates a rectangle, with walls or periodic along both axes.
    pub fn plane(nodes: [usize; 2], lengths: [Real; 2], periodic: bool) -> Self {
        Self { nodes: nodes.to_vec(), lengths: lengths.to_vec(), periodic: vec![periodic; 2] }
    }

    /// Creates a rectangle that is periodic along both axes.
    pub fn torus(nodes: [usize; 2], lengths: [Real; 2]) -> Self {
        Self::plane(nodes, lengths, true)
    }

    /// Total number of nodes.
    ///
    /// # Panics
    /// With more nodes than a `usize` counts.
    pub fn count(&self) -> usize {
        let count = self.nodes.iter().try_fold(1, |count: usize, &n| count.checked_mul(n));
        count.unwrap_or_else(|| panic!("a grid of {:?} nodes is too large to count them", self.nodes))
    }

    /// Asserts the number of space dimensions.
    ///
    /// # Panics
    /// Unless it is one of `possible`.
    pub(crate) fn assert_dimensions(&self, who: &str, possible: &[usize]) {
        let (found, words) = (self.dimensions(), possible.iter().map(usize::to_string).collect::<Vec<_>>().join(" or "));
        assert!(possible.contains(&found), "{who} needs a grid of dimension {words}, not {found} (nodes {:?})", self.nodes);
    }

    /// Returns true if the grid is periodic along all axes.
    pub fn is_periodic(&self) -> bool {
        self.periodic.iter().all(|periodic| *periodic)
    }

    /// Returns true if the grid has walls along all axes.
    pub fn has_walls(&self) -> bool {
        self.periodic.iter().all(|periodic| !periodic)
    }

    /// Asserts that the grid is periodic, or has walls, along all axes.
    ///
    /// # Panics
    /// Unless it is as `periodic` says.
    pub(crate) fn assert_ends(&self, who: &str, periodic: bool) {
        let fits = if periodic { self.is_periodic() } else { self.has_walls() };
        let wanted = if periodic { "is periodic" } else { "has walls" };
        let found = match (self.is_periodic(), self.has_walls()) {
            (true, _) => "is periodic",
            (_, true) => "has walls",
            _ => "is periodic along some axes",
        };
        assert!(fits, "{who} needs a grid that {wanted}; this one {found}");
    }

    /// Asserts that the numbers of nodes are divisible.
    ///
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

    /// Distance between neighbouring nodes along an axis, in double precision.
    pub fn spacing(&self, axis: usize) -> f64 {
        let cells = if self.periodic[axis] { self.nodes[axis] } else { self.nodes[axis] - 1 };
        self.lengths[axis] as f64 / cells as f64
    }

    /// Smallest wavenumber along each axis, 2π/L.
    pub fn wavenumber_units(&self) -> Vec<f64> {
        self.lengths.iter().map(|&length| std::f64::consts::TAU / length as f64).collect()
    }

    /// Positions of the nodes along an axis.
    pub fn positions(&self, axis: usize) -> Vec<f64> {
        let dx = self.spacing(axis);
        (0..self.nodes[axis]).map(|i| i as f64 * dx).collect()
    }
}
