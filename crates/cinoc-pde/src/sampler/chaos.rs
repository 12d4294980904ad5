//! Initial conditions of chaotic equations.

use crate::calculus::Fourier;
use crate::{Grid, Real, Stepper};
use cinoc_tape::{Arena, Tape};
use std::f64::consts::PI;

/// Samples zero-mean white noise of standard deviation `size`, from one standard normal number per node.
pub fn white_noise(normal: &[f64], size: f64) -> Vec<Real> {
    let mean = normal.iter().sum::<f64>() / normal.len() as f64;
    normal.iter().map(|n| (size * (n - mean)) as Real).collect()
}

/// Samples `sin(2πx/L+p₁)cos(2πy/L+p₂) + ½ sin(4πx/L+p₃) + 0.05·noise` on a torus, with zero mean and standard
/// deviation 1.
///
/// Requires three phases in [0, 2π) and one standard normal number per node.
///
/// # Panics
/// On a grid that is not two-dimensional, or with another count of numbers.
pub fn waves_with_noise(grid: &Grid, phases: [f64; 3], normal: &[f64]) -> Vec<Real> {
    grid.assert_dimensions("waves with noise", &[2]);
    assert!(normal.len() == grid.count(), "{} numbers for {:?} nodes", normal.len(), grid.nodes);
    let unit = grid.wavenumber_units();
    let [x, y] = [0, 1].map(|axis| grid.positions(axis).iter().map(|x| unit[axis] * x).collect::<Vec<f64>>());
    let wave = |i: usize| {
        let (x, y) = (x[i / y.len()], y[i % y.len()]);
        (x + phases[0]).sin() * (y + phases[1]).cos() + 0.5 * (2.0 * x + phases[2]).sin() + 0.05 * normal[i]
    };
    let field: Vec<f64> = (0..grid.count()).map(wave).collect();
    let count = field.len() as f64;
    let mean = field.iter().sum::<f64>() / count;
    let deviation = (field.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / count).sqrt();
    field.iter().map(|z| ((z - mean) / deviation) as Real).collect()
}

/// Samples the vorticity of a random flow: white noise with the spectral envelope `exp(−k²/2k_p²)`, without mean and
/// Nyquist modes, scaled to the kinetic energy `½ mean|q|² = energy`.
///
/// Requires one standard normal number per node.
///
/// # Panics
/// On a grid that is not two-dimensional, or with another count of numbers.
pub fn random_vorticity(grid: &Grid, peak: f64, energy: f64, normal: &[f64]) -> Vec<Real> {
    grid.assert_dimensions("a random vorticity", &[2]);
    assert!(normal.len() == grid.count(), "{} numbers for {:?} nodes", normal.len(), grid.nodes);
    let fourier = Fourier::new(grid);
    let square = |k: &[f64]| k[0] * k[0] + k[1] * k[1];
    // Just below the Nyquist wavenumber.
    let top = [0, 1].map(|axis| 0.999 * PI / grid.spacing(axis));
    let inside = |k: &[f64]| k[0].abs() < top[0] && k[1].abs() < top[1] && square(k) > 0.0;
    let envelope = fourier.symbol(|k| if inside(k) { (-square(k) / (2.0 * peak * peak)).exp() } else { 0.0 });
    let to_stream = fourier.symbol(|k| if square(k) > 0.0 { 1.0 / square(k) } else { 0.0 });
    let noise: Vec<Real> = normal.iter().map(|&n| n as Real).collect();
    let tape = Tape::new(Arena::default(), &[]);
    let z_hat = fourier.forward(tape.constant([1, grid.nodes[0], grid.nodes[1]], &noise)).apply(&envelope);
    let (z, stream) = (fourier.inverse(z_hat).value(), fourier.inverse(z_hat.apply(&to_stream)).value());
    // ½ mean|q|² = ½ mean(ωψ)
    let found = z.iter().zip(&stream).map(|(z, s)| *z as f64 * *s as f64).sum::<f64>() / (2.0 * z.len() as f64);
    let scale = (energy / found).sqrt();
    z.iter().map(|z| (scale * *z as f64) as Real).collect()
}

/// Advances fields `[batch, nodes...]` by `steps` uncontrolled steps, for instance until they reach the attractor.
pub fn settle(stepper: &dyn Stepper, fields: &[Real], steps: usize) -> Vec<Real> {
    let nodes = &stepper.grid().nodes;
    let shape: Vec<usize> = [fields.len() / stepper.grid().count()].into_iter().chain(nodes.iter().copied()).collect();
    let (mut memory, mut fields) = (Arena::default(), fields.to_vec());
    for _ in 0..steps {
        let tape = Tape::new(memory, &[]);
        stepper.step(tape.constant(&shape[..], &fields), tape.zeros(&shape[..])).read(|z| fields.copy_from_slice(z));
        memory = tape.into_arena();
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc_tape::check::noise;

    fn numbers(count: usize) -> Vec<f64> {
        noise(count, 5).iter().map(|&n| n as f64).collect()
    }

    #[test]
    fn noise_and_waves_have_the_mean_and_size_they_should() {
        let grid = Grid::torus([16, 12], [3.0, 2.0]);
        for (z, size) in [(white_noise(&numbers(192), 0.01), 0.0), (waves_with_noise(&grid, [1.0, 2.0, 3.0], &numbers(192)), 1.0)]
        {
            let mean = z.iter().map(|z| *z as f64).sum::<f64>() / 192.0;
            let square = z.iter().map(|z| (*z as f64).powi(2)).sum::<f64>() / 192.0;
            assert!(mean.abs() < 1e-6, "mean {mean}");
            assert!(size == 0.0 || (square - size).abs() < 1e-5, "mean square {square}");
        }
    }

    #[test]
    fn random_flows_have_the_energy_asked_for() {
        let grid = Grid::torus([32, 32], [1.0, 1.0]);
        let z = random_vorticity(&grid, 10.0 * std::f64::consts::TAU, 0.8, &numbers(1024));
        let fourier = Fourier::new(&grid);
        let tape = Tape::new(Arena::default(), &[]);
        let z_hat = fourier.forward(tape.constant([1, 32, 32], &z));
        // q by its definition, (ψ_y, −ψ_x).
        let stream =
            z_hat.apply(&fourier.symbol(|k| if k[0] == 0.0 && k[1] == 0.0 { 0.0 } else { 1.0 / (k[0] * k[0] + k[1] * k[1]) }));
        let energy: f64 = [0, 1]
            .map(|axis| fourier.inverse(fourier.derivative(stream, axis)).square().mean().value()[0] as f64 / 2.0)
            .iter()
            .sum();
        assert!((energy - 0.8).abs() < 1e-5, "energy {energy}");
        assert!(z.iter().map(|z| *z as f64).sum::<f64>().abs() < 1e-2, "no mean");
    }
}
