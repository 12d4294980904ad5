//! Operations written with plain ones give the same, and what they leave is plain.

use cinoc_tape::check::noise;
use cinoc_tape::op::{Activation, Conv3x3, ConvBranch};
use cinoc_tape::{Layer, Memory, Origin, Real, Tape, Var, VarId};

/// Whether everything that a result depends on is plain.
fn plain(memory: &Memory, id: VarId) -> bool {
    match memory.origin(&[], id) {
        Origin::Computed(op, inputs) => op.is_plain() && inputs.into_iter().all(|input| plain(memory, input)),
        Origin::Copied(from) => plain(memory, from),
        Origin::Given | Origin::Constant(_) => true,
    }
}

/// Computes the same with fused and with plain operations.
fn agree(sizes: &[&[usize]], f: impl for<'t> Fn(&[Var<'t>]) -> Var<'t>) {
    let found = [false, true].map(|plainly| {
        let tape = Tape::new(Memory::default(), &[]).plainly(plainly);
        let id = {
            let inputs: Vec<Var> = sizes
                .iter()
                .enumerate()
                .map(|(i, sizes)| tape.given(*sizes, &noise(sizes.iter().product(), i as u64 + 1)))
                .collect();
            f(&inputs).id()
        };
        let memory = tape.into_memory();
        assert_eq!(plain(&memory, id), plainly);
        memory.value(&[], id).to_vec()
    });
    let limit = if cfg!(feature = "f64") { 1e-13 } else { 1e-5 };
    assert_eq!(found[0].len(), found[1].len());
    found[0].iter().zip(&found[1]).for_each(|(a, b)| assert!((a - b).abs() < limit, "{a} is not {b}"));
}

fn layer<'t>(w: Var<'t>, b: Var<'t>) -> Layer<'t> {
    let (rows, shape) = (w.shape().rows(), w.shape());
    Layer { w, b, w_t: w.transpose_each(rows).reshape([shape.last(), rows]) }
}

#[test]
fn layers() {
    for activation in [Activation::Linear, Activation::Tanh, Activation::SoftTanh] {
        agree(&[&[5, 7], &[7], &[2, 3, 5]], |x| x[2].dense(layer(x[0], x[1]), activation));
        agree(&[&[5, 7], &[7], &[6, 2], &[6, 3]], |x| x[0].tape().dense([x[2], x[3]], layer(x[0], x[1]), activation));
        agree(&[&[5, 7], &[6, 7], &[6, 3]], |x| x[2].dense_from(2, layer(x[0], x[1]), activation));
    }
    agree(&[&[5, 7], &[7], &[4, 5]], |x| x[2].soft_dense(layer(x[0], x[1])));
}

#[test]
fn convolutions() {
    for (stride, relu) in [(1, false), (2, true), (3, true)] {
        let conv = Conv3x3 { height: 5, width: 4, channels_in: 2, stride, relu };
        agree(&[&[18, 3], &[3], &[2, 40]], |x| x[2].conv3x3(conv, x[0], x[1]));
    }
    let branch = ConvBranch { height: 5, width: 4, channels: 2, stride: 2, keep: true };
    let sizes: [&[usize]; 7] = [&[18, 3], &[3], &[27, 4], &[4], &[8, 6], &[6], &[2, 40]];
    agree(&sizes, |x| x[6].conv_branch(branch, [(x[0], x[1]), (x[2], x[3])], layer(x[4], x[5])));
}

/// What is loop-invariant is a constant to whoever translates, whatever it was computed by.
#[test]
fn constants_stay_as_they_are() {
    let tape = Tape::new(Memory::default(), &[]).plainly(true);
    let id = {
        let x: [Var; 3] = [(&[5, 7][..], 1), (&[7], 2), (&[3, 5], 3)].map(|(sizes, seed)| {
            let count = sizes.iter().product();
            tape.constant(sizes, &noise(count, seed))
        });
        x[2].dense(layer(x[0], x[1]), Activation::Tanh).id()
    };
    let memory = tape.into_memory();
    let Origin::Constant(values) = memory.origin(&[], id) else { panic!("not a constant") };
    assert!(values.len() == 21 && values.iter().all(|x| *x != 0.0 as Real));
}
