//! Loop-invariant expressions are recorded once; other expressions each time.

use cinoc_tape::{Arena, Tape};

#[test]
fn the_same_loop_invariant_expression_is_one_node() {
    let theta = [1.0, 2.0, 3.0, 4.0];
    let tape = Tape::new(Arena::default(), &theta);
    let weights = || tape.parameter(0, [4], true);
    assert_eq!(weights().id(), weights().id());
    assert_eq!(tape.zeros([4]).id(), tape.zeros([4]).id());
    assert_eq!(weights().tanh().id(), weights().tanh().id());
    assert_eq!((weights() * tape.zeros([4])).id(), (weights() * tape.zeros([4])).id());
    assert_eq!(weights().stop_gradient().id(), weights().stop_gradient().id());

    // Another expression is another node.
    assert_ne!(weights().id(), tape.parameter(0, [4], false).id());
    assert_ne!(weights().id(), tape.parameter(0, [2, 2], true).id());
    assert_ne!(tape.zeros([4]).id(), tape.zeros([2, 2]).id());
    assert_ne!(weights().tanh().id(), weights().exp().id());
    assert_ne!((weights() - tape.zeros([4])).id(), (tape.zeros([4]) - weights()).id());
    assert_ne!(tape.constant([1], &[5.0]).id(), tape.constant([1], &[5.0]).id());
}

#[test]
fn what_changes_from_replay_to_replay_is_never_merged() {
    let tape = Tape::new(Arena::default(), &[]);
    let x = tape.input([2], &[1.0, 2.0]);
    assert_ne!(x.tanh().id(), x.tanh().id());
    assert_ne!(x.stop_gradient().id(), x.stop_gradient().id());
    assert_ne!(tape.placeholder([2], &[0.0; 2]).id(), tape.zeros([2]).id());
}

#[test]
fn zeros_are_positive() {
    let tape = Tape::new(Arena::default(), &[]);
    tape.constant([1], &[-0.0]);
    assert!(tape.zeros([1]).value()[0].is_sign_positive());
}

#[test]
#[should_panic(expected = "a variable of another tape")]
fn a_variable_of_another_tape_is_refused() {
    let (here, there) = (Tape::new(Arena::default(), &[]), Tape::new(Arena::default(), &[]));
    let _ = here.input([1], &[1.0]) + there.input([1], &[2.0]);
}
