//! What the instruments of agents read.

use super::Env;
use super::looking::field_shape;
use crate::Real;
use crate::sense::Visible;
use cinoc_tape::{Memory, Tape};

impl Env {
    /// What the instruments of the agents of an instance read ([`Swarm::instruments`](crate::agents::Swarm::instruments)), without noise,
    /// `[agents, readings]`.
    pub fn readings(&self, i: usize) -> Vec<Real> {
        let (problem, agents) = (self.problem(), self.agents());
        let (swarm, (field, rank)) = (&problem.swarm, field_shape(problem, 1));
        let tape = Tape::new(Memory::default(), &[]);
        let visible = Visible {
            z: tape.constant(&field[..rank], self.field(i)),
            target: tape.constant(&field[..rank], self.target(i)),
            xi: tape.constant([1, agents, swarm.dimensions()], self.positions(i)),
            strength: tape.constant([1, agents], self.strength(i)),
            now: problem.task.timed().then(|| tape.constant([1], &[self.tick(i) as Real])),
        };
        let all: Vec<_> = swarm.readings(&visible).iter().map(|reading| (reading.shape().last(), reading.value())).collect();
        (0..agents)
            .flat_map(|m| all.iter().flat_map(move |(count, values)| &values[m * count..(m + 1) * count]))
            .copied()
            .collect()
    }
}
