//! Variables of a recorded segment.

use super::recorder::PARTS;
use cinoc_tape::VarId;

/// The variables of a segment, the same for all segments of equal length.
#[derive(Clone, Default)]
pub struct SegmentVars {
    /// Inputs of the ticks, in the order of recording.
    pub inputs: Vec<VarId>,
    /// State at the start and at the end; the last two parts are optional.
    pub first: [Option<VarId>; PARTS],
    pub last: [Option<VarId>; PARTS],
    /// Initial field of the episode.
    pub start: Option<VarId>,
    /// Given actions of each tick.
    pub actions: Vec<VarId>,
    /// Cost terms, tick by tick.
    pub terms: Vec<VarId>,
}

impl SegmentVars {
    /// Copies `other` without new allocations.
    pub fn copy(&mut self, other: &Self) {
        (self.first, self.last, self.start) = (other.first, other.last, other.start);
        self.inputs.clone_from(&other.inputs);
        self.actions.clone_from(&other.actions);
        self.terms.clone_from(&other.terms);
    }

    pub fn clear(&mut self) {
        self.inputs.clear();
        self.actions.clear();
        self.terms.clear();
    }
}
