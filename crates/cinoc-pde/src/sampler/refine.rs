//! Trigonometric interpolation of periodic fields.

use crate::{Grid, Real};
use std::f64::consts::TAU;

/// Interpolates a periodic field trigonometrically to a grid of the same lengths that is not coarser along any axis.
/// The Nyquist mode along an axis becomes a cosine.
///
/// # Panics
/// If the grids are not periodic, differ in lengths, or the second is coarser.
pub fn refine(from: &Grid, to: &Grid, field: &[Real]) -> Vec<Real> {
    let fits = from.lengths == to.lengths && from.nodes.iter().zip(&to.nodes).all(|(a, b)| a <= b);
    assert!(from.is_periodic() && to.is_periodic() && fits, "refining {from:?} to {to:?}");
    if from.nodes == to.nodes {
        return field.to_vec();
    }
    let mut values: Vec<f64> = field.iter().map(|&z| z as f64).collect();
    // Along each axis in turn: [before, nodes, after] to [before, finer, after].
    for axis in 0..from.dimensions() {
        let (nodes, finer) = (from.nodes[axis], to.nodes[axis]);
        let (before, after): (usize, usize) = (to.nodes[..axis].iter().product(), from.nodes[axis + 1..].iter().product());
        let weights: Vec<f64> = (0..finer * nodes).map(|i| weight(i / nodes, finer, i % nodes, nodes)).collect();
        let mut found = vec![0.0; before * finer * after];
        for (block, found) in values.chunks_exact(nodes * after).zip(found.chunks_exact_mut(finer * after)) {
            for (row, weights) in found.chunks_exact_mut(after).zip(weights.chunks_exact(nodes)) {
                for (line, weight) in block.chunks_exact(after).zip(weights) {
                    row.iter_mut().zip(line).for_each(|(sum, z)| *sum += weight * z);
                }
            }
        }
        values = found;
    }
    values.into_iter().map(|z| z as Real).collect()
}

/// Number of cosines beyond which their sum is computed in closed form.
const MANY: usize = 1 << 23;

/// Computes `1 + 2·Σ cos(k·turn)` over k from 1 to `waves`.
fn dirichlet(waves: usize, turn: f64) -> f64 {
    // Whole turns are removed; near zero the quotient is ill-conditioned.
    let turn = turn - TAU * (turn / TAU).round();
    match turn.abs() < 1e-9 {
        true => 1.0 + 2.0 * waves as f64,
        false => ((waves as f64 + 0.5) * turn).sin() / (0.5 * turn).sin(),
    }
}

/// Weight of the value at node `j` of `nodes` for node `i` of `finer`.
fn weight(i: usize, finer: usize, j: usize, nodes: usize) -> f64 {
    let turn = TAU * (i as f64 / finer as f64 - j as f64 / nodes as f64);
    let waves = match finer * nodes * nodes > MANY {
        false => (1..nodes.div_ceil(2)).map(|k| 2.0 * (k as f64 * turn).cos()).sum::<f64>(),
        true => dirichlet(nodes.div_ceil(2) - 1, turn) - 1.0,
    };
    let highest = if nodes.is_multiple_of(2) { (nodes as f64 / 2.0 * turn).cos() } else { 0.0 };
    (1.0 + waves + highest) / nodes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_stay_what_they_are() {
        let wave = |grid: &Grid| -> Vec<Real> {
            let at = |x: f64, y: f64| 1.5 + (3.0 * x + 1.0).sin() * (2.0 * y).cos() + (4.0 * y).cos();
            let (x, y) = (grid.positions(0), grid.positions(1));
            x.iter().flat_map(|&x| y.iter().map(move |&y| at(x, y) as Real)).collect()
        };
        let [coarse, fine] = [[10, 8], [16, 24]].map(|nodes| Grid::torus(nodes, [TAU as Real; 2]));
        let found = refine(&coarse, &fine, &wave(&coarse));
        found.iter().zip(&wave(&fine)).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} not {b}"));
    }

    #[test]
    fn the_closed_form_is_the_sum() {
        for (waves, turn) in [(7, 0.3), (31, -2.9), (31, TAU + 1e-3), (12, 0.0), (12, -TAU), (1000, 0.7)] {
            let sum = 1.0 + 2.0 * (1..=waves).map(|k| (k as f64 * turn).cos()).sum::<f64>();
            assert!((dirichlet(waves, turn) - sum).abs() < 1e-8, "{waves} waves at {turn}");
        }
    }
}
