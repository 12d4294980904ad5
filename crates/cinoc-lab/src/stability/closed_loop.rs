//! One tick of field and swarm as a map of a state vector, with its derivative.

use cinoc::internal::agents::Disturbance;
use cinoc::internal::rollout::{FIELD, MEMORY, POSITIONS, Slot, TickRecorder, parts};
use cinoc::policy::Policy;
use cinoc::rollout::{Control, State};
use cinoc::{Error, Problem, Real};
use cinoc_tape::{Adjoints, Arena, Params, Shape, Tape, VarId};

/// A field and the agents that drive it towards a target of zero. Its state is one vector: the field, the memory of
/// each agent, and their positions unless these are held.
pub struct ClosedLoop<'a> {
    problem: &'a Problem,
    policy: &'a dyn Policy,
    params: &'a Params,
    agents: usize,
    /// Positions of held agents; initial positions otherwise.
    pub places: Vec<Real>,
    moving: bool,
}

/// Field, memory, positions.
const PARTS: usize = 3;

impl<'a> ClosedLoop<'a> {
    /// Creates a closed loop with agents held at their regular positions.
    pub fn new(problem: &'a Problem, policy: &'a dyn Policy, params: &'a Params, agents: usize) -> Result<Self, Error> {
        let (declared, fixed) = (policy.declared(), policy.fixed_agents());
        if problem.task.timed() || declared.clock {
            return Err(Error::bad("the problem", &*problem.name, "one where nothing depends on the time that has passed"));
        }
        if problem.swarm.disturbance() != Disturbance::default() {
            return Err(Error::bad("the agents", "noisy or delayed", "without noise and delay: the loop is linearised at rest"));
        }
        if agents == 0 || fixed.is_some_and(|fixed| fixed != agents) {
            let expected = fixed.map_or_else(|| "1 or more".into(), |fixed| fixed.to_string());
            return Err(Error::bad("agents", agents.to_string(), expected));
        }
        Ok(Self { problem, policy, params, agents, places: problem.swarm.start(agents), moving: false })
    }

    /// Makes positions part of the state if agents can move.
    pub fn moving(self) -> Self {
        Self { moving: self.problem.swarm.moves(), ..self }
    }

    /// Returns the sizes of the field, of all memories, and of all positions.
    pub fn sizes(&self) -> [usize; PARTS] {
        let places = if self.moving { self.places.len() } else { 0 };
        [self.problem.stepper.grid().count(), self.agents * self.policy.declared().memory, places]
    }

    /// Returns the size of a state.
    pub fn size(&self) -> usize {
        self.sizes().iter().sum()
    }

    /// Returns the state of zero field, zero memory and regular positions.
    pub fn rest(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.size()];
        if self.moving {
            let first = x.len() - self.places.len();
            x[first..].iter_mut().zip(&self.places).for_each(|(x, place)| *x = *place as f64);
        }
        x
    }

    /// Records a tick of `batch` parallel states at rest.
    pub fn record(&'a self, batch: usize) -> Tick<'a> {
        let mut tick = Tick {
            closed: self,
            batch,
            recording: Arena::default(),
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
    /// Number of states.
    pub batch: usize,
    recording: Arena,
    bars: Adjoints,
    first: [Option<VarId>; PARTS],
    last: [Option<VarId>; PARTS],
}

impl Tick<'_> {
    /// Returns the states one tick later, `[batch, size]`.
    pub fn next(&mut self, x: &[f64]) -> Vec<f64> {
        if self.recording.replayable() {
            let parts = self.split(x);
            // In the order of recording: field, positions, memory.
            let leaves = [0, 2, 1].into_iter().filter_map(|i| Some((self.first[i]?, parts[i].as_slice())));
            self.recording.replay_in_place(self.closed.params.shared(), leaves);
        } else {
            self.record(x);
        }
        let shared = self.closed.params.shared();
        self.join(&self.last.map(|id| id.map_or(&[][..], |id| self.recording.value(shared, id))))
    }

    /// Multiplies each row by the Jacobian at the states of the last [`next`](Self::next), `[batch, size]`.
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
        let ClosedLoop { problem, policy, params, agents, ref places, moving } = *self.closed;
        let (batch, [z, memory, xi]) = (self.batch, self.split(x));
        let recorder = TickRecorder {
            problem,
            control: Control::Policy(policy, params),
            size: batch,
            agents,
            action_repeat: 1,
            lossy: false,
        };
        let tape = Tape::new(std::mem::take(&mut self.recording), params.shared());
        {
            let state = recorder.state(|part, shape| match part {
                FIELD => tape.input(shape, &z),
                POSITIONS if moving => tape.input(shape, &xi),
                POSITIONS => tape.constant(shape, &places.repeat(batch)),
                MEMORY => tape.input(shape, &memory),
                _ => tape.zeros(shape),
            });
            let input = |slot: Slot, shape: Shape| match slot {
                Slot::Strength => tape.constant(shape, &vec![1.0; shape.count()]),
                _ => tape.zeros(shape),
            };
            let rest = tape.zeros(recorder.field());
            let after = recorder.tick(&tape, state, [rest, rest], false, input, &mut |_| {});
            let kept = |state: State| {
                let all = parts(&state);
                [all[FIELD], all[MEMORY], all[POSITIONS].filter(|_| moving)]
            };
            (self.first, self.last) = (kept(state), kept(after));
        }
        self.recording = tape.into_arena();
    }

    /// Splits a batch of states into its parts.
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
