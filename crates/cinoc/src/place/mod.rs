//! Initial positions of agents.

#[cfg(feature = "files")]
mod by_hand;
mod lattice;
mod random;

#[cfg(feature = "files")]
pub use by_hand::{ByHand, InBox};
pub use random::{Placement, WITHIN, cluster, scatter};

use crate::Real;
use crate::geometry::Rectangle;
use lattice::{cell_centres, cubic_lattice, even_columns, most_even};

/// Initial positions of agents.
///
/// ```
/// use cinoc::swarm::{CellCentres, Place};
///
/// assert_eq!(CellCentres::new(&[2.0]).start(2), [0.5, 1.5]);
/// ```
pub trait Place: Send + Sync {
    /// Returns the positions of `agents` agents, `[agents, dimensions]`.
    fn start(&self, agents: usize) -> Vec<Real>;
}

/// Placement in the centres of equal cells, one agent each.
#[derive(Clone, Debug)]
pub struct CellCentres {
    lengths: Vec<Real>,
}

impl CellCentres {
    /// Creates the placement in a domain with axes of these lengths.
    ///
    /// # Panics
    /// In more than three dimensions.
    pub fn new(lengths: &[Real]) -> Self {
        Self { lengths: line_to_box(lengths) }
    }
}

impl Place for CellCentres {
    fn start(&self, agents: usize) -> Vec<Real> {
        cell_centres(&self.lengths, agents)
    }
}

/// Placement on the most even lattice of a torus, or in the centres of equal cells of a ring or a periodic box.
#[derive(Clone, Debug)]
pub struct EvenLattice {
    lengths: Vec<Real>,
}

impl EvenLattice {
    /// Creates the placement on a ring, a torus or a periodic box with axes of these lengths.
    ///
    /// # Panics
    /// In more than three dimensions.
    pub fn new(lengths: &[Real]) -> Self {
        Self { lengths: line_to_box(lengths) }
    }
}

impl Place for EvenLattice {
    fn start(&self, agents: usize) -> Vec<Real> {
        most_even(&self.lengths, agents)
    }
}

/// Initial distances from the walls, as fractions of the length of each axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// Number of agents that `trained` applies to.
    pub agents: usize,
    /// Margin for that number of agents.
    pub trained: f64,
    /// Margin for any other number of agents.
    pub other: f64,
}

/// Even placement between margins: on a line from one to the other, in the plane and in a box on a square lattice.
#[derive(Clone, Debug)]
pub struct BetweenMargins {
    lengths: Vec<Real>,
    margins: Margins,
}

impl BetweenMargins {
    /// Creates the placement in a domain with axes of these lengths.
    ///
    /// # Panics
    /// In more than three dimensions.
    pub fn new(lengths: &[Real], margins: Margins) -> Self {
        Self { lengths: line_to_box(lengths), margins }
    }
}

impl Place for BetweenMargins {
    fn start(&self, agents: usize) -> Vec<Real> {
        let Margins { agents: known, trained, other } = self.margins;
        let margin = if agents == known { trained } else { other };
        let at = |axis: usize, i: usize, steps: usize| {
            let step = if steps > 0 { (1.0 - 2.0 * margin) / steps as f64 } else { 0.0 };
            (margin + i as f64 * step) * self.lengths[axis] as f64
        };
        cubic_lattice(self.lengths.len(), agents, at)
    }
}

/// Placement on a square lattice inside a rectangle.
#[derive(Clone, Debug)]
pub struct Inside(pub Rectangle);

impl Place for Inside {
    fn start(&self, agents: usize) -> Vec<Real> {
        let Rectangle { low, high } = self.0;
        cubic_lattice(2, agents, |axis, i, steps| low[axis] + (high[axis] - low[axis]) * i as f64 / steps.max(1) as f64)
    }
}

/// Placement in columns with nearly equal numbers of agents inside a rectangle.
#[derive(Clone, Debug)]
pub struct EvenInside(pub Rectangle);

impl Place for EvenInside {
    fn start(&self, agents: usize) -> Vec<Real> {
        let Rectangle { low, high } = self.0;
        even_columns(agents, |axis, i, steps| low[axis] + (high[axis] - low[axis]) * i as f64 / steps as f64)
    }
}

