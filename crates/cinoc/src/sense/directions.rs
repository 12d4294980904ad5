//! Directions from an agent to the centroids of the density and of its target.

use super::Instrument;
use crate::Real;
use cinoc_pde::calculus::Moments;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};

/// Vector from the agent to the centroid, its unit vector and its length, for the density and for the target; ten
/// values.
///
/// Inputs: positions `[batch, agents, 2]`, moments of the density and of the target, `[batch, 4]` each; output
/// `[batch, agents, 10]`.
pub struct Directions;

/// Offset that keeps the unit vector finite at distance zero.
const SOFTENING: Real = 1e-6;

impl Directions {
    /// Values per agent.
    pub const COUNT: usize = 2 * EACH;

    /// Instrument from which an agent derives this.
    pub fn instrument(&self) -> Instrument {
        let about = "vectors from the agent to the centroid of the field, x and y, and to that of its target, x and y";
        Instrument::new("centroids", 4, about)
    }

    /// Converts observed values to the reading of the instrument.
    pub fn reading<'t>(&self, shown: Var<'t>) -> Var<'t> {
        shown.columns(0, 2).join(shown.columns(EACH, EACH + 2))
    }

    /// Converts a reading of the instrument to observed values.
    pub fn shown<'t>(&self, reading: Var<'t>) -> Var<'t> {
        let each = |from: usize| {
            let d = reading.columns(from, from + 2);
            let r = d.square().sum_keeping(2).sqrt().repeat(1);
            d.join(d / (r + SOFTENING).repeat(2).reshape(d.shape())).join(r)
        };
        each(0).join(each(2))
    }
}

/// Values per centroid.
const EACH: usize = 5;

/// Vector from `xi` to the centroid of instance `b`, and its length.
fn to_centroid(xi: &[Real], moments: &[Real], b: usize) -> ([Real; 2], Real) {
    let d = [moments[b * Moments::COUNT + 1] - xi[0], moments[b * Moments::COUNT + 2] - xi[1]];
    (d, (d[0] * d[0] + d[1] * d[1]).sqrt())
}

impl Op for Directions {
    fn name(&self) -> &'static str {
        "directions"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0].last() == 2 && x[1] == x[2] && x[1].sizes() == [x[0].sizes()[0], Moments::COUNT];
        assert!(fits, "directions: positions {:?}, moments {:?} and {:?}", x[0], x[1], x[2]);
        x[0].with_last(Self::COUNT)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let agents = x.shape(0).sizes()[1];
        for (m, (y, xi)) in y.chunks_exact_mut(Self::COUNT).zip(x[0].chunks_exact(2)).enumerate() {
            for (y, input) in y.chunks_exact_mut(EACH).zip([1, 2]) {
                let (d, r) = to_centroid(xi, &x[input], m / agents);
                y.copy_from_slice(&[d[0], d[1], d[0] / (r + SOFTENING), d[1] / (r + SOFTENING), r]);
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let agents = x.shape(0).sizes()[1];
        // Cotangent of the vector from agent `m` to a centroid. The derivative of a distance of zero is taken as zero.
        let vector = |m: usize, input: usize| {
            let (d, r) = to_centroid(&x[0][2 * m..][..2], &x[input], m / agents);
            let bar = &y_bar[(2 * m + input - 1) * EACH..][..EACH];
            let scale = 1.0 / (r + SOFTENING);
            let along = if r > 0.0 { (bar[4] - (bar[2] * d[0] + bar[3] * d[1]) * scale * scale) / r } else { 0.0 };
            [bar[0] + bar[2] * scale + along * d[0], bar[1] + bar[3] * scale + along * d[1]]
        };
        if let Some(xi_bar) = bars.get(0) {
            for (m, xi_bar) in xi_bar.chunks_exact_mut(2).enumerate() {
                let (density, target) = (vector(m, 1), vector(m, 2));
                (0..2).for_each(|c| xi_bar[c] -= density[c] + target[c]);
            }
        }
        for input in [1, 2] {
            let Some(moments_bar) = bars.get(input) else { continue };
            for m in 0..x.shape(0).rows() {
                let d_bar = vector(m, input);
                (0..2).for_each(|c| moments_bar[m / agents * Moments::COUNT + 1 + c] += d_bar[c]);
            }
        }
    }
}
