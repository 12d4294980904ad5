//! Batches of episodes: initial conditions and failures.

use crate::random::{Rng, Split, Stream};
use crate::{Problem, Real};
use std::ops::Range;

/// The initial condition of an episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialCondition {
    /// Initial field.
    pub start: Vec<Real>,
    /// Target field.
    pub target: Vec<Real>,
    /// Initial positions, `[agents, d]`.
    pub positions: Vec<Real>,
    /// Failures: tick (from 0) at which an agent becomes inactive, and the agent.
    pub failures: Vec<(usize, usize)>,
    /// Seed of sensor, actuator and policy noise.
    pub noise: u64,
}

impl InitialCondition {
    /// Samples instance `index` of a stream, with agents at their regular positions.
    pub fn drawn(problem: &Problem, agents: usize, seed: u64, stream: Stream, index: usize) -> Self {
        let instance = problem.task.sample(&mut Rng::new(seed, stream, index as u64), Split::of(stream));
        let (positions, noise) = (problem.swarm.start(agents), Rng::seed(seed, stream, index as u64));
        Self { start: instance.start, target: instance.target, positions, failures: Vec::new(), noise }
    }

    /// Adds the failure of a fraction of the agents at tick `at`; the seed and the instance determine which ones.
    pub fn with_failures(mut self, agents: usize, share: f64, at: usize, seed: u64, index: usize) -> Self {
        let failing = (share * agents as f64).round() as usize;
        let chosen = Rng::new(seed, Stream::Failure, index as u64).choose(failing, agents);
        self.failures.extend(chosen.into_iter().map(|agent| (at, agent)));
        self
    }
}

/// A batch of episodes.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Number of episodes.
    pub size: usize,
    /// Number of agents per episode.
    pub agents: usize,
    /// Initial fields, `[size, nodes…]`.
    pub start: Vec<Real>,
    /// Target fields, `[size, nodes…]`.
    pub target: Vec<Real>,
    /// Initial positions, `[size, agents, d]`.
    pub positions: Vec<Real>,
    /// Initial strengths, `[size, agents]`: 1, or 0 for a failed agent.
    pub strength: Vec<Real>,
    /// Action before the first tick, `[size, agents, k]`; empty: zero.
    pub previous: Vec<Real>,
    /// Delayed actions that have yet to act, `[size, agents, decisions·k]`, oldest first; empty: zero.
    pub pending: Vec<Real>,
    /// Initial memory, `[size, agents, h]`; empty: zero.
    pub memory: Vec<Real>,
    /// Initial levels of tanks, `[size, agents, tanks]`, between 0 and 1; empty: full.
    pub stock: Vec<Real>,
    /// Failures: tick, and index of the agent among those of all episodes.
    failures: Vec<(usize, usize)>,
    /// Disables sensor and actuator noise, which plans cannot know.
    pub quiet: bool,
    /// Noise seeds.
    noise: Vec<u64>,
    /// Factors on the sensor noise of each episode.
    noise_factors: Vec<Real>,
}

impl Batch {
    /// Creates an empty batch for `agents` agents.
    pub fn new(agents: usize) -> Self {
        Self { agents, ..Self::default() }
    }

    /// Removes all episodes and keeps the allocations.
    pub fn clear(&mut self) {
        self.size = 0;
        let Self { start, target, positions, strength, previous, pending, memory, stock, .. } = self;
        [start, target, positions, strength, previous, pending, memory, stock].into_iter().for_each(Vec::clear);
        self.failures.clear();
        self.noise.clear();
        self.noise_factors.clear();
    }

    /// Adds an episode with agents at `positions`.
    pub fn push(&mut self, start: &[Real], target: &[Real], positions: &[Real]) {
        self.size += 1;
        self.start.extend_from_slice(start);
        self.target.extend_from_slice(target);
        self.positions.extend_from_slice(positions);
        self.strength.resize(self.size * self.agents, 1.0);
        self.noise.push(self.size as u64 - 1);
        self.noise_factors.push(1.0);
    }

    /// Adds an episode.
    pub fn begin(&mut self, beginning: &InitialCondition) {
        let first = self.size * self.agents;
        self.push(&beginning.start, &beginning.target, &beginning.positions);
        self.failures.extend(beginning.failures.iter().map(|&(tick, agent)| (tick, first + agent)));
        self.seed(beginning.noise);
    }

