//! Readings and the engine's actions, the reference for exported controllers.

use super::program::{Input, Program};
use crate::env::Env;
use crate::policy::Policy;
use crate::random::{Rng, Stream};
use crate::rollout::InitialCondition;
use crate::sense::Source;
use crate::threads::Threads;
use crate::{Error, Problem, Real};
use cinoc_tape::Params;
use std::sync::Arc;

/// Number of recorded ticks of an episode.
const EPISODE: usize = 100;

/// Ticks after which the memory is set again: without feedback from the field a memory may be unstable, and rounding
/// differences would grow.
const TOGETHER: usize = 10;

/// Readings and the engine's actions, decision by decision: half from episodes, half with randomised readings.
///
/// Readings and memories are rounded to single precision, so that every controller gets the same.
#[derive(Default)]
pub struct Trial {
    /// Readings, `[decisions, readings]`.
    pub readings: Vec<Real>,
    /// True where the memory is set, in the first of several decisions.
    pub first: Vec<bool>,
    /// The memory that is set there, `[decisions, memory]`; zero in the other decisions.
    pub memory: Vec<Real>,
    /// Actions of the engine, `[decisions, actions]`.
    pub actions: Vec<Real>,
}

/// Makes `decisions` decisions. Those from episodes use swarms of the trained size, with different strengths and one
/// failing agent.
pub fn trial(problem: &Arc<Problem>, policy: &dyn Policy, params: &Params, decisions: usize, seed: u64) -> Result<Trial, Error> {
    let mut program = Program::record(problem, policy, params, false)?;
    let mut trial = Trial::default();
    trial.episodes(problem, policy, params, decisions / 2, seed)?;
    trial.random(&program, decisions, seed);
    let (width, memory, mut state) = (program.readings(), program.memory(), vec![0.0; program.state()]);
    for (i, first) in trial.first.iter().enumerate() {
        if *first {
            state.fill(0.0);
            state[..memory].copy_from_slice(&trial.memory[i * memory..(i + 1) * memory]);
        }
        trial.actions.extend(program.run(&trial.readings[i * width..(i + 1) * width], &mut state));
    }
    Ok(trial)
}

/// Rounds to single precision.
fn single(x: Real) -> Real {
    x as f32 as Real
}

impl Trial {
    /// Adds up to `most` decisions of episodes.
    fn episodes(
        &mut self,
        problem: &Arc<Problem>,
        policy: &dyn Policy,
        params: &Params,
        most: usize,
        seed: u64,
    ) -> Result<(), Error> {
        let (agents, ticks, remembered) = (problem.agents, EPISODE.min(problem.ticks), policy.declared().memory);
        for i in 0..most.div_ceil(agents * ticks) {
            let mut env = Env::new(problem.clone(), 1, agents, Threads::single())?;
            env.reset(&[true], &mut |_| InitialCondition::drawn(problem, agents, seed, Stream::Test, i));
            let mut rng = Rng::new(seed, Stream::Failure, i as u64);
            (0..agents).for_each(|agent| env.set_strength(0, agent, rng.uniform(0.4, 1.0) as Real));
            let mut each = vec![(Vec::new(), Vec::new()); agents];
            for tick in 0..ticks {
                if tick == ticks / 2 {
                    env.set_strength(0, i % agents, 0.0);
                }
                let (read, memory) = (env.readings(0), env.memory(0).to_vec());
                for (m, (readings, memories)) in each.iter_mut().enumerate() {
                    let width = read.len() / agents;
                    readings.extend_from_slice(&read[m * width..(m + 1) * width]);
                    match memory.get(m * remembered..(m + 1) * remembered) {
                        Some(memory) if tick % TOGETHER == 0 => memories.extend_from_slice(memory),
                        _ => memories.resize(memories.len() + remembered, 0.0),
                    }
                }
                match tick {
                    0 => env.run(policy, params, 1, &mut |_| {}),
                    _ => env.run_cached(policy, params, 1, &mut |_| {}),
                }
            }
            for (readings, memories) in each.iter().take(most.saturating_sub(self.first.len()).div_ceil(ticks)) {
                self.readings.extend(readings.iter().copied().map(single));
                self.memory.extend(memories.iter().copied().map(single));
                self.first.extend((0..ticks).map(|tick| tick % TOGETHER == 0));
            }
        }
        Ok(())
    }

    /// Adds decisions up to `decisions` in total: each takes the readings of a random decision of an episode, with
    /// samples of the field perturbed by 1 to 10 % of their usual size. Memories start at zero.
    fn random(&mut self, program: &Program, decisions: usize, seed: u64) {
        let (width, known) = (program.readings(), self.first.len());
        let sampled = |source: &Source| matches!(source, Source::Error(_) | Source::Slope);
        let counts = program.inputs().iter().map(|Input { instrument: one, .. }| (one.count, sampled(&one.source)));
        let counts: Vec<(usize, bool)> = counts.collect();
        let (mut usual, mut from) = (Vec::new(), 0);
        for (count, _) in &counts {
            let values = self.readings.chunks_exact(width).flat_map(|row| &row[from..from + count]);
            let square: f64 = values.map(|x| (*x as f64).powi(2)).sum();
            usual.push(if known > 0 { (square / (known * count) as f64).sqrt() } else { 1.0 });
            from += count;
        }
        for i in 0..decisions.saturating_sub(known) {
            let (mut rng, mut from) = (Rng::new(seed, Stream::Noise, i as u64), 0);
            let some = (rng.uniform(0.0, known as f64) as usize).min(known.saturating_sub(1));
            for ((count, sampled), usual) in counts.iter().zip(&usual) {
                let size = if *sampled || known == 0 { usual * 10f64.powf(rng.uniform(-2.0, -1.0)) } else { 0.0 };
                for k in from..from + count {
                    let was = if known > 0 { self.readings[some * width + k] } else { 0.0 };
                    self.readings.push(single(was + (size * rng.normal()) as Real));
                }
                from += count;
            }
            self.first.push(i % TOGETHER == 0);
            self.memory.resize(self.memory.len() + program.memory(), 0.0);
        }
    }
}
