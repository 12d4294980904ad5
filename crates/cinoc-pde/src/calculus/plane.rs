//! Packed spectra of two-dimensional periodic fields.

use super::{Layout, RealFft};
use crate::Real;
use cinoc_tape::kernel::fft::{Direction, Fft, ROW, WIDTH};
use cinoc_tape::kernel::parallel;
use cinoc_tape::kernel::transpose::{Blocks, transpose, transpose_to_rows};

/// Layout of the spectrum of one real field on a torus of nx × ny nodes, in nx·ny numbers.
///
/// First along x: panels of sixteen columns y, real transforms ([`RealFft`]) down x. Then a transposition: panels of
/// sixteen modes kx, complex transforms down y. The result is panels `kx/16` of rows ky.
///
/// The column kx = 0 is special: after the first transform it is the mode 0 plus i times the Nyquist mode nx/2, both
/// real. Their spectra are separated: rows 0 < ky < ny/2 of that column hold the mode (0, ky), rows ny − ky the mode
/// (nx/2, ky), rows 0 and ny/2 the four real modes.
///
/// Values may be on a grid with 3/2 of the nodes along each axis; the Nyquist modes are then dropped in both
/// directions.
#[derive(Clone, Debug)]
pub struct Plane {
    nodes: [usize; 2],
    points: [usize; 2],
    along_x: RealFft,
    /// Transforms from ky to y, and from y to ky.
    along_y: [Fft; 2],
}

impl Plane {
    /// Creates the layout with values at the nodes.
    ///
    /// # Panics
    /// Unless 32 divides the number of nodes along x, and 16 that along y.
    pub fn new(nodes: [usize; 2]) -> Self {
        Self::check(nodes, nodes);
        Self { nodes, points: nodes, along_x: RealFft::new(nodes[0]), along_y: [Fft::new(nodes[1]), Fft::new(nodes[1])] }
    }

    /// Creates the layout with values on the finer grid.
    ///
    /// # Panics
    /// Unless 32 divides the number of nodes along each axis.
    pub fn padded(nodes: [usize; 2]) -> Self {
        let points = nodes.map(|n| 3 * n / 2);
        Self::check(nodes, points);
        let along_x = RealFft::low(points[0], nodes[0] / 2);
        Self { nodes, points, along_x, along_y: [Fft::padded(nodes[1]), Fft::cut(nodes[1])] }
    }

    /// Returns true if the layout supports a grid: two axes, with numbers of nodes divisible by 32.
    ///
    /// Transforms take any length, but panels do not: sixteen of the nx/2 modes along x make one, so 32 must divide nx;
    /// sixteen of the 3·ny/2 columns of the finer grid make one, so 32 must divide ny. 64 and 96 nodes are supported,
    /// 48 and 80 are not.
    pub fn fits(nodes: &[usize]) -> bool {
        nodes.len() == 2 && nodes.iter().all(|&n| n > 0 && n.is_multiple_of(2 * WIDTH))
    }

    fn check(nodes: [usize; 2], points: [usize; 2]) {
        let fits = nodes[0].is_multiple_of(2 * WIDTH) && points[1].is_multiple_of(WIDTH) && nodes[1].is_multiple_of(2);
        assert!(fits && nodes[0] > 0 && nodes[1] > 0, "32 must divide the number of nodes along each axis, {nodes:?}");
    }

    fn padding(&self) -> bool {
        self.nodes != self.points
    }

    /// Number of values.
    pub fn values_size(&self) -> usize {
        self.points[0] * self.points[1]
    }

    /// Length of the working space of [`values`](Self::values) and [`spectrum`](Self::spectrum).
    pub fn transform_work(&self) -> usize {
        self.nodes[0] * self.points[1]
    }

    /// Length of the working space of a panel of sixteen modes or columns.
    fn panel_work(&self) -> usize {
        let fft = self.along_y.iter().map(Fft::work).max().unwrap_or(0);
        self.points[1] * ROW + fft.max(self.along_x.work())
    }

