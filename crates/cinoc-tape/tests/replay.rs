//! A replayed recording gives what recording once more gives.

use cinoc_tape::check::noise;
use cinoc_tape::{Bars, Memory, Real, Tape, VarId};

/// Records a small graph with every kind of leaf; returns its memory and the names of `x`, a constant and the result.
fn record(x: &[Real], c: &[Real], look: bool) -> (Memory, [VarId; 3]) {
    let tape = Tape::new(Memory::default(), &[]);
    let (x, fixed, c) = (tape.input([4], x), tape.constant([4], &[1.0, 2.0, 3.0, 4.0]), tape.given([4], c));
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

#[test]
fn what_stands_is_swept_once_for_all_replays() {
    let theta = noise(4, 6);
    let record = |x: &[Real]| {
        let tape = Tape::new(Memory::default(), &theta);
        let (x, place, w) = (tape.input([4], x), tape.constant([4], &[0.1, 0.2, 0.3, 0.4]), tape.parameter(0, [4], true));
        let stands = (place * w).tanh();
        let y = (x * stands + stands.stop_gradient()).square().sum();
        let ids = [x.id(), stands.id(), y.id()];
        (tape.into_memory(), ids)
    };
    let all: Vec<Vec<Real>> = (1..4).map(|seed| noise(4, seed)).collect();
    // Every one recorded and swept on its own.
    let (mut alone, mut values) = (Bars::default(), Vec::new());
    for x in &all {
        let (memory, [_, _, y]) = record(x);
        alone.start(&memory, 4);
        alone.seed(&memory, y, &[1.0]);
        memory.backward(&theta, &mut alone);
        values.push(memory.value(&theta, y).to_vec());
    }
    // One recording, two replays, one sweep through what stands; twice, as nothing of the first time must stay.
    let mut together = Bars::default();
    for _ in 0..2 {
        let (first, [x, stands, y]) = record(&all[0]);
        let mut replays = [Memory::default(), Memory::default()];
        replays.iter_mut().zip(&all[1..]).for_each(|(memory, values)| memory.replay(&first, &theta, [(x, values.as_slice())]));
        together.clear_shared();
        for (memory, value) in [&replays[1], &replays[0], &first].into_iter().zip(values.iter().rev()) {
            assert_eq!(memory.value(&theta, y), value);
            assert_eq!(memory.value(&theta, stands).as_ptr(), first.value(&theta, stands).as_ptr());
            together.start(memory, 4);
            together.seed(memory, y, &[1.0]);
            memory.backward_before(&theta, &mut together, None);
        }
        first.backward_standing(&theta, &mut together);
        let close = |(a, b): (&Real, &Real)| (a - b).abs() < 1e-5 * b.abs();
        assert!(together.shared.iter().zip(&*alone.shared).all(close), "{:?} {:?}", &*together.shared, &*alone.shared);
    }
}
