//! Choice between a direct and an iterative solution.

use super::Mesh;
use super::band::Band;
use super::matrix::Matrix;
use super::multigrid::Multigrid;
use crate::Real;

/// Numbers of a factorisation up to which it is preferred: it then stays in the cache, and solves faster than the
/// iteration (measurements in `docs/internals/decisions.md`).
const LARGEST_BAND: usize = 1 << 20;

/// Solver of systems of a mesh.
#[derive(Debug)]
pub(super) enum Solver {
    Band(Band),
    Multigrid(Multigrid),
}

impl Solver {
    pub fn new(mesh: &Mesh, fourth: bool) -> Self {
        let band = Band::new(mesh, fourth);
        if band.len() <= LARGEST_BAND { Self::Band(band) } else { Self::Multigrid(Multigrid::new(mesh)) }
    }

    /// Numbers that [`factor`](Self::factor) computes.
    pub fn len(&self) -> usize {
        match self {
            Self::Band(band) => band.len(),
            Self::Multigrid(multigrid) => multigrid.len(),
        }
    }

    /// Length of the working space of a solution.
    pub fn work(&self) -> usize {
        match self {
            Self::Band(band) => band.work(),
            Self::Multigrid(multigrid) => multigrid.work(),
        }
    }

    /// Prepares the solution for a matrix.
    pub fn factor(&self, mesh: &Mesh, matrix: &Matrix, factors: &mut [Real]) {
        match self {
            Self::Band(band) => band.factor(matrix, factors),
            Self::Multigrid(multigrid) => multigrid.factor(matrix, mesh.fluid(), factors),
        }
    }

