//! Linear-quadratic control without communication: a regulator and a Kalman filter for each agent.

use super::{Controller, Filter, Linearised, Lqr};
use cinoc::Problem;
use nalgebra::DMatrix;

/// Least variance of readings that a filter is designed for, and least covariance of disturbances relative to that of
/// initial fields.
const LEAST: f64 = 1e-8;

/// Kalman filters of single agents. Each reads the nodes of its window, of field and target, knows the equation and the
/// fixed positions of all agents, and guesses the pushes of the others: those that it would decide for them. It is a
/// construction, not an optimum, which is not known for agents that do not share their readings.
pub struct Local {
    /// Filter of each agent.
    filters: Vec<Filter>,
    /// Of each agent, the target that it expects everywhere against the one that it reads.
    targets: Vec<DMatrix<f64>>,
}

impl Local {
    /// Designs the filters for white noise of a variance on every node; `others` is the standard deviation of what the
    /// other agents push, against what is guessed of it, relative to their limits. `None` if a Riccati equation has no
    /// solution that can be found.
    ///
    /// # Panics
    /// Unless there is a window for each agent of the plant.
    pub fn design(
        plant: &Linearised,
        windows: &[Vec<usize>],
        noise: f64,
        others: f64,
        [start, target]: [&DMatrix<f64>; 2],
    ) -> Option<Self> {
        assert_eq!(windows.len(), plant.agents, "a window for each agent");
        let (nodes, mut found) = (plant.field.nrows(), Self { filters: Vec::new(), targets: Vec::new() });
        for (agent, window) in windows.iter().enumerate() {
            let seen = DMatrix::from_fn(window.len(), nodes, |i, j| if window[i] == j { 1.0 } else { 0.0 });
            let strangers: Vec<usize> = (0..plant.columns.len()).filter(|&column| plant.owners[column] != agent).collect();
            let mut pushes = plant.pushes.select_columns(&strangers);
            strangers.iter().enumerate().for_each(|(i, &column)| pushes.column_mut(i).scale_mut(others * plant.unit[column]));
            let unknown = &pushes * pushes.transpose() + start * LEAST;
            found.filters.push(Filter::design(plant, &seen, noise.max(LEAST), &unknown)?);
            let read = &seen * target;
            let sure = &read * seen.transpose() + DMatrix::identity(window.len(), window.len()) * (1e-6 * target.amax());
            found.targets.push(sure.cholesky()?.solve(&read).transpose() * seen);
        }
        Some(found)
    }

    /// Returns the controllers of all agents as one, whose state is that of each, one after the other.
    pub fn controller(&self, lqr: &Lqr, plant: &Linearised, delay: usize) -> Controller {
        let alone = |(filter, target): (&Filter, &DMatrix<f64>)| {
            let expects = Lqr { feedback: lqr.feedback.clone(), feedforward: &lqr.feedforward * target };
            expects.controller(plant, Some(filter), delay)
        };
        let own: Vec<Controller> = self.filters.iter().zip(&self.targets).map(alone).collect();
        let (pushes, inputs, each) = (plant.columns.len(), 2 * plant.field.nrows(), own[0].next.nrows());
        let size = own.len() * each;
        let [mut direct, mut input] = [pushes, size].map(|rows| DMatrix::zeros(rows, inputs));
        let [mut recall, mut next] = [pushes, size].map(|rows| DMatrix::zeros(rows, size));
        for (agent, one) in own.iter().enumerate() {
            let first = agent * each;
            for row in (0..pushes).filter(|&row| plant.owners[row] == agent) {
                direct.row_mut(row).copy_from(&one.direct.row(row));
                recall.view_mut((row, first), (1, each)).copy_from(&one.recall.row(row));
            }
            input.rows_mut(first, each).copy_from(&one.input);
            next.view_mut((first, first), (each, each)).copy_from(&one.next);
        }
        Controller { direct, recall, input, next }
    }
}

/// Returns the nodes in the window of each agent at its regular position: within half its width, and a node further.
pub fn windows(problem: &Problem, agents: usize, width: f64) -> Vec<Vec<usize>> {
    let (grid, places) = (problem.stepper.grid(), problem.swarm.start(agents));
    let axes: Vec<Vec<f64>> = (0..grid.dimensions()).map(|axis| grid.positions(axis)).collect();
    let near = |axis: usize, node: f64, place: f64| {
        let (apart, length) = ((node - place).abs(), grid.lengths[axis] as f64);
        let apart = if grid.periodic[axis] { apart.min(length - apart) } else { apart };
        apart <= 0.5 * width + grid.spacing(axis)
    };
    let inside = |node: usize, place: &[cinoc::Real]| {
        let mut rest = node;
        (0..axes.len()).rev().all(|axis| {
            let at = rest % axes[axis].len();
            rest /= axes[axis].len();
            near(axis, axes[axis][at], place[axis] as f64)
        })
    };
    places.chunks(axes.len()).map(|place| (0..grid.count()).filter(|&node| inside(node, place)).collect()).collect()
}
