//! Agents: where they start, what they see, what they are held to, how they push and how they move, put together.

mod advance;

pub use advance::Advance;

use crate::Real;
use crate::actuate::Actuate;
use crate::limit::{Crowd, Limit, Safety};
use crate::place::Place;
use crate::sense::{Features, Observation, Sense, Visible};
use cinoc_tape::Var;
use std::sync::Arc;

/// A kind of agents. Their number is a property of the state, never of the swarm.
///
/// Built of parts: `Swarm::new(…)` is a swarm that stays where it starts, [`moving`](Self::moving), [`crowding`](Self::crowding) and
/// [`safe`](Self::safe) add to it.
pub struct Swarm {
    dimensions: usize,
    place: Box<dyn Place>,
    sense: Box<dyn Sense>,
    crowd: Option<Arc<Crowd>>,
    limit: Box<dyn Limit>,
    safety: Option<Arc<Safety>>,
    actuate: Box<dyn Actuate>,
    advance: Option<Arc<Advance>>,
}

impl Swarm {
    /// Agents in so many space dimensions that stay where they start.
    pub fn new(
        dimensions: usize,
        place: Box<dyn Place>,
        sense: Box<dyn Sense>,
        limit: Box<dyn Limit>,
        actuate: Box<dyn Actuate>,
    ) -> Self {
        Self { dimensions, place, sense, crowd: None, limit, safety: None, actuate, advance: None }
    }

    /// Agents that move; the last numbers of each action are the velocity.
    pub fn moving(self, advance: Advance) -> Self {
        Self { advance: Some(Arc::new(advance)), ..self }
    }

    /// Agents that push less where they are many, if there is a crowd to speak of.
    pub fn crowding(self, crowd: Option<Crowd>) -> Self {
        Self { crowd: crowd.map(Arc::new), ..self }
    }

    /// Agents with a safety layer, which has the last word on where they go.
    pub fn safe(self, safety: Safety) -> Self {
        Self { safety: Some(Arc::new(safety)), ..self }
    }

    /// Space dimensions of a position.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Numbers per action: the push, if there is one, then the velocity.
    pub fn action_width(&self) -> usize {
        self.limit.width()
    }

    /// The largest magnitude of each number of an action.
    pub fn limits(&self) -> Vec<Real> {
        self.limit.largest()
    }

    /// What each agent is shown.
    pub fn features(&self) -> Features {
        self.sense.features()
    }

    /// Where `agents` agents start, `[agents, dimensions]`.
    pub fn start(&self, agents: usize) -> Vec<Real> {
        let mut xi = self.place.start(agents);
        self.settle(&mut xi);
        xi
    }

    /// Moves starting places that the safety layer does not allow.
    pub fn settle(&self, xi: &mut [Real]) {
        if let Some(safety) = &self.safety {
            safety.settle(xi);
        }
    }

    /// What each agent sees; the dead, whose strength is 0, are not seen by others.
    pub fn observe<'t>(&self, visible: &Visible<'t>) -> Observation<'t> {
        self.sense.observe(visible)
    }

    /// Each agent's strength given where all of them are.
    pub fn strength<'t>(&self, strength: Var<'t>, xi: Var<'t>) -> Var<'t> {
        self.crowd.as_ref().map_or(strength, |crowd| strength.tape().record(crowd, [strength, xi]))
    }

    /// Raw outputs of a policy held inside the actuators' limits; each push times the agent's strength (1 in good health). A dead agent (strength
    /// 0) does nothing.
    pub fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t> {
        self.limit.saturate(raw, strength)
    }

    /// Actions that were decided elsewhere, in physical units, held inside the actuators' limits. A dead agent does nothing; the strength of a
    /// living one changes nothing.
    pub fn hold<'t>(&self, action: Var<'t>, strength: Var<'t>) -> Var<'t> {
        self.limit.hold(action, strength)
    }

    /// Actions after the safety layer, which changes what must not happen; `now`: ticks made, where discs move.
    pub fn filter<'t>(&self, action: Var<'t>, xi: Var<'t>, now: Option<Var<'t>>) -> Var<'t> {
        let tape = action.tape();
        match (&self.safety, now) {
            (Some(safety), Some(now)) => tape.record(safety, [action, xi, now]),
            (Some(safety), None) => tape.record(safety, [action, xi]),
            (None, _) => action,
        }
    }

    /// What all agents together do to the field: the force, or whatever else drives the equation.
    pub fn actuate<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        self.actuate.force(action, xi)
    }

    /// Whether agents can move; if not, nothing asks for the derivative by their positions.
    pub fn moves(&self) -> bool {
        self.advance.is_some()
    }

    /// The positions one tick later.
    pub fn advance<'t>(&self, xi: Var<'t>, action: Var<'t>) -> Var<'t> {
        self.advance.as_ref().map_or(xi, |advance| xi.tape().record(advance, [xi, action]))
    }
}
