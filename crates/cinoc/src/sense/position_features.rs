//! Features of a position.

use super::Instrument;
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::kernel::parallel;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};
use std::f64::consts::PI;

/// Fourier features `sin(κkx)` for k = 1, 2, 4, 8, then `cos`, for each coordinate scaled to [0, 1]. Input
/// `[batch, agents, d]`, output `[batch, agents, 8d]`.
///
/// The higher frequencies follow from the first by doubling the angle: one sine and one cosine per coordinate.
pub struct PositionFeatures {
    /// Rate κ/L of each coordinate.
    rates: Vec<Real>,
}

impl PositionFeatures {
    /// Values per coordinate.
    const EACH: usize = 8;

    /// Creates features of positions on a grid; constants unless positions are `known` to agents.
    pub fn of(grid: &Grid, known: bool) -> Self {
        let rate = |(length, periodic): (&Real, &bool)| {
            let kappa = if *periodic { 2.0 * PI } else { PI };
            ((if known { kappa } else { 0.0 }) / *length as f64) as Real
        };
        Self { rates: grid.lengths.iter().zip(&grid.periodic).map(rate).collect() }
    }

    /// Values per agent.
    pub fn count(&self) -> usize {
        Self::EACH * self.rates.len()
    }

    /// Number of coordinates.
    pub fn axes(&self) -> usize {
        self.rates.len()
    }

    /// Instrument of the agent's position, if it is known.
    pub fn instrument(&self) -> Option<Instrument> {
        let known = self.rates.iter().any(|rate| *rate != 0.0);
        known.then(|| Instrument::new("position", self.axes(), "position of the agent, along each axis from its lower end"))
    }

    /// Creates features of coordinates with these lengths; κ = π with walls, 2π on a ring, 0 if positions are unknown.
    pub fn new(lengths: &[Real], kappa: f64) -> Self {
        Self { rates: lengths.iter().map(|&length| (kappa / length as f64) as Real).collect() }
    }
}

impl Op for PositionFeatures {
    fn name(&self) -> &'static str {
        "position"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0].last(), self.rates.len(), "position: positions {:?}", x[0]);
        x[0].with_last(self.count())
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        parallel::rows(y, Self::EACH, 8 * Self::EACH, |first, y| {
            for (i, (y, x)) in y.chunks_exact_mut(Self::EACH).zip(&x[0][first..]).enumerate() {
                let (mut sin, mut cos) = (self.rates[(first + i) % self.rates.len()] * x).sin_cos();
                for k in 0..4 {
                    (y[k], y[4 + k]) = (sin, cos);
                    (sin, cos) = (2.0 * sin * cos, 1.0 - 2.0 * sin * sin);
                }
            }
        });
    }

    fn vjp(&self, _: &Inputs, y: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let Some(x_bar) = bars.get(0) else { return };
        for (i, (x_bar, (y, y_bar))) in
            x_bar.iter_mut().zip(y.chunks_exact(Self::EACH).zip(y_bar.chunks_exact(Self::EACH))).enumerate()
        {
            let rate = self.rates[i % self.rates.len()];
            for (k, times) in [1.0, 2.0, 4.0, 8.0].into_iter().enumerate() {
                *x_bar += rate * times * (y_bar[k] * y[4 + k] - y_bar[4 + k] * y[k]);
            }
        }
    }

    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        let (axes, angle) = (self.axes(), x[0] * x[0].tape().constant([self.axes()], &self.rates));
        let (mut sin, mut cos) = (angle.sin(), angle.cos());
        let (mut all, mut all_cos) = (sin, cos);
        for _ in 1..4 {
            (sin, cos) = (sin * cos * 2.0, sin.square().affine(-2.0, 1.0));
            (all, all_cos) = (all.join(sin), all_cos.join(cos));
        }
        // Reorders from all axes of each function to all functions of each axis.
        let order = (0..axes * Self::EACH).map(|i| (i % Self::EACH * axes + i / Self::EACH) as u32).collect();
        Some(all.join(all_cos).gather(&order))
    }
}
