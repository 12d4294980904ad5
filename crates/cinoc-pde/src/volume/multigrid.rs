//! Iterative solution: conjugate gradients with a multigrid preconditioner.

use super::Mesh;
use super::band::dot;
use super::matrix::Matrix;
use super::stencil::Stencil;
use crate::Real;
use cinoc_tape::kernel::{parallel, vectorise};

/// Residual at which the iteration ends, relative to the first one.
const TOLERANCE: Real = if cfg!(double) { 1e-13 } else { 5e-7 };

/// Residual above which the last iteration is a failure, relative to the first one.
const FAILURE: Real = 1e4 * TOLERANCE;

/// Iterations after which rounding prevents progress.
const ITERATIONS: usize = 200;

/// Damping of the smoothing steps.
const DAMPING: Real = 0.8;

/// Conjugate gradients. A preconditioning step is a V-cycle over coarser and coarser meshes, whose cells are pairs along
/// the axes of the smallest spacing; their conductances are sums, halved for the doubled distance. It holds for any
/// number of cells, solid cells and jumps of coefficients, and takes no more than a few times the storage of the matrix.
///
/// With a term of fourth order, `1 + c·G²` lies between `½(1 + √c·G)²` and `(1 + √c·G)²`: two V-cycles.
#[derive(Debug)]
pub(super) struct Multigrid {
    dimensions: usize,
    levels: Vec<Level>,
    /// True if there are solid cells.
    solid: bool,
}

/// A mesh, and the axes along which the next one has half as many cells.
#[derive(Debug)]
struct Level {
    cells: [usize; 3],
    halved: [bool; 3],
}

impl Level {
    fn count(&self) -> usize {
        self.cells.iter().product()
    }

    /// Coarse row of a row, and whether pairs of its cells are joined.
    fn coarse_row(&self, row: usize, coarse: &Self) -> usize {
        let [i, j] = [row / self.cells[1], row % self.cells[1]];
        let half = |i: usize, axis: usize| if self.halved[axis] { i / 2 } else { i };
        half(i, 0) * coarse.cells[1] + half(j, 1)
    }

    /// Rows of a coarse row.
    fn rows(&self, row: usize, coarse: &Self) -> impl Iterator<Item = usize> {
        let both = |i: usize, axis: usize| if self.halved[axis] { 2 * i..(2 * i + 2).min(self.cells[axis]) } else { i..i + 1 };
        let (first, second) = (both(row / coarse.cells[1], 0), both(row % coarse.cells[1], 1));
        first.flat_map(move |i| second.clone().map(move |j| i * self.cells[1] + j))
    }

    /// Sums a field over the cells of each coarse cell.
    fn restrict(&self, coarse: &Self, from: &[Real], to: &mut [Real]) {
        let (n, m) = (self.cells[2], coarse.cells[2]);
        parallel::rows(to, m, 4 * n, |first, to| {
            for (row, to) in (first..).zip(to.chunks_exact_mut(m)) {
                to.fill(0.0);
                for row in self.rows(row, coarse) {
                    let from = &from[row * n..][..n];
                    if self.halved[2] {
                        let (pairs, rest) = from.as_chunks::<2>();
                        to.iter_mut().zip(pairs).for_each(|(to, [a, b])| *to += a + b);
                        rest.iter().for_each(|x| to[m - 1] += x);
                    } else {
                        to.iter_mut().zip(from).for_each(|(to, x)| *to += x);
                    }
                }
            }
        });
    }

    /// Adds to each cell the number of its coarse cell.
    fn prolong(&self, coarse: &Self, from: &[Real], to: &mut [Real]) {
        let (n, m) = (self.cells[2], coarse.cells[2]);
        parallel::rows(to, n, n, |first, to| {
            for (row, to) in (first..).zip(to.chunks_exact_mut(n)) {
                let from = &from[self.coarse_row(row, coarse) * m..][..m];
                if self.halved[2] {
                    to.chunks_mut(2).zip(from).for_each(|(pair, x)| pair.iter_mut().for_each(|to| *to += x));
                } else {
                    to.iter_mut().zip(from).for_each(|(to, x)| *to += x);
                }
            }
        });
    }
}

/// Matrix of a level and the reciprocals of its diagonal, 0 for solid cells.
#[derive(Clone, Copy)]
struct Smoother<'a> {
    matrix: Stencil<'a>,
    inverse: &'a [Real],
}

