//! Linear feedback of the whole state, as LQR designs it: a classical baseline.

use super::{Context, Decision, Plant, Policy, PolicyDefinition, PolicyInputs, zeros};
use crate::random::Rng;
use crate::sense::Observation;
use crate::{Error, Real, budget, settings};
use cinoc_tape::op::Activation;
use cinoc_tape::{Leaves, Params, Shape};

settings! {
    /// A classical baseline: actions proportional to the whole field and its target, one row of gains per action. Agents
    /// are those of the design and stand; `cinoc design` computes the gains.
    pub struct StateFeedback {}
}

impl PolicyDefinition for StateFeedback {
    const NAME: &'static str = "state_feedback";
    const ABOUT: &'static str =
        "A baseline (LQR): linear feedback of the whole field, designed by `cinoc design`; the number of agents is fixed.";

    fn preset() -> Self {
        Self {}
    }

    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error> {
        let (inputs, outputs) = (plant.everything, plant.agents * plant.action_width);
        budget::check("this feedback", 10.0 * size_of::<Real>() as f64 * inputs as f64 * outputs as f64)?;
        Ok(Box::new(Gains { inputs, agents: plant.agents, width: plant.action_width }))
    }
}

/// Gains from field, target and positions to all actions.
struct Gains {
    inputs: usize,
    agents: usize,
    width: usize,
}

impl Policy for Gains {
    fn shapes(&self) -> Vec<(String, Shape)> {
        vec![("gain.w".into(), Shape::new(&[self.inputs, self.agents * self.width]))]
    }

    /// Zero gains.
    fn init(&self, _: &mut Rng) -> Params {
        zeros(self.shapes())
    }

    fn declared(&self) -> PolicyInputs {
        PolicyInputs { everything: true, ..PolicyInputs::default() }
    }

    fn fixed_agents(&self) -> Option<usize> {
        Some(self.agents)
    }

    fn act<'t>(&self, theta: &Leaves<'t>, _: &Observation<'t>, context: &Context<'t>) -> Decision<'t> {
        let state = context.everything.expect("declared to be needed").rows(self.agents);
        let batch = state[0].shape().sizes()[0];
        theta.tape().dense(state, theta.linear(0), Activation::Linear).reshape([batch, self.agents, self.width]).into()
    }

    fn flops(&self, _: usize) -> usize {
        2 * self.inputs * self.agents * self.width
    }
}
