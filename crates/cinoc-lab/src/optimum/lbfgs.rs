//! Limited-memory BFGS with an ask/tell interface, so that many searches share one batch of evaluations.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Sufficient decrease and curvature of the weak Wolfe conditions.
const WOLFE: (f64, f64) = (1e-4, 0.9);

/// Number of trials after which any decrease is accepted, and after which a direction is abandoned.
const TRIALS: (usize, usize) = (8, 25);

/// Largest change of any unknown in the first step along a gradient, whose scale is unknown.
const FIRST: f64 = 0.1;

/// Stopping rules of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Number of pairs of steps and gradient changes that are kept.
    pub memory: usize,
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Number of iterations over which the decrease is watched, and the least decrease to continue.
    pub flat: (usize, f64),
}

/// State of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Running.
    Searching,
    /// The value no longer decreases.
    Flat,
    /// No step along the gradient lowers the value: the limit of rounding.
    Rounding,
    /// The iteration limit was reached.
    Exhausted,
}

/// A step, the change of the gradient along it, and the reciprocal of their product.
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
    rho: f64,
}

/// A search for a minimum. [`trial`](Self::trial) is the point to evaluate, [`tell`](Self::tell) takes its value and
/// gradient.
pub struct Lbfgs {
    rules: Rules,
    /// Best point so far.
    pub x: Vec<f64>,
    /// Value at the best point.
    pub value: f64,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    trial: Vec<f64>,
    slope: f64,
    /// Current step length, the longest known to be too short, the shortest known to be too long.
    step: f64,
    bracket: (f64, f64),
    trials: usize,
    pairs: VecDeque<Pair>,
    values: VecDeque<f64>,
    /// Number of accepted steps.
    pub iterations: usize,
    /// Number of evaluations.
    pub evaluations: usize,
    /// First value and norm of the first gradient.
    pub first: (f64, f64),
    /// State of the search.
    pub state: State,
}

impl Lbfgs {
    /// Starts a search at a point.
    pub fn new(x: Vec<f64>, rules: Rules) -> Self {
        let n = x.len();
        Self {
            rules,
            trial: x.clone(),
            x,
            value: f64::INFINITY,
            gradient: vec![0.0; n],
            direction: vec![0.0; n],
            slope: 0.0,
            step: 0.0,
            bracket: (0.0, f64::INFINITY),
            trials: 0,
            pairs: VecDeque::new(),
            values: VecDeque::new(),
            iterations: 0,
            evaluations: 0,
            first: (0.0, 0.0),
            state: State::Searching,
        }
    }

    /// Returns the next point to evaluate.
    pub fn trial(&self) -> &[f64] {
        &self.trial
    }

    /// Returns the norm of the gradient at the best point.
    pub fn norm(&self) -> f64 {
        dot(&self.gradient, &self.gradient).sqrt()
    }

    /// Takes the value and gradient at the trial point. A non-finite value counts as too large.
    pub fn tell(&mut self, value: f64, gradient: &[f64]) {
        self.evaluations += 1;
        let usable = value.is_finite() && gradient.iter().all(|g| g.is_finite());
        if self.evaluations == 1 {
            self.value = value;
            self.gradient.copy_from_slice(gradient);
            self.first = (value, self.norm());
            if !usable {
                self.state = State::Rounding;
            } else {
                self.turn();
            }
            return;
        }
        self.trials += 1;
        if !usable || value > self.value + WOLFE.0 * self.step * self.slope {
            return self.shorten(if usable { value } else { f64::INFINITY });
        }
        if dot(gradient, &self.direction) < WOLFE.1 * self.slope && self.trials < TRIALS.0 {
            self.bracket.0 = self.step;
            self.step = if self.bracket.1.is_finite() { 0.5 * (self.step + self.bracket.1) } else { 2.0 * self.step };
            return self.place();
        }
        self.accept(value, gradient);
    }

    /// Shortens a step that was too long.
    fn shorten(&mut self, value: f64) {
        if self.trials >= TRIALS.1 {
            // The direction may be spoilt by the pairs; without them it is steepest descent, and then the search ends.
            if self.pairs.is_empty() {
                self.state = State::Rounding;
            } else {
                self.pairs.clear();
                self.turn();
            }
            return;
        }
        let (low, step) = (self.bracket.0, self.step);
        self.bracket.1 = step;
        // The minimum of the parabola through the value and slope at the start and the value here, within bounds.
        let parabola = -0.5 * self.slope * step * step / (value - self.value - self.slope * step);
        let guess = if low == 0.0 && parabola.is_finite() { parabola } else { 0.5 * (low + step) };
        self.step = guess.clamp(low + 0.1 * (step - low), low + 0.5 * (step - low));
        self.place();
    }

