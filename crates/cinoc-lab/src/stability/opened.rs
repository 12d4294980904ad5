//! The loop closed again, with a gain and a delay between decisions and their effect.

use super::closed_loop::ClosedLoop;
use super::growth::Growth;
use super::krylov::leading;
use super::tick::Tick;
use cinoc::Real;
use nalgebra::{Complex, DMatrix};

/// What is put between decisions and their effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// Factor on all pushes.
    pub gain: f64,
    /// Ticks from a decision to its effect.
    pub delay: usize,
}

impl Between {
    /// The loop as it is, with the delay of its problem.
    pub fn nominal(closed: &ClosedLoop) -> Self {
        Self { gain: 1.0, delay: closed.delay() }
    }

    /// Multiplies a row by the Jacobian of the closed loop at the state of the last [`Tick::next`]. A state is followed by
    /// the actions that have yet to act, oldest first.
    fn pull(self, tick: &mut Tick, [states, actions]: [usize; 2], row: &[f64]) -> Vec<f64> {
        let (state, waiting) = row.split_at(states);
        let open = |tick: &mut Tick, newest: &[f64]| tick.pull(&[state, newest].concat());
        let scaled = |acting: &[f64]| acting.iter().map(|x| self.gain * x).collect::<Vec<f64>>();
        if self.delay > 0 {
            // The others move up.
            let (older, newest) = waiting.split_at(waiting.len() - actions);
            let found = open(tick, newest);
            return [&found[..states], &scaled(&found[states..]), older].concat();
        }
        let found = open(tick, &vec![0.0; actions]);
        let decided = tick.pull(&[vec![0.0; states], scaled(&found[states..])].concat());
        found[..states].iter().zip(&decided).map(|(a, b)| a + b).collect()
    }

    /// Returns the largest factors per tick of a whole closed loop at the state of the last [`Tick::next`].
    fn factors(self, closed: &ClosedLoop, tick: &mut Tick, tolerance: impl Fn(f64) -> f64) -> [Complex<f64>; 2] {
        let sizes = [closed.size(), closed.actions()];
        // The transpose has the same eigenvalues.
        leading(sizes[0] + self.delay * sizes[1], tolerance, &mut |row| self.pull(tick, sizes, row))
    }

    /// Returns the growth of disturbances of a whole closed loop.
    pub fn growth(self, closed: &ClosedLoop, tick: &mut Tick) -> Growth {
        let tick_time = closed.problem.tick_time();
        let tolerance = (10.0 * Real::EPSILON as f64).max(1e-4 * tick_time);
        Growth::per_time(&self.factors(closed, tick, |_| tolerance), tick_time)
    }

    /// Returns true if a whole closed loop grows by less than `limit` per unit of time.
    pub fn stable(self, closed: &ClosedLoop, tick: &mut Tick, limit: f64) -> bool {
        let limit = (limit * closed.problem.tick_time()).exp();
        self.factors(closed, tick, certain(limit))[0].norm() < limit
    }

    /// Returns the matrix of the closed loop from that of the opened one, whose first `states` variables are the state and
    /// whose others are actions.
    pub fn close(self, open: &DMatrix<Complex<f64>>, states: usize) -> DMatrix<Complex<f64>> {
        let actions = open.nrows() - states;
        if actions == 0 {
            return open.clone();
        }
        let gain = Complex::new(self.gain, 0.0);
        let effect = open.view((0, states), (states, actions)) * gain;
        let (free, decision) = (open.view((0, 0), (states, states)), open.view((states, 0), (actions, states)));
        if self.delay == 0 {
            return free + effect * decision;
        }
        let size = states + self.delay * actions;
        let mut closed = DMatrix::from_element(size, size, Complex::new(0.0, 0.0));
        closed.view_mut((0, 0), (states, states)).copy_from(&free);
        closed.view_mut((0, states), (states, actions)).copy_from(&effect);
        for i in states..size - actions {
            closed[(i, i + actions)] = Complex::new(1.0, 0.0);
        }
        closed.view_mut((size - actions, 0), (actions, states)).copy_from(&decision);
        closed
    }
}

/// Returns the tolerance of a factor by which one can tell on which side of a limit it is.
pub fn certain(limit: f64) -> impl Fn(f64) -> f64 {
    move |factor| 0.1 * (factor - limit).abs()
}
