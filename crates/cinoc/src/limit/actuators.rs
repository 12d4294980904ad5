//! Limits of the actuators of all agents beyond ranges.

use super::Constrain;
use super::actuator::{Actuator, Alone, Tank, indicator};
use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};
use std::sync::Arc;

/// Actions that the actuators of all agents can carry out, next to wanted ones.
///
/// In turn: the range, the nearest level, the rate, the tank; then, where agents share a limit and exceed it, all their
/// actions are scaled down by the same factor, but none faster than its rate. NaN counts as 0. Other components of an
/// action, such as velocities, are unchanged.
/// Inputs: wanted and previous actions `[batch, agents, k]`, strength `[batch, agents]` and, with tanks, their levels
/// between 0 and 1, `[batch, agents, tanks]`; output: actions, zero for failed agents. The derivative passes through
/// levels as if there were none.
pub struct Actuators {
    channels: Vec<Actuator>,
}

/// Share by which floors may exceed a shared limit by rounding.
const ROUNDING: f64 = 1e-3;

/// Scaling of actions by a shared limit.
#[derive(Clone, Copy)]
struct Scale {
    factor: Real,
    /// True if floors are kept.
    floors: bool,
}

impl Scale {
    /// Returns true if the factor would scale an action down too fast.
    fn holds(self, one: &Alone) -> bool {
        self.floors && self.factor * one.u.abs() < one.least
    }
}

impl Actuators {
    /// Creates the limits of these channels, the first components of an action.
    pub fn new(channels: Vec<Actuator>) -> Self {
        Self { channels }
    }

    /// The actuators.
    pub fn channels(&self) -> &[Actuator] {
        &self.channels
    }

    fn tanks(&self) -> usize {
        self.channels.iter().filter(|channel| channel.tank.is_some()).count()
    }

    fn is_shared(&self) -> bool {
        self.channels.iter().any(|channel| channel.shared.is_some())
    }

    /// Returns the used share of each shared limit, `[batch, agents, limits]`, the same for all agents.
    pub fn used<'t>(&self, action: Var<'t>) -> Option<Var<'t>> {
        let agents = action.shape().sizes()[1];
        let limits = self.channels.iter().enumerate().filter_map(|(c, channel)| Some((c, channel.shared?)));
        let used = limits.map(|(c, most)| {
            let sum = action.columns(c, c + 1).abs().reshape([action.shape().sizes()[0], agents]).sum_keeping(1);
            (sum * (1.0 / most)).reshape([action.shape().sizes()[0], 1]).repeat_rows(agents)
        });
        used.reduce(|all, one| all.join(one))
    }

    /// Action of an agent, by its index among all of the batch, before the shared limit.
    fn alone(&self, x: &Inputs, m: usize, c: usize) -> Alone {
        if x[2][m] <= 0.0 || x[2][m].is_nan() {
            return Alone::REST;
        }
        let (k, tanks) = (x.shape(0).last(), self.tanks());
        let before = self.channels[..c].iter().filter(|channel| channel.tank.is_some()).count();
        let level = if self.channels[c].tank.is_some() { x[3][m * tanks + before] } else { 0.0 };
        self.channels[c].alone(x[0][m * k + c], x[1][m * k + c], level)
    }

    /// The largest factor that meets a shared limit: Newton's method on a sum that is convex and linear in pieces, from
    /// above, ends at its solution.
    fn scale(&self, x: &Inputs, agents: std::ops::Range<usize>, c: usize) -> Scale {
        let sum = |of: &dyn Fn(&Alone) -> Real| agents.clone().map(|m| of(&self.alone(x, m, c)) as f64).sum::<f64>();
        let Some(most) = self.channels[c].shared.map(|most| most as f64) else { return Scale { factor: 1.0, floors: false } };
        let total = sum(&|one| one.u.abs());
        if total <= most {
            return Scale { factor: 1.0, floors: false };
        }
        // Previous actions beyond the limit have no claim to their rate.
        let floors = sum(&|one| one.least) <= most * (1.0 + ROUNDING);
        let mut scale = Scale { factor: (most / total) as Real, floors };
        loop {
            let held = sum(&|one| if scale.holds(one) { one.least } else { 0.0 });
            let free = sum(&|one| if scale.holds(one) { 0.0 } else { one.u.abs() });
            let next = if free > 0.0 { ((most - held) / free).max(0.0) as Real } else { 0.0 };
            if next >= scale.factor || free == 0.0 {
                break;
            }
            scale.factor = next;
        }
        scale.factor *= 1.0 - 2.0 * Real::EPSILON;
        scale
    }

    /// Index of what is saved of a channel of an instance.
    fn saved_at(&self, b: usize, c: usize) -> usize {
        2 * (b * self.channels.len() + c)
    }
}

impl Constrain for Arc<Actuators> {
    fn tanks(&self) -> usize {
        Actuators::tanks(self)
    }

