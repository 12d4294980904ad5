//! The state of rest of a closed loop, including moving agents.

use super::closed_loop::ClosedLoop;
use super::fixed_point::fixed_point;
use super::krylov::norm;
use super::tick::Tick;
use cinoc::policy::Policy;
use cinoc::{Error, Problem, Real};
use cinoc_tape::Params;

/// Number of episodes that moving agents have to come to rest.
const EPISODES: usize = 40;

/// Largest total change per tick at rest, beside rounding.
const STEP: f64 = 1e-4;

/// The state of rest of a closed loop.
pub struct Rest {
    /// Field and memory, with agents held at `places`.
    pub x: Vec<f64>,
    /// Positions of the agents, `[agents, d]`: regular ones, or those they moved to from there.
    pub places: Vec<Real>,
    /// The state with positions, if agents can move and everything has come to rest.
    pub moving: Option<Vec<f64>>,
    /// Agents that have failed.
    pub failed: Vec<usize>,
}

impl Rest {
    /// Computes the state of rest from zero field and regular positions.
    pub fn of(problem: &Problem, policy: &dyn Policy, params: &Params, agents: usize) -> Result<Self, Error> {
        Self::of_loop(&ClosedLoop::new(problem, policy, params, agents)?)
    }

    /// Computes the same if some agents have failed.
    pub fn without(
        problem: &Problem,
        policy: &dyn Policy,
        params: &Params,
        agents: usize,
        failed: &[usize],
    ) -> Result<Self, Error> {
        Self::of_loop(&ClosedLoop::new(problem, policy, params, agents)?.without(failed)?)
    }

    /// Computes the state of rest of a closed loop. Delays do not change it, and are left out.
    pub(super) fn of_loop(held: &ClosedLoop) -> Result<Self, Error> {
        let problem = held.problem;
        let failed = (0..held.agents).filter(|&agent| held.strength[agent] == 0.0).collect();
        if problem.swarm.moves() {
            let free = held.clone().moving();
            let (mut tick, mut x) = (Tick::new(&free, 1), free.rest());
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
            // A loop that oscillates, or whose agents drift, is analysed with agents at their regular positions and
            // reported as inconclusive.
            if moved < resting
                && let Ok(x) = fixed_point(&free, x)
            {
                let (x_held, places) = x.split_at(x.len() - held.places.len());
                let places = places.iter().map(|&x| x as Real).collect();
                return Ok(Self { x: x_held.to_vec(), places, moving: Some(x), failed });
            }
        }
        let x = fixed_point(held, held.rest())?;
        Ok(Self { x, places: held.places.clone(), moving: None, failed })
    }
}
