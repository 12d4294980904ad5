//! Lower bound for pushes without limits, where the equation is linear and agents do not move: an exact least-squares
//! problem.

use cinoc::rollout::{Control, GradientTargets, InitialCondition, Rollout};
use cinoc::{Problem, Real};

/// Regularisation of the diagonal, relative to its mean: the accuracy of the responses, squared, or of their sums.
const RIDGE: f64 = 1e-13;

/// Tolerance of superposition for an equation to count as linear.
const LINEAR: f64 = if size_of::<Real>() == 4 { 1e-4 } else { 1e-10 };

/// The lowest error after `ticks` ticks that pushes of any strength reach while all agents are static.
pub struct Bound<'p> {
    problem: &'p Problem,
    ticks: usize,
    agents: usize,
    /// Response to a unit push of each agent, one tick, two ticks… later: `[agents][ticks][nodes]`.
    responses: Vec<Vec<Vec<f64>>>,
    /// The factor with all agents active, which is the same for all instances with the same initial positions.
    healthy: Option<Vec<f64>>,
}

impl<'p> Bound<'p> {
    /// Creates a bound; `None` where agents have no push, the equation is not linear, or the score is not an error
    /// after one tick.
    pub fn new(problem: &'p Problem, beginning: &InitialCondition, agents: usize) -> Option<Self> {
        let ticks = problem.task.scored_at(problem.ticks);
        let last = |tick| problem.task.square_in_score(tick, problem.ticks);
        let at_once = last(ticks) == Some(1.0) && (1..ticks).all(|tick| last(tick) == Some(0.0));
        if !at_once || problem.swarm.action_width() == velocity(problem) {
            return None;
        }
        let mut bound = Self { problem, ticks, agents, responses: Vec::new(), healthy: None };
        if !bound.linear(beginning) {
            return None;
        }
        let zero = vec![0.0; beginning.start.len()];
        let push = 0.5 * problem.swarm.limits()[0];
        for agent in 0..agents {
            let quiet = InitialCondition {
                start: zero.clone(),
                target: zero.clone(),
                positions: beginning.positions.clone(),
                ..Default::default()
            };
            let fields = bound.fields(&quiet, |tick, who| if tick == 0 && who == agent { push } else { 0.0 });
            let unit = |field: Vec<Real>| field.into_iter().map(|z| z as f64 / push as f64).collect();
            bound.responses.push(fields.into_iter().map(unit).collect());
        }
        bound.healthy = Some(bound.factor(&InitialCondition { failures: Vec::new(), ..beginning.clone() }));
        Some(bound)
    }

    /// Returns the bound for an instance with the same initial positions.
    pub fn of(&self, beginning: &InitialCondition) -> f64 {
        let quiet = self.fields(beginning, |_, _| 0.0).pop().unwrap_or_default();
        let error: Vec<f64> = quiet.iter().zip(&beginning.target).map(|(z, target)| *z as f64 - *target as f64).collect();
        let n = error.len();
        let own = if beginning.failures.is_empty() { None } else { Some(self.factor(beginning)) };
        let Some(factor) = own.as_ref().or(self.healthy.as_ref()) else { return f64::NAN };
        // With the Gram matrix G of the responses and the ridge r, the remaining part of the error e is r·(G + r)⁻¹·e.
        let ridge = factor[n * n];
        let left = solve(factor, n, error);
        left.iter().map(|x| (ridge * x).powi(2)).sum::<f64>() / n as f64
    }

    /// Computes the fields after each tick under pushes of static agents.
    fn fields(&self, beginning: &InitialCondition, push: impl Fn(usize, usize) -> Real) -> Vec<Vec<Real>> {
        let k = self.problem.swarm.action_width();
        let mut actions = vec![0.0; self.ticks * self.agents * k];
        for (i, action) in actions.chunks_exact_mut(k).enumerate() {
            action[0] = push(i / self.agents, i % self.agents);
        }
        let mut rollout = Rollout::new(self.ticks, 1, false, self.agents);
        rollout.batch.begin(beginning);
        // Pushes of any strength can compensate any noise.
        rollout.batch.quiet = true;
        let mut fields = Vec::with_capacity(self.ticks);
        rollout.forward(self.problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| {
            if scene.tick > 0 {
                fields.push(scene.z.to_vec());
            }
        });
        fields
    }