    fn accept(&mut self, value: f64, gradient: &[f64]) {
        let mut pair = if self.pairs.len() == self.rules.memory { self.pairs.pop_front() } else { None }
            .unwrap_or_else(|| Pair { s: Vec::new(), y: Vec::new(), rho: 0.0 });
        pair.s.clear();
        pair.s.extend(self.trial.iter().zip(&self.x).map(|(new, old)| new - old));
        pair.y.clear();
        pair.y.extend(gradient.iter().zip(&self.gradient).map(|(new, old)| new - old));
        let product = dot(&pair.s, &pair.y);
        // Where the value is not convex along the step, the pair carries no curvature of a minimum.
        if product > 1e-10 * dot(&pair.y, &pair.y).sqrt() * dot(&pair.s, &pair.s).sqrt() {
            pair.rho = 1.0 / product;
            self.pairs.push_back(pair);
        }
        self.x.copy_from_slice(&self.trial);
        self.gradient.copy_from_slice(gradient);
        self.values.push_back(self.value);
        self.value = value;
        self.iterations += 1;
        let (window, least) = self.rules.flat;
        let before = if self.values.len() > window { self.values.pop_front() } else { None };
        if before.is_some_and(|before| before - value < least) {
            self.state = State::Flat;
        } else if self.iterations >= self.rules.iterations {
            self.state = State::Exhausted;
        } else {
            self.turn();
        }
    }

    /// Computes the next direction by the two-loop recursion.
    fn turn(&mut self) {
        let Self { direction, gradient, pairs, .. } = self;
        direction.iter_mut().zip(&*gradient).for_each(|(d, g)| *d = -g);
        let mut along = vec![0.0; pairs.len()];
        for (a, Pair { s, y, rho }) in along.iter_mut().zip(&*pairs).rev() {
            *a = rho * dot(s, direction);
            add(direction, -*a, y);
        }
        if let Some(Pair { y, rho, .. }) = pairs.back() {
            let scale = 1.0 / (rho * dot(y, y));
            direction.iter_mut().for_each(|d| *d *= scale);
        }
        for (a, Pair { s, y, rho }) in along.iter().zip(&*pairs) {
            let b = rho * dot(y, direction);
            add(direction, a - b, s);
        }
        self.slope = dot(&self.direction, &self.gradient);
        if self.slope.is_nan() || self.slope >= 0.0 {
            if self.pairs.is_empty() {
                self.state = State::Rounding;
                return;
            }
            self.pairs.clear();
            return self.turn();
        }
        let steepest = self.gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        self.step = if self.pairs.is_empty() { FIRST / steepest } else { 1.0 };
        (self.bracket, self.trials) = ((0.0, f64::INFINITY), 0);
        self.place();
    }

    fn place(&mut self) {
        for ((trial, x), d) in self.trial.iter_mut().zip(&self.x).zip(&self.direction) {
            *trial = x + self.step * d;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { memory: 50, iterations: 1000, flat: (20, 1e-15) };

    fn minimum(x: Vec<f64>, f: impl Fn(&[f64]) -> (f64, Vec<f64>)) -> Lbfgs {
        let mut search = Lbfgs::new(x, RULES);
        while search.state == State::Searching {
            let (value, gradient) = f(search.trial());
            search.tell(value, &gradient);
        }
        search
    }

    #[test]
    fn a_stretched_quadratic_is_solved_to_rounding() {
        let scale = |i: usize| 10f64.powf(4.0 * i as f64 / 49.0);
        let found = minimum(vec![1.0; 50], |x| {
            let value = x.iter().enumerate().map(|(i, x)| 0.5 * scale(i) * (x - 2.0).powi(2)).sum();
            (value, x.iter().enumerate().map(|(i, x)| scale(i) * (x - 2.0)).collect())
        });
        assert!(found.value < 1e-14 && found.state == State::Flat, "{} after {}", found.value, found.iterations);
    }

    #[test]
    fn rosenbrocks_valley_is_followed_to_its_end() {
        let found = minimum(vec![-1.2, 1.0], |x| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            (a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b])
        });
        assert!(found.x.iter().all(|x| (x - 1.0).abs() < 1e-6), "{:?}", found.x);
        assert!(found.evaluations < 80, "{} evaluations", found.evaluations);
    }

    #[test]
    fn values_that_are_not_finite_are_stepped_away_from() {
        let found = minimum(vec![3.0], |x| if x[0] < 1.0 { (f64::NAN, vec![f64::NAN]) } else { (x[0], vec![1.0]) });
        assert!(found.x[0] >= 1.0 && found.x[0] < 1.0 + 1e-6, "{}", found.x[0]);
    }
}
