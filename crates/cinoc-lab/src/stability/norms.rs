//! Norms of the closed loop: how much of a load on the field remains.

use super::bloch::{Bloch, jacobian_rows};
use super::closed_loop::ClosedLoop;
use super::opened::Between;
use super::spectrum::eigenvalues;
use super::symmetry::indices;
use super::{Options, swarm};
use cinoc::internal::random::{Rng, Stream};
use cinoc::policy::ZeroControl;
use cinoc::{Error, Problem, Real};
use cinoc_tape::Params;
use nalgebra::{Complex, DMatrix, DVector};
use std::f64::consts::{PI, TAU};

/// Norms of a stable closed loop from loads on the field to the field. A load is an amount per unit of time that is added
/// to a node and constant over a tick, in which it has half of its effect at once and half after the tick's decay: short
/// waves that an implicit scheme hardly damps do not count more than they would in continuous time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norms {
    /// H₂: root mean square of the field if loads are independent white noise of intensity one.
    pub h2: f64,
    /// H∞: largest root mean square of the field under a steady or oscillating load whose root mean square is one.
    pub h_infinity: f64,
}

/// States of the largest matrix whose norms are computed.
const LARGEST: usize = 640;

/// Squarings of the Jacobian, a memory of 2⁴⁰ ticks, after which a loop is not called stable.
const SQUARINGS: usize = 40;

/// Frequencies of each sign that are tried, from this share of half a turn per tick on, beside those of the slowest
/// eigenvalues, and steps by which the peak is refined.
const FREQUENCIES: usize = 20;
const LOWEST: f64 = 1e-4;
const EIGENVALUES: usize = 8;
const REFINEMENTS: usize = 12;

/// Largest number of steps of the power iteration for a singular value, and its relative accuracy.
const STEPS: usize = 300;
const ACCURACY: f64 = 1e-8;

impl Norms {
    /// Computes the norms of the field without control; `None` if it is unstable or too large.
    pub fn uncontrolled(problem: &Problem) -> Result<Option<Self>, Error> {
        let (idle, none) = (ZeroControl { action_width: problem.swarm.action_width() }, Params::default());
        let grid = problem.stepper.grid();
        if !grid.is_periodic() {
            return Ok(swarm(problem, &idle, &none, 1, &Options { norms: true, ..Options::default() })?.norms);
        }
        // Every node is a cell.
        let free = ClosedLoop::new(problem, &idle, &none, 1)?;
        let bloch = Bloch::free(grid, &free, &free.rest());
        let phase = |node: usize| -> Vec<f64> {
            indices(grid, node).into_iter().zip(&grid.nodes).map(|(m, nodes)| TAU * m as f64 / *nodes as f64).collect()
        };
        Ok(of_waves(&bloch, (0..grid.count()).map(|node| (phase(node), 1.0)), 1, problem.tick_time()))
    }

    /// Computes the norms on a ring or torus with waves of these phases, one of each pair of opposite ones; `None` if it is
    /// unstable or too large.
    pub(super) fn of_cells(bloch: &Bloch, phases: Vec<Vec<f64>>, nodes: usize, tick_time: f64) -> Option<Self> {
        let alone = |phase: &[f64]| phase.iter().all(|angle| (angle / PI - (angle / PI).round()).abs() < 1e-6);
        let weighed = phases.into_iter().map(|phase| if alone(&phase) { (phase, 1.0) } else { (phase, 2.0) });
        of_waves(bloch, weighed, nodes, tick_time)
    }

    /// Computes the norms of a whole loop at the state `x`; `None` if it is unstable or too large.
    pub(super) fn of_whole(closed: &ClosedLoop, x: &[f64]) -> Option<Self> {
        let size = x.len() + closed.actions();
        if size > LARGEST {
            return None;
        }
        let rows = jacobian_rows(closed, x, &(0..size).collect::<Vec<_>>());
        let open = DMatrix::from_fn(size, size, |i, j| Complex::new(rows[i][j], 0.0));
        let (nodes, tick_time) = (closed.sizes()[0], closed.problem.tick_time());
        let response = Response::of(&open, Between::nominal(closed).close(&open, x.len()), nodes)?;
        Some(Self { h2: (tick_time * response.mean_square()?).sqrt(), h_infinity: tick_time * response.largest_gain() })
    }
}

/// Computes the norms from waves and their multiplicities.
fn of_waves(bloch: &Bloch, phases: impl Iterator<Item = (Vec<f64>, f64)>, nodes: usize, tick_time: f64) -> Option<Norms> {
    let (mut sum, mut waves, mut peak) = (0.0, 0.0, 0.0f64);
    for (phase, count) in phases {
        let open = bloch.open(&phase);
        let response = Response::of(&open, bloch.close(&open), nodes)?;
        sum += count * response.mean_square()?;
        waves += count;
        peak = peak.max(response.largest_gain());
    }
    (waves > 0.0).then(|| Norms { h2: (tick_time * sum / waves).sqrt(), h_infinity: tick_time * peak })
}

