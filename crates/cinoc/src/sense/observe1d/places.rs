//! Where the samples of an agent on an interval lie.

use crate::Real;
use crate::sense::Window;
use cinoc_tape::kernel::chunk::LANES;

/// The most samples of a patch.
const MOST: usize = Window::MOST_POINTS;

/// 0, 1, 2, … as numbers.
pub const STEPS: [Real; LANES] = {
    let mut steps = [0.0; LANES];
    let mut l = 0;
    while l < LANES {
        steps[l] = l as Real;
        l += 1;
    }
    steps
};

/// Where the samples of one agent lie, in cells.
pub struct Places {
    pub t: [[Real; LANES]; MOST / LANES],
    /// Where the agent is.
    pub at: Real,
    /// The nodes under the window.
    pub first: usize,
    pub last: usize,
}

impl Places {
    /// Room for the places of an agent.
    pub fn new() -> Self {
        Self { t: [[0.0; LANES]; MOST / LANES], at: 0.0, first: 0, last: 0 }
    }
}

#[inline(always)]
pub fn hat(s: Real) -> Real {
    (1.0 - s.abs()).max(0.0)
}