impl Multigrid {
    pub fn new(mesh: &Mesh) -> Self {
        let (d, mut cells) = (mesh.dimensions(), mesh.box_of_cells());
        let mut spacing = [f64::INFINITY; 3];
        (0..d).for_each(|axis| spacing[3 - d + axis] = mesh.spacing(axis));
        let mut levels = Vec::new();
        loop {
            let least = (0..3).filter(|&a| cells[a] > 1).map(|a| spacing[a]).fold(f64::INFINITY, f64::min);
            let halved = [0, 1, 2].map(|a| cells[a] > 1 && spacing[a] < 1.5 * least);
            levels.push(Level { cells, halved });
            if cells == [1; 3] {
                return Self { dimensions: d, levels, solid: mesh.fluid().contains(&0.0) };
            }
            for axis in (0..3).filter(|&axis| halved[axis]) {
                (cells[axis], spacing[axis]) = (cells[axis].div_ceil(2), 2.0 * spacing[axis]);
            }
        }
    }

    /// Number of cells on all levels.
    fn all_cells(&self) -> usize {
        self.levels.iter().map(Level::count).sum()
    }

    /// Numbers of the matrices of all levels.
    pub fn len(&self) -> usize {
        (2 + self.dimensions) * self.all_cells()
    }

    /// Length of the working space of a solution.
    pub fn work(&self) -> usize {
        4 * self.levels[0].count() + 3 * self.all_cells()
    }

    /// Computes the matrices of all levels; `fluid` is 0 in solid cells.
    pub fn factor(&self, matrix: &Matrix, fluid: &[Real], all: &mut [Real]) {
        let n = self.levels[0].count();
        let (own, rest) = all.split_at_mut(n);
        let faces = &mut rest[..self.dimensions * n];
        let (scale, stencil) = match matrix.fourth {
            Some((c, lap)) => (c.max(0.0).sqrt(), lap),
            None => (1.0, matrix.second),
        };
        own.iter_mut().zip(stencil.own).zip(fluid).for_each(|((own, x), fluid)| *own = fluid * (1.0 + scale * x));
        faces.iter_mut().zip(stencil.faces).for_each(|(faces, x)| *faces = scale * x);
        let mut rest = all;
        for (l, level) in self.levels.iter().enumerate() {
            let (here, next) = rest.split_at_mut((2 + self.dimensions) * level.count());
            let (matrix, inverse) = here.split_at_mut((1 + self.dimensions) * level.count());
            let (own, faces) = matrix.split_at(level.count());
            let matrix = Stencil { cells: level.cells, own, faces };
            for (cell, inverse) in inverse.iter_mut().enumerate() {
                let mut diagonal = 0.0;
                matrix.entries(cell, |column, value| diagonal += if column == cell { value } else { 0.0 });
                *inverse = if diagonal > 0.0 { 1.0 / diagonal } else { 0.0 };
            }
            if let Some(coarse) = self.levels.get(l + 1) {
                let (own, rest) = next.split_at_mut(coarse.count());
                level.restrict(coarse, matrix.own, own);
                self.join(level, coarse, matrix.faces, &mut rest[..self.dimensions * coarse.count()]);
            }
            rest = next;
        }
    }

    /// Computes the conductances between coarse cells.
    fn join(&self, level: &Level, coarse: &Level, fine: &[Real], joined: &mut [Real]) {
        joined.fill(0.0);
        let (n, m) = (level.count(), coarse.count());
        for (a, axis) in (3 - self.dimensions..3).enumerate() {
            let stride: usize = level.cells[axis + 1..].iter().product();
            let share = if level.halved[axis] { 0.5 } else { 1.0 };
            for cell in (0..n).filter(|_| coarse.cells[axis] > 1) {
                let inside = level.halved[axis] && cell / stride % level.cells[axis] % 2 == 1;
                if !inside {
                    let (row, column) = (cell / level.cells[2], cell % level.cells[2]);
                    let column = if level.halved[2] { column / 2 } else { column };
                    let to = level.coarse_row(row, coarse) * coarse.cells[2] + column;
                    joined[a * m + to] += share * fine[a * n + cell];
                }
            }
        }
    }

