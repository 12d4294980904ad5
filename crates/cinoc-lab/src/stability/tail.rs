//! The share of a field disturbance that the motion of agents keeps.
//!
//! Agents that were displaced by a disturbance of the field return slowly, and as long as they are displaced their
//! pushes differ from those at rest. A loop with agents that move can therefore have a slower rate than one with agents
//! held, although the field hardly contains that mode. Two runs of the nonlinear loop from rest measure how much: the
//! largest displacement after a disturbance of the field, and the largest disturbance of the field after a displacement.

use super::closed_loop::ClosedLoop;
use super::tick::Tick;
use cinoc::internal::random::{Rng, Stream};

/// Root mean square of the disturbances of field and positions, the latter relative to the distance of agents.
const SMALL: f64 = 1e-2;

/// Length of the runs in episodes.
const EPISODES: usize = 2;

/// Returns the product of both ratios, of root mean squares: an estimate of the share of a field disturbance that decays
/// at the rate of the agents' motion. Both disturbances are random, on every node and every agent; smooth ones of the
/// field may displace agents more.
pub fn tail(closed: &ClosedLoop, rest: &[f64]) -> f64 {
    let [field, memory, positions] = closed.sizes();
    let grid = closed.problem.stepper.grid();
    let volume: f64 = grid.lengths.iter().map(|&length| length as f64).product();
    let apart = (volume / closed.agents as f64).powf(1.0 / grid.dimensions() as f64);
    let (z, xi) = (0..field, field + memory..field + memory + positions);
    let mut tick = Tick::new(closed, 1);
    let mut response = |disturbed: std::ops::Range<usize>, size: f64, seen: std::ops::Range<usize>| {
        let noise = Rng::new(2, Stream::Search, 0).normals(disturbed.len());
        let mut x = rest.to_vec();
        x[disturbed].iter_mut().zip(noise).for_each(|(x, noise)| *x += size * noise);
        let mut most = 0.0f64;
        for _ in 0..EPISODES * closed.problem.ticks {
            x = tick.next(&x);
            let squares = seen.clone().map(|i| (x[i] - rest[i]).powi(2)).sum::<f64>();
            most = most.max((squares / seen.len() as f64).sqrt());
        }
        most / size
    };
    response(z.clone(), SMALL, xi.clone()) * response(xi, SMALL * apart, z)
}
