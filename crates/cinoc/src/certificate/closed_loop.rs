//! One tick of field and swarm as a map of a vector to itself, with its derivative.

use crate::agents::Disturbance;
use crate::policy::Policy;
use crate::rollout::{Decide, Given, Inputs, Noise, State, tick};
use crate::{Error, Problem, Real};
use cinoc_tape::{Adjoints, Memory, Params, Tape, Var, VarId};

/// A field and the agents that drive it towards a target of zero. Its state is one vector: the field, what each agent remembers, and where
/// each is unless positions are held.
pub struct ClosedLoop<'a> {
    problem: &'a Problem,
    policy: &'a dyn Policy,
    params: &'a Params,
    agents: usize,
    /// Where the agents are held; where they start, if they are not.
    pub places: Vec<Real>,
    moving: bool,
}

/// Field, memory, positions.
const PARTS: usize = 3;

impl<'a> ClosedLoop<'a> {
    /// Agents at their regular places, and held there.
    pub fn new(problem: &'a Problem, policy: &'a dyn Policy, params: &'a Params, agents: usize) -> Result<Self, Error> {
        let (declared, fixed) = (policy.declared(), policy.fixed_agents());
        if problem.task.timed() || declared.clock {
            return Err(Error::bad("the problem", &*problem.name, "one where nothing depends on the time that has passed"));
        }
        if problem.swarm.disturbance() != Disturbance::default() {
            return Err(Error::bad("the agents", "noisy or delayed", "without noise and delay: the loop is judged at rest"));
        }
        if agents == 0 || fixed.is_some_and(|fixed| fixed != agents) {
            let expected = fixed.map_or_else(|| "1 or more".into(), |fixed| fixed.to_string());
            return Err(Error::bad("agents", agents.to_string(), expected));
        }
        Ok(Self { problem, policy, params, agents, places: problem.swarm.start(agents), moving: false })
    }

    /// The same, where positions are part of the state if agents move.
    pub fn moving(self) -> Self {
        Self { moving: self.problem.swarm.moves(), ..self }
    }

    /// Numbers of the field, of all memories, of all positions.
    pub fn sizes(&self) -> [usize; PARTS] {
        let places = if self.moving { self.places.len() } else { 0 };
        [self.problem.stepper.grid().count(), self.agents * self.policy.declared().memory, places]
    }

    /// Numbers of a state.
    pub fn size(&self) -> usize {
        self.sizes().iter().sum()
    }

    /// No field, nothing remembered, agents at their places.
    pub fn rest(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.size()];
        if self.moving {
            let first = x.len() - self.places.len();
            x[first..].iter_mut().zip(&self.places).for_each(|(x, place)| *x = *place as f64);
        }
        x
    }

    /// A tick of `batch` states side by side, recorded at rest.
    pub fn record(&'a self, batch: usize) -> Tick<'a> {
        let mut tick = Tick {
            closed: self,
            batch,
            recording: Memory::default(),
            bars: Adjoints::default(),
            first: [None; PARTS],
            last: [None; PARTS],
        };
        tick.record(&self.rest().repeat(batch));
        tick
    }
}

/// A recorded tick of several states.
pub struct Tick<'a> {
    closed: &'a ClosedLoop<'a>,
    /// How many states.
    pub batch: usize,
    recording: Memory,
    bars: Adjoints,
    first: [Option<VarId>; PARTS],
    last: [Option<VarId>; PARTS],
}

impl Tick<'_> {
    /// The states one tick later, `[batch, size]`.
    pub fn next(&mut self, x: &[f64]) -> Vec<f64> {
        if self.recording.replayable() {
            let parts = self.split(x);
            let leaves = self.first.iter().zip(&parts).filter_map(|(id, part)| Some(((*id)?, part.as_slice())));
            self.recording.renew(self.closed.params.shared(), leaves);
        } else {
            self.record(x);
        }
        let shared = self.closed.params.shared();
        self.join(&self.last.map(|id| id.map_or(&[][..], |id| self.recording.value(shared, id))))
    }

    /// Each row times the Jacobian at the states of the last [`next`](Self::next), `[batch, size]`.
    pub fn pull(&mut self, rows: &[f64]) -> Vec<f64> {
        let parts = self.split(rows);
        let shared = self.closed.params.shared();
        self.bars.start(&self.recording, 0);
        for (id, part) in self.last.iter().zip(&parts) {
            id.iter().for_each(|id| self.bars.seed(&self.recording, *id, part));
        }
        self.recording.backward(shared, &mut self.bars);
        let zeros = self.closed.sizes().map(|size| vec![0.0; size * self.batch]);
        let found = |part: usize| match self.first[part].map(|id| self.bars.of(&self.recording, id)) {
            Some(bar) if !bar.is_empty() => bar,
            _ => &zeros[part][..],
        };
        self.join(&std::array::from_fn(found))
    }

    fn record(&mut self, x: &[f64]) {
        let ClosedLoop { problem, policy, params, agents, ref places, .. } = *self.closed;
        let (batch, [z, memory, xi]) = (self.batch, self.split(x));
        let (d, width, declared) = (problem.swarm.dimensions(), problem.swarm.action_width(), policy.declared());
        let tape = Tape::new(std::mem::take(&mut self.recording), params.shared());
        {
            let field: Vec<usize> = std::iter::once(batch).chain(problem.stepper.grid().nodes.iter().copied()).collect();
            // Leaves in the order of the parts.
            let z = tape.input(&field[..], &z);
            let memory = (declared.memory > 0).then(|| tape.input([batch, agents, declared.memory], &memory));
            let places = match self.closed.moving {
                true => tape.input([batch, agents, d], &xi),
                false => tape.constant([batch, agents, d], &places.repeat(batch)),
            };
            let state = State { z, xi: places, previous: tape.zeros([batch, agents, width]), memory, pending: None };
            let noise = (declared.noise > 0).then(|| tape.zeros([batch, agents, declared.noise]));
            let decide = Decide::Policy { policy, theta: params.leaves(&tape, false), inputs: Inputs { noise, clock: None } };
            let rest = tape.zeros(&field[..]);
            let strength = tape.constant([batch, agents], &vec![1.0; batch * agents]);
            let given = Given { start: rest, target: rest, strength, now: None, hold: 1, noise: Noise::default() };
            let after = tick(problem, decide, state, given, &mut |_| {});
            let parts = |state: State| {
                let xi = self.closed.moving.then_some(state.xi);
                [Some(state.z), state.memory, xi].map(|var| var.map(Var::id))
            };
            (self.first, self.last) = (parts(state), parts(after));
        }
        self.recording = tape.into_memory();
    }

    /// States side by side to the parts of all of them.
    fn split(&self, x: &[f64]) -> [Vec<Real>; PARTS] {
        let sizes = self.closed.sizes();
        assert_eq!(x.len(), self.batch * self.closed.size(), "numbers of {} states", self.batch);
        let mut first = 0;
        sizes.map(|size| {
            let states = x.chunks_exact(self.closed.size());
            let part = states.flat_map(|x| x[first..first + size].iter().map(|&x| x as Real)).collect();
            first += size;
            part
        })
    }

    fn join(&self, parts: &[&[Real]; PARTS]) -> Vec<f64> {
        let sizes = self.closed.sizes();
        let state = |i: usize| parts.iter().zip(sizes).flat_map(move |(part, size)| &part[i * size..(i + 1) * size]);
        (0..self.batch).flat_map(state).map(|&x| x as f64).collect()
    }
}
