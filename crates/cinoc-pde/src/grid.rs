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
    pub fn count(&self) -> usize {
        self.nodes.iter().product()
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
