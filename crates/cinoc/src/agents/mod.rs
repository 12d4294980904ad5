//! Agents: where they start, what they see, what they are held to, how they push and how they move, put together.

mod advance;
mod alone;
mod disturbance;

pub use advance::Advance;
pub use disturbance::Disturbance;

use crate::Real;
use crate::actuate::Actuate;
use crate::limit::{Crowd, Limit, Safety};
use crate::place::{Place, Places, cluster, scatter};
use crate::random::Rng;
use crate::sense::{Features, Observation, Sense, Visible};
use cinoc_tape::Var;
use std::ops::Range;
use std::sync::Arc;

/// A kind of agents. Their number is a property of the state, never of the swarm.
///
/// Built of parts: `Swarm::new(…)` is a swarm that stays where it starts, [`moving`](Self::moving), [`crowding`](Self::crowding),
/// [`safe`](Self::safe) and [`disturbed`](Self::disturbed) add to it.
pub struct Swarm {
    dimensions: usize,
    place: Box<dyn Place>,
    sense: Box<dyn Sense>,
    crowd: Option<Arc<Crowd>>,
    limit: Box<dyn Limit>,
    safety: Option<Arc<Safety>>,
    actuate: Box<dyn Actuate>,
    advance: Option<Arc<Advance>>,
    disturbance: Disturbance,
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
        let (crowd, safety, advance, disturbance) = Default::default();
        Self { dimensions, place, sense, crowd, limit, safety, actuate, advance, disturbance }
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

    /// Agents that do not see and do exactly what they would.
    pub fn disturbed(self, disturbance: Disturbance) -> Self {
        Self { disturbance, ..self }
    }

    /// What keeps them from it.
    pub fn disturbance(&self) -> Disturbance {
        self.disturbance
    }

    /// Space dimensions of a position.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Numbers per action: the push, if there is one, then the velocity.
    pub fn action_width(&self) -> usize {
        self.limit.width()
    }

    /// How many numbers of an action drive the field: the push, or where there is none the velocity, which then does.
    pub fn pushes(&self) -> usize {
        let velocity = if self.moves() { self.dimensions } else { 0 };
        if self.action_width() > velocity { self.action_width() - velocity } else { velocity }
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

    /// Where `agents` agents of an instance start in a domain with axes of these `lengths`, `[agents, dimensions]`.
    pub fn start_at(&self, places: Places, agents: usize, lengths: &[Real], rng: &mut Rng) -> Vec<Real> {
        let (mut xi, home) = (self.start(agents), self.home(lengths));
        match places {
            Places::Lattice => return xi,
            Places::Random => scatter(rng, &home, [0.0, 1.0], &mut xi),
            Places::Clustered => {
                cluster(rng, &lengths.iter().map(|&length| length as f64).collect::<Vec<_>>(), &mut xi);
                let d = self.dimensions;
                let hold = |(i, xi): (usize, &mut Real)| *xi = xi.clamp(home[0][i % d] as Real, home[1][i % d] as Real);
                xi.iter_mut().enumerate().for_each(hold);
            }
        }
        self.settle(&mut xi);
        xi
    }

    /// The box that agents stay in, from one corner to the other, in a domain with axes of these `lengths`.
    pub fn home(&self, lengths: &[Real]) -> [Vec<f64>; 2] {
        let zero = vec![0.0; lengths.len()];
        let corners = self.advance.as_ref().map_or([&*zero, lengths], |advance| advance.home());
        corners.map(|corner| corner.iter().map(|&x| x as f64).collect())
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

    /// Adds the noise of tick `tick` of an episode on the `nodes` values of the field that is seen to the end of `out`; nothing where there is none.
    pub fn sensor_noise(&self, seed: u64, tick: usize, nodes: usize, out: &mut Vec<Real>) {
        if self.disturbance.sensor > 0.0 {
            self.disturbance.see(seed, tick, nodes, out);
        }
    }

    /// Adds the noise of some ticks of an episode on actions to the end of `out`, `[agents, ticks, k]`; nothing where there is none.
    pub fn actuator_noise(&self, seed: u64, ticks: Range<usize>, agents: usize, out: &mut Vec<Real>) {
        if self.disturbance.actuator > 0.0 {
            self.disturbance.push(seed, ticks, agents, [self.pushes(), self.action_width()], out);
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
