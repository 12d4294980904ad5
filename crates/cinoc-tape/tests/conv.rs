//! Convolutions and the layer on normalised inputs against simple loops, primitive operations and central differences.

use cinoc_tape::check::{Point, VarFn, assert_derivative, noise, pull_back};
use cinoc_tape::op::{Conv3x3, ConvBranch};
use cinoc_tape::{Layer, Real, Shape, Var};
use std::sync::Arc;

/// Height, width, channels in and out, stride: the networks' sizes, and odd ones.
const SIZES: [[usize; 5]; 14] = [
    [12, 12, 3, 16, 1],
    [12, 12, 16, 32, 1],
    [20, 20, 3, 32, 1],
    [20, 20, 32, 64, 1],
    [16, 20, 3, 16, 2],
    [8, 10, 16, 32, 2],
    [5, 7, 1, 7, 1],
    [5, 7, 2, 7, 2],
    [7, 5, 3, 7, 1],
    [6, 7, 4, 7, 2],
    [5, 7, 5, 7, 1],
    [5, 13, 13, 17, 1],
    [1, 1, 3, 4, 1],
    [2, 3, 4, 6, 3],
];

/// The sizes to try; under Miri, which is a thousand times slower, the smallest.
fn sizes() -> impl Iterator<Item = [usize; 5]> {
    SIZES.into_iter().filter(|[height, width, inputs, outputs, _]| !cfg!(miri) || height * width * inputs * outputs < 300)
}

fn op([height, width, channels_in, _, stride]: [usize; 5], relu: bool) -> Conv3x3 {
    Conv3x3 { height, width, channels_in, stride, relu }
}

fn point([height, width, inputs, outputs, _]: [usize; 5], images: usize) -> Point {
    let x = (Shape::new(&[images, height * width * inputs]), noise(images * height * width * inputs, 1));
    let w = (Shape::new(&[9 * inputs, outputs]), noise(9 * inputs * outputs, 2));
    vec![x, w, (Shape::new(&[outputs]), noise(outputs, 3))]
}

/// Compares value and cotangents of two implementations.
fn agree(point: &Point, fused: &VarFn, plain: &VarFn) {
    let y_bar = noise(pull_back(point, plain, None).0.len(), 77);
    let ((a, a_bars), (b, b_bars)) = (pull_back(point, fused, Some(&y_bar)), pull_back(point, plain, Some(&y_bar)));
    let limit = if cfg!(double) { 1e-12 } else { 3e-5 };
    let close = |a: &[Real], b: &[Real]| {
        assert_eq!(a.len(), b.len());
        let size = b.iter().fold(1.0, |m: Real, b| m.max(b.abs())) as f64;
        let off = a.iter().zip(b).map(|(a, b)| (a - b).abs() as f64).fold(0.0, f64::max);
        assert!(off <= limit * size, "off by {off:e} of {size:e}");
    };
    close(&a, &b);
    assert!(b_bars.iter().flatten().any(|b| *b != 0.0));
    a_bars.iter().zip(&b_bars).for_each(|(a, b)| close(a, b));
}

/// Windows of all results by primitive operations: selections from the image with one appended zero.
fn windows<'t>(x: Var<'t>, [height, width, inputs, _, stride]: [usize; 5]) -> Var<'t> {
    let images = x.shape().rows();
    let (rows, columns) = (height.div_ceil(stride), width.div_ceil(stride));
    let mut index = Vec::new();
    for (row, column) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
            let (r, c) = ((row * stride + i).wrapping_sub(1), (column * stride + j).wrapping_sub(1));
            let inside = r < height && c < width;
            index.extend((0..inputs).map(|k| if inside { (r * width + c) * inputs + k } else { height * width * inputs } as u32));
        }
    }
    let index: Arc<[u32]> = index.into();
    x.join(x.tape().zeros([images, 1])).gather(&index).reshape([images * rows * columns, 9 * inputs])
}

#[test]
fn agrees_with_the_obvious_loops() {
    for sizes in sizes() {
        let [height, width, inputs, outputs, stride] = sizes;
        let point = point(sizes, 2);
        let (y, _) = pull_back(&point, &|v| v[0].conv3x3(op(sizes, false), v[1], v[2]), None);
        let (x, w, b) = (&point[0].1, &point[1].1, &point[2].1);
        let mut at = 0;
        for image in 0..2 {
            for (row, column) in (0..height).step_by(stride).flat_map(|r| (0..width).step_by(stride).map(move |c| (r, c))) {
                for o in 0..outputs {
                    let mut sum = b[o] as f64;
                    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                        let (r, c) = ((row + i) as isize - 1, (column + j) as isize - 1);
                        if (0..height as isize).contains(&r) && (0..width as isize).contains(&c) {
                            for k in 0..inputs {
                                let from = ((image * height + r as usize) * width + c as usize) * inputs + k;
                                sum += x[from] as f64 * w[((i * 3 + j) * inputs + k) * outputs + o] as f64;
                            }
                        }
                    }
                    assert!((y[at] as f64 - sum).abs() < 2e-5, "{sizes:?}: {} not {sum}", y[at]);
                    at += 1;
                }
            }
        }
        assert_eq!(at, y.len());
    }
}

#[test]
fn agrees_with_plain_operations() {
    for sizes in sizes() {
        for relu in [false, true] {
            agree(&point(sizes, 3), &|v| v[0].conv3x3(op(sizes, relu), v[1], v[2]), &|v| {
                let y = windows(v[0], sizes).matmul(v[1]) + v[2];
                let y = if relu { y.relu() } else { y };
                let all = y.shape().count();
                y.reshape([3, all / 3])
            });
        }
    }
}

