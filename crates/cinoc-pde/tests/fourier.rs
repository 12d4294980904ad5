//! Transforms, derivatives and products in Fourier space against their definitions, and their adjoints.

use cinoc_pde::calculus::Fourier;
use cinoc_pde::{Grid, Real};
use cinoc_tape::check::{assert_derivative, noise};
use cinoc_tape::{Arena, Shape, Tape, Var};
use std::f64::consts::TAU;

const LIMIT: f64 = if cfg!(double) { 1e-12 } else { 1e-5 };

fn compute(x: &[Real], shape: &[usize], f: impl for<'t> Fn(Var<'t>) -> Var<'t>) -> (Shape, Vec<Real>) {
    let tape = Tape::new(Arena::default(), &[]);
    let y = f(tape.constant(shape, x));
    (y.shape(), y.value())
}

fn assert_close(what: &str, ours: &[Real], exact: &[f64]) {
    assert_eq!(ours.len(), exact.len(), "{what}");
    let size = exact.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
    for (i, (a, b)) in ours.iter().zip(exact).enumerate() {
        assert!((*a as f64 - b).abs() < LIMIT * size, "{what}, number {i}: {a} not {b}");
    }
}

/// The spectrum by its definition.
fn slow(x: &[Real], [n, m]: [usize; 2]) -> Vec<f64> {
    let mut spectrum = Vec::new();
    for field in x.chunks_exact(n * m) {
        for (k, l) in (0..n).flat_map(|k| (0..=m / 2).map(move |l| (k, l))) {
            let (mut re, mut im) = (0.0, 0.0);
            for (at, z) in field.iter().enumerate() {
                let angle = TAU * ((at / m * k) as f64 / n as f64 + (at % m * l) as f64 / m as f64);
                re += *z as f64 * angle.cos();
                im -= *z as f64 * angle.sin();
            }
            spectrum.extend([re, im]);
        }
    }
    spectrum
}

#[test]
fn spectra_agree_with_the_definition_and_come_back() {
    for n in [2, 8, 12, 38] {
        let (fourier, x) = (Fourier::new(&Grid::periodic(n, 3.0)), noise(5 * n, 1));
        let (shape, z_hat) = compute(&x, &[5, n], |z| fourier.forward(z));
        assert_eq!(shape.sizes(), [5, n / 2 + 1, 2]);
        assert_close("line", &z_hat, &slow(&x, [1, n]));
        let back = compute(&z_hat, shape.sizes(), |z_hat| fourier.inverse(z_hat)).1;
        assert_close("line, back", &back, &x.iter().map(|x| *x as f64).collect::<Vec<_>>());
    }
    for nodes @ [n, m] in [[4, 6], [18, 10], [8, 40]] {
        let (fourier, x) = (Fourier::new(&Grid::torus(nodes, [1.0, 2.0])), noise(3 * n * m, 1));
        let (shape, z_hat) = compute(&x, &[3, n, m], |z| fourier.forward(z));
        assert_eq!(shape.sizes(), [3, n, m / 2 + 1, 2]);
        assert_close("plane", &z_hat, &slow(&x, nodes));
        let back = compute(&z_hat, shape.sizes(), |z_hat| fourier.inverse(z_hat)).1;
        assert_close("plane, back", &back, &x.iter().map(|x| *x as f64).collect::<Vec<_>>());
    }
}

/// A field made of waves with amplitude, phase and two mode numbers.
fn waves(waves: &[(f64, f64, [i32; 2])], [n, m]: [usize; 2], f: impl Fn(f64, [f64; 2]) -> f64) -> Vec<f64> {
    let mut field = vec![0.0; n * m];
    for (at, z) in field.iter_mut().enumerate() {
        for &(amplitude, phase, [k, l]) in waves {
            let angle = TAU * (k as f64 * (at / m) as f64 / n as f64 + l as f64 * (at % m) as f64 / m as f64) + phase;
            *z += amplitude * f(angle, [k as f64, l as f64]);
        }
    }
    field
}

