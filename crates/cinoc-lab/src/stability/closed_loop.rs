//! A field with its agents, as a loop of plant and decision.

use cinoc::internal::agents::Disturbance;
use cinoc::policy::Policy;
use cinoc::{Error, Problem, Real};
use cinoc_tape::Params;

/// A field and the agents that drive it towards a target of zero. Its state is one vector: the field, the memory of
/// each agent, and their positions unless these are held. Actions are apart: a recorded tick differentiates the decision
/// and its effect separately, so that a gain or a delay can be put between them.
#[derive(Clone)]
pub struct ClosedLoop<'a> {
    pub problem: &'a Problem,
    pub policy: &'a dyn Policy,
    pub params: &'a Params,
    pub agents: usize,
    /// Strength of each agent: 1, or 0 if it has failed.
    pub strength: Vec<Real>,
    /// Positions of held agents; initial positions otherwise.
    pub places: Vec<Real>,
    /// True if positions are part of the state.
    pub moving: bool,
}

/// Field, memory, positions.
pub const PARTS: usize = 3;

impl<'a> ClosedLoop<'a> {
    /// Creates a closed loop with agents held at their regular positions.
    pub fn new(problem: &'a Problem, policy: &'a dyn Policy, params: &'a Params, agents: usize) -> Result<Self, Error> {
        let (declared, fixed) = (policy.declared(), policy.fixed_agents());
        if problem.stepper.fields() > 1 {
            let fields = format!("{} fields", problem.stepper.fields());
            return Err(Error::bad("the problem", fields, "of one field: the stability of several is not analysed"));
        }
        if problem.task.timed() || declared.clock {
            return Err(Error::bad("the problem", &*problem.name, "one where nothing depends on the time that has passed"));
        }
        if (Disturbance { delay: 0, ..problem.swarm.disturbance() }) != Disturbance::default() {
            return Err(Error::bad("the agents", "noisy", "without noise and lost readings: the loop is linearised at rest"));
        }
        if agents == 0 || fixed.is_some_and(|fixed| fixed != agents) {
            let expected = fixed.map_or_else(|| "1 or more".into(), |fixed| fixed.to_string());
            return Err(Error::bad("agents", agents.to_string(), expected));
        }
        let (strength, places) = (vec![1.0; agents], problem.swarm.start(agents));
        Ok(Self { problem, policy, params, agents, strength, places, moving: false })
    }

    /// Makes these agents fail.
    pub fn without(mut self, failed: &[usize]) -> Result<Self, Error> {
        for &agent in failed {
            let expected = || Error::bad("a failed agent", agent.to_string(), format!("one from 0 to {}", self.agents - 1));
            *self.strength.get_mut(agent).ok_or_else(expected)? = 0.0;
        }
        Ok(self)
    }

    /// Makes positions part of the state if agents can move.
    pub fn moving(self) -> Self {
        Self { moving: self.problem.swarm.moves(), ..self }
    }

    /// Returns the ticks from a decision to its effect.
    pub fn delay(&self) -> usize {
        self.problem.swarm.disturbance().delay
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

    /// Returns the size of all actions of a tick.
    pub fn actions(&self) -> usize {
        self.agents * self.problem.swarm.action_width()
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
}
