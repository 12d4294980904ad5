//! The Adam optimiser.

use crate::Real;

/// Adam with β = (0.9, 0.999) and ε = 1e-8.
#[derive(Clone, Debug)]
pub struct Adam {
    /// Running mean of the gradient.
    pub mean: Vec<Real>,
    /// Running mean of its square.
    pub square: Vec<Real>,
    /// Number of steps made.
    pub steps: u64,
}

const BETA: (f64, f64) = (0.9, 0.999);
const EPSILON: f64 = 1e-8;

impl Adam {
    /// Creates the optimiser for `count` parameters.
    pub fn new(count: usize) -> Self {
        Self { mean: vec![0.0; count], square: vec![0.0; count], steps: 0 }
    }

    /// Makes one step against `scale · gradient`.
    pub fn step(&mut self, theta: &mut [Real], gradient: &[Real], rate: f64, scale: f64) {
        self.steps += 1;
        let steps = self.steps as i32;
        let (first, second) = (1.0 - BETA.0.powi(steps), 1.0 - BETA.1.powi(steps));
        for i in 0..theta.len() {
            let g = gradient[i] as f64 * scale;
            let mean = BETA.0 * self.mean[i] as f64 + (1.0 - BETA.0) * g;
            let square = BETA.1 * self.square[i] as f64 + (1.0 - BETA.1) * g * g;
            theta[i] -= (rate * (mean / first) / ((square / second).sqrt() + EPSILON)) as Real;
            (self.mean[i], self.square[i]) = (mean as Real, square as Real);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_length_of_the_rate() {
        let (mut adam, mut theta) = (Adam::new(2), [1.0, 2.0]);
        adam.step(&mut theta, &[0.3, -7.0], 0.01, 1.0);
        assert!((theta[0] - 0.99).abs() < 1e-6 && (theta[1] - 2.01).abs() < 1e-6, "{theta:?}");
    }

    #[test]
    fn a_parabola_is_descended() {
        let (mut adam, mut theta) = (Adam::new(1), [1.0]);
        for _ in 0..500 {
            let gradient = [2.0 * theta[0]];
            adam.step(&mut theta, &gradient, 0.02, 1.0);
        }
        assert!(theta[0].abs() < 1e-3, "{theta:?}");
    }
}
