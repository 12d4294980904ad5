//! Roughness of an agent's samples: a measure of its sensor noise.

use super::Patch;
use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};

/// Fourth root of the mean square of the second differences of the samples of a window, along each axis: the square
/// root of their root mean square. Noise is rough and fields are smooth, so that an agent can tell how far to trust its
/// sensors. Input: a patch `[batch, agents, p]`; output `[batch, agents, 1]`. It has no derivative.
pub struct Roughness {
    /// Samples along an axis.
    points: usize,
    axes: usize,
    /// Values of a patch: samples on a line come first, in the plane they are the first channel.
    width: usize,
    channels: usize,
}

impl Roughness {
    /// Creates the operation for patches with `points` samples along each axis, if these are enough for differences.
    pub fn new(patch: Patch, points: usize) -> Option<Self> {
        let (axes, width) = (if matches!(patch, Patch::Line(_)) { 1 } else { 2 }, patch.count());
        let channels = if let Patch::Image { channels, .. } = patch { channels } else { 1 };
        (points > 2).then_some(Self { points, axes, width, channels })
    }

    /// Mean square of the second differences of one patch.
    fn mean_square(&self, patch: &[Real]) -> Real {
        let (n, c) = (self.points, self.channels);
        let second = |at: usize, step: usize| {
            let difference = patch[at] - 2.0 * patch[at + step] + patch[at + 2 * step];
            difference * difference
        };
        let lines = if self.axes == 1 { 1 } else { n };
        let along = (0..lines).flat_map(|line| (0..n - 2).map(move |i| second((line * n + i) * c, c)));
        let across = (0..(self.axes - 1) * (n - 2) * n).map(|at| second(at * c, n * c));
        along.chain(across).sum::<Real>() / (self.axes * lines * (n - 2)) as Real
    }
}

impl Op for Roughness {
    fn name(&self) -> &'static str {
        "roughness"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0].last(), self.width, "roughness of {:?}", x[0]);
        x[0].with_last(1)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        // Squares of a diverged field overflow; what agents observe stays finite.
        let root = |patch| self.mean_square(patch).min(Real::MAX).sqrt().sqrt();
        y.iter_mut().zip(x[0].chunks_exact(self.width)).for_each(|(y, patch)| *y = root(patch));
    }

    fn vjp(&self, _: &Inputs, _: &[Real], _: &[Real], _: &[Real], _: &mut Cotangents, _: &mut [Real]) {}

    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        let (n, shape) = (self.points, x[0].shape());
        let rows = shape.rows();
        let second = |all: Var<'t>, step: usize| {
            let last = all.shape().last();
            let middle = all.columns(step, last - step) * -2.0;
            (all.columns(0, last - 2 * step) + middle + all.columns(2 * step, last)).square()
        };
        let square = match self.axes {
            1 => second(x[0].columns(0, n), 1).mean_keeping(2),
            _ => {
                let samples = x[0].reshape([rows * n * n, self.channels]).columns(0, 1);
                let along = second(samples.reshape([rows * n, n]), 1).reshape([rows, n * (n - 2)]);
                let across = second(samples.reshape([rows, n * n]), n);
                along.join(across).reshape(shape.with_last(2 * n * (n - 2))).mean_keeping(2)
            }
        };
        Some(square.sqrt().sqrt().reshape(shape.with_last(1)))
    }
}