    /// Numbers of panels of modes and of columns per chunk.
    fn chunks(&self) -> [usize; 2] {
        // A few passes per number.
        let chunk = |panels: usize, numbers: usize| parallel::chunk_size(panels, 4 * numbers, 1);
        [chunk(self.nodes[0] / ROW, self.points[1] * ROW), chunk(self.points[1] / WIDTH, self.points[0] * WIDTH)]
    }

    /// Lengths of a panel of kx by ky, of kx by y, and of x by y.
    fn panels(&self) -> [usize; 3] {
        [self.nodes[1] * ROW, self.nodes[0] * WIDTH, self.points[0] * WIDTH]
    }

    /// Block strides of a panel of modes by y, and of a panel of columns y by modes.
    fn blocks(&self) -> [Blocks; 2] {
        [Blocks { row: ROW, block: WIDTH * ROW }, Blocks { row: ROW, block: self.panels()[1] }]
    }

    /// Computes values in panels of sixteen columns y, rows x. The state is overwritten.
    pub fn values(&self, state: &mut [Real], values: &mut [Real], middle: &mut [Real]) {
        let ([modes, half, full], [tall, _], [some, columns]) = (self.panels(), self.blocks(), self.chunks());
        let (state, values) = (&mut state[..self.size()], &mut values[..self.values_size()]);
        let middle = &mut middle[..self.transform_work()];
        self.weave(&mut state[..modes]);
        let panels = parallel::panels(middle, half, some * WIDTH * ROW);
        parallel::for_each_part((parallel::chunks(state, some * modes), panels), |_, (state, mut middle)| {
            parallel::with_scratch(self.panel_work(), |work| {
                let (panel, work) = work.split_at_mut(self.points[1] * ROW);
                for (p, state) in state.chunks_exact_mut(modes).enumerate() {
                    if self.padding() {
                        state[self.nodes[1] / 2 * ROW..][..ROW].fill(0.0);
                    }
                    self.along_y[0].run(Direction::Inverse, state, panel, work);
                    for part in [0, WIDTH] {
                        transpose_to_rows(&panel[part..], tall, &mut middle, p * WIDTH * ROW + part, ROW);
                    }
                }
            });
        });
        let scale = (1.0 / self.size() as f64) as Real;
        parallel::for_each_part(parallel::chunks(values, columns * full), |i, values| {
            parallel::with_scratch(self.panel_work(), |work| {
                let middle = middle[i * columns * half..].chunks_exact(half);
                middle
                    .zip(values.chunks_exact_mut(full))
                    .for_each(|(middle, values)| self.along_x.inverse(middle, values, scale, work));
            });
        });
    }

    /// Computes the spectrum of values in such panels.
    pub fn spectrum(&self, values: &[Real], state: &mut [Real], middle: &mut [Real]) {
        let ([modes, half, full], [tall, wide], [some, columns]) = (self.panels(), self.blocks(), self.chunks());
        let (state, middle) = (&mut state[..self.size()], &mut middle[..self.transform_work()]);
        let scale = (self.size() as f64 / self.values_size() as f64) as Real;
        parallel::for_each_part(parallel::chunks(middle, columns * half), |i, middle| {
            parallel::with_scratch(self.panel_work(), |work| {
                let values = values[i * columns * full..].chunks_exact(full);
                middle
                    .chunks_exact_mut(half)
                    .zip(values)
                    .for_each(|(middle, values)| self.along_x.forward(values, middle, scale, work));
            });
        });
        parallel::for_each_part(parallel::chunks(state, some * modes), |i, state| {
            parallel::with_scratch(self.panel_work(), |work| {
                let (panel, work) = work.split_at_mut(self.points[1] * ROW);
                for (p, state) in state.chunks_exact_mut(modes).enumerate() {
                    let first = (i * some + p) * WIDTH * ROW;
                    for part in [0, WIDTH] {
                        transpose(self.points[1] / WIDTH, &middle[first + part..], wide, &mut panel[part..], tall);
                    }
                    self.along_y[1].run(Direction::Forward, panel, state, work);
                    if self.padding() {
                        state[self.nodes[1] / 2 * ROW..][..ROW].fill(0.0);
                    }
                }
            });
        });
        self.unweave(&mut state[..modes]);
    }

