//! The recording of a tick, shared by rollouts, environments and the stability analysis.

use super::control::Control;
use super::tick::{Decide, Inputs, Noise, State, TickInputs, tick};
use crate::{Problem, Real};
use cinoc_tape::{Shape, Tape, Var, VarId};

/// Parts of a state, in the order of recording: field, positions, previous action, pending actions, memory, held
/// readings, levels of tanks.
pub const PARTS: usize = 7;
/// Index of the field among the parts of a state.
pub const FIELD: usize = 0;
/// Index of the positions.
pub const POSITIONS: usize = 1;
/// Index of the previous action.
pub const PREVIOUS: usize = 2;
/// Index of the pending actions.
pub const PENDING: usize = 3;
/// Index of the memory.
pub const MEMORY: usize = 4;
/// Index of the held readings.
pub const HELD: usize = 5;
/// Index of the levels of tanks.
pub const STOCK: usize = 6;

/// An input of a tick besides its state. The order of declaration is the order of gathering, recording and replaying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Strength of each agent, `[batch, agents]`.
    Strength,
    /// Time in ticks, `[batch]`, where the task depends on time.
    Now,
    /// Sensor noise on the field, `[batch, nodes…]`, where a policy observes through noisy sensors.
    SensorNoise,
    /// Noise and bias on what each agent observes, `[batch, agents, p]`, or `[batch, p]` if agents share a view.
    ReadingNoise,
    /// Ages of the samples that each agent holds, `[batch, agents, points]`, or `[batch, points]`, where samples are lost.
    Ages,
    /// 1 for each message of a neighbour that arrives, `[batch, agents, neighbours]`, where agents talk and messages are lost.
    Arrivals,
    /// Actuator noise of every tick of the decision, `[batch, agents, ticks·k]`.
    ActuatorNoise,
    /// Standard normal numbers that the policy declares, `[batch, agents, n]`.
    PolicyNoise,
    /// Elapsed fraction of the episode, `[batch, 1]`, where the policy declares a clock.
    Clock,
    /// Prescribed actions, `[batch, agents, k]`.
    Action,
}

/// All slots in order.
const SLOTS: [Slot; 10] = [
    Slot::Strength,
    Slot::Now,
    Slot::SensorNoise,
    Slot::ReadingNoise,
    Slot::Ages,
    Slot::Arrivals,
    Slot::ActuatorNoise,
    Slot::PolicyNoise,
    Slot::Clock,
    Slot::Action,
];

/// The layout of a tick's inputs, and the recording of a tick.
#[derive(Clone, Copy)]
pub struct TickRecorder<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The controller.
    pub control: Control<'a>,
    /// Number of instances side by side.
    pub size: usize,
    /// Number of agents in each.
    pub agents: usize,
    /// Number of ticks per decision.
    pub action_repeat: usize,
    /// True if samples are lost.
    pub lossy: bool,
}

impl<'a> TickRecorder<'a> {
    /// Shape of a batch of fields.
    pub fn field(&self) -> Shape {
        field_shape(self.problem, self.size)
    }

    /// Shape of `width` numbers per agent.
    fn per_agent(&self, width: usize) -> Shape {
        Shape::new(&[self.size, self.agents, width])
    }

    /// Shape of a part of the state, `None` where the problem or the policy has no such part.
    fn part(&self, part: usize) -> Option<Shape> {
        let (swarm, declared) = (&self.problem.swarm, self.control.declared());
        let width = match part {
            FIELD => return Some(self.field()),
            POSITIONS => swarm.dimensions(),
            PREVIOUS => swarm.action_width(),
            PENDING => swarm.action_width() * swarm.disturbance().pending(self.action_repeat),
            MEMORY => declared.memory,
            STOCK => swarm.tanks(),
            _ => return self.lossy.then(|| readings_shape(self.problem, self.size, self.agents)),
        };
        (part <= PREVIOUS || width > 0).then(|| self.per_agent(width))
    }

    /// Shape of an input, `None` where a tick has no such input.
    fn shape(&self, slot: Slot) -> Option<Shape> {
        let (swarm, declared) = (&self.problem.swarm, self.control.declared());
        let (disturbance, by_policy) = (swarm.disturbance(), matches!(self.control, Control::Policy(..)));
        // Sensors are read by a policy, and where their readings are held.
        let looks = by_policy || self.lossy;
        let (exists, shape) = match slot {
            Slot::Strength => (true, Shape::new(&[self.size, self.agents])),
            Slot::Now => (self.problem.task.timed(), Shape::new(&[self.size])),
            Slot::SensorNoise => (looks && swarm.has_field_noise(), self.field()),
            Slot::ReadingNoise => (looks && swarm.has_reading_noise(), readings_shape(self.problem, self.size, self.agents)),
            Slot::Ages => (self.lossy, ages_shape(self.problem, self.size, self.agents)),
            Slot::Arrivals => (declared.messages > 0 && disturbance.lost.messages > 0.0, self.per_agent(swarm.neighbours())),
            Slot::ActuatorNoise => (disturbance.on_actuators(), self.per_agent(self.action_repeat * swarm.action_width())),
            Slot::PolicyNoise => (declared.noise > 0, self.per_agent(declared.noise)),
            Slot::Clock => (declared.clock, Shape::new(&[self.size, 1])),
            Slot::Action => (!by_policy, self.per_agent(swarm.action_width())),
        };
        exists.then_some(shape)
    }

