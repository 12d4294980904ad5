//! Readings of the agents' instruments.

use super::Env;
use crate::Real;
use crate::rollout::field_shape;
use crate::sense::Visible;
use cinoc_tape::{Arena, Tape};

impl Env {
    /// Returns the readings of an instance's agents, without noise, `[agents, readings]`, in the order of
    /// `Swarm::instruments`.
    #[doc(hidden)]
    pub fn readings(&self, i: usize) -> Vec<Real> {
        let (problem, agents) = (self.problem(), self.agents());
        let (swarm, field) = (&problem.swarm, field_shape(problem, 1));
        let tape = Tape::new(Arena::default(), &[]);
        let now = problem.task.begins(self.noise(i)) + self.ticks_elapsed(i) as f64;
        let visible = Visible {
            z: tape.constant(field, self.field(i)),
            target: tape.constant(field, self.target(i)),
            xi: tape.constant([1, agents, swarm.dimensions()], self.positions(i)),
            strength: tape.constant([1, agents], self.strength(i)),
            now: problem.task.timed().then(|| tape.constant([1], &[now as Real])),
            previous: Some(tape.constant([1, agents, swarm.action_width()], self.action(i))),
            stock: (swarm.tanks() > 0).then(|| tape.constant([1, agents, swarm.tanks()], self.stock(i))),
        };
        let all: Vec<_> = swarm.readings(&visible).iter().map(|reading| (reading.shape().last(), reading.value())).collect();
        (0..agents)
            .flat_map(|m| all.iter().flat_map(move |(count, values)| &values[m * count..(m + 1) * count]))
            .copied()
            .collect()
    }
}
