//! Swarms of agents: initial positions, sensors, limits, actuators and motion.

mod advance;
mod disturbance;
mod losses;
mod single;

pub use advance::Advance;
pub use disturbance::Disturbance;
pub use losses::Losses;
#[doc(hidden)]
pub use losses::REST;
pub(crate) use losses::rest_blind;
#[cfg(feature = "files")]
pub(crate) use single::{LAST, LEVEL};

use crate::Real;
use crate::actuate::Actuate;
use crate::limit::{Constrain, Crowd, Limit, Safety};
use crate::place::{Place, Placement, cluster, scatter};
use crate::random::Rng;
use crate::sense::{Features, Hear, Observation, Readout, SelfSensing, Sense, Visible};
use cinoc_pde::Grid;
use cinoc_tape::Var;
use std::ops::Range;
use std::sync::Arc;

/// Imperfect sensors of all agents in one tick.
#[derive(Clone, Copy, Default)]
#[doc(hidden)]
pub struct Sensors<'t> {
    /// Noise and bias of the readings, `[batch, agents, p]`, or `[batch, p]` if agents share a view.
    pub noise: Option<Var<'t>>,
    /// Readings of the previous tick, likewise, if some may be lost.
    pub held: Option<Var<'t>>,
    /// Ages of the samples in ticks, `[batch, agents, points]`, or `[batch, points]`; 0 for a new reading.
    pub ages: Option<Var<'t>>,
}

/// A swarm: all agents with their sensors, limits, actuators and motion. The number of agents is a property of the
/// state, not of the swarm.
///
/// [`Swarm::new`] creates a swarm of immobile agents; [`with_motion`](Self::with_motion),
/// [`with_crowding`](Self::with_crowding) and [`with_disturbance`](Self::with_disturbance) add to it.
///
/// ```
/// let problem = cinoc::problem("heat1d")?;
/// let swarm = &problem.problem().swarm;
/// assert!(swarm.moves());
/// assert_eq!((swarm.action_width(), swarm.push_width()), (2, 1));
/// assert_eq!(swarm.limits().len(), 2);
/// # Ok::<(), cinoc::Error>(())
/// ```
pub struct Swarm {
    dimensions: usize,
    place: Box<dyn Place>,
    sense: Box<dyn Sense>,
    crowd: Option<Arc<Crowd>>,
    limit: Box<dyn Limit>,
    constrain: Option<Box<dyn Constrain>>,
    safety: Option<Arc<Safety>>,
    actuate: Box<dyn Actuate>,
    advance: Option<Arc<Advance>>,
    disturbance: Disturbance,
    readout: Readout,
    hear: Option<Arc<Hear>>,
    /// Standard deviations of noise and bias of each observed value, in units of those of the field.
    scales: Vec<[Real; 2]>,
}

impl Swarm {
    /// Creates a swarm of immobile agents in `dimensions` space dimensions.
    pub fn new(
        dimensions: usize,
        place: Box<dyn Place>,
        sense: Box<dyn Sense>,
        limit: Box<dyn Limit>,
        actuate: Box<dyn Actuate>,
    ) -> Self {
        let (crowd, constrain, safety, advance, disturbance, hear, scales) = Default::default();
        let readout = Readout::new(sense.features().patch, sense.points(), SelfSensing::default());
        Self { dimensions, place, sense, crowd, limit, constrain, safety, actuate, advance, disturbance, readout, hear, scales }
    }

    /// Makes agents mobile; the last components of each action are the velocity.
    pub fn with_motion(self, advance: Advance) -> Self {
        Self { advance: Some(Arc::new(advance)), ..self }
    }

    /// Replaces the actuator limits.
    #[cfg(feature = "files")]
    pub(crate) fn with_limit(self, limit: impl Limit + 'static) -> Self {
        Self { limit: Box::new(limit), ..self }
    }

    /// Adds limits beyond those of each action.
    #[cfg(feature = "files")]
    pub(crate) fn with_constraint(self, constrain: impl Constrain + 'static) -> Self {
        Self { constrain: Some(Box::new(constrain)), ..self }
    }

    /// Replaces the effect of actions on the field.
    #[cfg(feature = "files")]
    pub(crate) fn with_actuation(self, actuate: Box<dyn Actuate>) -> Self {
        Self { actuate, ..self }
    }

