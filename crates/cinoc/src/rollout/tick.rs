//! One tick: observation, decision, limits, actuation, time step, motion and cost.

use super::mask_failed::mask_failed;
use crate::agents::Sensors;
use crate::policy::{Context, Decision, Everything, Policy};
use crate::sense::{Observation, Visible};
use crate::task::Transition;
use crate::{Problem, Real};
use cinoc_tape::{Leaves, Var};

/// The state of a tick.
#[derive(Clone, Copy)]
pub struct State<'t> {
    /// Field, `[batch, nodes…]`.
    pub z: Var<'t>,
    /// Positions of the agents, `[batch, agents, d]`.
    pub xi: Var<'t>,
    /// Action of the previous tick, `[batch, agents, k]`.
    pub previous: Var<'t>,
    /// Delayed actions that have yet to act, `[batch, agents, decisions·k]`, oldest first, if actions are delayed.
    pub pending: Option<Var<'t>>,
    /// Memory of each agent, `[batch, agents, h]`, if its policy has one.
    pub memory: Option<Var<'t>>,
    /// Readings of the previous tick, `[batch, agents, p]`, if some may be lost.
    pub held: Option<Var<'t>>,
    /// Levels of the agents' tanks, `[batch, agents, tanks]`, between 0 and 1, if they have any.
    pub stock: Option<Var<'t>>,
}

/// Inputs of a tick besides its state.
#[derive(Clone, Copy)]
pub struct TickInputs<'t> {
    /// Initial field of the episode.
    pub start: Var<'t>,
    /// Target field.
    pub target: Var<'t>,
    /// Strength, `[batch, agents]`: 1 for an active agent, 0 for a failed one.
    pub strength: Var<'t>,
    /// Time in ticks: the number of ticks made and the time of tick 0, `[batch]`, if the task is [`timed`](crate::task::Task::timed).
    pub now: Option<Var<'t>>,
    /// Number of ticks per decision: 1, or more in training, which makes episodes cheaper.
    pub action_repeat: usize,
    /// Noise on sensors and actuators.
    pub noise: Noise<'t>,
    /// Ages of samples, `[batch, agents, points]`, if some may be lost.
    pub ages: Option<Var<'t>>,
    /// 1 for each message of a neighbour that arrives, `[batch, agents, neighbours]`, if some may be lost.
    pub arrivals: Option<Var<'t>>,
}

/// Noise in a tick, if the problem has any.
#[derive(Clone, Copy, Default)]
pub struct Noise<'t> {
    /// Noise on the field that policies observe, `[batch, nodes…]`.
    pub sensor: Option<Var<'t>>,
    /// Noise and bias on what each agent observes, `[batch, agents, p]`, or `[batch, p]` if agents share a view.
    pub reading: Option<Var<'t>>,
    /// Noise on the actions in each tick of the decision, `[batch, agents, ticks·k]`.
    pub actuator: Option<Var<'t>>,
}

/// The source of an action.
#[derive(Clone, Copy)]
pub enum Decide<'a, 't> {
    /// A policy, which observes.
    Policy {
        /// The policy.
        policy: &'a dyn Policy,
        /// Its parameters.
        theta: Leaves<'t>,
        /// Its declared inputs.
        inputs: Inputs<'t>,
    },
    /// Given actions in the units of the actuators, `[batch, agents, k]`.
    Action(Var<'t>),
}

/// Declared inputs of a policy that change from tick to tick.
#[derive(Clone, Copy, Default)]
pub struct Inputs<'t> {
    /// Standard normal numbers, `[batch, agents, n]`.
    pub noise: Option<Var<'t>>,
    /// Elapsed fraction of the episode, `[batch, 1]`.
    pub clock: Option<Var<'t>>,
}

