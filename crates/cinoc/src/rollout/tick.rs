//! The one tick.

use super::remember::remember;
use crate::policy::{Context, Decision, Everything, Policy};
use crate::sense::Visible;
use crate::task::After;
use crate::{Problem, Real};
use cinoc_tape::{Leaves, Var};

/// What changes from tick to tick.
#[derive(Clone, Copy)]
pub struct State<'t> {
    /// The field, `[batch, nodes…]`.
    pub z: Var<'t>,
    /// The agents' positions, `[batch, agents, d]`.
    pub xi: Var<'t>,
    /// The action of the tick before, `[batch, agents, k]`.
    pub previous: Var<'t>,
    /// What each agent remembers, `[batch, agents, h]`, where its policy does.
    pub memory: Option<Var<'t>>,
}

/// What a tick is given.
#[derive(Clone, Copy)]
pub struct Given<'t> {
    /// The field that the episode started from.
    pub start: Var<'t>,
    /// The field to be reached.
    pub target: Var<'t>,
    /// 1 for each healthy agent, 0 for a dead one, `[batch, agents]`.
    pub strength: Var<'t>,
    /// Ticks made, `[batch]`, where the task is [`timed`](crate::task::Task::timed).
    pub now: Option<Var<'t>>,
    /// Ticks that the decision holds for: 1, but in training, where holding it longer makes episodes cheaper.
    pub hold: usize,
}

/// Who decides.
#[derive(Clone, Copy)]
pub enum Decide<'a, 't> {
    /// A policy, from what each agent sees.
    Policy {
        /// Which.
        policy: &'a dyn Policy,
        /// Its parameters.
        theta: Leaves<'t>,
        /// What it declared to differ from tick to tick.
        inputs: Inputs<'t>,
    },
    /// Somebody else: actions in the units of the actuators, `[batch, agents, k]`.
    Action(Var<'t>),
}

/// What a policy may have declared to differ from tick to tick.
#[derive(Clone, Copy, Default)]
pub struct Inputs<'t> {
    /// Standard normal numbers, `[batch, agents, n]`.
    pub noise: Option<Var<'t>>,
    /// The share of the episode that is over, `[batch, 1]`.
    pub clock: Option<Var<'t>>,
}

/// One decision: observe, act, keep to limits and to safety, push, step, move, cost. Everything that controls a field calls this.
pub fn tick<'t>(
    problem: &Problem,
    decide: Decide<'_, 't>,
    state: State<'t>,
    given: Given<'t>,
    add_cost: &mut dyn FnMut(Var<'t>),
) -> State<'t> {
    let swarm = &problem.swarm;
    // Limits and safety hold for every action, wherever it was decided.
    let (within, memory) = match decide {
        Decide::Policy { policy, theta, inputs: Inputs { noise, clock } } => {
            let Given { target, strength, now, .. } = given;
            let seen = swarm.observe(&Visible { z: state.z, target, xi: state.xi, strength, now });
            let everything = Everything { z: state.z, target: given.target, xi: state.xi };
            let everything = policy.declared().everything.then_some(everything);
            let context = Context { memory: state.memory, noise, clock, everything, hold: given.hold };
            let Decision { raw, memory } = policy.act(&theta, &seen, &context);
            assert_eq!(memory.is_some(), state.memory.is_some(), "a policy returns a memory if and only if it declares one");
            let memory = memory.map(|memory| remember(memory, given.strength));
            (swarm.saturate(raw, swarm.strength(given.strength, state.xi)), memory)
        }
        Decide::Action(action) => (swarm.hold(action, given.strength), state.memory),
    };
    let action = swarm.filter(within, state.xi, given.now);
    let force = swarm.actuate(action, state.xi);
    let (mut z, mut xi) = (state.z, state.xi);
    for _ in 0..given.hold {
        (z, xi) = (problem.stepper.step(z, force), swarm.advance(xi, action));
    }
    let Given { start, target, .. } = given;
    let now = given.now.map(|now| now + given.hold as Real);
    problem.task.cost(&After { z, start, target, xi, action, previous: state.previous, now }, add_cost);
    State { z, xi, previous: action, memory }
}
