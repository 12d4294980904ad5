//! Agents' view of a field on a rectangle.

use super::channels2d::{CHANNELS, Channels2d};
use super::samples::{SamplePositions, Samples, Sums};
use super::{Patch, Window};
use crate::Real;
use crate::geometry::{Tiles, cells_of_chunk};
use crate::vector::add;
use cinoc_pde::Grid;
use cinoc_tape::kernel::math::sum_lanes;
use cinoc_tape::kernel::{parallel, vectorise};
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Samples `[e, w·∂x e, w·∂y e]` on a lattice of `n × n` points around each agent, an image `[x, y, channel]`.
///
/// Samples are interpolated bilinearly, clamped at walls or wrapped on a ring. The lattice is a product of two lines:
/// each row of nodes under the window is sampled along y, and the resulting lines are sampled along x.
/// Inputs: `z [batch, Nx, Ny]`, `z* [batch, Nx, Ny]`, `ξ [batch, agents, 2]`; output `[batch, agents, n·n·3]`.
pub struct Observe2d {
    nodes: [usize; 2],
    channels: Channels2d,
    along: [Samples; 2],
    tiles: Tiles,
    points: usize,
    through_position: bool,
}

/// Scratch space, for values or for cotangents.
struct Work<'a> {
    /// Framed channels of an instance.
    channels: &'a mut [Real],
    /// Scratch space of [`Channels2d`].
    plane: &'a mut [Real],
    /// Rows under an agent's window, sampled along y: `[rows, n·3]`.
    lines: &'a mut [Real],
}

impl Observe2d {
    /// Creates the operation.
    ///
    /// # Panics
    /// If the grid is not a rectangle with axes of positive length and at least 4 nodes each, if the number of samples
    /// along an axis is not in 2 to [`Window::MOST_POINTS`], or if the width of the window is not in 0 to
    /// [`Window::WIDEST`] domains.
    pub fn new(grid: &Grid, window: &Window) -> Self {
        window.check(grid, 2);
        let channels = Channels2d::new(grid, window.window, window.gain);
        let along = [0, 1].map(|axis| Samples::new(grid, axis, window, channels.frame[axis]));
        let nodes = [grid.nodes[0], grid.nodes[1]];
        Self { nodes, channels, along, tiles: Tiles::new(grid), points: window.points, through_position: window.through_position }
    }

    /// Layout of the patch.
    pub fn image(&self) -> Patch {
        Patch::Image { height: self.points, width: self.points, channels: CHANNELS }
    }

    /// Values in a line of samples.
    fn width(&self) -> usize {
        self.points * CHANNELS
    }

    /// Values in the lines under a window.
    fn lines(&self) -> usize {
        self.along[0].most() * self.width()
    }

    #[inline(always)]
    fn positions(&self, xi: &[Real], positions: &mut [SamplePositions; 2]) {
        self.along[0].positions(xi[0], &mut positions[0]);
        self.along[1].positions(xi[1], &mut positions[1]);
    }

    /// Offset in the channels of row `i` of the nodes under the window, at the first node before the window.
    #[inline(always)]
    fn row(&self, [x, y]: &[SamplePositions; 2], i: usize) -> usize {
        (x.first + i) * self.channels.stride() + y.first * CHANNELS
    }

    /// Samples the rows under the window along y.
    #[inline(always)]
    fn sample_rows(&self, positions: &[SamplePositions; 2], channels: &[Real], lines: &mut [Real]) {
        let width = self.width();
        for i in 0..positions[0].count {
            let line = &mut lines[i * width..(i + 1) * width];
            self.along[1].sample(&positions[1], CHANNELS, &channels[self.row(positions, i)..], line);
        }
    }

    /// Computes the patch of one agent.
    #[inline(always)]
    fn patch(&self, positions: &[SamplePositions; 2], channels: &[Real], lines: &mut [Real], seen: &mut [Real]) {
        self.sample_rows(positions, channels, lines);
        self.along[0].sample(&positions[0], self.width(), lines, seen);
    }

