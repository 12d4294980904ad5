//! Linear control with the whole state, as LQR and LQG design it: a classical baseline.

use super::{Context, Decision, Plant, Policy, PolicyDefinition, PolicyInputs, zeros};
use crate::random::Rng;
use crate::sense::Observation;
use crate::{Error, Real, budget, settings};
use cinoc_tape::op::Activation;
use cinoc_tape::{Leaves, Params, Shape, Var};

settings! {
    /// A classical baseline: actions that are linear in the whole field, its target and a memory. Agents are those of the
    /// design and stand; `cinoc design` computes the gains.
    pub struct StateFeedback {
        /// Numbers that each agent remembers, for a Kalman filter or for pushes that are on their way; all agents use those
        /// of all. 0: none.
        #[absent = 0]
        memory: usize = 0..=65_536,
    }
}

impl PolicyDefinition for StateFeedback {
    const NAME: &'static str = "state_feedback";
    const ABOUT: &'static str =
        "A baseline (LQR, LQG): linear control with the whole field, designed by `cinoc design`; the number of agents is fixed.";

    fn preset() -> Self {
        Self { memory: 0 }
    }

    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error> {
        let own = Gains { inputs: plant.everything, agents: plant.agents, width: plant.action_width, memory: self.memory };
        let [inputs, outputs, states] = [own.inputs, own.actions(), own.states()].map(|count| count as f64);
        let numbers = (inputs + states) * (outputs + states);
        budget::check("this feedback", 10.0 * size_of::<Real>() as f64 * numbers)?;
        Ok(Box::new(own))
    }
}

/// Gains from field, target, positions and memory to all actions and the next memory.
struct Gains {
    inputs: usize,
    agents: usize,
    width: usize,
    memory: usize,
}

impl Gains {
    fn actions(&self) -> usize {
        self.agents * self.width
    }

    fn states(&self) -> usize {
        self.agents * self.memory
    }
}

impl Policy for Gains {
    fn shapes(&self) -> Vec<(String, Shape)> {
        let (inputs, actions, states) = (self.inputs, self.actions(), self.states());
        let mut all = vec![("gain.w".to_owned(), Shape::new(&[inputs, actions]))];
        if states > 0 {
            all.push(("recall.w".into(), Shape::new(&[states, actions])));
            all.push(("input.w".into(), Shape::new(&[inputs, states])));
            all.push(("next.w".into(), Shape::new(&[states, states])));
        }
        all
    }

    /// Zero gains.
    fn init(&self, _: &mut Rng) -> Params {
        zeros(self.shapes())
    }

    fn declared(&self) -> PolicyInputs {
        PolicyInputs { everything: true, memory: self.memory, ..PolicyInputs::default() }
    }

    fn fixed_agents(&self) -> Option<usize> {
        Some(self.agents)
    }

    fn act<'t>(&self, theta: &Leaves<'t>, _: &Observation<'t>, context: &Context<'t>) -> Decision<'t> {
        let state = context.everything.expect("declared to be needed").rows(self.agents);
        let batch = state[0].shape().sizes()[0];
        let seen = |number: usize| theta.tape().dense(state, theta.linear(number), Activation::Linear);
        let each = |all: Var<'t>, width: usize| all.reshape([batch, self.agents, width]);
        let direct = seen(0);
        let Some(memory) = context.memory else { return each(direct, self.width).into() };
        let memory = memory.reshape([batch, self.states()]);
        let recalled = |number: usize| memory.dense(theta.linear(number), Activation::Linear);
        Decision { raw: each(direct + recalled(1), self.width), memory: Some(each(seen(2) + recalled(3), self.memory)) }
    }

    fn flops(&self, _: usize) -> usize {
        2 * (self.inputs + self.states()) * (self.actions() + self.states())
    }
}
