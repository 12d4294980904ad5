//! Distance and direction to the nearest keep-out disc.

use super::Instrument;
use crate::Real;
use crate::geometry::{Bearing, Discs};
use cinoc_tape::kernel::math::tanh;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};

/// Length scale of the saturating distance.
const FAR: Real = 0.2;

/// Distance to the nearest disc, `tanh(h/0.2)` with `h = |ξ − c| − r − clearance`, and the unit vector towards it.
/// Inputs: positions `[batch, agents, 2]` and, if discs move, ticks elapsed `[batch]`; output `[batch, agents, 3]`.
pub struct Nearest {
    discs: Discs,
    clearance: Real,
}

impl Nearest {
    /// Values per agent.
    pub const WIDTH: usize = 3;

    /// Creates the operation.
    ///
    /// # Panics
    /// If there are no discs.
    pub fn new(discs: Discs, clearance: f64) -> Self {
        assert!(discs.count() > 0, "`Nearest` needs at least one disc");
        Self { discs, clearance: clearance as Real }
    }

    /// Instrument from which an agent derives this.
    pub fn instrument(&self) -> Instrument {
        let about = "the nearest disc: distance to its edge, and unit vector from the agent towards its centre, x and y";
        Instrument::new("disc", Self::WIDTH, about)
    }

    /// Reading of the instrument for agents at `xi`.
    pub fn reading<'t>(&self, xi: Var<'t>, now: Option<Var<'t>>) -> Var<'t> {
        let agents = xi.shape().sizes()[1];
        let ticks = now.map_or_else(Vec::new, Var::value);
        let positions = xi.value();
        let each = positions.as_chunks::<2>().0.iter().enumerate().flat_map(|(m, &xi)| {
            let Bearing { gap, outward: [x, y], .. } = self.nearest(ticks.get(m / agents).copied().unwrap_or(0.0), xi);
            [gap, -x, -y]
        });
        xi.tape().placeholder(xi.shape().with_last(Self::WIDTH), &each.collect::<Vec<_>>())
    }

    /// Converts a reading of the instrument to observed values.
    pub fn shown<'t>(&self, reading: Var<'t>) -> Var<'t> {
        let distance = reading.columns(0, 1).affine(1.0 / FAR, -self.clearance / FAR).tanh();
        distance.join(reading.columns(1, Self::WIDTH))
    }

    /// Bearing of agent `m` to the nearest disc.
    fn bearing(&self, x: &Inputs, m: usize, xi: [Real; 2]) -> Bearing {
        self.nearest(if self.discs.moving() { x[1][m / x.shape(0).sizes()[1]] } else { 0.0 }, xi)
    }

    fn nearest(&self, tick: Real, xi: [Real; 2]) -> Bearing {
        let each = self.discs.at(tick).map(|disc| disc.bearing(xi));
        each.reduce(|a, b| if b.gap < a.gap { b } else { a }).expect("at least one disc")
    }
}

impl Op for Nearest {
    fn name(&self) -> &'static str {
        "nearest"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert_eq!(x[0].last(), 2, "nearest: positions {:?}", x[0]);
        x[0].with_last(Self::WIDTH)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        for (m, (y, &xi)) in y.as_chunks_mut::<3>().0.iter_mut().zip(x[0].as_chunks::<2>().0).enumerate() {
            let Bearing { gap, outward: [nx, ny], .. } = self.bearing(x, m, xi);
            *y = [tanh((gap - self.clearance) / FAR), -nx, -ny];
        }
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let Some(xi_bar) = bars.get(0) else { return };
        let (y, y_bar) = (y.as_chunks::<3>().0, y_bar.as_chunks::<3>().0);
        for (m, (xi_bar, &xi)) in xi_bar.as_chunks_mut::<2>().0.iter_mut().zip(x[0].as_chunks::<2>().0).enumerate() {
            let Bearing { distance, outward: n, .. } = self.bearing(x, m, xi);
            if distance > 0.0 {
                let [nearer, x_bar, y_bar] = y_bar[m];
                let outwards = nearer * (1.0 - y[m][0] * y[m][0]) / FAR;
                // Only motion across the line of sight turns it.
                let along = x_bar * n[0] + y_bar * n[1];
                xi_bar[0] += outwards * n[0] - (x_bar - along * n[0]) / distance;
                xi_bar[1] += outwards * n[1] - (y_bar - along * n[1]) / distance;
            }
        }
    }
}
