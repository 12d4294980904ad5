//! Where a closed loop comes to rest, agents that move with it.

use super::closed_loop::ClosedLoop;
use super::fixed_point::fixed_point;
use super::krylov::norm;
use crate::policy::Policy;
use crate::{Error, Problem, Real};
use cinoc_tape::Params;

/// Agents that move are given so many episodes to come to rest.
const EPISODES: usize = 40;

/// What is at rest changes by less than this in a tick, in all; or by what rounding makes of it.
const STEP: f64 = 1e-4;

/// Where a closed loop comes to rest.
pub struct Rest {
    /// The field and what agents remember, with agents held at `places`.
    pub x: Vec<f64>,
    /// Where the agents are, `[agents, d]`: at their regular places, or where they moved to from there.
    pub places: Vec<Real>,
    /// The same with positions, if agents can move and all has come to rest.
    pub moving: Option<Vec<f64>>,
}

impl Rest {
    /// From a field of zero and agents at their regular places.
    pub fn of(problem: &Problem, policy: &dyn Policy, params: &Params, agents: usize) -> Result<Self, Error> {
        let held = ClosedLoop::new(problem, policy, params, agents)?;
        if problem.swarm.moves() {
            let free = ClosedLoop::new(problem, policy, params, agents)?.moving();
            let (mut tick, mut x) = (free.record(1), free.rest());
            let resting = STEP.max(1000.0 * Real::EPSILON as f64 * (x.len() as f64).sqrt());
            let mut moved = f64::INFINITY;
            for _ in 0..EPISODES * problem.ticks {
                let next = tick.next(&x);
                moved = norm(&next.iter().zip(&x).map(|(next, x)| next - x).collect::<Vec<f64>>());
                x = next;
                if moved < 1e-5 * resting {
                    break;
                }
            }
            // A loop that flutters, or whose agents drift on, is looked at with agents at their regular places, and not certified.
            if moved < resting
                && let Ok(x) = fixed_point(&free, x)
            {
                let (x_held, places) = x.split_at(x.len() - held.places.len());
                let places = places.iter().map(|&x| x as Real).collect();
                return Ok(Self { x: x_held.to_vec(), places, moving: Some(x) });
            }
        }
        let x = fixed_point(&held, held.rest())?;
        Ok(Self { x, places: held.places, moving: None })
    }
}
