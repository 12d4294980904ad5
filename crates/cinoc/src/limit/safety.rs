//! Velocities that never lead into a keep-out disc.

use crate::Real;
use crate::geometry::Disc;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// The part of its distance to a disc that an agent may cover in one tick. One would do; less lets it slow down before it stops.
const PER_TICK: f64 = 0.5;

/// How agents keep out of discs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SafetySettings {
    /// Distance from a disc that is kept.
    pub clearance: f64,
    /// Distance from a disc at which agents start, where there is room.
    pub margin: f64,
    /// Time between two decisions.
    pub tick_time: f64,
    /// Largest speed along each axis.
    pub speed: f64,
}

impl SafetySettings {
    /// How far from a disc an agent begins to mind it, the clearance included.
    pub fn reach(&self) -> f64 {
        self.clearance + 2f64.sqrt() * self.speed * self.tick_time / PER_TICK
    }
}

/// Takes as much of an agent's velocity away as would bring it too near to a disc, and leaves the rest as it is.
///
/// With `h = |ξ − c| − r − clearance` and the outward direction `n`, the velocity `v` is held to `v·n ≥ −½h/Δt` by `v += max(0, −½h/Δt − v·n)·n`.
/// A straight move then stays on the outer side of a tangent to the disc, so it ends outside and never cuts through. Discs lie so far apart that
/// an agent minds one of them at a time ([`SafetySettings::reach`]). What is left is scaled down where a component exceeds the actuators' limit.
/// Inputs: actions `[batch, agents, 3]` (push and velocity), positions `[batch, agents, 2]`; output: actions.
pub struct Safety {
    discs: Vec<Disc>,
    clearance: Real,
    margin: Real,
    /// From a distance to the largest speed towards a disc.
    rate: Real,
    limit: Real,
    lengths: [Real; 2],
}

/// Scale that shortens a velocity so that its largest component is within a limit, and which component that is.
fn shorten(v: [Real; 2], limit: Real) -> (Real, usize) {
    let largest = usize::from(v[1].abs() > v[0].abs());
    (if v[largest].abs() > limit { limit / v[largest].abs() } else { 1.0 }, largest)
}

fn dot(a: [Real; 2], b: [Real; 2]) -> Real {
    a[0] * b[0] + a[1] * b[1]
}

/// `a + s·b`
fn add(a: [Real; 2], s: Real, b: [Real; 2]) -> [Real; 2] {
    [a[0] + s * b[0], a[1] + s * b[1]]
}

impl Safety {
    /// For agents in a rectangle with axes of these lengths. Two discs must be twice as far apart as [`SafetySettings::reach`].
    ///
    /// # Panics
    /// Without discs, or on anything but a plane.
    pub fn new(discs: Vec<Disc>, lengths: &[Real], settings: &SafetySettings) -> Self {
        assert!(!discs.is_empty(), "safety from no discs");
        let &[width, height] = lengths else { panic!("safety is for planes, not for {} dimensions", lengths.len()) };
        let SafetySettings { clearance, margin, tick_time, speed } = *settings;
        let rate = (PER_TICK / tick_time) as Real;
        Self { discs, clearance: clearance as Real, margin: margin as Real, rate, limit: speed as Real, lengths: [width, height] }
    }

    /// Moves starting places out of the discs and, where there is room, out of their margins.
    pub fn settle(&self, xi: &mut [Real]) {
        for xi in xi.as_chunks_mut::<2>().0 {
            // Out of one margin may be into another; the last word is that of the discs themselves.
            for margin in [self.margin; 8].into_iter().chain([self.clearance]) {
                for disc in &self.discs {
                    let bearing = disc.bearing(*xi);
                    if bearing.gap < margin {
                        let outward = if bearing.distance > 0.0 { bearing.outward } else { [1.0, 0.0] };
                        *xi = add(disc.centre, 1.0001 * (disc.radius + margin), outward);
                        (0..2).for_each(|c| xi[c] = xi[c].clamp(0.0, self.lengths[c]));
                    }
                }
            }
        }
    }
}