    /// Replaces the initial positions.
    #[cfg(feature = "files")]
    pub(crate) fn with_place(self, place: impl FnOnce(Box<dyn Place>) -> Box<dyn Place>) -> Self {
        Self { place: place(self.place), ..self }
    }

    /// Reduces the push of crowded agents, if `crowd` is given.
    pub fn with_crowding(self, crowd: Option<Crowd>) -> Self {
        Self { crowd: crowd.map(Arc::new), ..self }
    }

    /// Adds a safety layer, which is applied to actions last.
    #[doc(hidden)]
    pub fn with_safety(self, safety: Safety) -> Self {
        Self { safety: Some(Arc::new(safety)), ..self }
    }

    /// Lets agents hear the messages of their neighbours on a grid, if their policy sends any; not in a box, where
    /// neighbours have no order.
    #[doc(hidden)]
    pub fn with_hearing(self, grid: &Grid) -> Self {
        Self { hear: (grid.dimensions() < 3).then(|| Arc::new(Hear::new(grid))), ..self }
    }

    /// Number of neighbours that an agent can hear.
    #[doc(hidden)]
    pub fn neighbours(&self) -> usize {
        self.hear.as_ref().map_or(0, |hear| hear.neighbours())
    }

    /// Returns the messages that each agent hears, of those that arrive.
    ///
    /// # Panics
    /// If agents cannot hear.
    #[doc(hidden)]
    pub fn hear<'t>(&self, messages: Var<'t>, xi: Var<'t>, strength: Var<'t>, arrivals: Option<Var<'t>>) -> Var<'t> {
        let hear = self.hear.as_ref().expect("agents that can hear");
        let all = || {
            messages
                .tape()
                .constant(messages.shape().with_last(hear.neighbours()), &vec![1.0; messages.shape().rows() * hear.neighbours()])
        };
        messages.tape().record(hear, [messages, xi, strength, arrivals.unwrap_or_else(all)])
    }

    /// Appends to `out` 1 for each message that arrives in a tick, 0 for each that is lost.
    #[doc(hidden)]
    pub fn arrivals(&self, seed: u64, tick: usize, agents: usize, out: &mut Vec<Real>) {
        self.disturbance.lost.add_arrivals(seed, tick, agents * self.neighbours(), out);
    }

    /// Adds what agents sense of their own readings.
    #[doc(hidden)]
    pub fn with_self_sensing(self, senses: SelfSensing) -> Self {
        let readout = Readout::new(self.sense.features().patch, self.sense.points(), senses);
        Self { readout, ..self }
    }

    /// Sets sensor noise, lost readings, actuator noise and delay.
    pub fn with_disturbance(self, disturbance: Disturbance) -> Self {
        let scales = self.sense.sensor_scales();
        Self { disturbance, scales, ..self }
    }

    /// The disturbance model.
    #[doc(hidden)]
    pub fn disturbance(&self) -> Disturbance {
        self.disturbance
    }

    /// Number of space dimensions.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Components of an action: the push, if there is one, then the velocity.
    pub fn action_width(&self) -> usize {
        self.limit.width()
    }

    /// Number of action components that drive the field: the push, or the velocity if there is no push.
    #[doc(hidden)]
    pub fn push_width(&self) -> usize {
        let velocity = if self.moves() { self.dimensions } else { 0 };
        if self.action_width() > velocity { self.action_width() - velocity } else { velocity }
    }

    /// Largest magnitude of each action component.
    pub fn limits(&self) -> Vec<Real> {
        self.limit.largest()
    }

    /// Kind and sizes of an agent's observation.
    pub fn features(&self) -> Features {
        self.readout.features(self.sense.features())
    }

    /// Number of values of the field that an agent reads.
    #[doc(hidden)]
    pub fn readings_width(&self) -> usize {
        self.sense.features().patch.count()
    }

    /// Number of samples of the field that an agent reads, of which each can be lost.
    #[doc(hidden)]
    pub fn points(&self) -> usize {
        self.readout.points()
    }

    /// Largest magnitude of a reading that is not missing.
    #[doc(hidden)]
    pub fn reading_range(&self) -> Real {
        self.readout.range()
    }

    /// Returns the initial positions of `agents` agents, `[agents, dimensions]`.
    pub fn start(&self, agents: usize) -> Vec<Real> {
        let mut xi = self.place.start(agents);
        self.settle(&mut xi);
        xi
    }

