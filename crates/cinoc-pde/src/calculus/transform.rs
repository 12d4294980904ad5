//! Real Fourier transforms of fields.

use super::RealFft;
use crate::{Grid, Real};
use cinoc_tape::Shape;
use cinoc_tape::kernel::fft::{Direction, Fft, ROW, WIDTH};

/// Transform between values on a periodic grid and the spectrum of an equal or coarser grid.
///
/// The spectrum is that of NumPy's `rfft` and `rfft2` on the grid with `modes` nodes: `[batch, (nx,) ny/2+1, 2]`, not
/// divided by the number of nodes. On a finer grid the values are those of the same trigonometric polynomial without
/// Nyquist modes, whose sign is undetermined there.
#[derive(Clone, Debug)]
pub struct Transform {
    modes: [usize; 2],
    points: [usize; 2],
    dimensions: usize,
    rows: RealFft,
    columns: Fft,
}

/// Factors for the modes on the edge of the half spectrum (ky = 0 and Nyquist), which represent themselves, and for
/// those inside, which also represent their conjugates.
#[derive(Clone, Copy)]
pub(super) struct Factors {
    pub edge: Real,
    pub inside: Real,
}

impl Factors {
    fn of(self, k: usize, half: usize) -> Real {
        if k == 0 || k == half { self.edge } else { self.inside }
    }
}

impl Transform {
    /// Creates a transform with values at the nodes of `grid`.
    ///
    /// # Panics
    /// On grids with walls, with other than one or two dimensions, and where an axis has an odd number of nodes.
    pub fn new(grid: &Grid) -> Self {
        Self::with_points(grid, 1, 1)
    }

    /// Creates a transform with values on a grid with 3/2 of the nodes along each axis, where products of two fields
    /// are free of aliasing.
    ///
    /// # Panics
    /// On grids with walls, with other than one or two dimensions, and where an axis has a number of nodes that 4 does
    /// not divide.
    pub fn padded(grid: &Grid) -> Self {
        Self::with_points(grid, 3, 2)
    }

    fn with_points(grid: &Grid, times: usize, over: usize) -> Self {
        grid.assert_dimensions("a spectrum", &[1, 2]);
        grid.assert_ends("a spectrum", true);
        // Both grids must have an even number of nodes.
        grid.assert_divisible(if over == 1 { "a spectrum" } else { "a spectrum on a finer grid (3/2 rule)" }, 2 * over);
        let fine = |n: usize| n / over * times;
        let (modes, points) = match grid.nodes[..] {
            [n] => ([1, n], [1, fine(n)]),
            [n, m] => ([n, m], [fine(n), fine(m)]),
            _ => unreachable!("one or two dimensions"),
        };
        let (rows, columns) = (RealFft::low(points[1], modes[1] / 2), Fft::new(points[0]));
        Self { modes, points, dimensions: grid.dimensions(), rows, columns }
    }

    fn padding(&self) -> bool {
        self.modes != self.points
    }

    fn half(&self) -> usize {
        self.modes[1] / 2
    }

    /// Shape of the values of `batch` fields.
    pub(super) fn values(&self, batch: usize) -> Shape {
        let [mx, my] = self.points;
        if self.dimensions == 1 { Shape::new(&[batch, my]) } else { Shape::new(&[batch, mx, my]) }
    }

    /// Shape of the spectra of `batch` fields.
    pub(super) fn spectrum(&self, batch: usize) -> Shape {
        let (nx, half) = (self.modes[0], self.half() + 1);
        if self.dimensions == 1 { Shape::new(&[batch, half, 2]) } else { Shape::new(&[batch, nx, half, 2]) }
    }

    /// Row of the long column that holds row `k` of the short one; `None` for a dropped Nyquist mode.
    fn long_row(&self, k: usize) -> Option<usize> {
        let [n, m] = [self.modes[0], self.points[0]];
        match (self.padding() && n > 1, 2 * k) {
            (false, _) => Some(k),
            (true, double) if double < n => Some(k),
            (true, double) if double > n => Some(k + m - n),
            _ => None,
        }
    }

    pub(super) fn room(&self, batch: usize) -> usize {
        batch * self.points[0] * (self.half() + 1) * 2 + 2 * self.panel() + self.rows.work().max(self.columns.work())
    }

    /// Length of the largest panel.
    fn panel(&self) -> usize {
        (self.points[0] * ROW).max(self.points[1] * WIDTH)
    }