/// A linear map of the state per tick, and how the first of its variables, the field, take up loads.
struct Response {
    closed: DMatrix<Complex<f64>>,
    /// E: state after a tick of load against that load, per unit of time.
    load: DMatrix<Complex<f64>>,
    /// The slowest eigenvalues.
    slowest: Vec<Complex<f64>>,
    nodes: usize,
}

impl Response {
    /// Takes the matrices of the opened and the closed loop; `None` unless all eigenvalues are certainly inside the unit
    /// circle, and if the matrix is too large.
    fn of(open: &DMatrix<Complex<f64>>, closed: DMatrix<Complex<f64>>, nodes: usize) -> Option<Self> {
        let n = closed.nrows();
        if n > LARGEST {
            return None;
        }
        let mut slowest = eigenvalues(closed.clone());
        slowest.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
        slowest.truncate(EIGENVALUES);
        if slowest[0].norm() >= 1.0 - 1e2 * Real::EPSILON as f64 {
            return None;
        }
        let free = open.view((0, 0), (nodes, nodes));
        let mut load = DMatrix::from_element(n, nodes, Complex::new(0.0, 0.0));
        load.rows_mut(0, nodes).copy_from(&((DMatrix::identity(nodes, nodes) + free) * Complex::new(0.5, 0.0)));
        Some(Self { closed, load, slowest, nodes })
    }

    /// Returns the mean variance of the field if the load of each node is white noise of variance one: that of
    /// P = J·P·Jᴴ + E·Eᴴ, by doubling; `None` if that does not converge.
    fn mean_square(&self) -> Option<f64> {
        let (mut power, mut sum) = (self.closed.clone(), &self.load * self.load.adjoint());
        for _ in 0..SQUARINGS {
            let more = &power * &sum * power.adjoint();
            let (size, total) = (more.trace().re, sum.trace().re);
            sum += more;
            if !size.is_finite() {
                return None;
            }
            if size <= 1e-12 * total {
                return Some((0..self.nodes).map(|i| sum[(i, i)].re).sum::<f64>() / self.nodes as f64);
            }
            power = &power * &power;
        }
        None
    }

    /// Returns the largest gain from loads to the field over all frequencies.
    fn largest_gain(&self) -> f64 {
        let ratio = LOWEST.powf(-1.0 / (FREQUENCIES - 1) as f64);
        let positive = (0..FREQUENCIES).map(|i| PI * LOWEST * ratio.powi(i as i32));
        let mut tried: Vec<f64> = positive.flat_map(|x| [x, -x]).chain([0.0]).collect();
        // Resonances may be narrow.
        tried.extend(self.slowest.iter().map(|eigenvalue| eigenvalue.arg()));
        tried.sort_by(f64::total_cmp);
        let gains: Vec<f64> = tried.iter().map(|&frequency| self.gain(frequency)).collect();
        let best = (0..gains.len()).max_by(|&a, &b| gains[a].total_cmp(&gains[b])).expect("frequencies");
        let (mut low, mut high) = (tried[best.saturating_sub(1)], tried[(best + 1).min(tried.len() - 1)]);
        let (mut peak, golden) = (gains[best], 0.5 * (3.0 - 5f64.sqrt()));
        for _ in 0..REFINEMENTS {
            let [left, right] = [low + golden * (high - low), high - golden * (high - low)];
            let [a, b] = [self.gain(left), self.gain(right)];
            peak = peak.max(a).max(b);
            if a > b { high = right } else { low = left }
        }
        peak
    }

    /// Returns the largest singular value of the field's part of (e^{iω} − J)⁻¹·E, by power iteration.
    fn gain(&self, frequency: f64) -> f64 {
        let n = self.closed.nrows();
        let turning = DMatrix::from_diagonal_element(n, n, Complex::from_polar(1.0, frequency)) - &self.closed;
        let (direct, adjoint) = (turning.clone().lu(), turning.adjoint().lu());
        // A start with a share in every direction.
        let start = Rng::new(0, Stream::Search, 0).normals(self.nodes).into_iter().map(|x| Complex::new(x, 0.0));
        let (mut load, mut squared) = (DVector::from_iterator(self.nodes, start), 0.0);
        for _ in 0..STEPS {
            load /= Complex::new(load.norm(), 0.0);
            let Some(mut state) = direct.solve(&(&self.load * &load)) else { return f64::INFINITY };
            state.rows_mut(self.nodes, n - self.nodes).fill(Complex::new(0.0, 0.0));
            let Some(back) = adjoint.solve(&state) else { return f64::INFINITY };
            let before = squared;
            (load, squared) = (self.load.adjoint() * back, state.norm_squared());
            if (squared - before).abs() <= ACCURACY * squared {
                break;
            }
        }
        squared.sqrt()
    }
}
