//! A centralised baseline, as in differentiable predictive control (DPC): one network observes the whole state and
//! drives all agents.

use super::{Context, Decision, Plant, Policy, PolicyDefinition, PolicyInputs};
use crate::sense::Observation;
use crate::{Error, Real, budget, settings};
use cinoc_tape::op::Activation;
use cinoc_tape::{Leaves, Shape};

settings! {
    /// A baseline: one network from the whole field, its target and all positions to the actions of all agents, whose
    /// number is fixed.
    pub struct Centralised {
        /// Widths of the hidden layers.
        hidden: Vec<usize> = (1..=8, 1..=65_536),
    }
}

impl PolicyDefinition for Centralised {
    const NAME: &'static str = "centralised";
    const ABOUT: &'static str =
        "A baseline (DPC): one network observes the whole state and drives all agents; their number is fixed.";

    /// The paper's settings.
    fn preset() -> Self {
        Self { hidden: vec![256, 256] }
    }

    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error> {
        let mut widths = vec![plant.everything];
        widths.extend(&self.hidden);
        widths.push(plant.agents * plant.action_width);
        let weights: f64 = widths.windows(2).map(|pair| pair[0] as f64 * pair[1] as f64).sum();
        budget::check("this network", 10.0 * size_of::<Real>() as f64 * weights)?;
        Ok(Box::new(Network { widths, agents: plant.agents }))
    }
}

/// ReLU layers, the last one normalised to `h/(‖h‖+1)`, and a linear output.
struct Network {
    widths: Vec<usize>,
    agents: usize,
}

impl Policy for Network {
    fn shapes(&self) -> Vec<(String, Shape)> {
        let layers = self.widths.windows(2).enumerate();
        let both = layers.map(|(i, pair)| {
            [(format!("layer{i}.w"), Shape::new(&[pair[0], pair[1]])), (format!("layer{i}.b"), Shape::new(&[pair[1]]))]
        });
        both.flatten().collect()
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
        let last = self.widths.len() - 2;
        let first = theta.tape().dense(state, theta.layer(0), Activation::Linear).relu();
        let hidden = (1..last).fold(first, |x, i| x.dense(theta.layer(2 * i), Activation::Linear).relu());
        let out = hidden.soft().dense(theta.layer(2 * last), Activation::Linear);
        out.reshape([batch, self.agents, self.widths[last + 1] / self.agents]).into()
    }

    fn room(&self, _: usize) -> usize {
        3 * self.widths.iter().sum::<usize>()
    }

    fn flops(&self, _: usize) -> usize {
        self.widths.windows(2).map(|pair| 2 * pair[0] * pair[1]).sum()
    }
}
