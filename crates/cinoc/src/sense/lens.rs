//! Window of a single agent: samples of the error and of its slopes around it.

use super::Window;
use super::instrument::{Domain, Instrument, Lens, Source};
#[cfg(feature = "files")]
use super::probe::Probe;
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::Var;
use std::sync::Arc;

impl Lens {
    /// Creates a lattice of `points` per axis, evenly over a window of this width. The last axis is the fastest.
    pub fn new(grid: &Grid, points: usize, window: f64) -> Self {
        let along = |j: usize| ((j as f64 / (points - 1) as f64 - 0.5) * window) as Real;
        let d = grid.dimensions();
        let offset = |i: usize| (0..d).rev().map(|c| along(i / points.pow(c as u32) % points)).collect();
        let offsets = (0..points.pow(d as u32)).map(offset).collect();
        Self { offsets, steps: (0..d).map(|c| grid.spacing(c) as Real).collect(), domain: Domain::of(grid) }
    }

    /// Creates a single point, where the agent is.
    #[cfg(feature = "files")]
    pub fn point(grid: &Grid) -> Self {
        let d = grid.dimensions();
        Self { offsets: vec![vec![0.0; d]], steps: vec![0.0; d], domain: Domain::of(grid) }
    }
}

/// A lens with the scale of its samples in an observation.
pub struct Scaled {
    lens: Lens,
    gain: Real,
    /// Factor on slopes: the gain times the width of the window.
    slope: Real,
    /// Slopes of a box: indices of all points of each axis in turn among those of all axes of each point, and the other way.
    by_axis: Option<[Arc<[u32]>; 2]>,
}

impl Scaled {
    /// Creates the lens of a window that has been checked.
    pub fn new(grid: &Grid, window: &Window) -> Self {
        let lens = Lens::new(grid, window.points, window.window);
        let (points, axes) = (lens.offsets.len(), lens.steps.len());
        let by_axis = (axes == 3).then(|| {
            let transposed =
                |rows: usize, columns: usize| (0..points * axes).map(|i| (i % rows * columns + i / rows) as u32).collect();
            [transposed(points, axes), transposed(axes, points)]
        });
        Self { lens, gain: window.gain as Real, slope: (window.gain * window.window) as Real, by_axis }
    }

    /// Operation that computes the patch.
    #[cfg(feature = "files")]
    pub fn probe(&self, grid: &Grid, window: &Window) -> Probe {
        Probe::new(grid, &self.lens, self.gain, Some(self.slope)).through_position(window.through_position)
    }

    /// Number of samples.
    pub fn points(&self) -> usize {
        self.lens.offsets.len()
    }

    fn axes(&self) -> usize {
        self.lens.steps.len()
    }

    /// Noise and bias of the values of a patch, in units of those of the field: samples have both; slopes, differences
    /// over two cells, have the noise of two samples and no bias.
    pub fn sensor_scales(&self) -> Vec<[Real; 2]> {
        let sample = [self.gain, self.gain];
        let slopes: Vec<[Real; 2]> = self.lens.steps.iter().map(|dx| [self.slope / (2.0 as Real).sqrt() / dx, 0.0]).collect();
        let points = self.lens.offsets.len();
        if self.axes() != 2 {
            return std::iter::once(sample).chain(slopes).flat_map(|scale| vec![scale; points]).collect();
        }
        (0..points).flat_map(|_| std::iter::once(sample).chain(slopes.iter().copied())).collect()
    }

    /// Instruments of samples and slopes.
    pub fn instruments(&self) -> [Instrument; 2] {
        let (points, axes) = (self.lens.offsets.len(), self.axes());
        let error =
            "the error z - z*, field minus target, at the points of cinoc_offset around the agent, in the unit of the field";
        let order =
            ["", ", for each point along x, then along y", ", for each point along x, then along y, then along z"][axes - 1];
        let slope = format!("the slope of z - z* at the same points{order}, in the unit of the field per unit of length");
        [
            Instrument::new("error", points, error).with_source(Source::Error(self.lens.clone())),
            Instrument::new("slope", axes * points, slope).with_source(Source::Slope),
        ]
    }

    /// Converts readings to a patch: on a line and in a box all samples, then all slopes along each axis in turn; in the
    /// plane the sample and the two slopes of each point.
    pub fn shown<'t>(&self, error: Var<'t>, slope: Var<'t>) -> Var<'t> {
        let (error, slope, shape) = (error * self.gain, slope * self.slope, error.shape());
        if self.axes() != 2 {
            return error.join(self.by_axis.as_ref().map_or(slope, |[by_axis, _]| slope.gather(by_axis)));
        }
        let of_points = |x: Var<'t>, each: usize| x.reshape([x.shape().count() / each, each]);
        of_points(error, 1).join(of_points(slope, self.axes())).reshape(shape.with_last(shape.last() * (1 + self.axes())))
    }

    /// Converts a patch to readings.
    pub fn readings<'t>(&self, patch: Var<'t>) -> [Var<'t>; 2] {
        let (points, axes, shape) = (self.lens.offsets.len(), self.axes(), patch.shape());
        let (error, slope) = if axes != 2 {
            let slope = patch.columns(points, (1 + axes) * points);
            (patch.columns(0, points), self.by_axis.as_ref().map_or(slope, |[_, by_point]| slope.gather(by_point)))
        } else {
            let each = patch.reshape([shape.count() / (1 + axes), 1 + axes]);
            (
                each.columns(0, 1).reshape(shape.with_last(points)),
                each.columns(1, 1 + axes).reshape(shape.with_last(axes * points)),
            )
        };
        [error * (1.0 / self.gain), slope * (1.0 / self.slope)]
    }
}