#[test]
fn derivatives_of_waves() {
    let (nodes, lengths) = ([12, 16], [3.0, 5.0]);
    let some = [(1.0, 0.3, [2, 3]), (0.5, 1.0, [-4, 1]), (0.7, 2.0, [0, 7]), (0.2, 0.1, [5, 0])];
    let fourier = Fourier::new(&Grid::torus(nodes, lengths));
    let z: Vec<Real> = waves(&some, nodes, |angle, _| angle.sin()).iter().map(|&z| z as Real).collect();
    for axis in 0..2 {
        let exact = waves(&some, nodes, |angle, k| TAU / lengths[axis] as f64 * k[axis] * angle.cos());
        let ours = compute(&z, &[1, 12, 16], |z| fourier.inverse(fourier.derivative(fourier.forward(z), axis))).1;
        assert_close("derivative", &ours, &exact);
    }
    let laplacian = fourier.symbol(|k| -k[0] * k[0] - k[1] * k[1]);
    let square = |k: [f64; 2]| (TAU / 3.0 * k[0]).powi(2) + (TAU / 5.0 * k[1]).powi(2);
    let exact = waves(&some, nodes, |angle, k| -square(k) * angle.sin());
    let ours = compute(&z, &[1, 12, 16], |z| fourier.inverse(fourier.forward(z).apply(&laplacian))).1;
    assert_close("laplacian", &ours, &exact);
}

#[test]
fn odd_derivatives_drop_the_nyquist_mode() {
    let fourier = Fourier::new(&Grid::periodic(8, 1.0));
    let zigzag: Vec<Real> = (0..8).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let slope = compute(&zigzag, &[1, 8], |z| fourier.inverse(fourier.derivative(fourier.forward(z), 0))).1;
    assert_close("slope", &slope, &[0.0; 8]);
}

#[test]
fn products_of_band_limited_fields_are_exact() {
    // 12 nodes: modes up to 3 have products that the grid holds up to mode 6; cut at 3|j| < 12 and aliased they must
    // equal the exact ones.
    let nodes = [12, 12];
    let fourier = Fourier::new(&Grid::torus(nodes, [1.0, 1.0]));
    let a = [(1.0, 0.4, [1, 3]), (0.6, 0.0, [-2, 1]), (0.3, 0.5, [3, 0])];
    let b = [(0.8, 0.1, [3, -2]), (0.5, 2.0, [0, 3]), (0.4, 0.7, [2, 2])];
    // cos α cos β = ½ cos(α+β) + ½ cos(α−β)
    let mut exact = Vec::new();
    for &(p, s, [i, j]) in &a {
        for &(q, t, [k, l]) in &b {
            exact.push((0.5 * p * q, s + t, [i + k, j + l]));
            exact.push((0.5 * p * q, s - t, [i - k, j - l]));
        }
    }
    let field = |waves_: &[(f64, f64, [i32; 2])]| waves(waves_, nodes, |angle, _| angle.cos());
    let real = |z: Vec<f64>| -> Vec<Real> { z.into_iter().map(|z| z as Real).collect() };
    let both: Vec<Real> = real(field(&a)).into_iter().chain(real(field(&b))).collect();
    let product = |fine: bool| {
        let tape = Tape::new(Arena::default(), &[]);
        let [a, b] = [0, 1].map(|i| fourier.forward(tape.constant([1, 12, 12], &both[144 * i..][..144])));
        fourier.inverse(if fine { fourier.coarse(fourier.fine(a) * fourier.fine(b)) } else { fourier.product(a, b) }).value()
    };
    let below = |limit: i32| exact.iter().copied().filter(|w| w.2.iter().all(|j| j.abs() < limit)).collect::<Vec<_>>();
    assert_close("2/3 rule", &product(false), &field(&below(4)));
    assert_close("3/2 rule", &product(true), &field(&below(6)));
}

#[test]
fn adjoints() {
    for grid in [Grid::periodic(12, 2.0), Grid::torus([8, 12], [1.0, 2.0])] {
        let fourier = Fourier::new(&grid);
        let mut shape = vec![2];
        shape.extend(&grid.nodes);
        let z = noise(shape.iter().product(), 3);
        let odd = fourier.odd_symbol(|k| k.iter().sum::<f64>() / 4.0);
        assert_derivative(&[(&shape, &z)], |x| fourier.forward(x[0]));
        assert_derivative(&[(&shape, &z)], |x| fourier.inverse(fourier.forward(x[0]).apply(&odd)));
        assert_derivative(&[(&shape, &z), (&shape, &z)], |x| fourier.product(fourier.forward(x[0]), fourier.forward(x[1])));
        assert_derivative(&[(&shape, &z)], |x| {
            let z_hat = fourier.forward(x[0]);
            fourier.coarse(fourier.fine(z_hat) * fourier.fine(fourier.derivative(z_hat, 0)))
        });
        // Any numbers make a spectrum here, also those that no real field has: its adjoint must hold for them.
        *shape.last_mut().expect("an axis") = grid.nodes[grid.nodes.len() - 1] / 2 + 1;
        shape.push(2);
        let z_hat = noise(shape.iter().product(), 4);
        assert_derivative(&[(&shape, &z_hat)], |x| fourier.inverse(x[0]));
        assert_derivative(&[(&shape, &z_hat)], |x| fourier.fine(x[0]));
    }
}
