//! Moments of a density: known values, derivatives.

use cinoc_pde::calculus::Moments;
use cinoc_pde::{Grid, Real};
use cinoc_tape::check::{assert_derivative, noise};
use cinoc_tape::{Arena, Tape};
use std::sync::Arc;

#[test]
fn moments_of_a_blob() {
    let grid = Grid { nodes: vec![64, 80], lengths: vec![1.0, 1.25], periodic: vec![false; 2] };
    let found = Arc::new(Moments::new(&grid));
    let (dx, dy) = (grid.spacing(0), grid.spacing(1));
    let gauss = |n: usize| {
        let (x, y) = ((n / 80) as f64 * dx - 0.4, (n % 80) as f64 * dy - 0.6);
        (0.8 * (-(x * x + y * y) / (2.0 * 0.05 * 0.05)).exp()) as Real
    };
    let z: Vec<Real> = (0..grid.count()).map(gauss).chain(vec![0.0; grid.count()]).collect();
    let tape = Tape::new(Arena::default(), &[]);
    let y = tape.constant([2, 64, 80], &z).apply(&found).value();
    let mass = 0.8 * 2.0 * std::f64::consts::PI * 0.05 * 0.05 / (dx * dy);
    for (y, expected) in y.iter().zip([mass, 0.4, 0.6, 0.05 * 2f64.sqrt(), 0.0, 0.0, 0.0, 0.0]) {
        assert!((*y as f64 - expected).abs() <= 1e-6 * expected, "{y} not {expected}");
    }
}

#[test]
fn moments_have_right_derivatives() {
    let moments = Arc::new(Moments::new(&Grid { nodes: vec![5, 19], lengths: vec![1.0, 1.25], periodic: vec![false; 2] }));
    let density: Vec<Real> = noise(2 * 95, 1).iter().map(|x| 0.6 + 0.4 * x).collect();
    assert_derivative(&[(&[2, 5, 19], &density)], |v| v[0].apply(&moments));
    assert_derivative(&[(&[2, 5, 19], &density)], |v| v[0].apply(&moments).columns(1, 4));
    let (_, bars) = cinoc_tape::check::pull_back(
        &vec![([1, 5, 19].into(), vec![0.0; 95])],
        &|v| v[0].apply(&moments),
        Some(&[1.0, 1.0, 1.0, 1.0]),
    );
    assert!(bars[0].iter().all(|b| *b == 1.0), "without mass only the mass itself can change");
}
