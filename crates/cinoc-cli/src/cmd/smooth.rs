//! Smoothing of fields that a user gives.

use cinoc::Real;
use cinoc::pde::Grid;

/// The largest share of detail without a warning, per dimension: edges weigh more in the plane. Targets of the shipped problems stay below.
const MOST_DETAIL: f64 = 0.04;

/// True if a field has detail that pushes of width `sigma` cannot form.
pub fn is_too_fine(grid: &Grid, field: &[Real], sigma: f64) -> bool {
    detail(grid, field, sigma) > MOST_DETAIL * grid.dimensions() as f64
}

/// Convolves a field with a Gaussian of standard deviation `sigma`, in units of the domain. Beyond a wall the field is continued by its
/// value there.
pub fn gaussian(grid: &Grid, field: &[Real], sigma: f64) -> Vec<Real> {
    let mut smooth = field.to_vec();
    for axis in 0..grid.dimensions() {
        let (nodes, inner) = (grid.nodes[axis], grid.nodes[axis + 1..].iter().product::<usize>());
        let width = sigma / grid.spacing(axis);
        let reach = ((4.0 * width).ceil() as usize).clamp(1, 4 * nodes) as isize;
        let weights: Vec<f64> = (-reach..=reach).map(|k| (-0.5 * (k as f64 / width).powi(2)).exp()).collect();
        let total: f64 = weights.iter().sum();
        let place = |i: isize| match grid.periodic[axis] {
            true => i.rem_euclid(nodes as isize) as usize,
            false => i.clamp(0, nodes as isize - 1) as usize,
        };
        let from = smooth.clone();
        for (at, value) in smooth.iter_mut().enumerate() {
            let (line, i) = (at - at / inner % nodes * inner, (at / inner % nodes) as isize);
            let sum = weights.iter().zip(-reach..).map(|(w, k)| w * from[line + place(i + k) * inner] as f64).sum::<f64>();
            *value = (sum / total) as Real;
        }
    }
    smooth
}

/// The share of a field's variance that smoothing by half the width `sigma` of a push removes.
fn detail(grid: &Grid, field: &[Real], sigma: f64) -> f64 {
    let smooth = gaussian(grid, field, 0.5 * sigma);
    let mean = field.iter().map(|&z| z as f64).sum::<f64>() / field.len() as f64;
    let variance: f64 = field.iter().map(|&z| (z as f64 - mean).powi(2)).sum();
    let removed: f64 = field.iter().zip(&smooth).map(|(&z, &s)| (z as f64 - s as f64).powi(2)).sum();
    if variance > 0.0 { removed / variance } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc::Registry;
    use cinoc::internal::random::{Rng, Split, Stream};
    use cinoc::problem::Preset;
    use cinoc::settings::Overlay;

    /// Targets that policies are trained for are smooth, a square with sharp edges is not.
    #[test]
    fn sharp_edges_are_detail() {
        for name in ["heat1d", "fkpp1d", "heat2d", "heat2d_obstacles"] {
            let registry = Registry::builtin();
            let config = registry.config(name, Preset::Tuned, &Overlay::default()).expect("settings");
            let (problem, sigma) =
                (registry.build(&config).expect("a problem"), super::super::push_width(&config).expect("a width"));
            let grid = problem.stepper.grid();
            for i in 0..20 {
                let drawn = problem.task.sample(&mut Rng::new(3000, Stream::Test, i), Split::Test);
                assert!(!is_too_fine(grid, &drawn.target, sigma), "{name}, instance {i}: {}", detail(grid, &drawn.target, sigma));
            }
            let (nodes, last) = (&grid.nodes, grid.nodes[grid.dimensions() - 1]);
            let inside = |i: usize, n: usize| (n / 3..2 * n / 3).contains(&i);
            let square: Vec<Real> =
                (0..grid.count())
                    .map(|at| {
                        if inside(at % last, last) && (grid.dimensions() == 1 || inside(at / last, nodes[0])) { 1.0 } else { 0.0 }
                    })
                    .collect();
            assert!(is_too_fine(grid, &square, sigma), "{name}: {}", detail(grid, &square, sigma));
            assert!(!is_too_fine(grid, &gaussian(grid, &square, sigma), sigma), "{name}: it stays when smoothed");
        }
    }

    #[test]
    fn a_constant_stays_what_it_is() {
        let grid = Grid::plane([8, 6], [1.0, 2.0], false);
        assert!(gaussian(&grid, &[2.5; 48], 0.3).iter().all(|z| (z - 2.5).abs() < 1e-6));
    }
}
