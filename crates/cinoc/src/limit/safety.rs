//! Safety layer: velocities that never lead into a keep-out disc.

use crate::Real;
use crate::geometry::{Bearing, Disc, Discs};
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};

/// Fraction of its distance to a disc that an agent may cover in one tick. One would be safe; less makes it slow down
/// before it stops.
const PER_TICK: f64 = 0.5;

/// Settings of the safety layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SafetySettings {
    /// Distance to keep from a disc.
    pub clearance: f64,
    /// Initial distance from a disc, if there is room.
    pub margin: f64,
    /// Time between two decisions.
    pub tick_time: f64,
    /// Largest speed of agents along each axis.
    pub speed: f64,
    /// Largest speed of discs.
    pub disc_speed: f64,
}

impl SafetySettings {
    /// Distance from a disc below which it constrains an agent, clearance included.
    pub fn reach(&self) -> f64 {
        self.clearance + (2f64.sqrt() * self.speed + self.disc_speed) * self.tick_time / PER_TICK
    }
}

/// Removal of the part of a velocity that would bring an agent too close to a disc.
///
/// With `h = |ξ − c| − r − clearance` and the outward direction `n`, the velocity `v` is constrained to
/// `v·n ≥ w·n − ½h/Δt` by `v += max(0, w·n − ½h/Δt − v·n)·n`, where `w` is the velocity of the disc. In the frame of
/// the disc a straight move then stays on the outer side of a tangent, so it ends outside and never cuts through. Discs
/// are far enough apart that at most one of them constrains an agent ([`SafetySettings::reach`]). If a component then
/// exceeds the actuator limit, the velocity towards or along the disc is shortened.
///
/// If the gap between a disc and a wall is below the clearance, no agent can pass, and an agent in it could not get
/// out. Such a disc is extended to the wall: distances are those to the strip from its centre to the wall, and the
/// tangents are perpendicular to the wall, so that agents do not slide along it.
///
/// Inputs: actions `[batch, agents, 3]` (push and velocity), positions `[batch, agents, 2]` and, if discs move, ticks
/// elapsed `[batch]`; output: actions.
pub struct Safety {
    discs: Discs,
    /// Flags per disc, for the lower and upper wall of each axis: true if the disc extends to that wall.
    walls: Vec<[[bool; 2]; 2]>,
    clearance: Real,
    margin: Real,
    tick_time: Real,
    limit: Real,
    lengths: [Real; 2],
}

/// Disc relative to an agent.
struct RelativeDisc {
    bearing: Bearing,
    /// Axes along which the distance does not depend on the agent's position.
    beside: [bool; 2],
    /// Velocity of the disc.
    velocity: [Real; 2],
}

/// Returns the factor that brings the largest component of a velocity within a limit, and the index of that component.
fn shorten(v: [Real; 2], limit: Real) -> (Real, usize) {
    let largest = usize::from(v[1].abs() > v[0].abs());
    (if v[largest].abs() > limit { limit / v[largest].abs() } else { 1.0 }, largest)
}

fn dot(a: [Real; 2], b: [Real; 2]) -> Real {
    a[0] * b[0] + a[1] * b[1]
}

/// Computes `a + s·b`.
fn add(a: [Real; 2], s: Real, b: [Real; 2]) -> [Real; 2] {
    [a[0] + s * b[0], a[1] + s * b[1]]
}

impl Safety {
    /// Creates the layer for agents in a rectangle with axes of these lengths. Any two discs must be at least twice
    /// [`SafetySettings::reach`] apart.
    ///
    /// # Panics
    /// If there are no discs, or if the domain is not a plane.
    pub fn new(discs: Discs, lengths: &[Real], settings: &SafetySettings) -> Self {
        assert!(discs.count() > 0, "the safety layer needs at least one disc");
        let &[width, height] = lengths else { panic!("the safety layer needs a plane, not {} dimensions", lengths.len()) };
        let SafetySettings { clearance, margin, tick_time, speed, .. } = *settings;
        let walls = discs.discs().iter().map(|disc| reaches(disc, discs.orbit(), [width, height], clearance)).collect();
        let [clearance, margin, tick_time, limit] = [clearance, margin, tick_time, speed].map(|x| x as Real);
        Self { discs, walls, clearance, margin, tick_time, limit, lengths: [width, height] }
    }

