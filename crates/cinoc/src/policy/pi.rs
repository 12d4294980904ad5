//! Local linear feedback, proportional and integral, with feed-forward: a classical baseline.

use super::{Context, Decision, Plant, Policy, PolicyDefinition, PolicyInputs, zeros};
use crate::random::Rng;
use crate::sense::Observation;
use crate::{Error, Real, settings};
use cinoc_tape::op::Activation;
use cinoc_tape::{Leaves, Params, Shape};

settings! {
    /// A classical baseline: the action of an agent is a linear function of its readings, the same for all agents, with an
    /// integral and a feed-forward of the target. `cinoc train` tunes the gains for the cost of the problem.
    pub struct Pi {
        /// Add the integral of the proportional action.
        integral: bool = (),
        /// Add a linear function of the view of the target, if agents have one (`observe.target`).
        feedforward: bool = (),
    }
}

impl PolicyDefinition for Pi {
    const NAME: &'static str = "pi";
    const ABOUT: &'static str =
        "A baseline: local proportional and integral feedback with feed-forward, the same gains for every agent.";

    fn preset() -> Self {
        Self { integral: true, feedforward: true }
    }

    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error> {
        let features = &plant.features;
        Ok(Box::new(Gains {
            seen: features.patch.count(),
            target: if self.feedforward { features.signal } else { 0 },
            width: plant.action_width,
            integral: self.integral,
        }))
    }
}

/// Factor on gains, which brings them to the magnitude of weights that training expects.
const UNIT: Real = 10.0;

/// Ticks in which a constant proportional action adds itself once, at an integral gain of 1.
const INTEGRAL_TICKS: Real = 100.0;

/// Gains: proportional action `p = 10·K·patch`, integral `s += p/100` per tick, and
/// raw action = `p + k·s + F·target`.
struct Gains {
    seen: usize,
    target: usize,
    width: usize,
    integral: bool,
}

impl Policy for Gains {
    fn shapes(&self) -> Vec<(String, Shape)> {
        let mut all = vec![("proportional.w".to_owned(), Shape::new(&[self.seen, self.width]))];
        if self.target > 0 {
            all.push(("feedforward.w".into(), Shape::new(&[self.target, self.width])));
        }
        if self.integral {
            all.push(("integral.w".into(), Shape::new(&[self.width])));
        }
        all
    }

    /// Zero gains.
    fn init(&self, _: &mut Rng) -> Params {
        zeros(self.shapes())
    }

    fn declared(&self) -> PolicyInputs {
        PolicyInputs { memory: if self.integral { self.width } else { 0 }, ..PolicyInputs::default() }
    }

    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>, context: &Context<'t>) -> Decision<'t> {
        let patch = seen.each_agent(seen.dense(theta.linear(0), Activation::Linear));
        let proportional = patch * UNIT;
        let mut raw = proportional;
        if let Some(target) = seen.signal().filter(|_| self.target > 0) {
            raw = raw + target.dense(theta.linear(1), Activation::Linear);
        }
        let memory = context.memory.filter(|_| self.integral).map(|s| {
            raw = raw + s * theta.get(1 + usize::from(self.target > 0));
            s + proportional * (context.action_repeat as Real / INTEGRAL_TICKS)
        });
        Decision { raw, memory }
    }

    fn flops(&self, agents: usize) -> usize {
        2 * agents * self.width * (self.seen + self.target)
    }
}
