//! Gaussian processes on an interval or a rectangle.

use crate::Grid;
use nalgebra::DMatrix;

/// Relative cutoff of the eigenvalues of a covariance.
const LEAST: f64 = 1e-12;

/// Eigenpairs of the covariance `exp(−d²/2l²)` of points along one axis, largest first.
#[derive(Debug)]
struct Axis {
    values: Vec<f64>,
    /// `[points, modes]`, each column an eigenvector times the root of its eigenvalue: a factor of the covariance.
    factor: Vec<f64>,
    points: usize,
}

/// Maximum number of points for a dense eigendecomposition; beyond, a low-rank factor of linear cost is used.
const MANY: usize = 128;

impl Axis {
    fn new(x: &[f64], length: f64) -> Self {
        let covariance = |i: usize, j: usize| (-0.5 * ((x[i] - x[j]) / length).powi(2)).exp();
        let (values, vectors) = if x.len() > MANY { by_factors(x.len(), covariance) } else { whole(x.len(), covariance) };
        let largest = values.iter().copied().fold(0.0, f64::max);
        let mut kept: Vec<usize> = (0..values.len()).filter(|&m| values[m] > LEAST * largest).collect();
        kept.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        let factor = (0..x.len()).flat_map(|i| kept.iter().map(move |&m| (i, m))).map(|place| vectors[place]);
        Self { factor: factor.collect(), values: kept.iter().map(|&m| values[m]).collect(), points: x.len() }
    }

    fn modes(&self) -> usize {
        self.values.len()
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.factor.chunks_exact(self.modes())
    }
}

/// Computes the eigenvalues of a covariance, and each eigenvector times the root of its eigenvalue.
fn whole(points: usize, covariance: impl Fn(usize, usize) -> f64) -> (Vec<f64>, DMatrix<f64>) {
    let eigen = DMatrix::from_fn(points, points, covariance).symmetric_eigen();
    let roots = |i: usize, m: usize| eigen.eigenvectors[(i, m)] * eigen.eigenvalues[m].max(0.0).sqrt();
    (eigen.eigenvalues.iter().copied().collect(), DMatrix::from_fn(points, points, roots))
}

/// Computes the eigenpairs of a smooth covariance with unit diagonal, up to rounding: `K = LLᵀ` with few columns
/// (pivoted Cholesky), then with `LᵀL = VΛVᵀ` the vectors `LV`. The full covariance is never formed.
fn by_factors(points: usize, covariance: impl Fn(usize, usize) -> f64) -> (Vec<f64>, DMatrix<f64>) {
    let mut unknown = vec![1f64; points];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while columns.len() < points {
        let pivot = (0..points).max_by(|&a, &b| unknown[a].total_cmp(&unknown[b])).expect("at least one point");
        if unknown[pivot] < 1e-2 * LEAST {
            break;
        }
        let root = unknown[pivot].sqrt();
        let mut known = vec![0.0; points];
        // Points far from the pivot have a zero entry.
        for column in columns.iter().filter(|column| column[pivot] != 0.0) {
            known.iter_mut().zip(column).for_each(|(known, x)| *known += x * column[pivot]);
        }
        let column: Vec<f64> = known.iter().enumerate().map(|(i, known)| (covariance(i, pivot) - known) / root).collect();
        unknown.iter_mut().zip(&column).for_each(|(unknown, x)| *unknown -= x * x);
        columns.push(column);
    }
    let factor = DMatrix::from_fn(points, columns.len(), |i, m| columns[m][i]);
    let eigen = (factor.transpose() * &factor).symmetric_eigen();
    (eigen.eigenvalues.iter().copied().collect(), factor * eigen.eigenvectors)
}

