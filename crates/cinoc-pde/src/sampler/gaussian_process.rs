//! Smooth random functions on an interval.

use nalgebra::DMatrix;

/// A Gaussian process with kernel `exp(−d²/2l²)` on given points, from the eigenpairs of its covariance above 1e-12 of the largest.
pub struct GaussianProcess {
    /// `[points, modes]`: the covariance is this matrix times its transpose.
    factor: Vec<f64>,
    points: usize,
    modes: usize,
}

impl GaussianProcess {
    /// Points `x`, correlation length `length`.
    pub fn new(x: &[f64], length: f64) -> Self {
        let points = x.len();
        let covariance = DMatrix::from_fn(points, points, |i, j| (-0.5 * ((x[i] - x[j]) / length).powi(2)).exp());
        let eigen = covariance.symmetric_eigen();
        let largest = eigen.eigenvalues.max();
        let mut kept: Vec<usize> = (0..points).filter(|&m| eigen.eigenvalues[m] > 1e-12 * largest).collect();
        // Largest first, so that the smoothest modes always use the same random numbers.
        kept.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let modes = kept.len();
        let mut factor = vec![0.0; points * modes];
        for (column, &m) in kept.iter().enumerate() {
            for i in 0..points {
                factor[i * modes + column] = eigen.eigenvectors[(i, m)] * eigen.eigenvalues[m].sqrt();
            }
        }
        Self { factor, points, modes }
    }

    /// How many normal numbers one draw takes.
    pub fn modes(&self) -> usize {
        self.modes
    }

    /// One draw from `modes` standard normal numbers, minus the straight line through its end values: zero at both ends.
    pub fn bridge(&self, normal: &[f64]) -> Vec<f64> {
        let mut g: Vec<f64> =
            self.factor.chunks_exact(self.modes).map(|row| row.iter().zip(normal).map(|(f, n)| f * n).sum()).collect();
        let (first, last) = (g[0], g[self.points - 1]);
        for (i, g) in g.iter_mut().enumerate() {
            let s = i as f64 / (self.points - 1) as f64;
            *g -= (1.0 - s) * first + s * last;
        }
        (g[0], g[self.points - 1]) = (0.0, 0.0);
        g
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariance_is_the_kernel() {
        let x: Vec<f64> = (0..40).map(|i| i as f64 / 39.0).collect();
        let process = GaussianProcess::new(&x, 0.2);
        assert!(process.modes() < 40, "a smooth kernel has few modes, not {}", process.modes());
        for i in 0..40 {
            for j in 0..40 {
                let row = |i: usize| &process.factor[i * process.modes..][..process.modes];
                let covariance: f64 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
                let kernel = (-0.5 * ((x[i] - x[j]) / 0.2).powi(2)).exp();
                assert!((covariance - kernel).abs() < 1e-10, "{i},{j}: {covariance} not {kernel}");
            }
        }
    }

    #[test]
    fn bridges_end_at_zero() {
        let x: Vec<f64> = (0..100).map(|i| i as f64 / 99.0).collect();
        let process = GaussianProcess::new(&x, 0.4);
        let g = process.bridge(&vec![1.0; process.modes()]);
        assert_eq!((g[0], g[99]), (0.0, 0.0));
        assert!(g.iter().any(|g| g.abs() > 0.1));
    }
}
