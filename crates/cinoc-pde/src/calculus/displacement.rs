//! Displacements on a grid from a flow.

use crate::{Grid, Real};
use cinoc_tape::kernel::chunk::{LANES, load, store};
use cinoc_tape::kernel::vectorise;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Half a cell: a node then affects its neighbours only.
const LONGEST: Real = 0.5;

/// Displacement of a flow per step in cells, `(q + drift)/dx`, limited to half a cell in length.
///
/// Input: the flow `[batch, 2, Nx, Ny]`, one plane per component, in units of the domain per step; output of the same
/// shape.
#[derive(Debug)]
pub struct Displacement {
    drift: [Real; 2],
    inverse: [Real; 2],
    nodes: usize,
}

impl Displacement {
    /// Creates the operation; `drift` is added to every flow.
    ///
    /// # Panics
    /// On a grid that is not two-dimensional.
    pub fn new(grid: &Grid, drift: [f64; 2]) -> Self {
        grid.assert_dimensions("a displacement", &[2]);
        Self {
            drift: drift.map(|d| d as Real),
            inverse: [0, 1].map(|axis| (1.0 / grid.spacing(axis)) as Real),
            nodes: grid.count(),
        }
    }

    /// Displacement of a group of nodes before limiting, and the limiting factor.
    #[inline(always)]
    fn cells(&self, flow: &[Real], j: usize) -> ([[Real; LANES]; 2], [Real; LANES]) {
        let (x, y) = flow.split_at(self.nodes);
        let (mut x, mut y) = (load(x, j), load(y, j));
        let mut factor = [0.0; LANES];
        for l in 0..LANES {
            x[l] = (x[l] + self.drift[0]) * self.inverse[0];
            y[l] = (y[l] + self.drift[1]) * self.inverse[1];
            let square = x[l] * x[l] + y[l] * y[l];
            // A comparison that propagates NaN, so that divergence is detected.
            factor[l] = if square <= LONGEST * LONGEST { 1.0 } else { LONGEST / square.sqrt() };
        }
        ([x, y], factor)
    }
}

impl Op for Displacement {
    fn name(&self) -> &'static str {
        "displacement"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[0].count() == x[0].sizes()[0] * 2 * self.nodes, "displacement: flow {:?}, {} nodes", x[0], self.nodes);
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        vectorise(
            #[inline(always)]
            || {
                for (flow, y) in x[0].chunks_exact(2 * self.nodes).zip(y.chunks_exact_mut(2 * self.nodes)) {
                    let (yx, yy) = y.split_at_mut(self.nodes);
                    for j in (0..self.nodes).step_by(LANES) {
                        let ([mut x, mut y], factor) = self.cells(flow, j);
                        for l in 0..LANES {
                            x[l] *= factor[l];
                            y[l] *= factor[l];
                        }
                        store(yx, j, x, true);
                        store(yy, j, y, true);
                    }
                }
            },
        );
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let Some((flow_bar, fresh)) = bars.slot(0) else { return };
        vectorise(
            #[inline(always)]
            || {
                let size = 2 * self.nodes;
                for (b, flow) in x[0].chunks_exact(size).enumerate() {
                    let (bar_x, bar_y) = y_bar[b * size..][..size].split_at(self.nodes);
                    let (to_x, to_y) = flow_bar[b * size..][..size].split_at_mut(self.nodes);
                    for j in (0..self.nodes).step_by(LANES) {
                        let ([mut x, mut y], factor) = self.cells(flow, j);
                        let (bar_x, bar_y) = (load(bar_x, j), load(bar_y, j));
                        for l in 0..LANES {
                            // A limited displacement depends on its direction only: the component along it is projected
                            // out.
                            let inverse = if factor[l] < 1.0 { factor[l] / LONGEST } else { 0.0 };
                            let (nx, ny) = (x[l] * inverse, y[l] * inverse);
                            let along = nx * bar_x[l] + ny * bar_y[l];
                            x[l] = self.inverse[0] * factor[l] * (bar_x[l] - along * nx);
                            y[l] = self.inverse[1] * factor[l] * (bar_y[l] - along * ny);
                        }
                        store(to_x, j, x, fresh);
                        store(to_y, j, y, fresh);
                    }
                }
            },
        );
    }
}