    /// Appends the inputs of one tick to `out`; `fill` appends the values of one slot.
    pub fn gather(&self, out: &mut Vec<Real>, mut fill: impl FnMut(Slot, &mut Vec<Real>)) {
        for slot in SLOTS {
            let Some(shape) = self.shape(slot) else { continue };
            let first = out.len();
            fill(slot, out);
            assert_eq!(out.len() - first, shape.count(), "{slot:?} has {shape:?}");
        }
    }

    /// Records the parts of a state; `leaf` records one.
    pub fn state<'t>(&self, mut leaf: impl FnMut(usize, Shape) -> Var<'t>) -> State<'t> {
        let mut next = |part: usize| self.part(part).map(|shape| leaf(part, shape));
        let [z, xi, previous, pending, memory, held, stock]: [Option<Var>; PARTS] = std::array::from_fn(&mut next);
        let always = |var: Option<Var<'t>>| var.expect("every state has a field, positions and a previous action");
        State { z: always(z), xi: always(xi), previous: always(previous), pending, memory, held, stock }
    }

    /// Records one tick from `state` on. `leaf` records one input, `train` asks for the derivative with respect to the
    /// parameters, `add_cost` receives every term of the cost.
    pub fn tick<'t>(
        &self,
        tape: &'t Tape<'t>,
        state: State<'t>,
        [start, target]: [Var<'t>; 2],
        train: bool,
        mut leaf: impl FnMut(Slot, Shape) -> Var<'t>,
        add_cost: &mut dyn FnMut(Var<'t>),
    ) -> State<'t>
    where
        'a: 't,
    {
        let vars = SLOTS.map(|slot| self.shape(slot).map(|shape| leaf(slot, shape)));
        let of = |slot: Slot| vars[slot as usize];
        let decide = match self.control {
            Control::Policy(policy, params) => Decide::Policy {
                policy,
                theta: params.leaves(tape, train),
                inputs: Inputs { noise: of(Slot::PolicyNoise), clock: of(Slot::Clock) },
            },
            Control::Actions(_) => Decide::Action(of(Slot::Action).expect("prescribed actions have a slot")),
        };
        let given = TickInputs {
            start,
            target,
            strength: of(Slot::Strength).expect("every tick has strengths"),
            now: of(Slot::Now),
            action_repeat: self.action_repeat,
            noise: Noise { sensor: of(Slot::SensorNoise), reading: of(Slot::ReadingNoise), actuator: of(Slot::ActuatorNoise) },
            ages: of(Slot::Ages),
            arrivals: of(Slot::Arrivals),
        };
        let mut terms = 0;
        let after = tick(self.problem, decide, state, given, &mut |term| {
            terms += 1;
            add_cost(term);
        });
        let named = self.problem.task.terms().len();
        assert_eq!(terms, named, "a task adds {terms} terms to the cost and names {named}");
        after
    }
}

/// Shape of a batch of states.
pub fn field_shape(problem: &Problem, size: usize) -> Shape {
    problem.stepper.state(size)
}

/// Shape of what agents read of the field.
pub fn readings_shape(problem: &Problem, size: usize, agents: usize) -> Shape {
    of_views(problem, size, agents, problem.swarm.readings_width())
}

/// Shape of the ages of samples.
pub fn ages_shape(problem: &Problem, size: usize, agents: usize) -> Shape {
    of_views(problem, size, agents, problem.swarm.points())
}

/// Shape of `width` numbers per view: one for each agent, or one for all.
fn of_views(problem: &Problem, size: usize, agents: usize, width: usize) -> Shape {
    match problem.swarm.features().shared {
        true => Shape::new(&[size, width]),
        false => Shape::new(&[size, agents, width]),
    }
}

/// Variables of the parts of a state.
pub fn parts(state: &State) -> [Option<VarId>; PARTS] {
    [Some(state.z), Some(state.xi), Some(state.previous), state.pending, state.memory, state.held, state.stock]
        .map(|var: Option<Var>| var.map(Var::id))
}

/// The next `count` of the gathered values, which are removed from `rest`.
pub fn take<'v>(rest: &mut &'v [Real], count: usize) -> &'v [Real] {
    let (values, after) = rest.split_at(count);
    *rest = after;
    values
}
