//! Places spread evenly over a domain.

use crate::Real;

/// The middle of cell `i` of `count` equal ones.
fn middle(i: usize, count: usize, length: Real) -> Real {
    ((i as f64 + 0.5) * length as f64 / count as f64) as Real
}

/// The middles of equal cells, one per agent, `[agents, d]`. In the plane, in about as many columns as there are agents in each: a lattice if
/// their number is a square.
pub fn cell_middles(lengths: &[Real], agents: usize) -> Vec<Real> {
    let &[width, height] = lengths else {
        return (0..agents).map(|i| middle(i, agents, lengths[0])).collect();
    };
    let columns = (agents as f64).sqrt().round().max(1.0) as usize;
    let in_column = |c: usize| (c + 1) * agents / columns - c * agents / columns;
    let column = |c: usize| (0..in_column(c)).flat_map(move |i| [middle(c, columns, width), middle(i, in_column(c), height)]);
    (0..columns).flat_map(column).collect()
}
