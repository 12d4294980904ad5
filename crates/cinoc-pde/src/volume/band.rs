//! Direct solution of systems with a narrow band.

use super::Mesh;
use super::matrix::Matrix;
use crate::Real;
use cinoc_tape::kernel::math::flush;
use cinoc_tape::kernel::vectorise;

/// Factorisation `L D Lᵀ` of a matrix whose entries are near the diagonal.
///
/// Cells are numbered along the shortest axis first, and a periodic axis from both ends alternately, so that neighbours
/// are near each other.
#[derive(Debug)]
pub(super) struct Band {
    /// Number of each cell.
    position: Vec<u32>,
    /// Largest distance of an entry from the diagonal.
    width: usize,
}

impl Band {
    pub fn new(mesh: &Mesh, fourth: bool) -> Self {
        let periodic = |axis| mesh.is_periodic(axis);
        let mut axes: Vec<usize> = (0..mesh.dimensions()).collect();
        let reach = |axis: usize| mesh.cells()[axis] * if periodic(axis) { 1 } else { 2 };
        axes.sort_by_key(|&axis| std::cmp::Reverse(reach(axis)));
        let number = |cell: usize| {
            axes.iter().fold(0, |number, &axis| {
                let (n, i) = (mesh.cells()[axis], cell / mesh.stride(axis) % mesh.cells()[axis]);
                let folded = if 2 * i < n { 2 * i } else { 2 * (n - 1 - i) + 1 };
                number * n + if periodic(axis) { folded } else { i }
            })
        };
        let position: Vec<u32> = (0..mesh.count()).map(|cell| number(cell) as u32).collect();
        let runs = (0..mesh.dimensions()).flat_map(|axis| {
            let weights = mesh.weights(axis);
            mesh.runs(axis).flat_map(move |run| {
                (0..run.length).map(move |j| [run.upper + j, run.lower + j]).filter(|[upper, _]| weights[*upper] > 0.0)
            })
        });
        let width = runs.map(|[i, j]| position[i].abs_diff(position[j]) as usize).max().unwrap_or(0);
        Self { position, width: width * if fourth { 2 } else { 1 } }
    }

    /// Numbers of the factorisation.
    pub fn len(&self) -> usize {
        self.position.len() * (self.width + 1)
    }

    /// Length of the working space of a solution.
    pub fn work(&self) -> usize {
        self.position.len() + self.width
    }

    /// Computes the factors: column by column the reciprocal pivot and the entries of `L` below.
    pub fn factor(&self, matrix: &Matrix, columns: &mut [Real]) {
        let (n, apart) = (self.position.len(), self.width + 1);
        columns.fill(0.0);
        matrix.entries(|i, j, value| {
            let (i, j) = (self.position[i] as usize, self.position[j] as usize);
            if i >= j {
                columns[j * apart + i - j] += value;
            }
        });
        vectorise(
            #[inline(always)]
            || {
                for j in 0..n {
                    let (column, after) = columns[j * apart..].split_at_mut(apart);
                    // Fill decays away from the diagonal, below the range of numbers.
                    column.iter_mut().for_each(|x| *x = flush(*x));
                    let pivot = 1.0 / column[0];
                    for (l, later) in (1..apart).zip(after.chunks_exact_mut(apart)) {
                        let share = column[l] * pivot;
                        if share != 0.0 {
                            later.iter_mut().zip(&column[l..]).for_each(|(later, x)| *later -= share * x);
                        }
                    }
                    column[1..].iter_mut().for_each(|x| *x *= pivot);
                    column[0] = pivot;
                }
            },
        );
    }

    /// Solves for `r`.
    pub fn solve(&self, columns: &[Real], r: &[Real], x: &mut [Real], work: &mut [Real]) {
        let (n, width) = (self.position.len(), self.width);
        let at = &mut work[..n + width];
        at[n..].fill(0.0);
        self.position.iter().zip(r).for_each(|(&position, r)| at[position as usize] = *r);
        vectorise(
            #[inline(always)]
            || {
                let columns = || columns[..self.len()].chunks_exact(width + 1).enumerate();
                for (j, column) in columns() {
                    // Far from any source the solution decays below the range of numbers.
                    let here = flush(at[j]);
                    at[j] = here;
                    at[j + 1..][..width].iter_mut().zip(&column[1..]).for_each(|(x, l)| *x -= l * here);
                }
                for (j, column) in columns().rev() {
                    at[j] = flush(at[j] * column[0] - dot(&column[1..], &at[j + 1..][..width]));
                }
            },
        );
        self.position.iter().zip(x).for_each(|(&position, x)| *x = at[position as usize]);
    }
}

/// Returns `Σ a·b`.
#[inline(always)]
pub(super) fn dot(a: &[Real], b: &[Real]) -> Real {
    let ((a16, a1), (b16, b1)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut sums = [0.0; 16];
    for (a, b) in a16.iter().zip(b16) {
        for l in 0..16 {
            sums[l] += a[l] * b[l];
        }
    }
    sums.iter().sum::<Real>() + a1.iter().zip(b1).map(|(a, b)| a * b).sum::<Real>()
}
