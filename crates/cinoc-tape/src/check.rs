//! Checks of derivatives by central differences and the adjoint identity, for tests and for `cinoc check`.
//!
//! ```
//! use cinoc_tape::check::{assert_derivative, noise};
//!
//! let (x, w) = (noise(6, 1), noise(12, 2));
//! assert_derivative(&[(&[2, 3], &x), (&[3, 4], &w)], |v| v[0].matmul(v[1]).tanh());
//! ```

use crate::{Adjoints, Arena, Real, Shape, Tape, Var};

/// Returns reproducible pseudo-random numbers in [-1, 1).
pub fn noise(count: usize, seed: u64) -> Vec<Real> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as f64 / (1u64 << 30) as f64 - 1.0) as Real
        })
        .collect()
}

/// Shapes and values of the inputs of a function to be checked.
pub type Point = Vec<(Shape, Vec<Real>)>;

/// A function of variables to be checked.
pub type VarFn<'f> = dyn for<'t> Fn(&[Var<'t>]) -> Var<'t> + 'f;

/// Returns the value of `f` and, with `y_bar`, the vector-Jacobian product for each input.
pub fn pull_back(point: &Point, f: &VarFn, y_bar: Option<&[Real]>) -> (Vec<Real>, Vec<Vec<Real>>) {
    let tape = Tape::new(Arena::default(), &[]);
    let (inputs, output) = {
        let inputs: Vec<Var> = point.iter().map(|(shape, x)| tape.input(*shape, x)).collect();
        let ids: Vec<_> = inputs.iter().map(|x| x.id()).collect();
        (ids, f(&inputs).id())
    };
    let arena = tape.into_arena();
    let y = arena.value(&[], output).to_vec();
    let Some(y_bar) = y_bar else { return (y, Vec::new()) };
    let mut bars = Adjoints::default();
    bars.start(&arena, 0);
    bars.seed(&arena, output, y_bar);
    arena.backward(&[], &mut bars);
    let each = inputs.iter().zip(point).map(|(id, (shape, _))| {
        let bar = bars.of(&arena, *id);
        if bar.is_empty() { vec![0.0; shape.count()] } else { bar.to_vec() }
    });
    (y, each.collect())
}

/// Result of a check.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Agreement {
    /// Directional derivative by the backward sweep.
    pub exact: f64,
    /// Directional derivative by central differences.
    pub measured: f64,
    /// Their difference relative to the magnitude of the terms.
    pub error: f64,
}

fn dot(a: &[Real], b: &[Real]) -> f64 {
    a.iter().zip(b).map(|(a, b)| *a as f64 * *b as f64).sum()
}

/// Compares `⟨ȳ, J·d⟩`, by central differences of step `step`, with `⟨Jᵀ·ȳ, d⟩`, by the backward sweep, for a random
/// `ȳ` and direction `d`: the adjoint identity and finite differences in one test, since operations have no forward
/// derivatives.
pub fn compare(point: &Point, f: &VarFn, step: f64, seed: u64) -> Agreement {
    let count = pull_back(point, f, None).0.len();
    let y_bar = noise(count, seed);
    let (_, bars) = pull_back(point, f, Some(&y_bar));
    let directions: Vec<Vec<Real>> = point.iter().enumerate().map(|(i, (s, _))| noise(s.count(), seed + 17 + i as u64)).collect();
    let at = |side: f64| {
        let moved = point
            .iter()
            .zip(&directions)
            .map(|((shape, x), d)| (*shape, x.iter().zip(d).map(|(x, d)| x + (side * step) as Real * d).collect()))
            .collect();
        pull_back(&moved, f, None).0
    };
    let (plus, minus) = (at(1.0), at(-1.0));
    let measured = (dot(&y_bar, &plus) - dot(&y_bar, &minus)) / (2.0 * step);
    let exact: f64 = bars.iter().zip(&directions).map(|(b, d)| dot(b, d)).sum();
    let size: f64 =
        bars.iter().zip(&directions).map(|(b, d)| b.iter().zip(d).map(|(b, d)| (b * d).abs() as f64).sum::<f64>()).sum();
    Agreement { exact, measured, error: (exact - measured).abs() / size.max(1e-30) }
}

/// Asserts that the derivatives of `f` agree with central differences: to 1e-7 in `f64`, to 5e-3 in `f32`.
///
/// # Panics
/// If they do not agree.
pub fn assert_derivative(inputs: &[(&[usize], &[Real])], f: impl for<'t> Fn(&[Var<'t>]) -> Var<'t>) {
    let point: Point = inputs.iter().map(|(shape, x)| (Shape::new(shape), x.to_vec())).collect();
    let (step, limit) = if cfg!(double) { (1e-5, 1e-7) } else { (5e-3, 5e-3) };
    for seed in [1, 2, 3] {
        let found = compare(&point, &f, step, seed);
        assert!(found.error < limit, "derivative off by {:.1e}: {found:?}", found.error);
    }
}