    /// Returns disc `k` after `tick` ticks relative to an agent at `xi`.
    fn relative_disc(&self, k: usize, xi: [Real; 2], tick: Real) -> RelativeDisc {
        let disc = self.discs.disc(k, tick);
        let velocity = match self.discs.moving() {
            true => add(self.discs.disc(k, tick + 1.0).centre, -1.0, disc.centre).map(|x| x / self.tick_time),
            false => [0.0; 2],
        };
        let walls = self.walls[k];
        let beside = [0, 1].map(|c| walls[c][usize::from(xi[c] > disc.centre[c])]);
        let centre = [0, 1].map(|c| if beside[c] { xi[c] } else { disc.centre[c] });
        RelativeDisc { bearing: Disc { centre, ..disc }.bearing(xi), beside, velocity }
    }

    /// Smallest safe outward velocity.
    fn least(&self, relative: &RelativeDisc) -> Real {
        let RelativeDisc { bearing, velocity, .. } = relative;
        dot(*velocity, bearing.outward) - PER_TICK as Real * (bearing.gap - self.clearance) / self.tick_time
    }

    /// Moves initial positions out of the discs and, if there is room, out of their margins.
    pub fn settle(&self, xi: &mut [Real]) {
        for xi in xi.as_chunks_mut::<2>().0 {
            // Leaving one margin may lead into another; the last pass only guarantees the clearance.
            for margin in [self.margin.max(self.clearance); 8].into_iter().chain([self.clearance]) {
                for k in 0..self.discs.count() {
                    let RelativeDisc { bearing, beside, .. } = self.relative_disc(k, *xi, 0.0);
                    if bearing.gap < margin {
                        let outward = if bearing.distance > 0.0 { bearing.outward } else { self.away(k, beside) };
                        *xi = add(*xi, 1.0001 * (margin - bearing.gap), outward);
                        (0..2).for_each(|c| xi[c] = xi[c].clamp(0.0, self.lengths[c]));
                    }
                }
            }
        }
    }

    /// Direction in which an agent at the centre of disc `k` leaves it.
    fn away(&self, k: usize, beside: [bool; 2]) -> [Real; 2] {
        match beside {
            [false, _] => [1.0, 0.0],
            [true, false] => [0.0, 1.0],
            // In a corner: towards the middle.
            [true, true] => [if self.walls[k][0][0] { 1.0 } else { -1.0 }, 0.0],
        }
    }

    /// Shortens a velocity constrained by a disc; called if it exceeds the actuator limit.
    fn within(&self, v: [Real; 2], relative: &RelativeDisc) -> Shortened {
        let (scale, largest) = shorten(v, self.limit);
        let (least, n) = (self.least(relative), relative.bearing.outward);
        // The outward velocity must not decrease; the tangential one may.
        match scale < 1.0 && least > 0.0 && n[1 - largest] != 0.0 {
            true => Shortened::Along { largest, limit: self.limit.copysign(v[largest]), least },
            false => Shortened::Whole { scale, largest },
        }
    }

    /// Reading of the nearest disc, or of the strip from it to a wall: distance to its edge, direction away from it,
    /// and its velocity; `[batch, agents, 5]` from positions as the operation takes them.
    pub fn reading<'t>(&self, xi: Var<'t>, now: Option<Var<'t>>) -> Var<'t> {
        let (agents, positions, ticks) = (xi.shape().sizes()[1], xi.value(), now.map_or_else(Vec::new, Var::value));
        let each = positions.as_chunks::<2>().0.iter().enumerate().flat_map(|(m, &xi)| {
            let tick = ticks.get(m / agents).copied().unwrap_or(0.0);
            let all = (0..self.discs.count()).map(|k| self.relative_disc(k, xi, tick));
            let RelativeDisc { bearing: Bearing { gap, outward, .. }, velocity, .. } =
                all.reduce(|a, b| if b.bearing.gap < a.bearing.gap { b } else { a }).expect("at least one disc");
            [gap, outward[0], outward[1], velocity[0], velocity[1]]
        });
        xi.tape().placeholder(xi.shape().with_last(Self::KNOWN), &each.collect::<Vec<_>>())
    }