    /// Samples initial positions of `agents` agents in a domain with axes of these `lengths`, `[agents, dimensions]`.
    #[doc(hidden)]
    pub fn start_at(&self, placement: Placement, agents: usize, lengths: &[Real], rng: &mut Rng) -> Vec<Real> {
        let (mut xi, bounds) = (self.start(agents), self.bounds(lengths));
        match placement {
            Placement::Lattice => return xi,
            Placement::Random => scatter(rng, &bounds, [0.0, 1.0], &mut xi),
            Placement::Clustered => {
                cluster(rng, &lengths.iter().map(|&length| length as f64).collect::<Vec<_>>(), &mut xi);
                let d = self.dimensions;
                let clamp = |(i, xi): (usize, &mut Real)| *xi = xi.clamp(bounds[0][i % d] as Real, bounds[1][i % d] as Real);
                xi.iter_mut().enumerate().for_each(clamp);
            }
        }
        self.settle(&mut xi);
        xi
    }

    /// Lower and upper corner of the box that agents stay in, in a domain with axes of these `lengths`.
    #[doc(hidden)]
    pub fn bounds(&self, lengths: &[Real]) -> [Vec<f64>; 2] {
        let zero = vec![0.0; lengths.len()];
        let corners = self.advance.as_ref().map_or([&*zero, lengths], |advance| advance.bounds());
        corners.map(|corner| corner.iter().map(|&x| x as f64).collect())
    }

    /// Moves initial positions that the safety layer does not allow.
    #[doc(hidden)]
    pub fn settle(&self, xi: &mut [Real]) {
        if let Some(safety) = &self.safety {
            safety.settle(xi);
        }
    }