    /// Matrix of the first level in `all`, and the numbers of the others.
    fn first<'a>(&self, level: &Level, all: &'a [Real]) -> (Smoother<'a>, &'a [Real]) {
        let n = level.count();
        let (own, rest) = all.split_at(n);
        let (faces, rest) = rest.split_at(self.dimensions * n);
        let (inverse, rest) = rest.split_at(n);
        (Smoother { matrix: Stencil { cells: level.cells, own, faces }, inverse }, rest)
    }

    /// V-cycle from a level on for the residual `r`. The correction is at the beginning of `work`.
    fn cycle(&self, l: usize, all: &[Real], r: &[Real], work: &mut [Real]) {
        let level = &self.levels[l];
        let (n, (Smoother { matrix, inverse }, others)) = (level.count(), self.first(level, all));
        let (y, rest) = work.split_at_mut(n);
        let Some(coarse) = self.levels.get(l + 1) else {
            return zip(y, r, inverse, |y, r, inverse| *y = r * inverse);
        };
        let (x, rest) = rest.split_at_mut(n);
        zip(x, r, inverse, |x, r, inverse| *x = DAMPING * r * inverse);
        matrix.apply(x, [r, r], y, |left, ax, _, [r, _]| *left = r - ax);
        let (coarse_r, rest) = rest.split_at_mut(coarse.count());
        level.restrict(coarse, y, coarse_r);
        self.cycle(l + 1, others, coarse_r, rest);
        level.prolong(coarse, &rest[..coarse.count()], x);
        matrix.apply(x, [r, inverse], y, |y, ax, x, [r, inverse]| *y = x + DAMPING * (r - ax) * inverse);
        if self.solid {
            // Coarse corrections do not belong to solid cells.
            zip(y, inverse, inverse, |y, inverse, _| *y = if inverse == 0.0 { 0.0 } else { *y });
        }
    }

    /// Applies the preconditioner to `r`. The result is at the beginning of `work`.
    fn precondition(&self, matrix: &Matrix, all: &[Real], r: &[Real], work: &mut [Real]) {
        if matrix.fourth.is_some() {
            let (half, work) = work.split_at_mut(matrix.count());
            self.cycle(0, all, r, work);
            parallel::copy(&work[..matrix.count()], half);
            self.cycle(0, all, half, work);
            parallel::copy(&work[..matrix.count()], half);
        } else {
            self.cycle(0, all, r, work);
        }
    }

    /// Solves for the residual `r`, which is overwritten; returns the number of iterations.
    pub fn solve(&self, all: &[Real], matrix: &Matrix, r: &mut [Real], x: &mut [Real], work: &mut [Real]) -> usize {
        let n = matrix.count();
        let (p, rest) = work.split_at_mut(n);
        let (mp, rest) = rest.split_at_mut(n);
        let (spare, work) = rest.split_at_mut(n);
        x.fill(0.0);
        let first = product(r, r);
        if first == 0.0 {
            return 0;
        }
        let (mut size, mut left) = (Real::NAN, first);
        for iteration in 0..ITERATIONS {
            self.precondition(matrix, all, r, work);
            let z = &work[..n];
            let before = std::mem::replace(&mut size, product(r, z));
            if iteration == 0 {
                parallel::copy(z, p);
            } else {
                let along = size / before;
                zip(p, z, z, |p, z, _| *p = z + along * *p);
            }
            matrix.apply(p, mp, spare);
            let step = size / product(p, mp);
            zip(x, p, p, |x, p, _| *x += step * p);
            zip(r, mp, mp, |r, mp, _| *r -= step * mp);
            left = product(r, r);
            // A field that is not finite ends the iteration.
            if left.partial_cmp(&(TOLERANCE * TOLERANCE * first)) != Some(std::cmp::Ordering::Greater) {
                return iteration + 1;
            }
        }
        if left > (FAILURE * FAILURE) * first {
            // A solution that is none must not pass for one: the episode diverges.
            x.fill(Real::NAN);
        }
        ITERATIONS
    }
}

/// Calls `f` for each element of three arrays.
fn zip(y: &mut [Real], a: &[Real], b: &[Real], f: impl Fn(&mut Real, Real, Real) + Sync + Copy) {
    parallel::rows(y, 1, 1, |first, y| {
        let (a, b) = (&a[first..][..y.len()], &b[first..][..y.len()]);
        vectorise(
            #[inline(always)]
            || y.iter_mut().zip(a).zip(b).for_each(|((y, a), b)| f(y, *a, *b)),
        );
    });
}

/// Returns `Σ a·b`.
fn product(a: &[Real], b: &[Real]) -> Real {
    parallel::sum(a.len(), 1, |range| {
        vectorise(
            #[inline(always)]
            || dot(&a[range.clone()], &b[range.clone()]),
        )
    })
}
