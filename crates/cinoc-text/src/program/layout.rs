//! Addresses of values in input arrays.

use crate::graph::Leaf;
use cinoc_tape::Shape;
use cinoc_tape::op::MAX_INPUTS;
use std::ops::Range;

/// Input array of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    /// Values per lane or per instance.
    pub slots: usize,
    /// One value per lane; otherwise one per instance.
    pub lanes: bool,
}

/// Addresses of values in the inputs of a program, and in the cotangent of its result.
pub(super) struct Layout {
    /// Number of instances.
    pub batch: usize,
    /// Lanes of an instance.
    pub lanes: usize,
    /// Number of rows of a pass: instances, or one if all instances can be computed as one.
    pub rows: usize,
    /// Lanes of a row.
    pub width: usize,
    /// Distance of rows in each array; 0 if rows share their values.
    strides: [usize; MAX_INPUTS + 1],
}

impl Layout {
    /// # Panics
    /// If the shapes do not match.
    pub fn new(inputs: &[Input], outputs: usize, lanes: bool, shapes: &[Shape]) -> Self {
        assert_eq!(inputs.len(), shapes.len(), "number of inputs of a program");
        let of = |shape: &Shape| if shape.sizes().len() < 2 { 1 } else { shape.sizes()[0] };
        let batch = shapes.iter().map(of).find(|batch| *batch != 1).unwrap_or(1);
        let mut width = if lanes { None } else { Some(1) };
        let mut strides = [0; MAX_INPUTS + 1];
        // All instances are one long row if arrays and result have one value per lane.
        let mut one_row = lanes && outputs == 1;
        for (i, (input, shape)) in inputs.iter().zip(shapes).enumerate() {
            let (own, count) = (of(shape), shape.count());
            assert!(own == batch || own == 1, "program: a batch of {own} beside one of {batch}");
            let values = count.checked_div(own).unwrap_or(0);
            if input.lanes {
                let found = values / input.slots;
                assert!(
                    values.is_multiple_of(input.slots) && *width.get_or_insert(found) == found,
                    "program: an input of shape {shape:?} has not {} · {width:?} values",
                    input.slots
                );
            } else {
                assert!(
                    values == input.slots || count == 0,
                    "program: an input of shape {shape:?} has not {} values",
                    input.slots
                );
            }
            one_row &= !input.lanes || (own == batch && input.slots == 1);
            strides[i] = if own == 1 { 0 } else { values };
        }
        let lanes = width.unwrap_or(1);
        strides[inputs.len()] = outputs * lanes;
        let (rows, width) = if one_row { (1, batch * lanes) } else { (batch, lanes) };
        Self { batch, lanes, rows, width, strides }
    }

    /// Returns true if instances share the values of an array.
    pub fn is_shared(&self, array: usize) -> bool {
        self.batch > 1 && self.strides[array] == 0
    }

    /// Instances of a block and their lanes there.
    #[inline(always)]
    pub fn instances(&self, row: usize, start: usize, length: usize) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let (lanes, from) = (self.lanes, row * self.width + start);
        let to = from + length;
        (from / lanes..to.div_ceil(lanes)).map(move |i| (i, (i * lanes).max(from) - from..((i + 1) * lanes).min(to) - from))
    }

    /// Index of the value of an instance.
    #[inline(always)]
    pub fn uniform(&self, leaf: Leaf, instance: usize) -> usize {
        instance * self.strides[leaf.array] + leaf.slot
    }

    /// Index of the value of a lane.
    #[inline(always)]
    pub fn lane(&self, leaf: Leaf, row: usize, lane: usize) -> usize {
        row * self.strides[leaf.array] + leaf.slot * self.width + lane
    }
}