/// Gaussian process with kernel `exp(−d²/2l²)` on an interval or a rectangle, from the eigenpairs of its covariance
/// above 1e-12 of the largest.
///
/// On a rectangle the kernel is a product of one kernel per axis, and so are its eigenpairs: the covariance of all
/// nodes is never formed. An interval is a rectangle of one column.
///
/// ```
/// use cinoc_pde::Grid;
/// use cinoc_pde::sampler::GaussianProcess;
///
/// let process = GaussianProcess::on(&Grid::walls(65, 1.0), 0.2);
/// let normal: Vec<f64> = (0..process.modes()).map(|i| (i as f64).sin()).collect();
/// let field = process.bridge(&normal);
/// assert_eq!((field.len(), field[0].abs() < 1e-12), (65, true));
/// ```
#[derive(Debug)]
pub struct GaussianProcess {
    x: Axis,
    y: Axis,
    /// Modes as pairs of one mode per axis.
    pairs: Vec<(usize, usize)>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl GaussianProcess {
    /// Creates the process on the nodes of a grid, with correlation length `length`.
    ///
    /// # Panics
    /// On grids with other than one or two dimensions, and as [`plane`](Self::plane).
    pub fn on(grid: &Grid, length: f64) -> Self {
        grid.assert_dimensions("a Gaussian process", &[1, 2]);
        match grid.dimensions() {
            1 => Self::new(&grid.positions(0), length),
            _ => Self::plane(&grid.positions(0), &grid.positions(1), length),
        }
    }

    /// Creates the process on points `x`, with correlation length `length`.
    ///
    /// # Panics
    /// As [`plane`](Self::plane).
    pub fn new(x: &[f64], length: f64) -> Self {
        Self::plane(x, &[0.0], length)
    }

    /// Creates the process on all pairs of points `x` and `y`, with correlation length `length`.
    ///
    /// Any positive length is valid: far below the spacing of the points a draw is white noise, far above their extent
    /// it is constant.
    ///
    /// # Panics
    /// Unless the length is positive and finite, there is a point along each axis, and all points are finite.
    pub fn plane(x: &[f64], y: &[f64], length: f64) -> Self {
        assert!(length > 0.0 && length.is_finite(), "a correlation length must be positive and finite, not {length}");
        for points in [x, y] {
            let fit = !points.is_empty() && points.iter().all(|x| x.is_finite());
            assert!(fit, "a Gaussian process needs at least one point along each axis, and finite ones, not {points:?}");
        }
        let (x, y) = (Axis::new(x, length), Axis::new(y, length));
        let value = |&(i, j): &(usize, usize)| x.values[i] * y.values[j];
        let least = LEAST * value(&(0, 0));
        let mut pairs: Vec<_> = (0..x.modes()).flat_map(|i| (0..y.modes()).map(move |j| (i, j))).collect();
        pairs.retain(|pair| value(pair) > least);
        // Largest first, so that the smoothest modes use the same random numbers at any resolution.
        pairs.sort_by(|a, b| value(b).total_cmp(&value(a)));
        Self { x, y, pairs }
    }

    /// Count of normal numbers per draw.
    pub fn modes(&self) -> usize {
        self.pairs.len()
    }

    /// Draws a sample from [`modes`](Self::modes) standard normal numbers.
    pub fn draw(&self, normal: &[f64]) -> Vec<f64> {
        // [modes of y, modes of x], then [points of x, modes of y], then the field.
        let mut weights = vec![0.0; self.y.modes() * self.x.modes()];
        self.pairs.iter().zip(normal).for_each(|(&(i, j), n)| weights[j * self.x.modes() + i] = *n);
        let half: Vec<Vec<f64>> =
            self.x.rows().map(|row| weights.chunks_exact(self.x.modes()).map(|w| dot(row, w)).collect()).collect();
        half.iter().flat_map(|half| self.y.rows().map(|row| dot(row, half))).collect()
    }

    /// Draws a sample that is zero on the walls: minus the line through its end values, or on a rectangle minus the
    /// Coons patch of its edges.
    pub fn bridge(&self, normal: &[f64]) -> Vec<f64> {
        let mut g = self.draw(normal);
        let (nx, ny) = (self.x.points, self.y.points);
        // The patch, one axis after the other.
        for column in 0..ny {
            unbend(&mut g, column, ny, nx);
        }
        if ny > 1 {
            for row in 0..nx {
                unbend(&mut g, row * ny, 1, ny);
            }
        }
        g
    }
}

/// Subtracts the line through the end values from a row of `count` numbers at a stride of `stride`.
fn unbend(g: &mut [f64], start: usize, stride: usize, count: usize) {
    let (first, last) = (g[start], g[start + (count - 1) * stride]);
    for i in 0..count {
        let s = i as f64 / (count - 1) as f64;
        g[start + i * stride] -= (1.0 - s) * first + s * last;
    }
    (g[start], g[start + (count - 1) * stride]) = (0.0, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariance_is_the_kernel() {
        let points = |n: usize| -> Vec<f64> { (0..n).map(|i| i as f64 / (n - 1) as f64).collect() };
        let lines = [(points(40), vec![0.0], 0.2), (points(MANY + 9), vec![0.0], 0.2)];
        let rectangles = [(points(9), points(11), 0.4), (points(12), points(8), 0.25), (points(MANY + 1), points(5), 0.1)];
        for (x, y, length) in lines.into_iter().chain(rectangles) {
            let process = GaussianProcess::plane(&x, &y, length);
            let count = x.len() * y.len();
            assert!(process.modes() < count, "a smooth kernel has few modes, not {} of {count}", process.modes());
            // Each single mode is a column of the factor of the covariance.
            let modes: Vec<Vec<f64>> = (0..process.modes())
                .map(|m| process.draw(&(0..process.modes()).map(|k| f64::from(k == m)).collect::<Vec<_>>()))
                .collect();
            let at = |p: usize| (x[p / y.len()], y[p % y.len()]);
            for p in 0..count {
                for q in 0..count {
                    let covariance: f64 = modes.iter().map(|mode| mode[p] * mode[q]).sum();
                    let (dx, dy) = (at(p).0 - at(q).0, at(p).1 - at(q).1);
                    let kernel = (-0.5 * (dx * dx + dy * dy) / (length * length)).exp();
                    assert!((covariance - kernel).abs() < 1e-9, "{p},{q}: {covariance} not {kernel}");
                }
            }
        }
    }

    #[test]
    fn bridges_are_zero_on_the_walls() {
        let process = GaussianProcess::on(&Grid::walls(100, 1.0), 0.4);
        let g = process.bridge(&vec![1.0; process.modes()]);
        assert_eq!((g[0], g[99]), (0.0, 0.0));
        assert!(g.iter().any(|g| g.abs() > 0.1));

        let (nx, ny) = (32, 20);
        let process = GaussianProcess::on(&Grid::plane([nx, ny], [1.0, 1.0], false), 0.25);
        let normal: Vec<f64> = (0..process.modes()).map(|i| (i as f64 * 1.7).sin()).collect();
        let (g, free) = (process.bridge(&normal), process.draw(&normal));
        let edge = |i: usize, j: usize| i == 0 || j == 0 || i == nx - 1 || j == ny - 1;
        for (i, j) in (0..nx).flat_map(|i| (0..ny).map(move |j| (i, j))) {
            let (s, t) = (i as f64 / (nx - 1) as f64, j as f64 / (ny - 1) as f64);
            let at = |i: usize, j: usize| free[i * ny + j];
            let edges = (1.0 - s) * at(0, j) + s * at(nx - 1, j) + (1.0 - t) * at(i, 0) + t * at(i, ny - 1);
            let corners =
                (1.0 - t) * ((1.0 - s) * at(0, 0) + s * at(nx - 1, 0)) + t * ((1.0 - s) * at(0, ny - 1) + s * at(nx - 1, ny - 1));
            assert!((g[i * ny + j] - (at(i, j) - edges + corners)).abs() < 1e-12, "the Coons blend at {i},{j}");
            assert!(!edge(i, j) || g[i * ny + j] == 0.0, "the edge at {i},{j}");
        }
        assert!(g.iter().any(|g| g.abs() > 0.1));
    }

    /// Lengths from far below the spacing to far above the size of the domain.
    #[test]
    fn any_positive_length_will_do() {
        let grids = [
            Grid::walls(2, 1.0),
            Grid::walls(100, 1.0),
            Grid::walls(MANY + 72, 1.0),
            Grid::plane([20, 13], [1.0, 2.0], false),
            Grid::plane([64, 64], [1.0, 1.0], false),
        ];
        for (grid, decade) in grids.iter().flat_map(|grid| (-12..=12).map(move |half| (grid, half))) {
            let length = 10f64.powf(0.5 * decade as f64);
            let process = GaussianProcess::on(grid, length);
            let normal: Vec<f64> = (0..process.modes()).map(|i| (i as f64 * 1.7).sin()).collect();
            let (free, bridged) = (process.draw(&normal), process.bridge(&normal));
            assert!(free.iter().chain(&bridged).all(|g| g.is_finite()), "{:?}, length {length}", grid.nodes);
            if length < 1e-4 {
                assert_eq!(process.modes(), grid.count(), "white noise, length {length}");
            }
            if length > 1e4 {
                let size = bridged.iter().fold(0.0, |size: f64, g| size.max(g.abs()));
                assert!(size < 1e-3, "{:?}, length {length}: {size}", grid.nodes);
            }
        }
        for length in [f64::MIN_POSITIVE, 5e-324, 1e300] {
            let process = GaussianProcess::on(&grids[1], length);
            let (modes, points) = (process.modes(), grids[1].count());
            assert_eq!(modes, if length < 1.0 { points } else { 1 }, "length {length}");
            assert!(process.draw(&vec![1.0; modes]).iter().all(|g| g.is_finite()), "length {length}");
        }
    }

    #[test]
    fn other_lengths_and_points_are_refused_with_a_sentence() {
        let message = |work: &(dyn Fn() -> GaussianProcess + std::panic::RefUnwindSafe)| {
            let panic = std::panic::catch_unwind(|| drop(work())).expect_err("refused");
            panic.downcast_ref::<String>().cloned().expect("a sentence")
        };
        let grid = Grid::walls(10, 1.0);
        for length in [0.0, -0.1, f64::NAN, f64::INFINITY] {
            let found = message(&|| GaussianProcess::on(&grid, length));
            assert!(found.contains("must be positive and finite"), "{length}: {found}");
        }
        let found = message(&|| GaussianProcess::on(&Grid::walls(10, crate::Real::INFINITY), 1.0));
        assert!(found.contains("finite ones"), "{found}");
        let space = Grid { nodes: vec![4, 5, 6], lengths: vec![1.0; 3], periodic: vec![false; 3] };
        let found = message(&|| GaussianProcess::on(&space, 1.0));
        assert!(found.contains("dimension 1 or 2, not 3"), "{found}");
    }
}
