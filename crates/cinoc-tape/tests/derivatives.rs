//! All operations against central differences, and the fused layer against primitive operations.

use cinoc_tape::check::{Point, assert_derivative, compare, noise, pull_back};
use cinoc_tape::op::Activation;
use cinoc_tape::{Arena, Layer, Real, Shape, Tape, Var};
use std::sync::Arc;

/// Numbers between 0.2 and 1.2, clear of every kink.
fn positive(count: usize, seed: u64) -> Vec<Real> {
    noise(count, seed).iter().map(|x| 0.7 + 0.5 * x).collect()
}

#[test]
fn arithmetic() {
    let (a, b, row) = (positive(6, 1), positive(6, 2), positive(3, 3));
    assert_derivative(&[(&[2, 3], &a), (&[2, 3], &b)], |x| x[0] + x[1]);
    assert_derivative(&[(&[2, 3], &a), (&[2, 3], &b)], |x| x[0] - x[1]);
    assert_derivative(&[(&[2, 3], &a), (&[2, 3], &b)], |x| x[0] * x[1] + x[0] * x[0]);
    assert_derivative(&[(&[2, 3], &a), (&[3], &row)], |x| x[0] / x[1]);
    assert_derivative(&[(&[2, 3], &a), (&[1], &row[..1])], |x| -(x[0] * x[1]) * 2.0 + 1.5);
}

#[test]
fn functions() {
    let a = positive(7, 4);
    assert_derivative(&[(&[7], &a)], |x| x[0].tanh());
    assert_derivative(&[(&[7], &a)], |x| x[0].exp());
    assert_derivative(&[(&[7], &a)], |x| x[0].sin() + x[0].cos());
    assert_derivative(&[(&[7], &a)], |x| x[0].sqrt());
    assert_derivative(&[(&[7], &a)], |x| x[0].square().abs().relu());
    assert_derivative(&[(&[7], &a)], |x| x[0].clamp(-5.0, 5.0) + x[0].stop_gradient() * 0.0);
}

#[test]
fn kinks_have_derivative_zero() {
    let zero: Point = vec![(Shape::new(&[1]), vec![0.0])];
    for f in [|x: Var| x.relu().id(), |x: Var| x.abs().id(), |x: Var| x.sqrt().id()] {
        let tape = Tape::new(Arena::default(), &[]);
        let x = tape.input([1], &zero[0].1);
        let (x, y) = (x.id(), f(x));
        let arena = tape.into_arena();
        let mut bars = cinoc_tape::Adjoints::default();
        bars.start(&arena, 0);
        bars.seed(&arena, y, &[1.0]);
        arena.backward(&[], &mut bars);
        assert_eq!(bars.of(&arena, x), &[0.0]);
    }
}

#[test]
fn arrangements_and_reductions() {
    let (a, b) = (noise(12, 5), noise(8, 6));
    let index: Arc<[u32]> = Arc::from([2u32, 0, 0, 1]);
    assert_derivative(&[(&[4, 3], &a)], |x| x[0].gather(&index));
    assert_derivative(&[(&[4, 3], &a)], |x| x[0].transpose_each(2).square());
    assert_derivative(&[(&[4, 3], &a), (&[4, 2], &b)], |x| x[0].join(x[1]).columns(1, 4).square());
    assert_derivative(&[(&[2, 2, 3], &a)], |x| x[0].square().sum_keeping(1));
    assert_derivative(&[(&[2, 2, 3], &a)], |x| x[0].square().mean_keeping(2));
    assert_derivative(&[(&[12], &a)], |x| x[0].reshape([3, 4]).square().mean());
    assert_derivative(&[(&[4], &a[..4])], |x| x[0].repeat(3).square().sum());
    assert_derivative(&[(&[2, 3], &a[..6])], |x| x[0].repeat_rows(4).square());
}

#[test]
fn rows_are_repeated_before_the_last_axis() {
    let tape = Tape::new(Arena::default(), &[]);
    let y = tape.constant([2, 2], &[1.0, 2.0, 3.0, 4.0]).repeat_rows(3);
    assert_eq!(y.shape().sizes(), &[2, 3, 2]);
    assert_eq!(y.value(), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0, 3.0, 4.0]);
}