    /// Solves for `r`, which is overwritten.
    pub fn solve(&self, factors: &[Real], matrix: &Matrix, r: &mut [Real], x: &mut [Real], work: &mut [Real]) {
        match self {
            Self::Band(band) => band.solve(factors, r, x, work),
            Self::Multigrid(multigrid) => drop(multigrid.solve(factors, matrix, r, x, work)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Side;
    use super::super::stencil::Stencil;
    use super::*;
    use cinoc_tape::check::noise;
    use nalgebra::{DMatrix, DVector};

    /// Seconds this thread has computed, which other programs do not change; 0 where the system does not say.
    fn seconds() -> f64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        text.split(' ').next().and_then(|first| first.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
    }

    /// A matrix of a step with a jumping coefficient, its conductances and those of `lap`.
    struct Example {
        mesh: Mesh,
        second: Vec<Real>,
        lap: Vec<Real>,
        fourth: Option<Real>,
    }

    impl Example {
        fn new(mesh: Mesh, rate: f64, fourth: Option<f64>) -> Self {
            let n = mesh.count();
            let k: Vec<Real> = noise(n, 5).iter().map(|x| if *x > 0.5 { 20.0 } else { 1.5 + x }).collect();
            let (mut second, mut lap) = (vec![0.0; mesh.conductances_len()], vec![0.0; mesh.conductances_len()]);
            let dx = mesh.spacing(0);
            mesh.conduct(&k, (rate * dx.powi(2)) as Real, &mut second);
            mesh.conduct(&vec![1.0; n], 1.0, &mut lap);
            Self { mesh, second, lap, fourth: fourth.map(|c| (c * dx.powi(4)) as Real) }
        }

        fn matrix(&self) -> Matrix<'_> {
            let fourth = self.fourth.map(|c| (c, self.mesh.conductances(&self.lap).matrix));
            Matrix { second: self.mesh.conductances(&self.second).matrix, fourth }
        }

        /// Solves for `r` and returns the solution, the seconds of factorisation and solution, and the iterations.
        fn solve(&self, solver: &Solver, r: &[Real], measured: bool) -> (Vec<Real>, [f64; 2], usize) {
            let (mut factors, mut work) = (vec![0.0; solver.len()], vec![0.0; solver.work()]);
            let (mut x, mut spare, matrix, mut iterations) = (vec![0.0; r.len()], r.to_vec(), self.matrix(), 0);
            let factorisation = time(measured, || solver.factor(&self.mesh, &matrix, &mut factors));
            let solution = time(measured, || {
                spare.copy_from_slice(r);
                match solver {
                    Solver::Band(band) => band.solve(&factors, r, &mut x, &mut work),
                    Solver::Multigrid(multigrid) => {
                        iterations = multigrid.solve(&factors, &matrix, &mut spare, &mut x, &mut work);
                    }
                }
            });
            (x, [factorisation, solution], iterations)
        }
    }

    /// Seconds of a call, over a fifth of a second of them if measured.
    fn time(measured: bool, mut f: impl FnMut()) -> f64 {
        let mut calls = 1;
        loop {
            let start = seconds();
            (0..calls).for_each(|_| f());
            let taken = seconds() - start;
            if taken > 0.2 || !measured {
                return taken / calls as f64;
            }
            calls *= 2;
        }
    }

    fn meshes() -> Vec<Mesh> {
        let (ring, wall) = (|| [Side::Periodic, Side::Periodic], || [Side::Value, Side::exchange(3.0)]);
        let solid = |mesh: Mesh| {
            let solid: Vec<bool> = noise(mesh.count(), 8).iter().map(|x| *x > 0.6).collect();
            mesh.with_solid(&solid)
        };
        vec![
            Mesh::new(&[9], &[1.0], vec![wall()]),
            Mesh::new(&[8], &[1.0], vec![ring()]),
            solid(Mesh::new(&[7, 10], &[1.0, 0.4], vec![wall(), ring()])),
            Mesh::new(&[10, 6], &[1.0, 1.0], vec![ring(), wall()]),
            solid(Mesh::new(&[5, 4, 7], &[1.0, 2.0, 1.0], vec![[Side::Flux, Side::Open], ring(), wall()])),
            Mesh::new(&[1, 2, 3], &[1.0; 3], vec![ring(), ring(), wall()]),
        ]
    }

    #[test]
    fn both_solvers_agree_with_a_dense_solution() {
        for mesh in meshes() {
            for fourth in [None, Some(2.0)] {
                let example = Example::new(mesh.clone(), 2.0, fourth);
                let n = example.mesh.count();
                let mut dense = DMatrix::<f64>::zeros(n, n);
                example.matrix().entries(|i, j, value| dense[(i, j)] += value as f64);
                let r: Vec<Real> = noise(n, 3).iter().zip(example.mesh.fluid()).map(|(r, fluid)| r * fluid).collect();
                let right = DVector::from_iterator(n, r.iter().map(|r| *r as f64));
                let mut product = vec![0.0; n];
                example.matrix().apply(&r, &mut product, &mut vec![0.0; n]);
                let limit = 2e4 * f64::from(f32::EPSILON).min(Real::EPSILON as f64);
                let close = |found: &[Real], wanted: &DVector<f64>, what: &str| {
                    let error = found.iter().zip(wanted).map(|(a, b)| (*a as f64 - b).abs()).fold(0.0, f64::max);
                    assert!(error < limit * wanted.amax(), "{what}, {:?}, {fourth:?}: {error:e}", mesh.cells());
                };
                close(&product, &(&dense * &right), "product");
                let wanted = dense.lu().solve(&right).expect("regular");
                let band = Solver::Band(Band::new(&example.mesh, fourth.is_some()));
                close(&example.solve(&band, &r, false).0, &wanted, "band");
                let multigrid = Solver::Multigrid(Multigrid::new(&example.mesh));
                close(&example.solve(&multigrid, &r, false).0, &wanted, "multigrid");
            }
        }
    }

    #[test]
    fn numbers_of_matrices_are_symmetric() {
        let example = Example::new(meshes().swap_remove(2), 1.0, Some(1.0));
        let Stencil { own, faces, .. } = example.matrix().second;
        assert!(own.iter().chain(faces).all(|g| *g >= 0.0));
    }

    /// Prints the table of `docs/internals/decisions.md`:
    /// `cargo test -p cinoc-pde --lib volume -- --ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    fn times_of_both_solvers() {
        let wall = || [Side::Value, Side::exchange(3.0)];
        for (cells, rate, fourth) in [
            (vec![256], 10.0, None),
            (vec![64, 64], 10.0, None),
            (vec![64, 64], 10.0, Some(1.0)),
            (vec![100, 100], 10.0, None),
            (vec![128, 128], 10.0, None),
            (vec![224, 224], 1.0, None),
            (vec![224, 224], 10.0, None),
            (vec![224, 224], 1000.0, None),
            (vec![224, 224], 0.0, Some(100.0)),
            (vec![16, 16, 16], 10.0, None),
            (vec![32, 32, 32], 10.0, None),
            (vec![64, 64, 64], 1.0, None),
            (vec![64, 64, 64], 10.0, None),
            (vec![64, 64, 64], 1000.0, None),
        ] {
            let mesh = Mesh::new(&cells, &vec![1.0; cells.len()], cells.iter().map(|_| wall()).collect());
            let example = Example::new(mesh, rate, fourth);
            let r = noise(example.mesh.count(), 3);
            for solver in
                [Solver::Band(Band::new(&example.mesh, fourth.is_some())), Solver::Multigrid(Multigrid::new(&example.mesh))]
            {
                if solver.len() > 1 << 25 {
                    continue;
                }
                let (x, [factorisation, solution], iterations) = example.solve(&solver, &r, true);
                let (mut left, mut work) = (vec![0.0; r.len()], vec![0.0; r.len()]);
                example.matrix().apply(&x, &mut left, &mut work);
                let norm = |x: &[Real]| x.iter().map(|x| (*x as f64).powi(2)).sum::<f64>().sqrt();
                left.iter_mut().zip(&r).for_each(|(left, r)| *left -= r);
                println!(
                    "{cells:?} rate {rate} fourth {fourth:?} {:9}: factorisation {:8.3} ms, solution {:8.3} ms, {iterations:3} iterations, {:7.2} MB, residual {:.1e}",
                    if matches!(solver, Solver::Band(_)) { "band" } else { "multigrid" },
                    1e3 * factorisation,
                    1e3 * solution,
                    (solver.len() * size_of::<Real>()) as f64 / 1e6,
                    norm(&left) / norm(&r),
                );
            }
        }
    }
}