    /// Returns the observation of each agent; failed agents, whose strength is 0, are invisible to others.
    pub fn observe<'t>(&self, visible: &Visible<'t>) -> Observation<'t> {
        self.readout.finish(self.sense.observe(visible), None)
    }

    /// Returns the observation of each agent through imperfect sensors, and the readings that it holds if some may be
    /// lost.
    #[doc(hidden)]
    pub fn observe_through<'t>(&self, visible: &Visible<'t>, sensors: Sensors<'t>) -> (Observation<'t>, Option<Var<'t>>) {
        let seen = self.sense.observe(visible);
        let seen = sensors.noise.map_or(seen, |noise| seen.disturbed(noise));
        let Some((held, ages)) = sensors.held.zip(sensors.ages) else { return (self.readout.finish(seen, None), None) };
        let kept = self.readout.hold(seen.patch(), held, ages);
        (self.readout.finish(seen.with_patch(kept), Some(ages)), Some(kept))
    }

    /// Returns true if readings may be lost.
    #[doc(hidden)]
    pub fn has_losses(&self) -> bool {
        self.disturbance.lost.any()
    }

    /// Appends to `out` the ages of the readings of `agents` agents, `[agents, points]`, at tick `tick` of an episode of
    /// `ticks`, if sensors are read every `every` ticks.
    #[doc(hidden)]
    pub fn ages(&self, seed: u64, [tick, every, ticks]: [usize; 3], agents: usize, out: &mut Vec<Real>) {
        let viewers = if self.features().shared { 1 } else { agents };
        self.disturbance.lost.add_ages(seed, losses::ReadTick { tick, every, ticks }, viewers, self.points(), out);
    }

    /// Returns each agent's strength, reduced in crowds.
    #[doc(hidden)]
    pub fn strength<'t>(&self, strength: Var<'t>, xi: Var<'t>) -> Var<'t> {
        self.crowd.as_ref().map_or(strength, |crowd| strength.tape().record(crowd, [strength, xi]))
    }

    /// Maps raw policy outputs smoothly into the actuator limits and multiplies each push by the agent's strength, 1 in
    /// normal operation. A failed agent (strength 0) has zero action.
    #[doc(hidden)]
    pub fn saturate<'t>(&self, raw: Var<'t>, strength: Var<'t>) -> Var<'t> {
        self.limit.saturate(raw, strength)
    }

    /// Clamps given actions, in physical units, to the actuator limits. A failed agent has zero action; the strength of
    /// an active one has no effect.
    #[doc(hidden)]
    pub fn clamp<'t>(&self, action: Var<'t>, strength: Var<'t>) -> Var<'t> {
        self.limit.clamp(action, strength)
    }

    /// Number of tanks of an agent.
    #[doc(hidden)]
    pub fn tanks(&self) -> usize {
        self.constrain.as_ref().map_or(0, |constrain| constrain.tanks())
    }

    /// Returns true if limits relate the actions of a tick to each other or to those of the one before.
    #[doc(hidden)]
    pub fn is_constrained(&self) -> bool {
        self.constrain.is_some()
    }

    /// Returns true if the actions of agents depend on those of others by a limit that they share.
    #[doc(hidden)]
    pub fn shares_limit(&self) -> bool {
        self.constrain.as_ref().is_some_and(|constrain| constrain.is_shared())
    }

    /// Returns the actions that actuators can carry out after the previous ones and with this stock in tanks.
    #[doc(hidden)]
    pub fn constrain<'t>(&self, action: Var<'t>, previous: Var<'t>, strength: Var<'t>, stock: Option<Var<'t>>) -> Var<'t> {
        self.constrain.as_ref().map_or(action, |constrain| constrain.constrain(action, previous, strength, stock))
    }

    /// Returns the stock in tanks after a tick.
    #[doc(hidden)]
    pub fn drained<'t>(&self, stock: Option<Var<'t>>, action: Var<'t>) -> Option<Var<'t>> {
        stock.map(|stock| self.constrain.as_ref().map_or(stock, |constrain| constrain.drained(stock, action)))
    }

    /// Applies the safety layer; `now`: ticks elapsed, needed if discs move.
    #[doc(hidden)]
    pub fn filter<'t>(&self, action: Var<'t>, xi: Var<'t>, now: Option<Var<'t>>) -> Var<'t> {
        let tape = action.tape();
        match (&self.safety, now) {
            (Some(safety), Some(now)) => tape.record(safety, [action, xi, now]),
            (Some(safety), None) => tape.record(safety, [action, xi]),
            (None, _) => action,
        }
    }

    /// Appends to `out` the sensor noise of tick `tick` of an episode on the `nodes` values of the observed field, if
    /// there is sensor noise.
    #[doc(hidden)]
    pub fn sensor_noise(&self, seed: u64, tick: usize, nodes: usize, out: &mut Vec<Real>) {
        if self.has_field_noise() {
            self.disturbance.add_sensor_noise(seed, tick, nodes, out);
        }
    }

    /// Returns true if sensor noise is drawn for every value of the field.
    #[doc(hidden)]
    pub fn has_field_noise(&self) -> bool {
        self.disturbance.sensor > 0.0 && !self.disturbance.each_sensor
    }

    /// Returns true if agents have separate noise or bias on what they observe.
    #[doc(hidden)]
    pub fn has_reading_noise(&self) -> bool {
        let Disturbance { sensor, each_sensor, bias, .. } = self.disturbance;
        bias > 0.0 || (each_sensor && sensor > 0.0)
    }

    /// Appends to `out` the noise and bias of tick `tick` of an episode on the observed values of `agents` agents, in
    /// the layout of [`Observation::patch`], if they have any.
    #[doc(hidden)]
    pub fn reading_noise(&self, seed: u64, tick: usize, agents: usize, out: &mut Vec<Real>) {
        if self.has_reading_noise() {
            let viewers = if self.features().shared { 1 } else { agents };
            self.disturbance.add_reading_noise(seed, tick, viewers, &self.scales, out);
        }
    }

    /// Appends to `out` the actuator noise of several ticks of an episode, `[agents, ticks, k]`, if there is actuator
    /// noise.
    #[doc(hidden)]
    pub fn actuator_noise(&self, seed: u64, ticks: Range<usize>, agents: usize, out: &mut Vec<Real>) {
        if self.disturbance.on_actuators() {
            self.disturbance.add_actuator_noise(seed, ticks, agents, [self.push_width(), self.action_width()], out);
        }
    }

    /// Returns the joint effect of all agents on the field: the force, or another input of the equation.
    #[doc(hidden)]
    pub fn actuate<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        self.actuate.force(action, xi)
    }

    /// Returns true if agents are mobile. Otherwise no derivative with respect to positions is needed.
    #[doc(hidden)]
    pub fn moves(&self) -> bool {
        self.advance.is_some()
    }

    /// Returns the positions one tick later.
    #[doc(hidden)]
    pub fn advance<'t>(&self, xi: Var<'t>, action: Var<'t>) -> Var<'t> {
        self.advance.as_ref().map_or(xi, |advance| xi.tape().record(advance, [xi, action]))
    }
}
