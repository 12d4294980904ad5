//! A replay equals recording again.

use cinoc_tape::check::noise;
use cinoc_tape::kernel::buffer::Buffer;
use cinoc_tape::{Adjoints, Arena, Params, Real, Tape, VarId};

/// Records a small graph with every kind of leaf; returns the arena and the identifiers of `x`, a constant and the
/// result.
fn record(x: &[Real], c: &[Real], look: bool) -> (Arena, [VarId; 3]) {
    let tape = Tape::new(Arena::default(), &[]);
    let (x, fixed, c) = (tape.input([4], x), tape.constant([4], &[1.0, 2.0, 3.0, 4.0]), tape.placeholder([4], c));
    let h = (x * fixed + c).tanh();
    if look {
        assert_eq!(h.value().len(), 4);
    }
    let y = (h * h.stop_gradient() + tape.zeros([4])).sum();
    let ids = [x.id(), c.id(), y.id()];
    (tape.into_arena(), ids)
}

fn gradient(arena: &Arena, [x, _, y]: [VarId; 3]) -> (Vec<Real>, Vec<Real>) {
    let mut bars = Adjoints::default();
    bars.start(arena, 0);
    bars.seed(arena, y, &[1.0]);
    arena.backward(&[], &mut bars);
    (arena.value(&[], y).to_vec(), bars.of(arena, x).to_vec())
}

#[test]
fn a_replay_is_a_second_recording() {
    let (x, c) = (noise(4, 1), noise(4, 2));
    let (recording, ids) = record(&noise(4, 3), &noise(4, 4), false);
    assert!(recording.replayable());
    let mut replayed = Arena::default();
    replayed.replay(&recording, &[], [(ids[0], x.as_slice()), (ids[1], c.as_slice())], &mut Buffer::default());
    let (again, ids) = record(&x, &c, false);
    assert_eq!(gradient(&replayed, ids), gradient(&again, ids));
    // Leaves without a new value keep that of the last replay.
    let x = noise(4, 5);
    replayed.replay(&recording, &[], [(ids[0], x.as_slice())], &mut Buffer::default());
    let (again, ids) = record(&x, &c, false);
    assert_eq!(gradient(&replayed, ids), gradient(&again, ids));
}

#[test]
fn a_recording_that_was_looked_at_may_depend_on_its_values() {
    let (recording, _) = record(&noise(4, 3), &noise(4, 4), true);
    assert!(!recording.replayable());
}

#[test]
fn loop_invariant_nodes_are_swept_once_for_all_replays() {
    let theta = noise(4, 6);
    let record = |x: &[Real]| {
        let tape = Tape::new(Arena::default(), &theta);
        let (x, place, w) = (tape.input([4], x), tape.constant([4], &[0.1, 0.2, 0.3, 0.4]), tape.parameter(0, [4], true));
        let fixed = (place * w).tanh();
        let y = (x * fixed + fixed.stop_gradient()).square().sum();
        let ids = [x.id(), fixed.id(), y.id()];
        (tape.into_arena(), ids)
    };
    let all: Vec<Vec<Real>> = (1..4).map(|seed| noise(4, seed)).collect();
    // Each recorded and swept separately.
    let (mut alone, mut values) = (Adjoints::default(), Vec::new());
    for x in &all {
        let (arena, [_, _, y]) = record(x);
        alone.start(&arena, 4);
        alone.seed(&arena, y, &[1.0]);
        arena.backward(&theta, &mut alone);
        values.push(arena.value(&theta, y).to_vec());
    }
    // One recording, two replays, one sweep through the loop-invariant nodes; twice, as nothing of the first time must
    // stay.
    let mut together = Adjoints::default();
    for _ in 0..2 {
        let (first, [x, fixed, y]) = record(&all[0]);
        let mut replays = [Arena::default(), Arena::default()];
        let mut scratch = Buffer::default();
        for (arena, values) in replays.iter_mut().zip(&all[1..]) {
            arena.replay(&first, &theta, [(x, values.as_slice())], &mut scratch);
        }
        together.clear_shared();
        for (arena, value) in [&replays[1], &replays[0], &first].into_iter().zip(values.iter().rev()) {
            assert_eq!(arena.value(&theta, y), value);
            assert_eq!(arena.value(&theta, fixed).as_ptr(), first.value(&theta, fixed).as_ptr());
            together.start(arena, 4);
            together.seed(arena, y, &[1.0]);
            arena.backward_prefetching(&theta, &mut together, None);
        }
        first.backward_loop_invariant(&theta, &mut together);
        let close = |(a, b): (&Real, &Real)| (a - b).abs() < 1e-5 * b.abs();
        assert!(together.shared.iter().zip(&*alone.shared).all(close), "{:?} {:?}", &*together.shared, &*alone.shared);
    }
}