#[test]
fn products_and_layers() {
    let (x, w, b) = (noise(35, 7), noise(14, 8), noise(2, 9));
    assert_derivative(&[(&[5, 7], &x), (&[7, 2], &w)], |x| x[0].matmul(x[1]));
    for activation in [Activation::Linear, Activation::Tanh, Activation::SoftTanh] {
        // The transposed weights are a constant of the layer; here they follow the weights by hand.
        let point: Point =
            vec![(Shape::new(&[5, 7]), x.clone()), (Shape::new(&[7, 2]), w.clone()), (Shape::new(&[2]), b.clone())];
        let transposed: Vec<Real> = (0..14).map(|i| w[(i % 7) * 2 + i / 7]).collect();
        let y_bar = noise(10, 10);
        let (y, bars) = pull_back(
            &point,
            &|x| {
                let w_t = x[1].tape().constant([2, 7], &transposed);
                x[0].dense(Layer { w: x[1], w_t, b: x[2] }, activation)
            },
            Some(&y_bar),
        );
        let (y_plain, bars_plain) = pull_back(
            &point,
            &|x| {
                let h = x[0].matmul(x[1]) + x[2];
                match activation {
                    Activation::Linear => h,
                    Activation::Tanh => h.tanh(),
                    Activation::SoftTanh => h.soft().tanh(),
                }
            },
            Some(&y_bar),
        );
        let close = |a: &[Real], b: &[Real]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-6);
        assert!(close(&y, &y_plain), "{activation:?}: {y:?} {y_plain:?}");
        for (a, b) in bars.iter().zip(&bars_plain) {
            assert!(close(a, b), "{activation:?}: {a:?} {b:?}");
        }
    }
    assert_derivative(&[(&[5, 7], &x), (&[7, 2], &w), (&[2], &b)], |x| (x[0].matmul(x[1]) + x[2]).soft().tanh());
}

#[test]
fn pieces_count_as_joined() {
    let (a, b, w, c) = (noise(10, 20), noise(15, 21), noise(20, 22), noise(4, 23));
    let transposed: Vec<Real> = (0..20).map(|i| w[(i % 5) * 4 + i / 5]).collect();
    let shapes: [&[usize]; 4] = [&[5, 2], &[5, 3], &[5, 4], &[4]];
    let point: Point = vec![
        (Shape::new(shapes[0]), a),
        (Shape::new(shapes[1]), b),
        (Shape::new(shapes[2]), w.clone()),
        (Shape::new(shapes[3]), c),
    ];
    let y_bar = noise(20, 24);
    let run = |way: usize| {
        pull_back(
            &point,
            &|x| {
                let w_t = x[2].tape().constant([4, 5], &transposed);
                let layer = Layer { w: x[2], w_t, b: x[3] };
                match way {
                    0 => x[0].join(x[1]).dense(layer, Activation::Tanh),
                    1 => x[0].dense_with(x[1], layer, Activation::Tanh),
                    // The second product first, as where it is loop-invariant.
                    _ => {
                        let b = x[1].dense_from(2, layer, Activation::Linear);
                        x[0].dense_from(0, Layer { b, ..layer }, Activation::Tanh)
                    }
                }
            },
            Some(&y_bar),
        )
    };
    let close = |a: &[Real], b: &[Real]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-6);
    let (y_joined, bars_joined) = run(0);
    for way in [1, 2] {
        let (y, bars) = run(way);
        assert!(close(&y, &y_joined) && bars.iter().zip(&bars_joined).all(|(a, b)| close(a, b)), "way {way}");
    }
}

#[test]
fn a_wrong_derivative_is_found() {
    let point: Point = vec![(Shape::new(&[3]), noise(3, 11))];
    // The value depends on x twice, the derivative sees it once.
    let found = compare(&point, &|x| x[0] * x[0].stop_gradient(), 1e-3, 1);
    assert!(found.error > 0.1, "{found:?}");
}

#[test]
fn placed_layers_are_layers_with_the_weights_of_each_place() {
    // Two places, three rows at each; every activation, against plain layers row by row.
    let point: Point =
        vec![(Shape::new(&[2 * 5, 4]), noise(40, 1)), (Shape::new(&[4]), noise(4, 2)), (Shape::new(&[3, 2, 5]), noise(30, 3))];
    for activation in [Activation::Linear, Activation::Tanh, Activation::SoftTanh] {
        assert_derivative(&[(&[10, 4], &point[0].1), (&[4], &point[1].1), (&[3, 2, 5], &point[2].1)], |v| {
            v[2].local_dense(v[0], v[1], activation)
        });
        let tape = Tape::new(Arena::default(), &[]);
        let all: Vec<Var> = point.iter().map(|(shape, values)| tape.input(*shape, values)).collect();
        let found = all[2].local_dense(all[0], all[1], activation).value();
        for row in 0..6 {
            let x = tape.input([1, 5], &point[2].1[row * 5..][..5]);
            let w = tape.input([5, 4], &point[0].1[row % 2 * 20..][..20]);
            let mut h = x.matmul(w) + all[1];
            if activation == Activation::SoftTanh {
                h = h.soft();
            }
            let exact = if activation == Activation::Linear { h } else { h.tanh() }.value();
            let close = |(a, b): (&Real, &Real)| (a - b).abs() < 1e-6;
            assert!(exact.iter().zip(&found[row * 4..]).all(close), "{activation:?}, row {row}");
        }
    }
}