    fn split<'a>(&self, batch: usize, scratch: &'a mut [Real]) -> [&'a mut [Real]; 4] {
        let panel = self.panel();
        let (middle, rest) = scratch.split_at_mut(batch * self.points[0] * (self.half() + 1) * 2);
        let (a, rest) = rest.split_at_mut(panel);
        let (b, work) = rest.split_at_mut(panel);
        [middle, a, b, work]
    }

    /// Adds (overwrites, if `fresh`) `factor·Σ values·e^(−ikx)`.
    pub(super) fn analyse(&self, values: &[Real], spectrum: &mut [Real], factors: Factors, fresh: bool, scratch: &mut [Real]) {
        let ([nx, _], [mx, my], half) = (self.modes, self.points, self.half());
        let batch = spectrum.len() / (nx * (half + 1) * 2);
        let [middle, a, b, work] = self.split(batch, scratch);
        for first in (0..batch * mx).step_by(WIDTH) {
            let lanes = WIDTH.min(batch * mx - first);
            a.fill(0.0);
            for lane in 0..lanes {
                let row = &values[(first + lane) * my..][..my];
                row.iter().enumerate().for_each(|(y, value)| a[y * WIDTH + lane] = *value);
            }
            self.rows.forward(a, b, 1.0, work);
            for lane in 0..lanes {
                let row = &mut middle[(first + lane) * (half + 1) * 2..][..(half + 1) * 2];
                for (k, mode) in row[..2 * half].chunks_exact_mut(2).enumerate() {
                    (mode[0], mode[1]) = (b[k * ROW + lane], b[k * ROW + WIDTH + lane]);
                }
                (row[2 * half], row[2 * half + 1]) = (row[1], 0.0);
                row[1] = 0.0;
            }
        }
        for (middle, spectrum) in middle.chunks_exact(mx * (half + 1) * 2).zip(spectrum.chunks_exact_mut(nx * (half + 1) * 2)) {
            for first in (0..=half).step_by(WIDTH) {
                let lanes = WIDTH.min(half + 1 - first);
                a.fill(0.0);
                for x in 0..mx {
                    for lane in 0..lanes {
                        let at = (x * (half + 1) + first + lane) * 2;
                        (a[x * ROW + lane], a[x * ROW + WIDTH + lane]) = (middle[at], middle[at + 1]);
                    }
                }
                self.columns.run(Direction::Forward, a, b, work);
                for k in 0..nx {
                    for lane in 0..lanes {
                        let at = (k * (half + 1) + first + lane) * 2;
                        let factor = factors.of(first + lane, half);
                        let mode = self.long_row(k).map_or([0.0; 2], |k| [b[k * ROW + lane], b[k * ROW + WIDTH + lane]]);
                        for (sum, mode) in spectrum[at..at + 2].iter_mut().zip(mode) {
                            *sum = if fresh { 0.0 } else { *sum } + factor * mode;
                        }
                    }
                }
            }
        }
    }

    /// Adds (overwrites, if `fresh`) the real part of `Σ factor·spectrum·e^(+ikx)`, where a mode inside the half
    /// spectrum counts twice.
    pub(super) fn synthesise(&self, spectrum: &[Real], values: &mut [Real], factors: Factors, fresh: bool, scratch: &mut [Real]) {
        let ([nx, _], [mx, my], half) = (self.modes, self.points, self.half());
        let batch = spectrum.len() / (nx * (half + 1) * 2);
        let [middle, a, b, work] = self.split(batch, scratch);
        for (middle, spectrum) in middle.chunks_exact_mut(mx * (half + 1) * 2).zip(spectrum.chunks_exact(nx * (half + 1) * 2)) {
            for first in (0..=half).step_by(WIDTH) {
                let lanes = WIDTH.min(half + 1 - first);
                a.fill(0.0);
                for (k, long) in (0..nx).filter_map(|k| Some((k, self.long_row(k)?))) {
                    for lane in 0..lanes {
                        let at = (k * (half + 1) + first + lane) * 2;
                        let factor = factors.of(first + lane, half);
                        a[long * ROW + lane] = factor * spectrum[at];
                        a[long * ROW + WIDTH + lane] = factor * spectrum[at + 1];
                    }
                }
                self.columns.run(Direction::Inverse, a, b, work);
                for x in 0..mx {
                    for lane in 0..lanes {
                        let at = (x * (half + 1) + first + lane) * 2;
                        (middle[at], middle[at + 1]) = (b[x * ROW + lane], b[x * ROW + WIDTH + lane]);
                    }
                }
            }
        }
        for first in (0..batch * mx).step_by(WIDTH) {
            let lanes = WIDTH.min(batch * mx - first);
            a.fill(0.0);
            for lane in 0..lanes {
                let row = &middle[(first + lane) * (half + 1) * 2..][..(half + 1) * 2];
                for (k, mode) in row[..2 * half].chunks_exact(2).enumerate() {
                    (a[k * ROW + lane], a[k * ROW + WIDTH + lane]) = (mode[0], mode[1]);
                }
                a[WIDTH + lane] = row[2 * half];
            }
            self.rows.inverse(a, b, 1.0, work);
            for lane in 0..lanes {
                let row = &mut values[(first + lane) * my..][..my];
                row.iter_mut().enumerate().for_each(|(y, v)| *v = if fresh { 0.0 } else { *v } + b[y * WIDTH + lane]);
            }
        }
    }

    /// Points per node of the grid of the spectrum.
    pub(super) fn refinement(&self) -> f64 {
        (self.points[0] * self.points[1]) as f64 / self.nodes()
    }

    pub(super) fn nodes(&self) -> f64 {
        (self.modes[0] * self.modes[1]) as f64
    }
}