impl Op for Safety {
    fn name(&self) -> &'static str {
        "safety"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[0].last() == 3 && x[1].last() == 2 && x[0].rows() == x[1].rows(), "safety: {:?} and {:?}", x[0], x[1]);
        x[0]
    }

    /// How much each disc adds to each agent's velocity.
    fn saved(&self, x: &[Shape]) -> usize {
        x[1].rows() * self.discs.len()
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        4 * x[1].rows()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], _: &mut [Real]) {
        y.copy_from_slice(&x[0]);
        let (actions, positions) = (y.as_chunks_mut::<3>().0, x[1].as_chunks::<2>().0);
        for ((action, &xi), added) in actions.iter_mut().zip(positions).zip(saved.chunks_exact_mut(self.discs.len())) {
            let mut v = [action[1], action[2]];
            for (disc, added) in self.discs.iter().zip(&mut *added) {
                let bearing = disc.bearing(xi);
                *added = (-self.rate * (bearing.gap - self.clearance) - dot(v, bearing.outward)).max(0.0);
                v = add(v, *added, bearing.outward);
            }
            // An agent that nothing was added to keeps every bit.
            if added.iter().any(|added| *added > 0.0) {
                let (scale, _) = shorten(v, self.limit);
                (action[1], action[2]) = (scale * v[0], scale * v[1]);
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (actions, positions, y_bar) = (x[0].as_chunks::<3>().0, x[1].as_chunks::<2>().0, y_bar.as_chunks::<3>().0);
        let found = scratch[..4 * positions.len()].as_chunks_mut::<4>().0;
        for (m, found) in found.iter_mut().enumerate() {
            let added = &saved[m * self.discs.len()..][..self.discs.len()];
            let (xi, mut v_bar, mut xi_bar) = (positions[m], [y_bar[m][1], y_bar[m][2]], [0.0; 2]);
            if added.iter().any(|added| *added > 0.0) {
                let start = [actions[m][1], actions[m][2]];
                let mut v = self.discs.iter().zip(added).fold(start, |v, (disc, added)| add(v, *added, disc.bearing(xi).outward));
                let (scale, largest) = shorten(v, self.limit);
                let along = dot(v_bar, v);
                v_bar = [scale * v_bar[0], scale * v_bar[1]];
                if scale < 1.0 {
                    v_bar[largest] -= along * scale / v[largest];
                }
                for (disc, &added) in self.discs.iter().zip(added).rev().filter(|(_, added)| **added > 0.0) {
                    let bearing = disc.bearing(xi);
                    let n = bearing.outward;
                    v = add(v, -added, n);
                    let added_bar = dot(v_bar, n);
                    let n_bar = [added * v_bar[0] - added_bar * v[0], added * v_bar[1] - added_bar * v[1]];
                    // n turns as the agent moves across it.
                    let across = add(n_bar, -dot(n_bar, n), n);
                    let inverse = if bearing.distance > 0.0 { 1.0 / bearing.distance } else { 0.0 };
                    xi_bar = add(add(xi_bar, -self.rate * added_bar, n), inverse, across);
                    v_bar = add(v_bar, -added_bar, n);
                }
            }
            *found = [v_bar[0], v_bar[1], xi_bar[0], xi_bar[1]];
        }
        if let Some(bar) = bars.get(0) {
            for ((bar, y_bar), found) in bar.as_chunks_mut::<3>().0.iter_mut().zip(y_bar).zip(&*found) {
                bar[0] += y_bar[0];
                bar[1] += found[0];
                bar[2] += found[1];
            }
        }
        if let Some(bar) = bars.get(1) {
            for (bar, found) in bar.as_chunks_mut::<2>().0.iter_mut().zip(&*found) {
                bar[0] += found[2];
                bar[1] += found[3];
            }
        }
    }
}
