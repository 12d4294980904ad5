//! A plane with a rim of one node, so that stencils need no special cases at the walls.

use crate::Real;
use cinoc_tape::kernel::chunk::LANES;

/// Layout of a framed plane: `nodes[0] + 2` rows of rim, nodes, rim, and padding up to whole groups of lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub nx: usize,
    pub ny: usize,
    /// Length of a row, a multiple of [`LANES`].
    pub stride: usize,
}

impl Frame {
    pub fn new(nx: usize, ny: usize) -> Self {
        Self { nx, ny, stride: ny.next_multiple_of(LANES) + LANES }
    }

    /// Number of nodes of the plane.
    pub fn nodes(&self) -> usize {
        self.nx * self.ny
    }

    /// Length of the framed plane.
    pub fn len(&self) -> usize {
        (self.nx + 2) * self.stride
    }

    /// Returns the nodes of row `i`.
    #[inline(always)]
    pub fn row<'a>(&self, framed: &'a [Real], i: usize) -> &'a [Real] {
        &framed[(i + 1) * self.stride + 1..][..self.ny]
    }

    /// Copies a plane into the frame and repeats its edge on the rim.
    #[inline(always)]
    pub fn enclose(&self, plane: &[Real], framed: &mut [Real]) {
        for (i, row) in plane.chunks_exact(self.ny).enumerate() {
            framed[(i + 1) * self.stride + 1..][..self.ny].copy_from_slice(row);
        }
        self.repeat_edge(framed);
    }

    /// Repeats the edge of the plane on the rim.
    #[inline(always)]
    pub fn repeat_edge(&self, framed: &mut [Real]) {
        let Self { nx, ny, stride } = *self;
        for row in framed[stride..(nx + 1) * stride].chunks_exact_mut(stride) {
            row[0] = row[1];
            row[ny + 1] = row[ny];
            row[ny + 2..].fill(0.0);
        }
        framed.copy_within(stride..2 * stride, 0);
        framed.copy_within(nx * stride..(nx + 1) * stride, (nx + 1) * stride);
    }

    /// Adds the rim to the edge: the adjoint of [`repeat_edge`](Self::repeat_edge).
    #[inline(always)]
    pub fn fold_edge(&self, framed: &mut [Real]) {
        let Self { nx, ny, stride } = *self;
        for (from, to) in [(0, stride), ((nx + 1) * stride, nx * stride)] {
            for j in 0..ny + 2 {
                framed[to + j] += framed[from + j];
            }
        }
        for row in framed[stride..(nx + 1) * stride].chunks_exact_mut(stride) {
            row[1] += row[0];
            row[ny] += row[ny + 1];
        }
    }

    /// Returns node `j` of row `i` with all neighbours, for a group of lanes: `[a][l + b]` is the node `a − 1` rows and
    /// `b − 1` columns from lane `l`.
    #[inline(always)]
    pub fn around<'a>(&self, framed: &'a [Real], i: usize, j: usize) -> [&'a [Real; LANES + 2]; 3] {
        [self.window(framed, i, j), self.window(framed, i + 1, j), self.window(framed, i + 2, j)]
    }

    #[inline(always)]
    fn window<'a>(&self, framed: &'a [Real], row: usize, j: usize) -> &'a [Real; LANES + 2] {
        framed[row * self.stride + j..].first_chunk().expect("rows end in a spare group of lanes")
    }
}
