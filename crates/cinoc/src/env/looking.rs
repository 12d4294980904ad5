//! What agents see before a tick, recorded once and replayed.

use crate::sense::Visible;
use crate::{Problem, Real};
use cinoc_tape::{Memory, Tape, VarId};

/// What there is to see, of a few episodes side by side.
pub struct Around<'a> {
    pub size: usize,
    pub agents: usize,
    pub z: &'a [Real],
    pub target: &'a [Real],
    pub xi: &'a [Real],
    pub strength: &'a [Real],
    /// Ticks made, where the task is timed.
    pub now: &'a [Real],
}

/// A recorded look.
#[derive(Default)]
pub struct Looking {
    valid: bool,
    memory: Memory,
    /// Leaves that differ from tick to tick, in the order of recording.
    leaves: Vec<VarId>,
    /// The view, features of positions, strengths.
    seen: Option<[VarId; 3]>,
}

impl Looking {
    /// Targets and places that never change are part of a recording: it no longer holds once they are others.
    pub fn forget(&mut self) {
        self.valid = false;
    }

    /// Bytes of what was recorded.
    pub fn room(&self) -> usize {
        self.memory.room()
    }

    /// The view, features of positions, and strengths as limits take them.
    pub fn look(&mut self, problem: &Problem, around: &Around) -> [&[Real]; 3] {
        let fresh = !self.valid || !self.memory.replayable();
        if fresh {
            self.record(problem, around);
        } else {
            let moves = problem.swarm.moves().then_some(around.xi);
            let now = problem.task.timed().then_some(around.now);
            let values = [Some(around.z), moves, Some(around.strength), now].into_iter().flatten();
            self.memory.renew(&[], self.leaves.iter().copied().zip(values));
        }
        self.seen.expect("a look was recorded").map(|id| self.memory.value(&[], id))
    }

    fn record(&mut self, problem: &Problem, around: &Around) {
        let &Around { size, agents, z, target, xi, strength, now } = around;
        self.leaves.clear();
        let tape = Tape::new(std::mem::take(&mut self.memory), &[]).rematerialise(true);
        {
            let mut leaf = |shape: &[usize], x: &[Real]| {
                let var = tape.given(shape, x);
                self.leaves.push(var.id());
                var
            };
            let ((field, rank), swarm) = (field_shape(problem, size), &problem.swarm);
            let (field, places) = (&field[..rank], [size, agents, swarm.dimensions()]);
            let z = leaf(field, z);
            let xi = if swarm.moves() { leaf(&places, xi) } else { tape.constant(places, xi) };
            let strength = leaf(&[size, agents], strength);
            let now = problem.task.timed().then(|| leaf(&[size], now));
            let seen = swarm.observe(&Visible { z, target: tape.constant(field, target), xi, strength, now });
            self.seen = Some([seen.patch(), seen.position(), swarm.strength(strength, xi)].map(|var| var.id()));
        }
        self.memory = tape.into_memory();
        self.valid = true;
    }
}

/// The shape of a batch of fields, and its rank.
pub fn field_shape(problem: &Problem, size: usize) -> ([usize; 4], usize) {
    let nodes = &problem.stepper.grid().nodes;
    let mut field = [size; 4];
    field[1..=nodes.len()].copy_from_slice(nodes);
    (field, nodes.len() + 1)
}
