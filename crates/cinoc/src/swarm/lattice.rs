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

/// Places in an even number of rows that are shifted by half a step against their neighbours, `[agents, 2]`, on a torus: nearly a lattice of
/// equal triangles. Of all lattices these miss the fewest waves: a wave that is zero at every agent is as short as can be.
pub fn staggered(lengths: &[Real], agents: usize) -> Vec<Real> {
    let &[width, height] = lengths else { return cell_middles(lengths, agents) };
    let ideal = (agents as f64 * 2.0 / 3f64.sqrt() * (height / width) as f64).sqrt();
    let rows = (2 * (ideal / 2.0).ceil() as usize).clamp(1, agents);
    let in_row = |r: usize| (r + 1) * agents / rows - r * agents / rows;
    let place = |i: usize, r: usize| {
        let shift = if r.is_multiple_of(2) { 0.25 } else { 0.75 };
        ((i as f64 + shift) * width as f64 / in_row(r) as f64) as Real
    };
    (0..rows).flat_map(|r| (0..in_row(r)).flat_map(move |i| [place(i, r), middle(r, rows, height)])).collect()
}
