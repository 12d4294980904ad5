//! Episodes side by side: where each begins and who dies when.

use crate::random::{Rng, Stream, Use};
use crate::{Problem, Real};
use std::ops::Range;

/// Where an episode begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beginning {
    /// The field at the start.
    pub start: Vec<Real>,
    /// The field to be reached.
    pub target: Vec<Real>,
    /// Positions of the agents, `[agents, d]`.
    pub places: Vec<Real>,
    /// Agents that die, each with the tick (from 0) from which on it does nothing.
    pub deaths: Vec<(usize, usize)>,
    /// Seed of noise: that of sensors, of actuators, and of policies that declare some.
    pub noise: u64,
}

impl Beginning {
    /// Instance `index` of a stream, with agents at their regular places.
    pub fn drawn(problem: &Problem, agents: usize, seed: u64, stream: Stream, index: usize) -> Self {
        let instance = problem.task.sample(&mut Rng::new(seed, stream, index as u64), Use::of(stream));
        let (places, noise) = (problem.swarm.start(agents), Rng::seed(seed, stream, index as u64));
        Self { start: instance.start, target: instance.target, places, deaths: Vec::new(), noise }
    }

    /// The same, where a share of the agents dies at tick `at`; who, depends on the seed and the instance.
    pub fn failing(mut self, agents: usize, share: f64, at: usize, seed: u64, index: usize) -> Self {
        let dead = (share * agents as f64).round() as usize;
        let chosen = Rng::new(seed, Stream::Failure, index as u64).choose(dead, agents);
        self.deaths.extend(chosen.into_iter().map(|agent| (at, agent)));
        self
    }
}

/// Several episodes side by side.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// How many.
    pub size: usize,
    /// Agents of each.
    pub agents: usize,
    /// Fields at the start.
    pub start: Vec<Real>,
    /// Fields to be reached.
    pub target: Vec<Real>,
    /// Positions at the start.
    pub places: Vec<Real>,
    /// Each agent's strength at the start: 1, or 0 if it is dead.
    pub strength: Vec<Real>,
    /// The action before the first tick, `[size, agents, k]`; empty: none.
    pub previous: Vec<Real>,
    /// What was decided before and has yet to act, `[size, agents, decisions·k]`, the oldest first; empty: nothing.
    pub pending: Vec<Real>,
    /// What each agent remembers at the start, `[size, agents, h]`; empty: nothing.
    pub memory: Vec<Real>,
    /// Who dies: tick, and number of the agent among those of all episodes.
    deaths: Vec<(usize, usize)>,
    /// Whether sensors and actuators have no noise, whatever the problem says: for plans, which cannot know it.
    pub quiet: bool,
    /// Seeds of noise.
    noise: Vec<u64>,
}

impl Batch {
    /// An empty batch for `agents` agents.
    pub fn new(agents: usize) -> Self {
        Self { agents, ..Self::default() }
    }

    /// Removes all episodes, keeps the room.
    pub fn clear(&mut self) {
        self.size = 0;
        let Self { start, target, places, strength, previous, pending, memory, .. } = self;
        [start, target, places, strength, previous, pending, memory].into_iter().for_each(Vec::clear);
        self.deaths.clear();
        self.noise.clear();
    }

    /// Adds an episode with agents at `places`.
    pub fn push(&mut self, start: &[Real], target: &[Real], places: &[Real]) {
        self.size += 1;
        self.start.extend_from_slice(start);
        self.target.extend_from_slice(target);
        self.places.extend_from_slice(places);
        self.strength.resize(self.size * self.agents, 1.0);
        self.noise.push(self.size as u64 - 1);
    }

    /// Adds an episode.
    pub fn begin(&mut self, beginning: &Beginning) {
        let first = self.size * self.agents;
        self.push(&beginning.start, &beginning.target, &beginning.places);
        self.deaths.extend(beginning.deaths.iter().map(|&(tick, agent)| (tick, first + agent)));
        self.seed(beginning.noise);
    }

    /// Gives the last episode a seed of its own for noise; without, it is the episode's number in the batch.
    pub fn seed(&mut self, seed: u64) {
        self.noise[self.size - 1] = seed;
    }

    /// From tick `tick` (from 0) on an agent of the last episode does nothing.
    pub fn kill(&mut self, agent: usize, tick: usize) {
        self.deaths.push((tick, (self.size - 1) * self.agents + agent));
    }

    /// Adds every agent's strength during tick `tick` (from 0) to the end of `out`.
    pub fn strength_at(&self, tick: usize, out: &mut Vec<Real>) {
        let first = out.len();
        out.extend_from_slice(&self.strength);
        self.deaths.iter().filter(|(from, _)| tick >= *from).for_each(|(_, agent)| out[first + agent] = 0.0);
    }

    /// Adds the noise of tick `tick` on what is seen of every field to the end of `out`; nothing where there is none.
    pub fn sensor_noise_at(&self, problem: &Problem, tick: usize, out: &mut Vec<Real>) {
        self.disturb(out, |seed, out| problem.swarm.sensor_noise(seed, tick, problem.stepper.grid().count(), out));
    }

    /// Adds the noise of some ticks on all actions to the end of `out`, `[size, agents, ticks, k]`; nothing where there is none.
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

    /// Adds `width` standard normal numbers per agent to the end of `out`.
    pub fn noise_at(&self, tick: usize, width: usize, out: &mut Vec<Real>) {
        for &seed in &self.noise {
            let mut rng = Rng::new(seed, Stream::Noise, tick as u64);
            out.extend((0..self.agents * width).map(|_| rng.normal() as Real));
        }
    }
}