    /// Combines the modes (0, ky) and (nx/2, ky) for the transform: P = Z₀ + i·Z₁, and its other half by symmetry.
    fn weave(&self, panel: &mut [Real]) {
        for ky in 1..self.nodes[1] / 2 {
            let (a, b) = (ky * ROW, (self.nodes[1] - ky) * ROW);
            let (zero, one) = ((panel[a], panel[a + WIDTH]), (panel[b], panel[b + WIDTH]));
            (panel[a], panel[a + WIDTH]) = (zero.0 - one.1, zero.1 + one.0);
            (panel[b], panel[b + WIDTH]) = (zero.0 + one.1, one.0 - zero.1);
        }
    }

    /// Separates them: Z₀ = (P(ky) + P*(−ky))/2, Z₁ = (P(ky) − P*(−ky))/2i.
    fn unweave(&self, panel: &mut [Real]) {
        for ky in 1..self.nodes[1] / 2 {
            let (a, b) = (ky * ROW, (self.nodes[1] - ky) * ROW);
            let (plus, minus) = ((panel[a], panel[a + WIDTH]), (panel[b], panel[b + WIDTH]));
            (panel[a], panel[a + WIDTH]) = (0.5 * (plus.0 + minus.0), 0.5 * (plus.1 - minus.1));
            (panel[b], panel[b + WIDTH]) = (0.5 * (plus.1 + minus.1), 0.5 * (minus.0 - plus.0));
        }
    }
}

impl Layout for Plane {
    fn size(&self) -> usize {
        self.nodes[0] * self.nodes[1]
    }

    fn group(&self) -> usize {
        1
    }

    fn modes(&self) -> Vec<Vec<i64>> {
        let [nx, ny] = self.nodes.map(|n| n as i64);
        let mode = |kx: i64, row: i64, imaginary: bool| match (kx, row) {
            (0, _) if (2 * row) % ny == 0 => [if imaginary { nx / 2 } else { 0 }, row],
            (0, _) if 2 * row > ny => [nx / 2, ny - row],
            _ => [kx, if 2 * row < ny { row } else { row - ny }],
        };
        let row = |first: i64, row: i64| {
            [false, true]
                .into_iter()
                .flat_map(move |imaginary| (0..WIDTH as i64).map(move |i| mode(first + i, row, imaginary).into()))
        };
        (0..nx / 2).step_by(WIDTH).flat_map(|first| (0..ny).flat_map(move |ky| row(first, ky))).collect()
    }

    fn work(&self) -> usize {
        self.size() + self.transform_work()
    }

    fn load(&self, field: &[Real], state: &mut [Real], work: &mut [Real]) {
        assert!(!self.padding(), "fields have values at the nodes");
        let (values, work) = work.split_at_mut(self.size());
        let [nx, ny] = self.nodes;
        parallel::rows(values, nx * WIDTH, nx * WIDTH, |first, panels| {
            for (p, panel) in panels.chunks_exact_mut(nx * WIDTH).enumerate() {
                let y = (first + p) * WIDTH;
                for (to, from) in panel.as_chunks_mut::<WIDTH>().0.iter_mut().zip(field.chunks_exact(ny)) {
                    to.copy_from_slice(&from[y..y + WIDTH]);
                }
            }
        });
        self.spectrum(values, state, work);
    }

    fn unload(&self, state: &mut [Real], field: &mut [Real], work: &mut [Real]) {
        assert!(!self.padding(), "fields have values at the nodes");
        let (values, work) = work.split_at_mut(self.size());
        self.values(state, values, work);
        let [nx, ny] = self.nodes;
        let size = parallel::chunk_size(nx, ny, 1);
        parallel::for_each_part(parallel::chunks(field, size * ny), |i, rows| {
            for (p, panel) in values.chunks_exact(nx * WIDTH).enumerate() {
                let panel = &panel.as_chunks::<WIDTH>().0[i * size..];
                for (from, to) in panel.iter().zip(rows.chunks_exact_mut(ny)) {
                    to[p * WIDTH..][..WIDTH].copy_from_slice(from);
                }
            }
        });
    }
}
