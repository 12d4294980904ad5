//! Given positions, and positions in a part of the domain.

use super::{CellCentres, Place};
use crate::Real;

/// Given positions; another number of agents is placed otherwise.
pub struct ByHand {
    /// `[agents, dimensions]`.
    pub positions: Vec<Real>,
    /// Number of agents with given positions.
    pub agents: usize,
    /// Placement of other numbers of agents.
    pub otherwise: Box<dyn Place>,
}

impl Place for ByHand {
    fn start(&self, agents: usize) -> Vec<Real> {
        if agents == self.agents { self.positions.clone() } else { self.otherwise.start(agents) }
    }
}

/// Placement in the centres of equal cells of a box.
pub struct InBox {
    low: Vec<Real>,
    cells: CellCentres,
}

impl InBox {
    /// Creates the placement between two corners.
    pub fn new(low: &[Real], high: &[Real]) -> Self {
        let lengths: Vec<Real> = low.iter().zip(high).map(|(low, high)| high - low).collect();
        Self { low: low.to_vec(), cells: CellCentres::new(&lengths) }
    }
}

impl Place for InBox {
    fn start(&self, agents: usize) -> Vec<Real> {
        let mut xi = self.cells.start(agents);
        xi.iter_mut().zip(self.low.iter().cycle()).for_each(|(xi, low)| *xi += low);
        xi
    }
}