/// Records one decision: observe, act, apply limits and safety, actuate, step, move, cost. Everything that controls a
/// field calls this.
pub fn tick<'t>(
    problem: &Problem,
    decide: Decide<'_, 't>,
    state: State<'t>,
    given: TickInputs<'t>,
    add_cost: &mut dyn FnMut(Var<'t>),
) -> State<'t> {
    let swarm = &problem.swarm;
    let TickInputs { target, strength, now, .. } = given;
    let look = || {
        let z = given.noise.sensor.map_or(state.z, |noise| state.z + noise);
        let sensors = Sensors { noise: given.noise.reading, held: state.held, ages: given.ages };
        let (previous, stock) = (Some(state.previous), state.stock);
        (z, swarm.observe_through(&Visible { z, target, xi: state.xi, strength, now, previous, stock }, sensors))
    };
    // Limits and safety apply to every action, whatever its source.
    let (within, memory, held) = match decide {
        Decide::Policy { policy, theta, inputs: Inputs { noise, clock } } => {
            let (z, (seen, held)) = look();
            let everything = Everything { z, target: given.target, xi: state.xi };
            let everything = policy.declared().everything.then_some(everything);
            let told = state.memory.zip(Some(policy.declared().messages).filter(|&count| count > 0)).map(|(memory, count)| {
                let width = memory.shape().last();
                memory.columns(width - count, width)
            });
            let heard = told.map(|told| swarm.hear(told, state.xi, strength, given.arrivals));
            let context = Context { memory: state.memory, heard, noise, clock, everything, action_repeat: given.action_repeat };
            let limit = |raw| swarm.saturate(raw, swarm.strength(strength, state.xi));
            let (action, memory) = decide_once(policy, &theta, &seen, &context, strength, limit);
            (action, memory, held)
        }
        Decide::Action(action) => {
            // Whoever decides outside holds lost readings too.
            let held = state.held.and_then(|_| look().1.1);
            (swarm.clamp(action, given.strength), state.memory, held)
        }
    };
    let (acting, pending) = delayed(problem, within, state.pending, given.action_repeat);
    let (mut z, mut xi, mut action, mut stock, mut made) = (state.z, state.xi, state.previous, state.stock, 0);
    while made < given.action_repeat {
        let (decided, until) = acting(made);
        let decided = disturbed(decided, &state, &given, made);
        // Noise, and what actuators can do, differ from tick to tick even if the action is repeated.
        let until = if given.noise.actuator.is_some() || swarm.is_constrained() { made + 1 } else { until };
        let now = if made > 0 { given.now.map(|now| now + made as Real) } else { given.now };
        action = swarm.filter(swarm.constrain(decided, action, strength, stock), xi, now);
        stock = swarm.drained(stock, action);
        let force = swarm.actuate(action, xi);
        for tick in made..until {
            z = match given.now.filter(|_| problem.stepper.timed()) {
                Some(now) => problem.stepper.step_at(z, force, Some(now + tick as Real)),
                None => problem.stepper.step(z, force),
            };
            xi = swarm.advance(xi, action);
        }
        made = until;
    }
    let TickInputs { start, target, .. } = given;
    let now = given.now.map(|now| now + given.action_repeat as Real);
    problem.task.cost(&Transition { z, start, target, xi, action, previous: state.previous, now }, add_cost);
    State { z, xi, previous: action, pending, memory, held, stock }
}

/// Records one decision: the actions that `limit` makes of the policy's raw outputs, and the new memory, zero for
/// failed agents. A tick, a policy called from Python and an exported policy all decide here.
///
/// `strength` is positive for active agents, `[batch, agents]`.
pub fn decide_once<'t>(
    policy: &dyn Policy,
    theta: &Leaves<'t>,
    seen: &Observation<'t>,
    context: &Context<'t>,
    strength: Var<'t>,
    limit: impl FnOnce(Var<'t>) -> Var<'t>,
) -> (Var<'t>, Option<Var<'t>>) {
    let Decision { raw, memory } = policy.act(theta, seen, context);
    assert_eq!(memory.is_some(), context.memory.is_some(), "a policy returns a memory if and only if it declares one");
    let memory = memory.map(|memory| mask_failed(memory, strength));
    (limit(raw), memory)
}

/// Returns the actions during the ticks of a decision, and the pending ones afterwards. The closure maps a tick to the
/// acting decision and to the tick until which it acts.
fn delayed<'t>(
    problem: &Problem,
    decided: Var<'t>,
    pending: Option<Var<'t>>,
    action_repeat: usize,
) -> (impl Fn(usize) -> (Var<'t>, usize), Option<Var<'t>>) {
    let width = decided.shape().last();
    let all = pending.map(|pending| pending.join(decided));
    let number = |i: usize| all.map_or(decided, |all| all.columns(i * width, (i + 1) * width));
    // If the delay is not a multiple of the action repeat, the next decision takes over on the way.
    let arrives = match problem.swarm.disturbance().delay % action_repeat {
        0 => action_repeat,
        ticks => ticks,
    };
    let (first, second) = (number(0), if arrives < action_repeat { number(1) } else { decided });
    let acting = move |tick: usize| if tick < arrives { (first, arrives) } else { (second, action_repeat) };
    (acting, all.map(|all| all.columns(width, all.shape().last())))
}

/// Returns the decision with the actuator noise of one of its ticks, before safety; zero for failed agents.
fn disturbed<'t>(decided: Var<'t>, state: &State<'t>, given: &TickInputs<'t>, tick: usize) -> Var<'t> {
    let width = decided.shape().last();
    let noise = given.noise.actuator.map(|noise| match given.action_repeat {
        1 => noise,
        _ => noise.columns(tick * width, (tick + 1) * width),
    });
    if noise.is_none() && state.pending.is_none() {
        return decided;
    }
    mask_failed(noise.map_or(decided, |noise| decided + noise), given.strength)
}
