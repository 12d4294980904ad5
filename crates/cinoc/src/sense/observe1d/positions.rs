//! Sample positions of an agent on an interval.

use crate::Real;
use crate::sense::Window;
use cinoc_tape::kernel::chunk::LANES;

/// Largest number of samples in a patch.
const MOST: usize = Window::MOST_POINTS;

/// The sequence 0, 1, 2, … as floats.
pub const STEPS: [Real; LANES] = {
    let mut steps = [0.0; LANES];
    let mut l = 0;
    while l < LANES {
        steps[l] = l as Real;
        l += 1;
    }
    steps
};

/// Sample positions of one agent, in cells.
pub struct LinePositions {
    pub t: [[Real; LANES]; MOST / LANES],
    /// Position of the agent.
    pub at: Real,
    /// Nodes under the window.
    pub first: usize,
    pub last: usize,
}

impl LinePositions {
    /// Creates zeroed positions.
    pub fn new() -> Self {
        Self { t: [[0.0; LANES]; MOST / LANES], at: 0.0, first: 0, last: 0 }
    }
}

#[inline(always)]
pub fn hat(s: Real) -> Real {
    (1.0 - s.abs()).max(0.0)
}