    /// Values per agent in [`reading`](Self::reading).
    pub const KNOWN: usize = 5;

    /// Applies the layer to agents with these readings of the nearest disc; no other disc constrains them.
    pub fn known<'t>(&self, action: Var<'t>, reading: Var<'t>) -> Var<'t> {
        let dot = |a: Var<'t>, b: Var<'t>| (a * b).sum_keeping(2).repeat(1);
        let (gap, n, velocity) = (reading.columns(0, 1), reading.columns(1, 3), reading.columns(3, 5));
        let per_gap = PER_TICK as Real / self.tick_time;
        let least = dot(velocity, n) + gap.affine(-per_gap, per_gap * self.clearance);
        let v = action.columns(1, 3);
        let added = (least - dot(v, n)).relu();
        let v = v + n * added.join(added);
        // Puts the larger component first: `turn` is 0 or 1, and turning twice is the identity.
        let turn = (v.columns(1, 2).abs() - v.columns(0, 1).abs()).step();
        let turned = |x: Var<'t>| {
            let (a, b) = (x.columns(0, 1), x.columns(1, 2));
            (b.select(turn, a), a.select(turn, b))
        };
        let ((large, small), (n_large, n_small)) = (turned(v), turned(n));
        let over = (large.abs() - self.limit).relu();
        let scale = 1.0 / self.limit;
        // Shortens the whole velocity; the factor is one within the limit.
        let factor = over.affine(scale, 1.0);
        let whole = (large / factor, small / factor);
        // Sets the largest component to the limit and the other such that the outward velocity is the smallest safe
        // one.
        let largest = large / large.abs().affine(1.0, Real::MIN_POSITIVE) * self.limit;
        let denominator = n_small + n_small.abs().step().affine(-1.0, 1.0);
        let other = ((least - largest * n_large) / denominator).clamp(-self.limit, self.limit);
        let retreats = over.step() * least.step() * n_small.abs().step();
        let (large, small) = (largest.select(retreats, whole.0), other.select(retreats, whole.1));
        action.columns(0, 1).join(small.select(turn, large)).join(large.select(turn, small))
    }

    fn tick(&self, x: &Inputs, agent: usize) -> Real {
        if self.discs.moving() { x[2][agent / x.shape(1).sizes()[1]] } else { 0.0 }
    }
}

/// Ways to bring a velocity within the limits.
enum Shortened {
    /// Scales the whole velocity.
    Whole { scale: Real, largest: usize },
    /// Sets the largest component to the limit and the other such that the outward velocity is the smallest safe one.
    Along { largest: usize, limit: Real, least: Real },
}

/// Returns, for the lower and upper wall of each axis, true if the gap to an orbiting disc is below the clearance.
fn reaches(disc: &Disc, orbit: f64, lengths: [Real; 2], clearance: f64) -> [[bool; 2]; 2] {
    let size = disc.radius as f64 + orbit + clearance;
    [0, 1].map(|c| [(disc.centre[c] as f64) < size, disc.centre[c] as f64 + size > lengths[c] as f64])
}

