//! Fused operations agree with their decomposition into primitive ones, which is complete.

use cinoc_tape::check::noise;
use cinoc_tape::op::{Activation, Conv3x3, ConvBranch};
use cinoc_tape::{Arena, Definition, Layer, Real, Tape, Var, VarId};

/// Returns true if a result depends on primitive operations only.
fn plain(arena: &Arena, id: VarId) -> bool {
    match arena.definition(&[], id) {
        Definition::Computed(op, inputs) => op.is_primitive() && inputs.into_iter().all(|input| plain(arena, input)),
        Definition::Copied(from) => plain(arena, from),
        Definition::Placeholder | Definition::Constant(_) => true,
    }
}

/// Compares fused and primitive operations.
fn agree(sizes: &[&[usize]], f: impl for<'t> Fn(&[Var<'t>]) -> Var<'t>) {
    let found = [false, true].map(|primitives_only| {
        let tape = Tape::new(Arena::default(), &[]).primitives_only(primitives_only);
        let id = {
            let inputs: Vec<Var> = sizes
                .iter()
                .enumerate()
                .map(|(i, sizes)| tape.placeholder(*sizes, &noise(sizes.iter().product(), i as u64 + 1)))
                .collect();
            f(&inputs).id()
        };
        let arena = tape.into_arena();
        assert_eq!(plain(&arena, id), primitives_only);
        arena.value(&[], id).to_vec()
    });
    let limit = if cfg!(double) { 1e-13 } else { 1e-5 };
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

/// Loop-invariant values are constants to a translator, whatever operation computed them.
#[test]
fn constants_stay_as_they_are() {
    let tape = Tape::new(Arena::default(), &[]).primitives_only(true);
    let id = {
        let x: [Var; 3] = [(&[5, 7][..], 1), (&[7], 2), (&[3, 5], 3)].map(|(sizes, seed)| {
            let count = sizes.iter().product();
            tape.constant(sizes, &noise(count, seed))
        });
        x[2].dense(layer(x[0], x[1]), Activation::Tanh).id()
    };
    let arena = tape.into_arena();
    let Definition::Constant(values) = arena.definition(&[], id) else { panic!("not a constant") };
    assert!(values.len() == 21 && values.iter().all(|x| *x != 0.0 as Real));
}
