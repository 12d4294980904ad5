//! The one tick.

use super::living::living;
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
    /// What was decided and has yet to act, `[batch, agents, decisions·k]`, the oldest first, where actions are delayed.
    pub pending: Option<Var<'t>>,
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
    /// What disturbs the agents.
    pub noise: Noise<'t>,
}

/// What disturbs the agents in a tick, where a problem has it so.
#[derive(Clone, Copy, Default)]
pub struct Noise<'t> {
    /// Added to the field that policies see, `[batch, nodes…]`.
    pub sensor: Option<Var<'t>>,
    /// Added to actions in each tick that a decision holds for, `[batch, agents, ticks·k]`.
    pub actuator: Option<Var<'t>>,
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
            let z = given.noise.sensor.map_or(state.z, |noise| state.z + noise);
            let seen = swarm.observe(&Visible { z, target, xi: state.xi, strength, now });
            let everything = Everything { z, target: given.target, xi: state.xi };
            let everything = policy.declared().everything.then_some(everything);
            let context = Context { memory: state.memory, noise, clock, everything, hold: given.hold };
            let Decision { raw, memory } = policy.act(&theta, &seen, &context);
            assert_eq!(memory.is_some(), state.memory.is_some(), "a policy returns a memory if and only if it declares one");
            let memory = memory.map(|memory| living(memory, given.strength));
            (swarm.saturate(raw, swarm.strength(given.strength, state.xi)), memory)
        }
        Decide::Action(action) => (swarm.hold(action, given.strength), state.memory),
    };
    let (acting, pending) = delayed(problem, within, state.pending, given.hold);
    let (mut z, mut xi, mut action, mut made) = (state.z, state.xi, state.previous, 0);
    while made < given.hold {
        let (decided, until) = acting(made);
        let decided = disturbed(decided, &state, &given, made);
        // Noise differs from tick to tick, whatever is held.
        let until = if given.noise.actuator.is_some() { made + 1 } else { until };
        let now = if made > 0 { given.now.map(|now| now + made as Real) } else { given.now };
        action = swarm.filter(decided, xi, now);
        let force = swarm.actuate(action, xi);
        for _ in made..until {
            (z, xi) = (problem.stepper.step(z, force), swarm.advance(xi, action));
        }
        made = until;
    }
    let Given { start, target, .. } = given;
    let now = given.now.map(|now| now + given.hold as Real);
    problem.task.cost(&After { z, start, target, xi, action, previous: state.previous, now }, add_cost);
    State { z, xi, previous: action, pending, memory }
}

/// What acts while the decision at hand holds, and what is pending afterwards. The first says of a tick which decision acts in it, and until which tick.
fn delayed<'t>(
    problem: &Problem,
    decided: Var<'t>,
    pending: Option<Var<'t>>,
    hold: usize,
) -> (impl Fn(usize) -> (Var<'t>, usize), Option<Var<'t>>) {
    let width = decided.shape().last();
    let all = pending.map(|pending| pending.join(decided));
    let number = |i: usize| all.map_or(decided, |all| all.columns(i * width, (i + 1) * width));
    // A delay that is no multiple of what a decision holds for: the next one arrives on the way.
    let arrives = match problem.swarm.disturbance().delay % hold {
        0 => hold,
        ticks => ticks,
    };
    let (first, second) = (number(0), if arrives < hold { number(1) } else { decided });
    let acting = move |tick: usize| if tick < arrives { (first, arrives) } else { (second, hold) };
    (acting, all.map(|all| all.columns(width, all.shape().last())))
}

/// A decision as it is carried out in a tick of those that it holds for, before safety: of the dead, nothing.
fn disturbed<'t>(decided: Var<'t>, state: &State<'t>, given: &Given<'t>, tick: usize) -> Var<'t> {
    let width = decided.shape().last();
    let noise = given.noise.actuator.map(|noise| match given.hold {
        1 => noise,
        _ => noise.columns(tick * width, (tick + 1) * width),
    });
    if noise.is_none() && state.pending.is_none() {
        return decided;
    }
    living(noise.map_or(decided, |noise| decided + noise), given.strength)
}
