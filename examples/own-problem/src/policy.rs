//! Proportional and integral action: a linear rule on the current and on past observations.

use cinoc::prelude::*;

settings! {
    /// A linear rule with a memory.
    pub struct LinearIntegral {
        /// Fraction of its memory that an agent keeps from tick to tick.
        keep: f64 = 0.0..=1.0,
    }
}

impl PolicyDefinition for LinearIntegral {
    const NAME: &'static str = "linear-integral";
    const ABOUT: &'static str = "A linear rule on the current and on past observations.";

    fn preset() -> Self {
        Self { keep: 0.95 }
    }

    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error> {
        Ok(Box::new(Rule { keep: self.keep as Real, shape: [plant.features.patch.count(), plant.action_width] }))
    }
}

struct Rule {
    keep: Real,
    shape: [usize; 2],
}

impl Policy for Rule {
    fn shapes(&self) -> Vec<(String, Shape)> {
        ["proportional", "integral"].map(|name| (name.to_owned(), self.shape.into())).into()
    }

    fn declared(&self) -> PolicyInputs {
        PolicyInputs { memory: self.shape[1], ..PolicyInputs::default() }
    }

    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>, context: &Context<'t>) -> Decision<'t> {
        let times = |i: usize| seen.each_agent(seen.patch().matmul(theta.get(i)));
        let memory = context.memory.expect("it was declared") * self.keep + times(1) * (1.0 - self.keep);
        Decision { raw: times(0) + memory, memory: Some(memory) }
    }
}