    /// Returns true if the field under pushes is the uncontrolled field plus the response to the pushes, and the
    /// response doubles with them.
    fn linear(&self, beginning: &InitialCondition) -> bool {
        let limit = self.problem.swarm.limits()[0];
        let some = |tick: usize, who: usize| limit * (0.25 + 0.2 * ((7 * tick + 3 * who) as Real).sin());
        let zero = vec![0.0; beginning.start.len()];
        let alive = InitialCondition { failures: Vec::new(), ..beginning.clone() };
        let empty = InitialCondition { start: zero, ..alive.clone() };
        let last = |beginning: &InitialCondition, factor: Real| {
            self.fields(beginning, |tick, who| factor * some(tick, who)).pop().unwrap_or_default()
        };
        let (both, free, pushed, twice) = (last(&alive, 1.0), last(&alive, 0.0), last(&empty, 1.0), last(&empty, 2.0));
        let size = |field: &[Real]| field.iter().fold(0.0, |most: Real, z| most.max(z.abs())) as f64;
        let scale = size(&both) + size(&free) + size(&twice);
        let sum = |i: usize| (both[i] - free[i] - pushed[i]).abs().max((twice[i] - 2.0 * pushed[i]).abs()) as f64;
        scale.is_finite() && both.len() == free.len() && (0..both.len()).all(|i| sum(i) <= LINEAR * scale)
    }

    /// Returns the Cholesky factor of the regularised Gram matrix of all responses of an instance, with the ridge
    /// appended.
    fn factor(&self, beginning: &InitialCondition) -> Vec<f64> {
        let n = beginning.start.len();
        let mut gram = vec![0.0; n * n + 1];
        for (agent, responses) in self.responses.iter().enumerate() {
            let failure =
                beginning.failures.iter().filter(|(_, who)| *who == agent).map(|(tick, _)| *tick).min().unwrap_or(self.ticks);
            // A push at tick t has ticks − t ticks to spread.
            for field in &responses[self.ticks - failure.min(self.ticks)..] {
                for i in 0..n {
                    let z = field[i];
                    gram[i * n..][..=i].iter_mut().zip(field).for_each(|(g, other)| *g += z * other);
                }
            }
        }
        let mean = (0..n).map(|i| gram[i * n + i]).sum::<f64>() / n as f64;
        let ridge = RIDGE * mean.max(f64::MIN_POSITIVE);
        (0..n).for_each(|i| gram[i * n + i] += ridge);
        cholesky(&mut gram, n);
        gram[n * n] = ridge;
        gram
    }
}

/// Returns the number of velocity components of an action.
fn velocity(problem: &Problem) -> usize {
    if problem.swarm.moves() { problem.swarm.dimensions() } else { 0 }
}

/// Replaces the lower half of a symmetric positive definite matrix by its Cholesky factor.
fn cholesky(a: &mut [f64], n: usize) {
    for i in 0..n {
        let (above, row) = a.split_at_mut(i * n);
        for j in 0..i {
            let other = &above[j * n..][..=j];
            let inner: f64 = row[..j].iter().zip(other).map(|(x, y)| x * y).sum();
            row[j] = (row[j] - inner) / other[j];
        }
        let square: f64 = row[..i].iter().map(|x| x * x).sum();
        row[i] = (row[i] - square).max(f64::MIN_POSITIVE).sqrt();
    }
}

/// Solves with a Cholesky factor.
fn solve(factor: &[f64], n: usize, mut x: Vec<f64>) -> Vec<f64> {
    for i in 0..n {
        let inner: f64 = factor[i * n..][..i].iter().zip(&x).map(|(l, x)| l * x).sum();
        x[i] = (x[i] - inner) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] /= factor[i * n + i];
        let value = x[i];
        x[..i].iter_mut().zip(&factor[i * n..][..i]).for_each(|(x, l)| *x -= value * l);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_solves_its_matrix() {
        let mut a = vec![4.0, 0.0, 0.0, 2.0, 5.0, 0.0, -1.0, 1.0, 3.0];
        let full = [[4.0, 2.0, -1.0], [2.0, 5.0, 1.0], [-1.0, 1.0, 3.0]];
        cholesky(&mut a, 3);
        let x = solve(&a, 3, vec![1.0, 2.0, 3.0]);
        for (row, b) in full.iter().zip([1.0, 2.0, 3.0]) {
            assert!((row.iter().zip(&x).map(|(a, x)| a * x).sum::<f64>() - b).abs() < 1e-12);
        }
    }
}
