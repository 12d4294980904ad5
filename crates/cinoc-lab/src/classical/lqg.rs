//! Linear-quadratic-Gaussian control: a regulator behind a Kalman filter and a predictor.

use super::{Controller, Linearised, Lqr, riccati};
use nalgebra::DMatrix;

/// Kalman filter in its steady state: estimate = prediction + gain·(field as read − prediction).
pub struct Filter {
    /// Gain of the innovation; zero where a node is not read.
    pub gain: DMatrix<f64>,
}

impl Filter {
    /// Designs the filter for readings `seen`·z with white noise of a variance on every one, and unknown disturbances of
    /// this covariance per tick; `None` if the Riccati equation has no solution that can be found.
    pub fn design(plant: &Linearised, seen: &DMatrix<f64>, noise: f64, disturbance: &DMatrix<f64>) -> Option<Self> {
        let predicted = riccati(&plant.field.transpose(), &seen.transpose(), disturbance, noise)?;
        let read = seen * predicted;
        let unsure = &read * seen.transpose() + DMatrix::identity(seen.nrows(), seen.nrows()) * noise;
        Some(Self { gain: unsure.cholesky()?.solve(&read).transpose() * seen })
    }
}

impl Lqr {
    /// Returns the regulator as a controller. With a filter it uses the estimated field, with a delay in ticks the field
    /// that it predicts for the tick in which a push acts. Its state is the filter's prediction, then the pushes
    /// that are on their way, the latest first.
    pub fn controller(&self, plant: &Linearised, filter: Option<&Filter>, delay: usize) -> Controller {
        let Linearised { field: a, pushes: b, .. } = plant;
        let (nodes, pushes) = (a.nrows(), b.ncols());
        let filtered = if filter.is_some() { nodes } else { 0 };
        let size = filtered + delay * pushes;
        let push = |k: usize| select(size, filtered + (k - 1) * pushes, pushes);
        // The estimate of the present field, from the state and from the reading.
        let identity = DMatrix::identity(nodes, nodes);
        let (from_state, from_reading) = match filter {
            None => (DMatrix::zeros(nodes, size), identity),
            Some(Filter { gain }) => ((&identity - gain) * select(size, 0, nodes), gain.clone()),
        };
        // The push that is decided now acts on the field `delay` ticks ahead, Aᵈ·z + Σ Aᵏ⁻¹·B·push(k).
        let (mut ahead, mut recall) = (self.feedback.clone(), DMatrix::zeros(pushes, size));
        for k in 1..=delay {
            recall -= &ahead * b * push(k);
            ahead *= a;
        }
        recall -= &ahead * &from_state;
        let direct = beside(&(-ahead * &from_reading), &self.feedforward);
        let [mut next, mut input] = [size, 2 * nodes].map(|columns| DMatrix::zeros(size, columns));
        if filter.is_some() {
            let (state, reading) = match delay {
                0 => (b * &recall, b * &direct),
                _ => (b * push(delay), DMatrix::zeros(nodes, 2 * nodes)),
            };
            next.rows_mut(0, nodes).copy_from(&(a * from_state + state));
            let onward = beside(&(a * from_reading), &DMatrix::zeros(nodes, nodes));
            input.rows_mut(0, nodes).copy_from(&(onward + reading));
        }
        if delay > 0 {
            next.rows_mut(filtered, pushes).copy_from(&recall);
            input.rows_mut(filtered, pushes).copy_from(&direct);
        }
        for k in 2..=delay {
            next.rows_mut(filtered + (k - 1) * pushes, pushes).copy_from(&push(k - 1));
        }
        Controller { direct, recall, input, next }
    }
}

/// Returns the matrix that selects `count` of `size` numbers, from `first` on.
fn select(size: usize, first: usize, count: usize) -> DMatrix<f64> {
    DMatrix::from_fn(count, size, |i, j| if j == first + i { 1.0 } else { 0.0 })
}

/// Returns two matrices side by side.
fn beside(left: &DMatrix<f64>, right: &DMatrix<f64>) -> DMatrix<f64> {
    let mut both = DMatrix::zeros(left.nrows(), left.ncols() + right.ncols());
    both.columns_mut(0, left.ncols()).copy_from(left);
    both.columns_mut(left.ncols(), right.ncols()).copy_from(right);
    both
}
