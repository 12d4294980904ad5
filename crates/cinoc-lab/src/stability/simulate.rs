//! Growth rates measured in simulations.

use super::growth::Growth;
use super::rest::Rest;
use cinoc::env::Env;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::threads::Threads;
use cinoc::policy::Policy;
use cinoc::rollout::InitialCondition;
use cinoc::{Error, Problem, Real};
use cinoc_pde::Grid;
use cinoc_tape::Params;
use std::ops::Range;
use std::sync::Arc;

/// Root mean square of a disturbance that is still small, and its minimum in multiples of rounding.
const SMALL: f64 = 1e-3;
const ABOVE_ROUNDING: f64 = 30.0;

/// Number of averaging passes for a smooth disturbance.
const SMOOTHINGS: usize = 8;

/// Measures the growth of small disturbances of the field, in a run of `ticks` ticks of the full nonlinear problem.
///
/// Three episodes of an [`Env`] start in the state of rest: undisturbed, with noise, and with smooth noise. The
/// logarithm of the distance of the others from the first is followed; where one becomes too large or too small, or the
/// first has left its rest, all restart in the same direction at the initial distance. The rate is the slope of a
/// linear fit to the last third. For the smooth one the mean of two ticks is followed, which suppresses disturbances
/// that change sign from tick to tick. Agents that can move do, unless the problem of the run holds them
/// (`swarm.v_limit`): single precision cannot resolve positions, in which an agent that moves by less than rounding
/// does not move at all. Actions must not be delayed: those that have yet to act would be lost in every restart.
pub fn simulate(
    mut problem: Problem,
    policy: &dyn Policy,
    params: &Params,
    Rest { x, places, failed, .. }: &Rest,
    ticks: usize,
) -> Result<Growth, Error> {
    let (agents, delay) = (places.len() / problem.swarm.dimensions(), problem.swarm.disturbance().delay);
    if delay > 0 {
        return Err(Error::bad("swarm.delay", delay.to_string(), "0: a run that restarts loses delayed actions"));
    }
    problem.ticks = usize::MAX;
    let problem = Arc::new(problem);
    let (grid, nodes, remembered) = (problem.stepper.grid(), problem.stepper.grid().count(), x.len());
    let rest: Vec<f64> = x.iter().copied().chain(places.iter().map(|&x| x as f64)).collect();
    let size = (ABOVE_ROUNDING * Real::EPSILON as f64 * SMALL).sqrt();
    let (least, most) = ((size * size * size / SMALL).sqrt(), (size * SMALL).sqrt());
    let mut tracks = [(false, 0), (true, SMOOTHINGS)].map(|(averaged, smoothings)| {
        let mut from = disturbance(grid, smoothings);
        from.resize(rest.len(), 0.0);
        Track { averaged, nodes, from, last: Vec::new(), carried: 0.0, seen: Vec::new() }
    });
    let mut env = Env::new(problem.clone(), 3, agents, Threads::single())?;
    let mut made = 0;
    while made < ticks {
        let mut states = vec![rest.clone()];
        states.extend(tracks.iter_mut().map(|track| track.begin(&rest, size)));
        let part = |i: usize, part: Range<usize>| states[i][part].iter().map(|&x| x as Real).collect::<Vec<Real>>();
        env.reset(&[true; 3], &mut |i| InitialCondition {
            start: part(i, 0..nodes),
            target: vec![0.0; nodes],
            positions: part(i, remembered..rest.len()),
            failures: failed.iter().map(|&agent| (0, agent)).collect(),
            ..InitialCondition::default()
        });
        (0..3).for_each(|i| env.set_memory(i, &part(i, nodes..remembered)));
        let mut going = true;
        while made < ticks && going {
            env.run_cached(policy, params, 1, &mut |env| {
                let state = |i: usize| [env.field(i), env.memory(i), env.positions(i)].concat();
                let free = state(0);
                // An unstable loop leaves its rest eventually.
                let left: Vec<f64> = free[..nodes].iter().zip(&rest).map(|(z, rest)| *z as f64 - rest).collect();
                going &= root_mean_square(&left) < SMALL;
                for (i, track) in (1..).zip(&mut tracks) {
                    let apart = state(i).iter().zip(&free).map(|(a, b)| *a as f64 - *b as f64).collect();
                    going &= (least..most).contains(&track.follow(made, apart));
                }
            });
            made += 1;
        }
        if !tracks.iter().all(|track| root_mean_square(&track.from[..nodes]).is_normal()) {
            break;
        }
    }
    let [all, slow] = tracks.map(|track| slope(&track.seen[track.seen.len() * 2 / 3..]) / problem.tick_time());
    Ok(Growth { all, slow })
}

/// Returns noise that was averaged over neighbours along each axis `smoothings` times.
fn disturbance(grid: &Grid, smoothings: usize) -> Vec<f64> {
    let mut z = Rng::new(1, Stream::Search, 0).normals(grid.count());
    for _ in 0..smoothings {
        let mut stride = grid.count();
        for &nodes in &grid.nodes {
            stride /= nodes;
            let before = z.clone();
            for (i, z) in z.iter_mut().enumerate() {
                let at = i / stride % nodes;
                let [left, right] =
                    [(at + nodes - 1) % nodes, (at + 1) % nodes].map(|other| before[i - at * stride + other * stride]);
                *z = 0.25 * (left + 2.0 * before[i] + right);
            }
        }
    }
    z
}

/// Distance of one state from another, tick by tick.
struct Track {
    /// True if the mean of two ticks is followed.
    averaged: bool,
    nodes: usize,
    /// Initial direction of the next run.
    from: Vec<f64>,
    /// Difference after the last tick.
    last: Vec<f64>,
    /// Logarithm of the total rescaling of earlier runs.
    carried: f64,
    /// Ticks and logarithms of the distance of fields.
    seen: Vec<(f64, f64)>,
}

impl Track {
    /// Returns a state at the initial distance, in the direction found so far.
    fn begin(&mut self, rest: &[f64], size: f64) -> Vec<f64> {
        let factor = size / root_mean_square(&self.from[..self.nodes]);
        self.last.clear();
        self.carried -= factor.ln();
        rest.iter().zip(&self.from).map(|(x, from)| x + factor * from).collect()
    }

    /// Takes the difference after a tick and returns its norm.
    fn follow(&mut self, tick: usize, apart: Vec<f64>) -> f64 {
        let distance = root_mean_square(&apart[..self.nodes]);
        let last = std::mem::replace(&mut self.last, apart);
        self.from.clone_from(&self.last);
        if self.averaged {
            if last.is_empty() {
                return distance;
            }
            self.from.iter_mut().zip(&last).for_each(|(now, last)| *now = 0.5 * (*now + last));
        }
        self.seen.push((tick as f64, root_mean_square(&self.from[..self.nodes]).ln() + self.carried));
        distance
    }
}

fn root_mean_square(x: &[f64]) -> f64 {
    (x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64).sqrt()
}

/// Returns the slope of a linear least-squares fit.
fn slope(points: &[(f64, f64)]) -> f64 {
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|point| of(point.0 - x, point.1 - y)).sum::<f64>();
    sum(&|x, y| x * y) / sum(&|x, _| x * x)
}