/// Two layers with few rows, whose weights' cotangents accumulate over replays.
#[test]
fn layers_with_few_rows_have_the_same_gradient_over_many_replays() {
    const ROWS: usize = 5;
    let sizes = [[6, 4], [4, 3]];
    let mut params = Params::default();
    for (i, [k, n]) in sizes.into_iter().enumerate() {
        params.push(&format!("{i}.w"), [k, n], &noise(k * n, 1 + i as u64));
        params.push(&format!("{i}.b"), [n], &noise(n, 3 + i as u64));
    }
    params.refresh();
    let (shared, parameters) = (params.shared(), params.theta().len());
    let tape = Tape::new(Arena::default(), shared);
    let leaves = params.leaves(&tape, true);
    let x = tape.input([ROWS, 6], &noise(ROWS * 6, 5));
    let y = x.soft_dense(leaves.layer(0)).soft_dense(leaves.layer(2)).square().sum();
    let (x, y) = (x.id(), y.id());
    let first = tape.into_arena();
    let (mut scratch, mut replays): (_, [Arena; 12]) = (Buffer::default(), Default::default());
    for (i, arena) in replays.iter_mut().enumerate() {
        arena.replay(&first, shared, [(x, noise(ROWS * 6, 6 + i as u64).as_slice())], &mut scratch);
    }
    let sweep = |bars: &mut Adjoints, each: bool| {
        bars.clear_shared();
        for arena in replays.iter().rev().chain([&first]) {
            bars.start(arena, parameters);
            bars.seed(arena, y, &[1.0]);
            arena.backward_prefetching(shared, bars, None);
            if each {
                arena.backward_loop_invariant(shared, bars);
            }
        }
        if !each {
            first.backward_loop_invariant(shared, bars);
        }
        bars.shared.to_vec()
    };
    let expected = sweep(&mut Adjoints::default(), true);
    let mut together = Adjoints::default();
    assert_eq!(sweep(&mut together, false), expected);
    // An abandoned sweep has no effect.
    together.start(&first, parameters);
    together.seed(&first, y, &[1.0]);
    first.backward_prefetching(shared, &mut together, None);
    assert_eq!(sweep(&mut together, false), expected);
}

/// A recording with a loop-invariant node `f(place·w)`, `ticks` times multiplied by `x` and added up.
fn with_invariant(theta: &[Real], place: &[Real], sine: bool, ticks: usize) -> (Arena, VarId) {
    let tape = Tape::new(Arena::default(), theta);
    let (x, place) = (tape.input([4], &[1.0; 4]), tape.constant([4], place));
    let mut y = x;
    for _ in 0..ticks {
        let product = place * tape.parameter(0, [4], true);
        y = y * if sine { product.sin() } else { product.tanh() } + tape.zeros([4]);
    }
    let y = y.sum().id();
    (tape.into_arena(), y)
}

#[test]
fn sweeps_are_added_up_only_over_the_same_loop_invariant_nodes() {
    let (theta, place) = (noise(4, 6), noise(4, 7));
    let (arena, _) = with_invariant(&theta, &place, false, 2);
    let same =
        |place: &[Real], sine: bool, ticks: usize| arena.has_same_invariants(&with_invariant(&theta, place, sine, ticks).0);
    assert!(same(&place, false, 2));
    assert!(same(&place, false, 1), "a shorter recording has the same loop-invariant nodes");
    assert!(!same(&noise(4, 8), false, 2), "another constant");
    assert!(!same(&place, true, 2), "another operation of equal size");
    assert!(!arena.has_same_invariants(&Arena::default()), "no recording at all");
}

#[test]
#[should_panic(expected = "the same loop-invariant nodes")]
fn sweeps_over_other_loop_invariant_nodes_must_be_ended_first() {
    let (theta, place) = (noise(4, 6), noise(4, 7));
    let mut bars = Adjoints::default();
    for sine in [false, true] {
        let (arena, y) = with_invariant(&theta, &place, sine, 1);
        bars.start(&arena, 4);
        bars.seed(&arena, y, &[1.0]);
        arena.backward_prefetching(&theta, &mut bars, None);
    }
}
