//! The largest stable step of explicit terms.

use crate::Real;
use cinoc_tape::{Adjoints, Arena, Shape, Tape, Var};

/// Growth of an oscillation by time stepping, as a share of its frequency, that is tolerated with the first and the second
/// order: 200 and 40 steps per period.
const TOLERATED: [f64; 2] = [1.0 / 64.0, 1.0 / 2048.0];

/// Sizes of a state: its shape, its fields, and the cells along each axis.
pub struct Sizes<'a> {
    pub state: Shape,
    pub fields: usize,
    pub cells: &'a [usize],
}

/// Returns the largest step around a state, where `rate` records the rate of change by the explicit terms.
///
/// The derivative of the rate is applied to patterns of signs, which include those that first and second differences
/// change most. Its largest values, a number for each pair of fields, bound all rates together, whatever the units of the
/// fields; pairs that oscillate without damping need smaller steps, since the methods amplify oscillations.
pub fn stable_step(sizes: &Sizes, z: &[Real], second_order: bool, rate: impl for<'t> Fn(Var<'t>) -> Var<'t>) -> f64 {
    let &Sizes { state, fields, cells } = sizes;
    let tape = Tape::new(Arena::default(), &[]);
    let z = tape.input(state, z);
    let rate = rate(z);
    let (z, rate, count) = (z.id(), rate.id(), state.count());
    let (arena, n) = (tape.into_arena(), count / fields);
    let mut bars = Adjoints::default();
    let (mut largest, mut step) = (vec![vec![0.0_f64; fields]; fields], f64::INFINITY);
    for pattern in patterns(cells) {
        let mut derivative = |field: usize| -> Vec<Real> {
            let mut seed = vec![0.0; count];
            seed[field * n..][..n].copy_from_slice(&pattern);
            bars.start(&arena, 0);
            bars.seed(&arena, rate, &seed);
            arena.backward(&[], &mut bars);
            let mut row = bars.of(&arena, z).to_vec();
            row.resize(count, 0.0);
            row
        };
        let rows: Vec<_> = (0..fields).map(&mut derivative).collect();
        for (largest, row) in largest.iter_mut().zip(&rows) {
            for (most, part) in largest.iter_mut().zip(row.chunks_exact(n)) {
                *most = part.iter().fold(*most, |most, x| most.max(x.abs() as f64));
            }
        }
        for (a, b) in (0..fields).flat_map(|b| (0..b).map(move |a| (a, b))) {
            for (cell, sign) in pattern.iter().enumerate() {
                let local = |i: usize, j: usize| (rows[i][j * n + cell] * sign) as f64;
                let pair = [[local(a, a), local(a, b)], [local(b, a), local(b, b)]];
                step = step.min(oscillation_step(pair, second_order));
            }
        }
    }
    step.min(1.0 / spectral_radius(largest))
}

/// Patterns of signs over cells: products of those along each axis, all alike, alternating, and in pairs.
fn patterns(cells: &[usize]) -> impl Iterator<Item = Vec<Real>> {
    let sign = |pattern: usize, i: usize| match pattern {
        1 if i % 2 == 1 => -1.0,
        2 if i % 4 > 1 => -1.0,
        _ => 1.0,
    };
    (0..3usize.pow(cells.len() as u32)).map(move |choice| {
        let (mut all, mut choice) = (vec![1.0], choice);
        for count in cells.iter().rev() {
            let inner = all;
            all = (0..*count).flat_map(|i| inner.iter().map(move |x| x * sign(choice % 3, i))).collect();
            choice /= 3;
        }
        all
    })
}

/// Largest step at which a pair with this derivative does not grow by time stepping: Euler's method adds `h·ω²/2` to the
/// rate of growth of an oscillation, those of second order `h³·ω⁴/8`. Infinite if the pair does not oscillate.
fn oscillation_step([[aa, ab], [ba, bb]]: [[f64; 2]; 2], second_order: bool) -> f64 {
    let square = -(0.25 * (aa - bb).powi(2) + ab * ba);
    if square.is_nan() || square <= 0.0 {
        return f64::INFINITY;
    }
    let frequency = square.sqrt();
    let tolerated = (-0.5 * (aa + bb) / frequency).max(TOLERATED[usize::from(second_order)]);
    (if second_order { (8.0 * tolerated).cbrt() } else { 2.0 * tolerated }) / frequency
}

/// Largest magnitude of the eigenvalues of a matrix without negative entries: the limit of `‖Aᵐ‖^(1/m)`, by squaring.
fn spectral_radius(mut a: Vec<Vec<f64>>) -> f64 {
    if let [row] = &a[..] {
        return row[0];
    }
    let (mut exponent, mut share) = (0.0, 1.0);
    for _ in 0..40 {
        let size = a.iter().map(|row| row.iter().sum()).fold(0.0, f64::max);
        if size == 0.0 || size.is_infinite() {
            return size;
        }
        exponent += share * f64::ln(size);
        share *= 0.5;
        a.iter_mut().flatten().for_each(|x| *x /= size);
        let product = |row: &Vec<f64>, j: usize| row.iter().zip(&a).map(|(x, other)| x * other[j]).sum();
        a = a.iter().map(|row| (0..row.len()).map(|j| product(row, j)).collect()).collect();
    }
    exponent.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spectral_radius_does_not_depend_on_units() {
        for (a, expected) in [
            (vec![vec![1.0, 1e4], vec![1e-4, 1.0]], 2.0),
            (vec![vec![0.0, 3.0], vec![12.0, 0.0]], 6.0),
            (vec![vec![0.0, 5.0], vec![0.0, 0.0]], 0.0),
            (vec![vec![2.0, 7.0, 0.0], vec![0.0, 1.0, 9.0], vec![0.0, 0.0, 0.5]], 2.0),
        ] {
            assert!((spectral_radius(a) - expected).abs() < 1e-6);
        }
    }

    /// Heun's method at this step multiplies an undamped oscillation by at most e^(2π/2048) in a period.
    #[test]
    fn oscillations_are_resolved() {
        let step = oscillation_step([[0.0, 4.0], [-1.0, 0.0]], true);
        let angle = 2.0 * step;
        let growth = (1.0 + 0.25 * angle.powi(4)).sqrt().powf(std::f64::consts::TAU / angle);
        assert!((0.15..0.16).contains(&angle) && growth < (std::f64::consts::TAU / 2000.0).exp(), "{angle}: {growth}");
        assert!(oscillation_step([[0.0, 4.0], [1.0, 0.0]], true).is_infinite());
    }
}
