//! Time-stepping schemes for `z_t = λz + N(z)` with a diagonal λ, by their coefficients.

use nalgebra::Complex;
use std::f64::consts::PI;

/// Linear combination of a scheme: the next stage (in the last line, the next state) is
/// `state·z + Σ rates[j]·N(stage j)`. Stage 0 is the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Factor of the state.
    pub state: f64,
    /// Factors of the nonlinear rates at the preceding stages.
    pub rates: Vec<f64>,
}

impl Combination {
    fn new<const N: usize>(state: f64, rates: [f64; N]) -> Self {
        Self { state, rates: rates.into() }
    }
}

/// Runge–Kutta scheme whose coefficients depend on the linear rate of each mode: explicit, implicit–explicit or
/// exponential.
pub trait Scheme: Send + Sync {
    /// Coefficients for a mode with linear rate `lambda`, line by line; line `i` has `i + 1` rates.
    fn lines(&self, lambda: f64, dt: f64) -> Vec<Combination>;
}

/// Crank–Nicolson for λ, explicit Euler for the rest: `(1 − ½dt λ) z' = (1 + ½dt λ) z + dt N(z)`. First order in N.
#[derive(Clone, Copy, Debug)]
pub struct CrankNicolsonEuler;

impl Scheme for CrankNicolsonEuler {
    fn lines(&self, lambda: f64, dt: f64) -> Vec<Combination> {
        let half = 0.5 * dt * lambda;
        vec![Combination::new((1.0 + half) / (1.0 - half), [dt / (1.0 - half)])]
    }
}

/// Exponential time differencing of fourth order in the form of Cox and Matthews: exact for N = 0, no stiffness from λ.
#[derive(Clone, Copy, Debug)]
pub struct Etdrk4;

impl Scheme for Etdrk4 {
    fn lines(&self, lambda: f64, dt: f64) -> Vec<Combination> {
        let [half, first, middle, last] = contour(dt * lambda).map(|mean| dt * mean);
        let (whole_way, half_way) = ((dt * lambda).exp(), (0.5 * dt * lambda).exp());
        vec![
            Combination::new(half_way, [half]),
            Combination::new(half_way, [0.0, half]),
            Combination::new(whole_way, [half * (half_way - 1.0), 0.0, 2.0 * half]),
            Combination::new(whole_way, [first, 2.0 * middle, 2.0 * middle, last]),
        ]
    }
}

/// The four functions of ETDRK4 at a real `c`. Their formulas suffer from cancellation near zero, so each is the mean
/// over a circle around `c` (Kassam and Trefethen), by symmetry over its upper half: 32 points give full precision.
fn contour(c: f64) -> [f64; 4] {
    const POINTS: usize = 32;
    let mut sums = [0.0; 4];
    for point in 0..POINTS {
        let (sin, cos) = (PI * (point as f64 + 0.5) / POINTS as f64).sin_cos();
        let r = Complex::new(c + cos, sin);
        let (e, half) = (r.exp(), (r * 0.5).exp());
        let (square, cube) = (r * r, r * r * r);
        let values = [
            (half - 1.0) / r,
            (e * (square - r * 3.0 + 4.0) - r - 4.0) / cube,
            (e * (r - 2.0) + r + 2.0) / cube,
            (e * (-r + 4.0) - square - r * 3.0 - 4.0) / cube,
        ];
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value.re / POINTS as f64);
    }
    sums
}

/// Classical Runge–Kutta scheme of fourth order, explicit in λ too: stable for −2.78 < dt·λ ≤ 0.
#[derive(Clone, Copy, Debug)]
pub struct Rk4;

impl Scheme for Rk4 {
    fn lines(&self, lambda: f64, dt: f64) -> Vec<Combination> {
        // Stage i+1 is z + reach·(λ·stage i + N(stage i)); stages and rates are expanded in z and in N at the stages.
        let mut stages = vec![Combination::new(1.0, [])];
        for reach in [0.5 * dt, 0.5 * dt, dt] {
            let before = stages.last().expect("stage 0");
            let rates = before.rates.iter().map(|rate| reach * lambda * rate).chain([reach]).collect();
            stages.push(Combination { state: 1.0 + reach * lambda * before.state, rates });
        }
        let mut last = Combination::new(1.0, [0.0; 4]);
        for (i, (stage, weight)) in stages.iter().zip([1.0, 2.0, 2.0, 1.0]).enumerate() {
            let share = weight * dt / 6.0;
            last.state += share * lambda * stage.state;
            last.rates[i] += share;
            stage.rates.iter().enumerate().for_each(|(j, rate)| last.rates[j] += share * lambda * rate);
        }
        stages.remove(0);
        stages.push(last);
        stages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One step for `z_t = λz + μz`: the nonlinear rate is μz.
    fn growth(scheme: &dyn Scheme, lambda: f64, mu: f64, dt: f64) -> f64 {
        let (mut rates, mut z) = (vec![mu], 1.0);
        for line in scheme.lines(lambda, dt) {
            z = line.state + line.rates.iter().zip(&rates).map(|(a, n)| a * n).sum::<f64>();
            rates.push(mu * z);
        }
        z
    }

    #[test]
    fn orders_on_a_linear_equation() {
        for (scheme, order) in [(&CrankNicolsonEuler as &dyn Scheme, 1.0), (&Etdrk4, 4.0), (&Rk4, 4.0)] {
            let error = |dt: f64| (growth(scheme, -2.0, 0.7, dt) - (-1.3 * dt).exp()).abs();
            // The error of one step is one order higher.
            let found = (error(0.04) / error(0.02)).log2() - 1.0;
            assert!((found - order).abs() < 0.1, "order {found} instead of {order}");
        }
    }

    #[test]
    fn runge_kutta_is_the_series_of_the_exponential() {
        let x: f64 = 0.3 * -1.7;
        let series = 1.0 + x + x * x / 2.0 + x.powi(3) / 6.0 + x.powi(4) / 24.0;
        assert!((growth(&Rk4, -1.7, 0.0, 0.3) - series).abs() < 1e-15);
        assert!((growth(&Rk4, -2.0, 0.3, 0.3) - series).abs() < 1e-15, "linear and nonlinear parts are treated alike");
    }

    #[test]
    fn contour_means_meet_the_formulas_where_those_are_accurate() {
        let c: f64 = -3.0;
        let e = c.exp();
        let exact = [
            ((c / 2.0).exp() - 1.0) / c,
            (-4.0 - c + e * (4.0 - 3.0 * c + c * c)) / c.powi(3),
            (2.0 + c + e * (c - 2.0)) / c.powi(3),
            (-4.0 - 3.0 * c - c * c + e * (4.0 - c)) / c.powi(3),
        ];
        contour(c).iter().zip(exact).for_each(|(a, b)| assert!((a - b).abs() < 1e-14, "{a} not {b}"));
        contour(0.0).iter().zip([0.5, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]).for_each(|(a, b)| assert!((a - b).abs() < 1e-14));
    }
}
