//! Faults of sensors: lost, stuck, infinite and absurd readings that begin, last and end.

use super::missing::samples;
use cinoc::Real;
use cinoc::export::Program;
use cinoc::internal::random::Rng;
use std::ops::Range;

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Samples that the mask marks as lost; NaN where a policy has no mask.
    Masked,
    /// NaN.
    NotANumber,
    /// Plus or minus infinity.
    Infinite,
    /// Finite numbers beyond the range of the instruments.
    Huge,
    /// The last reading before the fault.
    Stuck,
    /// Finite numbers of any magnitude; those within the range are not noticed.
    Absurd,
    /// Any of the above in the strength alone.
    Strength,
    /// Any of the above, drawn for each reading in each tick.
    Mixed,
}

impl Kind {
    pub const ALL: [Self; 8] =
        [Self::Masked, Self::NotANumber, Self::Infinite, Self::Huge, Self::Stuck, Self::Absurd, Self::Strength, Self::Mixed];

    /// Returns true if faulty readings of this kind are noticed, or plausible: agents then recover soon.
    pub fn mild(self) -> bool {
        !matches!(self, Self::Absurd | Self::Mixed)
    }
}

/// Returns a whole number below `count`.
pub fn below(rng: &mut Rng, count: usize) -> usize {
    (rng.uniform(0.0, count as f64) as usize).min(count - 1)
}

/// Returns the numbers of the readings of each sensor but the strength: those of a sample with a mask belong together.
pub fn sensors(program: &Program) -> Vec<Vec<usize>> {
    let samples = samples(program);
    let alone = (0..program.readings() - 1).filter(|i| !samples.iter().any(|sample| sample.contains(i)));
    alone.map(|i| vec![i]).chain(samples.iter().cloned()).collect()
}

/// A fault of some sensors of one agent.
pub struct Fault {
    kind: Kind,
    /// Ticks with faulty readings.
    pub ticks: Range<usize>,
    /// Numbers of the faulty readings.
    affected: Vec<usize>,
    /// Numbers of the mask, and of all readings of samples that have one.
    mask: Vec<usize>,
    masked: Vec<usize>,
    /// Range of the instruments.
    range: Real,
    /// True if absurd readings stay the same during the fault.
    steady: bool,
    /// Readings before the fault, then the faulty ones of its first tick.
    last: Vec<Real>,
    rng: Rng,
}

impl Fault {
    /// Draws a fault of one sensor, of a random share of them, or of all readings with the strength.
    pub fn drawn(mut rng: Rng, kind: Kind, ticks: Range<usize>, program: &Program) -> Self {
        let (sensors, strength) = (sensors(program), program.readings() - 1);
        let masked = samples(program);
        let (mask, masked) = (masked.iter().map(|sample| sample[0]).collect(), masked.concat());
        let share = rng.uniform(0.0, 1.0);
        let affected = match below(&mut rng, 3) {
            _ if kind == Kind::Strength => vec![strength],
            0 => sensors[below(&mut rng, sensors.len())].clone(),
            1 => sensors.iter().filter(|_| rng.uniform(0.0, 1.0) < share).flatten().copied().collect(),
            _ if kind == Kind::Masked => sensors.concat(),
            _ => (0..=strength).collect(),
        };
        let steady = rng.uniform(0.0, 1.0) < 0.5;
        Self { kind, ticks, affected, mask, masked, range: program.range(), steady, last: Vec::new(), rng }
    }

    /// Replaces the faulty readings of a tick. Ticks must follow one another from 0.
    pub fn spoil(&mut self, tick: usize, row: &mut [Real]) {
        if !self.ticks.contains(&tick) {
            self.last = row.to_vec();
            return;
        }
        for k in 0..self.affected.len() {
            let i = self.affected[k];
            row[i] = match self.kind {
                Kind::Strength | Kind::Mixed => Kind::ALL[below(&mut self.rng, 6)],
                kind => kind,
            }
            .reading(i, self, row[i]);
        }
        if self.steady && self.kind == Kind::Absurd {
            (self.kind, self.last) = (Kind::Stuck, row.to_vec());
        }
    }
}

impl Kind {
    /// Returns faulty reading number `i` where the good one is `good`.
    fn reading(self, i: usize, fault: &mut Fault, good: Real) -> Real {
        let (rng, range) = (&mut fault.rng, fault.range);
        let sign: Real = if rng.uniform(0.0, 1.0) < 0.5 { -1.0 } else { 1.0 };
        match self {
            Self::Masked if !fault.masked.contains(&i) => Real::NAN,
            Self::Masked if fault.mask.contains(&i) => 1.0,
            // A lost sample may still hold anything.
            Self::Masked => [good, 0.0, 1e5, Real::NAN][below(rng, 4)],
            Self::NotANumber => sign * Real::NAN,
            Self::Infinite => sign * Real::INFINITY,
            Self::Huge => sign * (range as f64 * 10f64.powf(rng.uniform(1e-3, 32.0))) as f32 as Real,
            Self::Stuck => fault.last.get(i).copied().unwrap_or(0.0),
            _ => {
                let edges = [range, range * (1.0 + 1e-6), f32::MAX as Real, f32::from_bits(1) as Real, 0.0];
                let any = 10f64.powf(rng.uniform(-45.0, 38.0)) as Real;
                let large = 10f64.powf(rng.uniform(1.0, 6.0)) as Real;
                // Rounded, so that single and double precision read the same.
                (sign * [any, large, edges[below(rng, edges.len())]][below(rng, 3)]) as f32 as Real
            }
        }
    }
}