    fn is_shared(&self) -> bool {
        Actuators::is_shared(self)
    }

    fn constrain<'t>(&self, wanted: Var<'t>, previous: Var<'t>, strength: Var<'t>, stock: Option<Var<'t>>) -> Var<'t> {
        match stock {
            Some(stock) => wanted.tape().record(self, [wanted, previous, strength, stock]),
            None => wanted.tape().record(self, [wanted, previous, strength]),
        }
    }

    fn drained<'t>(&self, stock: Var<'t>, action: Var<'t>) -> Var<'t> {
        let tanks = self.channels.iter().enumerate().filter_map(|(c, channel)| Some((c, channel.tank?)));
        let after = tanks.enumerate().map(|(i, (c, Tank { size, refill }))| {
            let change = action.columns(c, c + 1).abs().affine(-1.0 / size, refill / size);
            (stock.columns(i, i + 1) + change).clamp(0.0, 1.0)
        });
        after.reduce(|all, one| all.join(one)).unwrap_or(stock)
    }
}

impl Op for Actuators {
    fn name(&self) -> &'static str {
        "actuators"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let fits = x[0] == x[1] && x[0].rows() == x[2].count() && x[0].last() >= self.channels.len();
        let tanks = self.tanks() == 0 || (x.len() == 4 && x[3] == x[0].with_last(self.tanks()));
        assert!(fits && tanks, "actuators: {x:?}");
        x[0]
    }

    fn saved(&self, x: &[Shape]) -> usize {
        self.saved_at(x[0].sizes()[0], 0)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], _: &mut [Real]) {
        let &[batch, agents, k] = x.shape(0).sizes() else { unreachable!() };
        for ((y, wanted), strength) in y.chunks_exact_mut(k).zip(x[0].chunks_exact(k)).zip(&x[2]) {
            let kept = |x: Real| if x.is_nan() || *strength <= 0.0 || strength.is_nan() { 0.0 } else { x };
            y.iter_mut().zip(wanted).for_each(|(y, x)| *y = kept(*x));
        }
        for (b, c) in (0..batch).flat_map(|b| (0..self.channels.len()).map(move |c| (b, c))) {
            let scale = self.scale(x, b * agents..(b + 1) * agents, c);
            saved[self.saved_at(b, c)..][..2].copy_from_slice(&[scale.factor, indicator(scale.floors)]);
            for m in b * agents..(b + 1) * agents {
                let one = self.alone(x, m, c);
                y[m * k + c] = if scale.holds(&one) { one.least.copysign(one.u) } else { scale.factor * one.u };
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let &[batch, agents, k] = x.shape(0).sizes() else { unreachable!() };
        let (count, tanks) = (self.channels.len(), self.tanks());
        for (which, input) in [0, 1, 3].into_iter().enumerate().take(if tanks > 0 { 3 } else { 2 }) {
            let Some(bar) = bars.get(input) else { continue };
            for (m, strength) in x[2].iter().enumerate().filter(|_| which == 0) {
                let passed = |c: &usize| !x[0][m * k + c].is_nan() && *strength > 0.0;
                (count..k).filter(passed).for_each(|c| bar[m * k + c] += y_bar[m * k + c]);
            }
            for (b, c) in (0..batch).flat_map(|b| (0..count).map(move |c| (b, c))) {
                let tank = self.channels[..c].iter().filter(|channel| channel.tank.is_some()).count();
                if which == 2 && self.channels[c].tank.is_none() {
                    continue;
                }
                let at = self.saved_at(b, c);
                let (scale, all) = (Scale { factor: saved[at], floors: saved[at + 1] > 0.0 }, b * agents..(b + 1) * agents);
                // Cotangent of the factor, per magnitude that it scales.
                let mut sums = [0.0; 2];
                if scale.factor < 1.0 {
                    for m in all.clone() {
                        let one = self.alone(x, m, c);
                        if !scale.holds(&one) {
                            sums[0] += (y_bar[m * k + c] * one.u) as f64;
                            sums[1] += one.u.abs() as f64;
                        }
                    }
                }
                let pull = if sums[1] > 0.0 { (sums[0] / sums[1]) as Real } else { 0.0 };
                for m in all {
                    let (one, y_bar) = (self.alone(x, m, c), y_bar[m * k + c]);
                    let change = match scale.holds(&one) {
                        true => one.least_slopes[which] * (y_bar * (1 as Real).copysign(one.u) - pull),
                        false => one.slopes[which] * scale.factor * (y_bar - pull * (1 as Real).copysign(one.u)),
                    };
                    bar[if which == 2 { m * tanks + tank } else { m * k + c }] += change;
                }
            }
        }
    }

    /// For one agent that shares nothing.
    fn decompose<'t>(&self, x: &[Var<'t>]) -> Option<Var<'t>> {
        if self.is_shared() {
            return None;
        }
        let (mut tank, k) = (0, x[0].shape().last());
        let each = self.channels.iter().enumerate().map(|(c, channel)| {
            let [low, high] = channel.range;
            let mut u = x[0].columns(c, c + 1).clamp(low, high);
            if let Some(levels) = channel.levels {
                let gap = (high - low) / (levels - 1) as Real;
                let above = |level: usize| u.affine(1.0, -low - (level as Real - 0.5) * gap).step();
                u = (2..levels).fold(above(1), |sum, level| sum + above(level)).affine(gap, low);
            }
            if let Some(rate) = channel.rate {
                let before = x[1].columns(c, c + 1).clamp(low, high);
                u = before + (u - before).clamp(-rate, rate);
            }
            if let Some(Tank { size, refill }) = channel.tank {
                let most = x[3].columns(tank, tank + 1).clamp(0.0, 1.0).affine(size, refill);
                tank += 1;
                u = u - (u - most).relu() + (u * -1.0 - most).relu();
            }
            u
        });
        let pushes = each.reduce(|all, one| all.join(one))?;
        Some(if k == self.channels.len() { pushes } else { pushes.join(x[0].columns(self.channels.len(), k)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc_tape::check::assert_derivative;
    use cinoc_tape::{Arena, Tape};

    fn actuators(shared: [Option<Real>; 2]) -> Arc<Actuators> {
        let [push, heat] = shared;
        let tank = Some(Tank { size: 2.0, refill: 0.1 });
        Arc::new(Actuators::new(vec![
            Actuator { range: [-4.0, 4.0], levels: None, rate: Some(0.5), tank: None, shared: push },
            Actuator { range: [0.0, 5.0], levels: None, rate: None, tank, shared: heat },
        ]))
    }

    const WANTED: [Real; 12] = [0.9, 3.0, 0.3, -1.1, 1.0, -0.2, 2.5, 0.2, 0.1, 0.3, 2.2, 0.4];
    const BEFORE: [Real; 12] = [1.0, 0.0, 0.0, -0.9, 0.0, 0.0, 1.2, 0.0, 0.0, 1.2, 0.0, 0.0];
    const STOCK: [Real; 4] = [0.4, 0.9, 0.5, 0.3];

    fn applied(actuators: &Arc<Actuators>, wanted: &[Real], strength: &[Real]) -> Vec<Real> {
        let tape = Tape::new(Arena::default(), &[]);
        let [wanted, before] = [wanted, &BEFORE].map(|x| tape.constant([1, 4, 3], x));
        let (strength, stock) = (tape.constant([1, 4], strength), tape.constant([1, 4, 1], &STOCK));
        actuators.constrain(wanted, before, strength, Some(stock)).value()
    }

    fn close(a: &[Real], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (*a as f64 - b).abs() < 1e-5)
    }

    #[test]
    fn a_shared_limit_scales_all_by_one_factor_but_none_faster_than_its_rate() {
        let alone = applied(&actuators([None, None]), &WANTED, &[1.0; 4]);
        assert!(close(&alone, &[0.9, 0.9, 0.3, -1.1, 1.0, -0.2, 1.7, 0.2, 0.1, 0.7, 0.7, 0.4]), "{alone:?}");
        let shared = applied(&actuators([Some(3.0), Some(2.0)]), &WANTED, &[1.0; 4]);
        // The last push falls by its rate, the others share what is left.
        let [f, g] = [(3.0 - 0.7) / 3.7, 2.0 / 2.8];
        let expected = [0.9 * f, 0.9 * g, 0.3, -1.1 * f, g, -0.2, 1.7 * f, 0.2 * g, 0.1, 0.7, 0.7 * g, 0.4];
        assert!(close(&shared, &expected), "{shared:?}");
    }

    #[test]
    fn failed_agents_share_nothing_and_nan_is_rest() {
        let mut wanted = WANTED;
        wanted[6] = Real::NAN;
        wanted[10] = Real::NAN;
        let found = applied(&actuators([Some(3.0), Some(2.0)]), &wanted, &[1.0, 0.0, 1.0, 1.0]);
        assert!(close(&found, &[0.9, 0.9, 0.3, 0.0, 0.0, 0.0, 0.7, 0.2, 0.1, 0.7, 0.0, 0.4]), "{found:?}");
    }

    #[test]
    fn derivatives_are_exact() {
        for shared in [[None, None], [Some(3.0), Some(2.0)], [Some(30.0), Some(2.5)]] {
            let actuators = actuators(shared);
            let shape: &[usize] = &[1, 4, 3];
            assert_derivative(&[(shape, &WANTED), (shape, &BEFORE), (&[1, 4, 1], &STOCK)], |v| {
                let strength = v[0].tape().constant([1, 4], &[1.0; 4]);
                actuators.constrain(v[0], v[1], strength, Some(v[2]))
            });
        }
    }
}
