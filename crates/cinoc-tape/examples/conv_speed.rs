//! Speed of convolutions on this machine: kernels against the peak, and a whole branch with features saved or
//! computed twice.
//!
//! `cargo run --release -p cinoc-tape --example conv_speed`

use cinoc_tape::check::noise;
use cinoc_tape::kernel::buffer::Buffer;
use cinoc_tape::kernel::conv::{self, Sizes, wide};
use cinoc_tape::kernel::conv_back::weights_back;
use cinoc_tape::kernel::gemm::{Left, Right, Start, gemm};
use cinoc_tape::kernel::peak;
use cinoc_tape::op::ConvBranch;
use cinoc_tape::{Adjoints, Arena, Params, Tape};
use std::time::Instant;

fn numbers(count: usize, seed: u64) -> Buffer {
    Buffer::from(&noise(count, seed)[..])
}

/// Prints the best rate of many runs.
fn rate(name: &str, flops: usize, mut work: impl FnMut()) {
    let (mut best, start) = (f64::INFINITY, Instant::now());
    while start.elapsed().as_secs_f64() < 0.06 {
        let since = Instant::now();
        work();
        best = best.min(since.elapsed().as_secs_f64());
    }
    println!("  {name:<24}{:8.1} µs{:8.1} GFLOP/s", best * 1e6, flops as f64 / best / 1e9);
}

fn kernels(sizes: Sizes) {
    let Sizes { inputs, outputs, .. } = sizes;
    let (rows, columns) = sizes.result();
    println!("{}×{} pixels, {inputs} to {outputs} channels, stride {}", sizes.height, sizes.width, sizes.stride);
    let flops = 2 * 9 * inputs * sizes.count();
    let (x, w, b) = (numbers(sizes.padded(), 1), numbers(9 * inputs * wide(outputs), 2), numbers(wide(outputs), 3));
    let (mut y, h_bar) = (numbers(sizes.count(), 4), numbers((rows + 2) * (columns + 2) * wide(outputs), 5));
    rate("forward", flops, || conv::forward(sizes, &x, &w, &b, true, &mut y));
    let mut w_bar = numbers(w.len(), 6);
    rate("weights' cotangent", flops, || weights_back(sizes, &x, &h_bar, 1, &mut w_bar));
    if sizes.stride == 1 && inputs >= 12 {
        let turned = Sizes { inputs: wide(outputs), outputs: inputs, ..sizes };
        let (w, b, mut x_bar) =
            (numbers(9 * turned.inputs * wide(inputs), 7), numbers(wide(inputs), 8), numbers(sizes.image(), 9));
        rate("image's cotangent", flops, || conv::forward(turned, &h_bar, &w, &b, false, &mut x_bar));
    } else {
        let n = wide(9 * inputs);
        let (w, mut products) = (numbers(outputs * n, 7), numbers(rows * columns * n, 8));
        let left = Left::rows(&h_bar, wide(outputs));
        rate("image's, before adding", flops, || {
            gemm(rows * columns, n, outputs, left, Right::columns(&w, n, 0), &mut products, Start::Zero);
        });
    }
}

/// Microseconds per image of the branch on 12×12 images, forwards and backwards, with this number of other recordings
/// in between.
fn branch(keep: bool, recordings: usize) -> (f64, f64) {
    const IMAGES: usize = 128;
    let branch = ConvBranch { height: 12, width: 12, channels: 3, stride: 1, keep };
    let mut params = Params::default();
    for (i, (inputs, outputs)) in [(27, 16), (144, 32), (4608, 32)].into_iter().enumerate() {
        let w: Vec<_> = noise(inputs * outputs, i as u64).iter().map(|w| w / (inputs as cinoc_tape::Real).sqrt()).collect();
        params.push("w", [inputs, outputs], &w);
        params.push("b", [outputs], &noise(outputs, 9));
    }
    let (x, seed) = (noise(IMAGES * 432, 1), noise(IMAGES * 32, 2));
    let mut bars = Adjoints::default();
    let mut memories: Vec<Arena> = (0..recordings).map(|_| Arena::default()).collect();
    let (mut forward, mut backward) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let mut y = None;
        for arena in &mut memories {
            let since = Instant::now();
            let tape = Tape::new(std::mem::take(arena), params.shared());
            let theta = params.leaves(&tape, true);
            let convolutions = [(theta.get(0), theta.get(1)), (theta.get(2), theta.get(3))];
            y = Some(tape.input([IMAGES, 432], &x).conv_branch(branch, convolutions, theta.layer(4)).id());
            *arena = tape.into_arena();
            forward.push(since.elapsed().as_secs_f64());
        }
        for arena in memories.iter().rev() {
            let since = Instant::now();
            bars.start(arena, params.theta().len());
            bars.seed(arena, y.expect("recorded"), &seed);
            arena.backward(params.shared(), &mut bars);
            backward.push(since.elapsed().as_secs_f64());
        }
    }
    let low = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 10] * 1e6 / IMAGES as f64
    };
    (low(forward), low(backward))
}

fn main() {
    println!("peak of one core {:.1} GFLOP/s", peak::flops_per_second(0.1) / 1e9);
    for (height, width, inputs, outputs, stride) in [
        (12, 12, 3, 16, 1),
        (12, 12, 16, 32, 1),
        (20, 20, 3, 32, 1),
        (20, 20, 32, 64, 1),
        (64, 80, 3, 16, 2),
        (32, 40, 16, 32, 2),
    ] {
        kernels(Sizes { height, width, inputs, outputs, stride });
    }
    println!("branch on 12×12 images, µs per image (10th percentile)");
    for keep in [true, false] {
        let (forward, backward) = branch(keep, 50);
        let what = if keep { "features kept" } else { "features computed twice" };
        println!("  {what:<24}forward {forward:5.1}, backward {backward:5.1}, together {:5.1}", forward + backward);
    }
}