    /// Adjoint of [`patch`](Self::patch): adds to the cotangents of the channels and, if `slide`, returns that of the
    /// position in cells.
    #[inline(always)]
    fn patch_back(
        &self,
        positions: &[SamplePositions; 2],
        seen_bar: &[Real],
        work: &mut Work,
        bars: &mut Work,
        slide: bool,
    ) -> [Real; 2] {
        let ([x, y], width) = (positions, self.width());
        let mut shift_bar = [Sums::default(); 2];
        bars.lines[..x.count * width].fill(0.0);
        self.along[0].spread(x, width, seen_bar, bars.lines);
        if slide {
            self.sample_rows(positions, work.channels, work.lines);
            self.along[0].slide(x, width, work.lines, seen_bar, &mut shift_bar[0]);
        }
        for i in 0..x.count {
            let (row, line_bar) = (self.row(positions, i), &bars.lines[i * width..(i + 1) * width]);
            self.along[1].spread(y, CHANNELS, line_bar, &mut bars.channels[row..]);
            if slide {
                self.along[1].slide(y, CHANNELS, &work.channels[row..], line_bar, &mut shift_bar[1]);
            }
        }
        [sum_lanes(shift_bar[0]), sum_lanes(shift_bar[1])]
    }

    /// Splits the scratch space into that for values and that for cotangents.
    fn work<'a>(&self, scratch: &'a mut [Real]) -> [Work<'a>; 2] {
        let mut rest = scratch;
        [(); 2].map(|()| {
            let mut take = |count: usize| rest.split_off_mut(..count).expect("enough scratch");
            Work { channels: take(self.channels.count()), plane: take(self.channels.work()), lines: take(self.lines()) }
        })
    }
}

impl Op for Observe2d {
    fn name(&self) -> &'static str {
        "observe"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let &[batch, agents, 2] = x[2].sizes() else { panic!("observe: positions {:?}", x[2]) };
        let fits = x[0].sizes() == [batch, self.nodes[0], self.nodes[1]] && x[1] == x[0];
        assert!(fits, "observe: field {:?}, target {:?}, nodes {:?}", x[0], x[1], self.nodes);
        Shape::new(&[batch, agents, self.points * self.width()])
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        let back = 2 * (self.channels.count() + self.channels.work() + self.lines());
        back.max(self.channels.count() + self.tiles.work(x[2].sizes()[1]))
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let &[batch, agents, _] = x.shape(2).sizes() else { unreachable!() };
        let (nodes, image) = (self.nodes[0] * self.nodes[1], self.points * self.width());
        let (channels, work) = scratch.split_at_mut(self.channels.count());
        for b in 0..batch {
            let (field, here) = (b * nodes..(b + 1) * nodes, &x[2][2 * b * agents..][..2 * agents]);
            self.channels.fill(&x[0][field.clone()], &x[1][field], channels);
            let order = self.tiles.order(here, 2, work);
            let cells = cells_of_chunk(&order, agents, 4 * image);
            let seen = &mut y[b * agents * image..][..agents * image];
            parallel::for_each_part(order.scatter(seen, image, cells), |_, mut seen| {
                parallel::with_scratch(self.lines(), |lines| {
                    vectorise(
                        #[inline(always)]
                        || {
                            let mut positions = [SamplePositions::new(), SamplePositions::new()];
                            for slot in seen.positions() {
                                self.positions(&here[2 * order.get(slot)..], &mut positions);
                                self.patch(&positions, channels, lines, seen.row(slot));
                            }
                        },
                    );
                });
            });
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let &[batch, agents, _] = x.shape(2).sizes() else { unreachable!() };
        let (nodes, image) = (self.nodes[0] * self.nodes[1], self.points * self.width());
        let [mut work, mut work_bar] = self.work(scratch);
        for b in 0..batch {
            let field = b * nodes..(b + 1) * nodes;
            let mut xi_bar = if self.through_position { bars.get(2) } else { None };
            if xi_bar.is_some() {
                self.channels.fill(&x[0][field.clone()], &x[1][field.clone()], work.channels);
            }
            vectorise(
                #[inline(always)]
                || {
                    let mut positions = [SamplePositions::new(), SamplePositions::new()];
                    work_bar.channels.fill(0.0);
                    for m in b * agents..(b + 1) * agents {
                        self.positions(&x[2][2 * m..], &mut positions);
                        let seen_bar = &y_bar[m * image..][..image];
                        let shift_bar = self.patch_back(&positions, seen_bar, &mut work, &mut work_bar, xi_bar.is_some());
                        if let Some(xi_bar) = &mut xi_bar {
                            xi_bar[2 * m] += self.along[0].inverse_dx() * shift_bar[0];
                            xi_bar[2 * m + 1] += self.along[1].inverse_dx() * shift_bar[1];
                        }
                    }
                    self.channels.pull_back(work_bar.channels, work_bar.plane);
                },
            );
            for (input, sign) in [(0, 1.0), (1, -1.0)] {
                if let Some(bar) = bars.get(input) {
                    vectorise(
                        #[inline(always)]
                        || add(&mut bar[field.clone()], &work_bar.plane[..nodes], sign),
                    );
                }
            }
        }
    }
}
