//! The 2-Wasserstein distance against densities whose distance is known.

use cinoc::Real;
use cinoc::internal::measure::Wasserstein2;
use cinoc_pde::Grid;
use std::f64::consts::PI;

fn plane() -> Grid {
    Grid { nodes: vec![64, 80], lengths: vec![1.0, 1.25], periodic: vec![false; 2] }
}

/// A Gaussian with this centre and these widths along the axes.
fn blob(centre: [f64; 2], width: [f64; 2]) -> Vec<Real> {
    let grid = plane();
    let (x, y) = (grid.positions(0), grid.positions(1));
    let bump = |d: f64, width: f64| (-0.5 * (d / width).powi(2)).exp();
    x.iter()
        .flat_map(|x| y.iter().map(move |y| (bump(x - centre[0], width[0]) * bump(y - centre[1], width[1])) as Real))
        .collect()
}

fn distance(a: &[Real], b: &[Real]) -> f64 {
    Wasserstein2::new(&plane()).distance(a, b)
}

#[test]
fn the_distance_of_a_shifted_blob_is_the_shift() {
    let (a, dx, dy) = (blob([0.35, 0.4], [0.05, 0.05]), 1.0 / 63.0, 1.25 / 79.0);
    assert!(distance(&a, &a) < 1e-3);
    for (right, up) in [(1, 0), (0, 5), (18, 24)] {
        let b = blob([0.35 + right as f64 * dx, 0.4 + up as f64 * dy], [0.05, 0.05]);
        let expected = (right as f64 * dx).hypot(up as f64 * dy);
        let found = distance(&a, &b);
        assert!((found / expected - 1.0).abs() < 2e-3, "{found} not {expected}");
    }
    assert!((distance(&a, &blob([0.6, 0.8], [0.05, 0.05])) - 0.25f64.hypot(0.4)).abs() < 1e-3);
}

#[test]
fn gaussians_of_different_widths_have_the_known_distance() {
    for (a, b) in [([0.06, 0.06], [0.12, 0.12]), ([0.05, 0.1], [0.1, 0.05]), ([0.08, 0.08], [0.09, 0.09])] {
        let expected = (a[0] - b[0] as f64).hypot(a[1] - b[1]);
        let found = distance(&blob([0.5, 0.6], a), &blob([0.5, 0.6], b));
        assert!((found / expected - 1.0).abs() < 0.01, "{a:?} {b:?}: {found} not {expected}");
        let far = distance(&blob([0.5, 0.6], a), &blob([0.55, 0.65], b));
        let expected = expected.hypot(0.05f64.hypot(0.05));
        assert!((far / expected - 1.0).abs() < 0.01, "{a:?} {b:?}: {far} not {expected}");
    }
}

#[test]
fn splitting_a_blob_costs_the_distance_to_both_halves() {
    let (left, right) = (blob([0.3, 0.6], [0.05, 0.05]), blob([0.7, 0.6], [0.05, 0.05]));
    let both: Vec<Real> = left.iter().zip(&right).map(|(a, b)| a + b).collect();
    // Half of it moves 0.2 to the left, half to the right; splitting it and moving the inner halves costs slightly
    // less.
    let found = distance(&blob([0.5, 0.6], [0.05, 0.05]), &both);
    let split = 0.2 * 0.2 - 2.0 * 0.2 * 0.05 * (2.0 / PI).sqrt();
    assert!(found * found < 0.2 * 0.2 && found * found > split, "{found}");
    assert!((distance(&both, &blob([0.5, 0.6], [0.05, 0.05])) - found).abs() < 1e-3, "the distance is symmetric");
}

#[test]
fn scaled_and_empty_densities() {
    let a = blob([0.4, 0.5], [0.06, 0.06]);
    let twice: Vec<Real> = a.iter().map(|z| 2.0 * z).collect();
    assert!(distance(&a, &twice) < 1e-3, "the mass is normalised");
    assert!((distance(&a, &vec![0.0; 5120]) - 1f64.hypot(1.25)).abs() < 1e-6);
    let mut corners = [vec![0.0; 5120], vec![0.0; 5120]];
    (corners[0][0], corners[1][5119]) = (1.0, 1.0);
    assert!((distance(&corners[0], &corners[1]) - 1f64.hypot(1.25)).abs() < 1e-6, "single nodes");
    // From both corners to the node nearest the middle.
    let both: Vec<Real> = corners[0].iter().zip(&corners[1]).map(|(a, b)| a + b).collect();
    let mut middle = vec![0.0; 5120];
    middle[32 * 80 + 40] = 1.0;
    let square = |i: f64, j: f64| (i / 63.0).powi(2) + (j * 1.25 / 79.0).powi(2);
    let expected = (0.5 * (square(32.0, 40.0) + square(31.0, 39.0))).sqrt();
    assert!((distance(&both, &middle) / expected - 1.0).abs() < 1e-3, "{} not {expected}", distance(&both, &middle));
}
