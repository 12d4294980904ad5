//! Positions spread evenly over a domain.

use crate::Real;

/// Centre of cell `i` of `count` equal cells.
fn centre(i: usize, count: usize, length: Real) -> Real {
    ((i as f64 + 0.5) * length as f64 / count as f64) as Real
}

/// Returns the centres of equal cells, one per agent, `[agents, d]`: the first axis is divided into about as many slabs
/// as there are agents along an axis of a lattice, and each slab likewise along the others.
pub fn cell_centres(lengths: &[Real], agents: usize) -> Vec<Real> {
    let (&length, inner) = lengths.split_first().expect("a domain has an axis");
    if inner.is_empty() {
        return (0..agents).map(|i| centre(i, agents, length)).collect();
    }
    let slabs = (agents as f64).powf(1.0 / lengths.len() as f64).round().max(1.0) as usize;
    let mut all = Vec::with_capacity(lengths.len() * agents);
    for c in 0..slabs {
        let inside = cell_centres(inner, (c + 1) * agents / slabs - c * agents / slabs);
        for at in inside.chunks_exact(inner.len()) {
            all.push(centre(c, slabs, length));
            all.extend(at);
        }
    }
    all
}

/// Returns the first points, row by row, of the smallest square lattice in `d` dimensions that holds all agents,
/// `[agents, d]`. `at(axis, i, steps)` is the coordinate of point `i` along an axis, from 0 to `steps`.
pub fn cubic_lattice(d: usize, agents: usize, at: impl Fn(usize, usize, usize) -> f64) -> Vec<Real> {
    let side = (1usize..).find(|side| side.pow(d as u32) >= agents).expect("some lattice is large enough");
    let index = |m: usize, axis: usize| m / side.pow((d - 1 - axis) as u32) % side;
    (0..agents)
        .flat_map(|m| (0..d).map(move |axis| (m, axis)))
        .map(|(m, axis)| at(axis, index(m, axis), side - 1) as Real)
        .collect()
}

/// Returns a lattice of columns with nearly equal numbers of agents, `[agents, 2]`: the square lattice for square numbers,
/// and even for all others. `at(axis, i, steps)` is as in [`cubic_lattice`]; a single agent takes the middle.
pub fn even_columns(agents: usize, at: impl Fn(usize, usize, usize) -> f64) -> Vec<Real> {
    let columns = (agents as f64).sqrt().round().max(1.0) as usize;
    let place = |axis: usize, i: usize, count: usize| match count {
        1 => 0.5 * (at(axis, 0, 1) + at(axis, 1, 1)),
        _ => at(axis, i, count - 1),
    };
    let mut all = Vec::with_capacity(2 * agents);
    for c in 0..columns {
        let count = (c + 1) * agents / columns - c * agents / columns;
        (0..count).for_each(|i| all.extend([place(0, c, columns) as Real, place(1, i, count) as Real]));
    }
    all
}

/// Returns the most even lattice of a torus with `agents` points, `[agents, 2]`: nearly triangular, for any number of
/// agents.
///
/// Agents on a lattice cannot distinguish waves whose wave numbers differ by a vector of the dual lattice (aliasing). A
/// combination of two such waves may vanish at every agent; the wave number of the longest such combination is half the
/// length of the shortest dual vector. Of all lattices this one maximises that length.
pub fn most_even(lengths: &[Real], agents: usize) -> Vec<Real> {
    let &[width, height] = lengths else { return cell_centres(lengths, agents) };
    let (width, height) = (width as f64, height as f64);
    // Every lattice of a torus consists of equal rows, each shifted against the one below by a multiple of
    // width/agents. Its dual vectors are the integer combinations of (in a row, shift) and (0, rows), in waves per
    // length.
    let shortest = |in_row: usize, shift: usize| {
        shortest([in_row as f64 / width, shift as f64 / height], [0.0, (agents / in_row) as f64 / height])
    };
    let all = (1..=agents).filter(|in_row| agents.is_multiple_of(*in_row));
    let all = all.flat_map(|in_row| (0..agents / in_row).map(move |shift| (in_row, shift)));
    let best = all.fold(((1, 0), 0.0), |(best, most), (in_row, shift)| {
        let length = shortest(in_row, shift);
        // The first of equals, so that rounding does not decide.
        if length > most * (1.0 + 1e-9) { ((in_row, shift), length) } else { (best, most) }
    });
    let ((in_row, shift), rows) = (best.0, agents / best.0.0);
    let point = |row: usize, i: usize| {
        let x = (i as f64 + 0.5) / in_row as f64 - (shift * row % rows) as f64 / (in_row * rows) as f64;
        [(x.rem_euclid(1.0) * width) as Real, centre(row, rows, height as Real)]
    };
    (0..rows).flat_map(|row| (0..in_row).flat_map(move |i| point(row, i))).collect()
}

/// Length of the shortest vector of a lattice with this basis, by Gauss reduction.
fn shortest(mut a: [f64; 2], mut b: [f64; 2]) -> f64 {
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    loop {
        if dot(a, a) > dot(b, b) {
            std::mem::swap(&mut a, &mut b);
        }
        let times = (dot(a, b) / dot(a, a)).round();
        let less = [b[0] - times * a[0], b[1] - times * a[1]];
        // Stops at vectors of equal length, which would be swapped forever.
        if dot(less, less) > dot(b, b) * (1.0 - 1e-9) {
            return dot(a, a).sqrt();
        }
        b = less;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest-neighbour distance is within ten percent of that of a triangular lattice.
    #[test]
    fn the_most_even_lattice_is_nearly_triangular() {
        for agents in [16, 49, 81, 97, 100, 121, 144, 196, 400] {
            let xi = most_even(&[32.0, 32.0], agents);
            assert_eq!(xi.len(), 2 * agents);
            let around = |d: Real| (d - 32.0 * (d / 32.0).round()) as f64;
            let gap = |i: usize| around(xi[2 * i] - xi[0]).hypot(around(xi[2 * i + 1] - xi[1]));
            // All points of a lattice have the same neighbours.
            let nearest = (1..agents).map(gap).fold(f64::INFINITY, f64::min);
            let ideal = (2.0 / 3f64.sqrt() * 1024.0 / agents as f64).sqrt();
            assert!(nearest > 0.9 * ideal && nearest < 1.001 * ideal, "{agents} agents: {nearest}, ideally {ideal}");
        }
    }
}