fn line_to_box(lengths: &[Real]) -> Vec<Real> {
    let d = lengths.len();
    assert!((1..=3).contains(&d), "agents start on a line, in the plane or in a box; {d} dimensions are not supported");
    lengths.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_fractions_of_the_domain() {
        let margins = Margins { agents: 3, trained: 0.2, other: 0.1 };
        let [one, two] = [1.0, 2.0].map(|length| BetweenMargins::new(&[length], margins));
        for agents in [1, 2, 3, 20] {
            let (one, two) = (one.start(agents), two.start(agents));
            assert!(one.iter().zip(&two).all(|(a, b)| 2.0 * a == *b), "{one:?} {two:?}");
        }
        let close = |a: &[Real], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (*a as f64 - b).abs() < 1e-6);
        assert!(close(&two.start(3), &[0.4, 1.0, 1.6]) && close(&two.start(2), &[0.2, 1.8]) && close(&two.start(1), &[0.2]));
        assert_eq!(CellCentres::new(&[2.0]).start(2), [0.5, 1.5]);
        let plane = BetweenMargins::new(&[1.0, 2.0], margins);
        assert!(close(&plane.start(3), &[0.2, 0.4, 0.2, 1.6, 0.8, 0.4]) && close(&plane.start(1), &[0.1, 0.2]));
        let inside = Inside(Rectangle { low: [0.2, 0.4], high: [0.8, 1.6] });
        assert_eq!((inside.start(3), inside.start(1)), (plane.start(3), vec![0.2, 0.4]));
        assert!(inside.start(0).is_empty() && plane.start(0).is_empty() && one.start(0).is_empty());
    }

    #[test]
    fn even_columns_are_the_square_lattice_for_squares() {
        let rectangle = Rectangle { low: [0.2, 0.4], high: [0.8, 1.6] };
        let (even, square) = (EvenInside(rectangle), Inside(rectangle));
        for agents in [4, 9, 16, 25] {
            assert_eq!(even.start(agents), square.start(agents));
        }
        assert_eq!(even.start(1), [0.5, 1.0]);
        assert!(even.start(0).is_empty());
        let columns = |xi: &[Real]| {
            xi.chunks_exact(2).map(|at| at[0]).collect::<Vec<_>>().chunk_by(|a, b| a == b).map(<[Real]>::len).collect::<Vec<_>>()
        };
        assert_eq!(columns(&even.start(18)), [4, 5, 4, 5]);
        assert_eq!(columns(&even.start(5)), [2, 3]);
    }

    #[test]
    fn agents_in_a_box_have_cells_of_their_own() {
        let lengths: [Real; 3] = [1.0, 2.0, 3.0];
        for agents in [1, 2, 5, 8, 13, 27, 60] {
            let xi = CellCentres::new(&lengths).start(agents);
            assert!(xi.len() == 3 * agents && xi.iter().enumerate().all(|(i, x)| *x > 0.0 && *x < lengths[i % 3]));
            assert_eq!(xi, EvenLattice::new(&lengths).start(agents));
            let apart = |i: usize, j: usize| (0..3).map(|c| ((xi[3 * i + c] - xi[3 * j + c]) / lengths[c]).powi(2)).sum::<Real>();
            let nearest = (0..agents).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| apart(i, j).sqrt());
            let nearest = nearest.fold(1.0, Real::min);
            assert!(nearest > 0.6 * (agents as Real).powf(-1.0 / 3.0), "{agents} agents: {nearest}");
        }
        assert_eq!(CellCentres::new(&lengths).start(8)[..6], [0.25, 0.5, 0.75, 0.25, 0.5, 2.25]);
        let margins = Margins { agents: 8, trained: 0.1, other: 0.1 };
        assert_eq!(BetweenMargins::new(&[10.0; 3], margins).start(8)[18..], [9.0, 9.0, 1.0, 9.0, 9.0, 9.0]);
    }

    #[test]
    #[should_panic(expected = "4 dimensions")]
    fn there_is_no_lattice_beyond_boxes() {
        EvenLattice::new(&[1.0; 4]);
    }
}
