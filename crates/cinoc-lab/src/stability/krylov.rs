//! Krylov methods: eigenvalues and linear solves by Arnoldi's method.

use super::spectrum::eigenvalues;
use cinoc::internal::random::{Rng, Stream};
use nalgebra::{Complex, ComplexField, DMatrix, DVector};
use std::f64::consts::{FRAC_PI_2, PI};

/// A real or complex number.
pub trait Scalar: ComplexField<RealField = f64> + Copy {}

impl<T: ComplexField<RealField = f64> + Copy> Scalar for T {}

/// Orthonormal vectors that span `b, Ab, A²b, …`, and the projection of `A` on them.
struct Arnoldi<T> {
    basis: Vec<Vec<T>>,
    /// Columns, each one longer than the one before.
    columns: Vec<Vec<T>>,
}

impl<T: Scalar> Arnoldi<T> {
    fn new(start: &[T]) -> Self {
        let size = norm(start);
        Self { basis: vec![start.iter().map(|x| x.unscale(size)).collect()], columns: Vec::new() }
    }

    /// Adds one dimension; returns false if the subspace is invariant.
    fn extend(&mut self, apply: &mut dyn FnMut(&[T]) -> Vec<T>) -> bool {
        let mut next = apply(self.basis.last().expect("a first vector"));
        let before = norm(&next);
        let mut column = vec![T::zero(); self.basis.len() + 1];
        // Orthogonalised twice, which is enough.
        for _ in 0..2 {
            for (v, h) in self.basis.iter().zip(&mut column) {
                let share = v.iter().zip(&next).fold(T::zero(), |sum, (v, x)| sum + v.conjugate() * *x);
                next.iter_mut().zip(v).for_each(|(x, v)| *x -= share * *v);
                *h += share;
            }
        }
        let left = norm(&next);
        *column.last_mut().expect("a column") = T::from_real(left);
        self.columns.push(column);
        let more = left > 1e-12 * before && self.basis.len() < next.len();
        if more {
            next.iter_mut().for_each(|x| *x = x.unscale(left));
            self.basis.push(next);
        }
        more
    }

    /// Returns the projection of `A` on the first vectors, with `rows` rows.
    fn hessenberg(&self, rows: usize) -> DMatrix<T> {
        DMatrix::from_fn(rows, self.columns.len(), |i, j| self.columns[j].get(i).copied().unwrap_or(T::zero()))
    }

    /// Returns the eigenvalues of the projection.
    fn eigenvalues(&self) -> Vec<Complex<f64>> {
        eigenvalues(self.hessenberg(self.columns.len()).map(|x| Complex::new(x.real(), x.imaginary())))
    }
}

/// Returns the [`largest`] eigenvalues of the operator `apply` on vectors of length `size`: the subspace grows until
/// they change by no more than `tolerance` of their magnitudes allows.
pub fn leading<T: Scalar>(
    size: usize,
    tolerance: impl Fn(f64) -> f64,
    apply: &mut dyn FnMut(&[T]) -> Vec<T>,
) -> [Complex<f64>; 2] {
    let start: Vec<T> = Rng::new(0, Stream::Search, 0).normals(size).into_iter().map(T::from_real).collect();
    let mut arnoldi = Arnoldi::new(&start);
    let mut found: Option<[Complex<f64>; 2]> = None;
    loop {
        let grow = (arnoldi.columns.len() / 2).max(20);
        let more = (0..grow).all(|_| arnoldi.extend(apply));
        let now = largest(&arnoldi.eigenvalues());
        let same = |(a, b): (&Complex<f64>, &Complex<f64>)| (a.norm() - b.norm()).abs() < tolerance(b.norm());
        if found.is_some_and(|found| found.iter().zip(&now).all(same)) || !more {
            return now;
        }
        found = Some(now);
    }
}

/// Returns the largest of some factors per tick: of all, and of those with a phase below a quarter turn.
pub fn largest(factors: &[Complex<f64>]) -> [Complex<f64>; 2] {
    [PI, FRAC_PI_2].map(|turn| {
        let chosen = factors.iter().copied().filter(|factor| factor.arg().abs() <= turn);
        chosen.fold(Complex::new(0.0, 0.0), |most, factor| if factor.norm() > most.norm() { factor } else { most })
    })
}

/// Solves `Ax = b` by GMRES, in a subspace of at most `most` dimensions, until the residual is below `tolerance` of
/// `b`.
pub fn solve(b: &[f64], most: usize, tolerance: f64, apply: &mut dyn FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let size = norm(b);
    let mut arnoldi = Arnoldi::new(b);
    loop {
        let more = arnoldi.extend(apply);
        let n = arnoldi.columns.len();
        if more && n < most && !n.is_multiple_of(5) {
            continue;
        }
        let h = arnoldi.hessenberg(n + 1);
        let right = DVector::from_fn(n + 1, |i, _| if i == 0 { size } else { 0.0 });
        let y = h.clone().svd(true, true).solve(&right, 1e-14).expect("both factors were computed");
        if !more || n >= most || (h * &y - right).norm() < tolerance * size {
            let mut x = vec![0.0; b.len()];
            for (v, y) in arnoldi.basis.iter().zip(y.iter()) {
                x.iter_mut().zip(v).for_each(|(x, v)| *x += y * v);
            }
            return x;
        }
    }
}

/// Returns the Euclidean norm.
pub fn norm<T: Scalar>(x: &[T]) -> f64 {
    x.iter().map(|x| x.modulus_squared()).sum::<f64>().sqrt()
}
