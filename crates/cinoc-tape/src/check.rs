//! Are the derivatives right? Central differences and the adjoint identity, for every crate's tests and for `cinoc check`.

use crate::{Adjoints, Memory, Real, Shape, Tape, Var};

/// Numbers in [-1, 1) that look random and are always the same.
pub fn noise(count: usize, seed: u64) -> Vec<Real> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as f64 / (1u64 << 30) as f64 - 1.0) as Real
        })
        .collect()
}

/// A function to be checked: its inputs by shape and value.
pub type Point = Vec<(Shape, Vec<Real>)>;

/// The function itself, written with variables.
pub type Function<'f> = dyn for<'t> Fn(&[Var<'t>]) -> Var<'t> + 'f;

/// The value of `f` and its product with `y_bar` by each input.
pub fn pull_back(point: &Point, f: &Function, y_bar: Option<&[Real]>) -> (Vec<Real>, Vec<Vec<Real>>) {
    let tape = Tape::new(Memory::default(), &[]);
    let (inputs, output) = {
        let inputs: Vec<Var> = point.iter().map(|(shape, x)| tape.input(*shape, x)).collect();
        let ids: Vec<_> = inputs.iter().map(|x| x.id()).collect();
        (ids, f(&inputs).id())
    };
    let memory = tape.into_memory();
    let y = memory.value(&[], output).to_vec();
    let Some(y_bar) = y_bar else { return (y, Vec::new()) };
    let mut bars = Adjoints::default();
    bars.start(&memory, 0);
    bars.seed(&memory, output, y_bar);
    memory.backward(&[], &mut bars);
    let each = inputs.iter().zip(point).map(|(id, (shape, _))| {
        let bar = bars.of(&memory, *id);
        if bar.is_empty() { vec![0.0; shape.count()] } else { bar.to_vec() }
    });
    (y, each.collect())
}

/// What a check found.
#[derive(Clone, Copy, Debug)]
pub struct Agreement {
    /// The derivative along the direction by the backward sweep.
    pub exact: f64,
    /// The same by central differences.
    pub measured: f64,
    /// Their difference, relative to the size of the terms.
    pub error: f64,
}

fn dot(a: &[Real], b: &[Real]) -> f64 {
    a.iter().zip(b).map(|(a, b)| *a as f64 * *b as f64).sum()
}

/// Compares `⟨ȳ, J·d⟩`, by central differences of step `step`, with `⟨Jᵀ·ȳ, d⟩`, by the backward sweep, for a random `ȳ` and direction `d`:
/// adjoint identity and finite differences at once, as no forward derivatives are written anywhere.
pub fn compare(point: &Point, f: &Function, step: f64, seed: u64) -> Agreement {
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

/// Fails unless the derivatives of `f` agree with central differences: to 1e-7 in `f64`, to 5e-3 in `f32`.
///
/// # Panics
/// When they do not.
pub fn assert_derivative(inputs: &[(&[usize], &[Real])], f: impl for<'t> Fn(&[Var<'t>]) -> Var<'t>) {
    let point: Point = inputs.iter().map(|(shape, x)| (Shape::new(shape), x.to_vec())).collect();
    let (step, limit) = if cfg!(feature = "f64") { (1e-5, 1e-7) } else { (5e-3, 5e-3) };
    for seed in [1, 2, 3] {
        let found = compare(&point, &f, step, seed);
        assert!(found.error < limit, "derivative off by {:.1e}: {found:?}", found.error);
    }
}
