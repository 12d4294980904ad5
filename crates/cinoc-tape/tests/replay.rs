//! A replayed recording gives what recording once more gives.

use cinoc_tape::check::noise;
use cinoc_tape::{Bars, Memory, Real, Tape, VarId};

/// Records a small graph with every kind of leaf; returns its memory and the names of `x`, a constant and the result.
fn record(x: &[Real], c: &[Real], look: bool) -> (Memory, [VarId; 3]) {
    let tape = Tape::new(Memory::default(), &[]);
    let (x, fixed, c) = (tape.input([4], x), tape.constant([4], &[1.0, 2.0, 3.0, 4.0]), tape.constant([4], c));
    let h = (x * fixed + c).tanh();
    if look {
        assert_eq!(h.value().len(), 4);
    }
    let y = (h * h.stop_gradient() + tape.zeros([4])).sum();
    let ids = [x.id(), c.id(), y.id()];
    (tape.into_memory(), ids)
}

fn gradient(memory: &Memory, [x, _, y]: [VarId; 3]) -> (Vec<Real>, Vec<Real>) {
    let mut bars = Bars::default();
    bars.start(memory, 0);
    bars.seed(memory, y, &[1.0]);
    memory.backward(&[], &mut bars);
    (memory.value(&[], y).to_vec(), bars.of(memory, x).to_vec())
}

#[test]
fn a_replay_is_a_second_recording() {
    let (x, c) = (noise(4, 1), noise(4, 2));
    let (recording, ids) = record(&noise(4, 3), &noise(4, 4), false);
    assert!(recording.replayable());
    let mut replayed = Memory::default();
    replayed.replay(&recording, &[], [(ids[0], x.as_slice()), (ids[1], c.as_slice())]);
    let (again, ids) = record(&x, &c, false);
    assert_eq!(gradient(&replayed, ids), gradient(&again, ids));
    // What is not given stays as it was the last time.
    let x = noise(4, 5);
    replayed.replay(&recording, &[], [(ids[0], x.as_slice())]);
    let (again, ids) = record(&x, &c, false);
    assert_eq!(gradient(&replayed, ids), gradient(&again, ids));
}

#[test]
fn a_recording_that_was_looked_at_may_depend_on_its_values() {
    let (recording, _) = record(&noise(4, 3), &noise(4, 4), true);
    assert!(!recording.replayable());
}