impl Op for Safety {
    fn name(&self) -> &'static str {
        "safety"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[0].last() == 3 && x[1].last() == 2 && x[0].rows() == x[1].rows(), "safety: {:?} and {:?}", x[0], x[1]);
        assert_eq!(x.len(), if self.discs.moving() { 3 } else { 2 }, "safety: takes the time if and only if discs move");
        x[0]
    }

    /// Amount that each disc adds to each agent's velocity.
    fn saved(&self, x: &[Shape]) -> usize {
        x[1].rows() * self.discs.count()
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        4 * x[1].rows()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], _: &mut [Real]) {
        y.copy_from_slice(&x[0]);
        let (actions, positions) = (y.as_chunks_mut::<3>().0, x[1].as_chunks::<2>().0);
        let each = actions.iter_mut().zip(positions).zip(saved.chunks_exact_mut(self.discs.count())).enumerate();
        for (m, ((action, &xi), saved)) in each {
            let tick = self.tick(x, m);
            let (mut v, mut last) = ([action[1], action[2]], None);
            for (k, added) in saved.iter_mut().enumerate() {
                let relative = self.relative_disc(k, xi, tick);
                let n = relative.bearing.outward;
                *added = (self.least(&relative) - dot(v, n)).max(0.0);
                v = add(v, *added, n);
                if *added > 0.0 {
                    last = Some(relative);
                }
            }
            // An agent with nothing added keeps every bit.
            if let Some(relative) = last {
                let n = relative.bearing.outward;
                v = match self.within(v, &relative) {
                    Shortened::Whole { scale, .. } => v.map(|v| scale * v),
                    Shortened::Along { largest, limit, least } => {
                        let mut v = [limit; 2];
                        v[1 - largest] = ((least - limit * n[largest]) / n[1 - largest]).clamp(-self.limit, self.limit);
                        v
                    }
                };
                (action[1], action[2]) = (v[0], v[1]);
            }
        }
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let (actions, positions) = (x[0].as_chunks::<3>().0, x[1].as_chunks::<2>().0);
        let (y, y_bar) = (y.as_chunks::<3>().0, y_bar.as_chunks::<3>().0);
        let found = scratch[..4 * positions.len()].as_chunks_mut::<4>().0;
        for (m, found) in found.iter_mut().enumerate() {
            let added = &saved[m * self.discs.count()..][..self.discs.count()];
            let (xi, tick) = (positions[m], self.tick(x, m));
            let (mut v_bar, mut xi_bar) = ([y_bar[m][1], y_bar[m][2]], [0.0; 2]);
            // Adds to the position's cotangent from those of the smallest safe velocity and of the outward direction.
            let mut add_position_bar = |relative: &RelativeDisc, least_bar: Real, n_bar: [Real; 2]| {
                let (n, distance) = (relative.bearing.outward, relative.bearing.distance);
                // n turns as the agent moves across it.
                let n_bar = add(n_bar, least_bar, relative.velocity);
                let across = add(n_bar, -dot(n_bar, n), n);
                let inverse = if distance > 0.0 { 1.0 / distance } else { 0.0 };
                let nearer = -least_bar * PER_TICK as Real / self.tick_time;
                for c in (0..2).filter(|&c| !relative.beside[c]) {
                    xi_bar[c] += nearer * n[c] + inverse * across[c];
                }
            };
            if let Some(last) = added.iter().rposition(|added| *added > 0.0) {
                let relative = |k: usize| self.relative_disc(k, xi, tick);
                let start = [actions[m][1], actions[m][2]];
                let mut v = (0..added.len()).fold(start, |v, k| add(v, added[k], relative(k).bearing.outward));
                let met = relative(last);
                match self.within(v, &met) {
                    Shortened::Whole { scale, largest } => {
                        let along = dot(v_bar, v);
                        v_bar = v_bar.map(|v_bar| scale * v_bar);
                        if scale < 1.0 {
                            v_bar[largest] -= along * scale / v[largest];
                        }
                    }
                    Shortened::Along { largest, limit, .. } => {
                        let (other, n) = (1 - largest, met.bearing.outward);
                        let free = y[m][1 + other].abs() < self.limit;
                        let least_bar = if free { v_bar[other] / n[other] } else { 0.0 };
                        let mut n_bar = [0.0; 2];
                        n_bar[largest] = -limit * least_bar;
                        n_bar[other] = -y[m][1 + other] * least_bar;
                        add_position_bar(&met, least_bar, n_bar);
                        v_bar = [0.0; 2];
                    }
                }
                for k in (0..added.len()).rev().filter(|&k| added[k] > 0.0) {
                    let (met, added) = (relative(k), added[k]);
                    let n = met.bearing.outward;
                    v = add(v, -added, n);
                    let added_bar = dot(v_bar, n);
                    add_position_bar(&met, added_bar, [0, 1].map(|c| added * v_bar[c] - added_bar * v[c]));
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
