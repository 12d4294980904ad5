//! The observation before a tick, recorded once and replayed.

use crate::agents::Sensors;
use crate::rollout::{ages_shape, field_shape, readings_shape};
use crate::sense::Visible;
use crate::{Problem, Real};
use cinoc_tape::{Arena, Shape, Tape, VarId};

/// The observable state of a few episodes.
pub struct Surroundings<'a> {
    pub size: usize,
    pub agents: usize,
    pub z: &'a [Real],
    pub target: &'a [Real],
    pub xi: &'a [Real],
    pub strength: &'a [Real],
    /// Number of ticks made, if the task depends on time.
    pub now: &'a [Real],
    /// Last actions, and levels of tanks.
    pub previous: &'a [Real],
    pub stock: &'a [Real],
    /// Noise on what agents observe; empty: none.
    pub noise: &'a [Real],
    /// Held readings and their ages; empty if none are lost.
    pub held: &'a [Real],
    pub ages: &'a [Real],
}

/// A recorded observation.
#[derive(Default)]
pub struct ObservationRecorder {
    valid: bool,
    memory: Arena,
    /// Leaves that change from tick to tick, in the order of recording.
    leaves: Vec<VarId>,
    /// View, features of positions, strengths.
    seen: Option<[VarId; 3]>,
}

impl ObservationRecorder {
    /// Invalidates the recording, of which targets and fixed positions are constants.
    pub fn forget(&mut self) {
        self.valid = false;
    }

    /// Returns the memory of the recording, in bytes.
    pub fn room(&self) -> usize {
        self.memory.capacity_bytes()
    }

    /// Returns the view, the features of positions, and the strengths that limits take.
    pub fn observe(&mut self, problem: &Problem, around: &Surroundings) -> [&[Real]; 3] {
        let fresh = !self.valid || !self.memory.replayable();
        if fresh {
            self.record(problem, around);
        } else {
            let moves = problem.swarm.moves().then_some(around.xi);
            let now = problem.task.timed().then_some(around.now);
            let noise = problem.swarm.has_reading_noise().then_some(around.noise);
            let lost = |values| (!around.ages.is_empty()).then_some(values);
            let stock = (problem.swarm.tanks() > 0).then_some(around.stock);
            let sensors = [noise, lost(around.held), lost(around.ages), Some(around.previous), stock];
            let values = [Some(around.z), moves, Some(around.strength), now].into_iter().chain(sensors);
            self.memory.replay_in_place(&[], self.leaves.iter().copied().zip(values.flatten()));
        }
        self.seen.expect("a look was recorded").map(|id| self.memory.value(&[], id))
    }

    fn record(&mut self, problem: &Problem, around: &Surroundings) {
        let &Surroundings { size, agents, z, target, xi, strength, now, previous, stock, noise, held, ages } = around;
        self.leaves.clear();
        let tape = Tape::new(std::mem::take(&mut self.memory), &[]).rematerialise(true);
        {
            let mut leaf = |shape: Shape, x: &[Real]| {
                let var = tape.placeholder(shape, x);
                self.leaves.push(var.id());
                var
            };
            let (field, swarm) = (field_shape(problem, size), &problem.swarm);
            let positions = Shape::new(&[size, agents, swarm.dimensions()]);
            let z = leaf(field, z);
            let xi = if swarm.moves() { leaf(positions, xi) } else { tape.constant(positions, xi) };
            let strength = leaf(Shape::new(&[size, agents]), strength);
            let now = problem.task.timed().then(|| leaf(Shape::new(&[size]), now));
            let (readings, lossy) = (readings_shape(problem, size, agents), !ages.is_empty());
            let noise = swarm.has_reading_noise().then(|| leaf(readings, noise));
            let held = lossy.then(|| leaf(readings, held));
            let ages = lossy.then(|| leaf(ages_shape(problem, size, agents), ages));
            let per_agent = |width: usize| Shape::new(&[size, agents, width]);
            let previous = Some(leaf(per_agent(swarm.action_width()), previous));
            let stock = (swarm.tanks() > 0).then(|| leaf(per_agent(swarm.tanks()), stock));
            let visible = Visible { z, target: tape.constant(field, target), xi, strength, now, previous, stock };
            let (seen, _) = swarm.observe_through(&visible, Sensors { noise, held, ages });
            self.seen = Some([seen.patch(), seen.position(), swarm.strength(strength, xi)].map(|var| var.id()));
        }
        self.memory = tape.into_arena();
        self.valid = true;
    }
}