#[test]
fn cotangents_add_up() {
    for sizes in [[4, 6, 3, 5, 1], [4, 6, 16, 5, 1]].into_iter().take(if cfg!(miri) { 1 } else { 2 }) {
        // The image is used before and after: its cotangent is not fresh.
        agree(&point(sizes, 2), &|v| v[0].conv3x3(op(sizes, true), v[1], v[2]).sum() + v[0].square().sum(), &|v| {
            (windows(v[0], sizes).matmul(v[1]) + v[2]).relu().sum() + v[0].square().sum()
        });
    }
}

#[test]
fn derivatives() {
    for sizes in sizes().filter(|s| s[2] * s[3] < 600) {
        let point = point(sizes, 2);
        let inputs: Vec<(&[usize], &[Real])> = point.iter().map(|(s, x)| (s.sizes(), &x[..])).collect();
        assert_derivative(&inputs, |v| v[0].conv3x3(op(sizes, false), v[1], v[2]));
        // Far enough from the kink of max(·, 0) for a difference quotient: a large bias, of either sign.
        let bias: Vec<Real> = (0..sizes[3]).map(|o| if o % 2 == 0 { 500.0 } else { -500.0 }).collect();
        let inputs = [inputs[0], inputs[1], (inputs[2].0, &bias[..])];
        assert_derivative(&inputs, |v| v[0].conv3x3(op(sizes, true), v[1], v[2]) * 1e-2);
    }
}

#[test]
fn no_derivative_at_the_kink() {
    let zeros = |shape: &[usize]| (Shape::new(shape), vec![0.0; shape.iter().product()]);
    let point = vec![zeros(&[1, 9]), (Shape::new(&[9, 2]), noise(18, 4)), zeros(&[2])];
    let (_, bars) = pull_back(&point, &|v| v[0].conv3x3(op([3, 3, 1, 2, 1], true), v[1], v[2]), Some(&noise(18, 5)));
    assert!(bars.iter().flatten().all(|b| *b == 0.0));
}

/// A layer whose transposed weights are set from the weights.
fn layer<'t>(w: Var<'t>, b: Var<'t>) -> Layer<'t> {
    let (&[k, n], values) = (w.shape().sizes(), w.value()) else { unreachable!() };
    let transposed: Vec<Real> = (0..k * n).map(|i| values[(i % k) * n + i / k]).collect();
    Layer { w, b, w_t: w.tape().constant([n, k], &transposed) }
}

#[test]
fn layer_on_normalised_inputs() {
    // One row is zero: its norm has derivative zero there.
    for (rows, k, n) in [(5, 7, 3), (60, 33, 32), (3, 200, 64)] {
        let mut x = noise(rows * k, 6);
        x[k..2 * k].fill(0.0);
        let point =
            vec![(Shape::new(&[rows, k]), x.clone()), (Shape::new(&[k, n]), noise(k * n, 7)), (Shape::new(&[n]), noise(n, 8))];
        agree(&point, &|v| v[0].soft_dense(layer(v[1], v[2])), &|v| (v[0].soft().matmul(v[1]) + v[2]).tanh());
        agree(&point, &|v| v[0].soft_dense(layer(v[1], v[2])).sum() + v[0].square().sum(), &|v| {
            (v[0].soft().matmul(v[1]) + v[2]).tanh().sum() + v[0].square().sum()
        });
    }
    let (x, w, b) = (noise(35, 7), noise(14, 8), noise(2, 9));
    assert_derivative(&[(&[5, 7], &x), (&[7, 2], &w), (&[2], &b)], |v| v[0].soft_dense(layer(v[1], v[2])));
}

/// Images and the weights and biases of a branch with five channels in the middle.
fn branch_point([height, width, channels, outputs, stride]: [usize; 5], images: usize) -> Point {
    let middle = 5;
    let small = |r: usize| r.div_ceil(stride).div_ceil(stride);
    let features = small(height) * small(width) * outputs;
    let shapes: [&[usize]; 7] = [
        &[images, height * width * channels],
        &[9 * channels, middle],
        &[middle],
        &[9 * middle, outputs],
        &[outputs],
        &[features, 6],
        &[6],
    ];
    let piece = |(seed, shape): (usize, &&[usize])| (Shape::new(shape), noise(shape.iter().product(), seed as u64));
    shapes.iter().enumerate().map(piece).collect()
}

#[test]
fn the_whole_branch_agrees_with_its_parts() {
    let all = [([9, 6, 2, 3, 2], 3), ([6, 7, 3, 4, 1], 29), ([12, 12, 3, 32, 1], 2)];
    for (sizes, images) in all.into_iter().take(if cfg!(miri) { 1 } else { 3 }) {
        for keep in [false, true] {
            let [height, width, channels, outputs, stride] = sizes;
            let branch = ConvBranch { height, width, channels, stride, keep };
            let point = branch_point(sizes, images);
            let after = [height.div_ceil(stride), width.div_ceil(stride), 5, outputs, stride];
            agree(&point, &|v| v[0].conv_branch(branch, [(v[1], v[2]), (v[3], v[4])], layer(v[5], v[6])), &|v| {
                v[0].conv3x3(op(sizes, true), v[1], v[2]).conv3x3(op(after, true), v[3], v[4]).soft_dense(layer(v[5], v[6]))
            });
            // The images' cotangent is not fresh.
            agree(
                &point,
                &|v| {
                    let y = v[0].conv_branch(branch, [(v[1], v[2]), (v[3], v[4])], layer(v[5], v[6]));
                    y.square().sum() + v[0].square().sum()
                },
                &|v| {
                    let y = v[0].conv3x3(op(sizes, true), v[1], v[2]).conv3x3(op(after, true), v[3], v[4]);
                    (y.soft().matmul(v[5]) + v[6]).tanh().square().sum() + v[0].square().sum()
                },
            );
        }
    }
}