    /// Sets the noise seed of the last episode, which by default is its index in the batch.
    pub fn seed(&mut self, seed: u64) {
        self.noise[self.size - 1] = seed;
    }

    /// Sets the factor on the sensor noise of the last episode.
    pub fn scale_noise(&mut self, factor: f64) {
        self.noise_factors[self.size - 1] = factor as Real;
    }

    /// Makes an agent of the last episode fail at tick `tick` (from 0).
    pub fn fail_agent(&mut self, agent: usize, tick: usize) {
        self.failures.push((tick, (self.size - 1) * self.agents + agent));
    }

    /// Appends the strengths of all agents during tick `tick` (from 0) to `out`.
    pub fn strength_at(&self, tick: usize, out: &mut Vec<Real>) {
        let first = out.len();
        out.extend_from_slice(&self.strength);
        self.failures.iter().filter(|(from, _)| tick >= *from).for_each(|(_, agent)| out[first + agent] = 0.0);
    }

    /// Appends the times of all episodes before tick `tick` (from 0) to `out`, in ticks.
    pub fn now_at(&self, problem: &Problem, tick: usize, out: &mut Vec<Real>) {
        out.extend(self.noise.iter().map(|&seed| (problem.task.begins(seed) + tick as f64) as Real));
    }

    /// Appends the sensor noise of tick `tick` on every field to `out`; nothing if there is none.
    pub fn sensor_noise_at(&self, problem: &Problem, tick: usize, out: &mut Vec<Real>) {
        let (first, nodes) = (out.len(), problem.stepper.state_count());
        self.disturb(out, |seed, out| problem.swarm.sensor_noise(seed, tick, nodes, out));
        self.scale_each(&mut out[first..]);
    }

    /// Appends the noise and bias of tick `tick` on what agents observe to `out`; nothing if there is none.
    pub fn reading_noise_at(&self, problem: &Problem, tick: usize, out: &mut Vec<Real>) {
        let first = out.len();
        self.disturb(out, |seed, out| problem.swarm.reading_noise(seed, tick, self.agents, out));
        self.scale_each(&mut out[first..]);
    }

    /// Appends the ages of the readings of all agents to `out` at a tick; see [`Swarm::ages`](crate::swarm::Swarm::ages).
    pub fn ages_at(&self, problem: &Problem, at: [usize; 3], out: &mut Vec<Real>) {
        self.noise.iter().for_each(|&seed| problem.swarm.ages(seed, at, self.agents, out));
    }

    /// Appends 1 for each message that arrives in a tick to `out`, 0 for each that is lost.
    pub fn arrivals_at(&self, problem: &Problem, tick: usize, out: &mut Vec<Real>) {
        self.noise.iter().for_each(|&seed| problem.swarm.arrivals(seed, tick, self.agents, out));
    }

    /// Applies the factors of the episodes to their noise.
    fn scale_each(&self, noise: &mut [Real]) {
        let each = (noise.len() / self.size.max(1)).max(1);
        for (noise, factor) in noise.chunks_exact_mut(each).zip(&self.noise_factors).filter(|(_, factor)| **factor != 1.0) {
            noise.iter_mut().for_each(|x| *x *= factor);
        }
    }

    /// Appends the actuator noise of some ticks to `out`, `[size, agents, ticks, k]`; nothing if there is none.
    pub fn actuator_noise_at(&self, problem: &Problem, ticks: Range<usize>, out: &mut Vec<Real>) {
        self.disturb(out, |seed, out| problem.swarm.actuator_noise(seed, ticks.clone(), self.agents, out));
    }

    fn disturb(&self, out: &mut Vec<Real>, each: impl Fn(u64, &mut Vec<Real>)) {
        let first = out.len();
        self.noise.iter().for_each(|&seed| each(seed, out));
        if self.quiet {
            out[first..].fill(0.0);
        }
    }

    /// Appends `width` standard normal numbers per agent to `out`.
    pub fn noise_at(&self, tick: usize, width: usize, out: &mut Vec<Real>) {
        for &seed in &self.noise {
            let mut rng = Rng::new(seed, Stream::Noise, tick as u64);
            out.extend((0..self.agents * width).map(|_| rng.normal() as Real));
        }
    }
}
