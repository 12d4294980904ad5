//! Growable array of numbers, aligned to a cache line.
//!
//! Vector loads across two cache lines cost double; `Vec<Real>` guarantees only the alignment of one number.

use crate::Real;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Numbers per aligned line; offsets in an arena are multiples of it.
pub const LINE: usize = 16;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([Real; LINE]);

/// Growable, aligned array of numbers. It never shrinks, so a warmed-up arena does not allocate.
#[derive(Clone, Default)]
pub struct Buffer {
    lines: Vec<Line>,
    length: usize,
}

impl Buffer {
    /// Creates an array of zeros.
    pub fn zeros(length: usize) -> Self {
        let mut buffer = Self::default();
        buffer.grow_to(length);
        buffer
    }

    /// Grows to at least `length` numbers; new ones are zero, old ones keep their values.
    pub fn grow_to(&mut self, length: usize) {
        if length > self.length {
            let lines = length.div_ceil(LINE);
            if lines > self.lines.len() {
                self.lines.resize(lines, Line([0.0; LINE]));
            }
            self.length = length;
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Deref for Buffer {
    type Target = [Real];
    fn deref(&self) -> &[Real] {
        // SAFETY: a `Line` is LINE numbers without padding, and `length` never exceeds the numbers in `lines`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.length) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [Real] {
        // SAFETY: as above; `&mut self` makes the access unique.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.length) }
    }
}

impl From<&[Real]> for Buffer {
    fn from(values: &[Real]) -> Self {
        let mut buffer = Self::zeros(values.len());
        buffer.copy_from_slice(values);
        buffer
    }
}

/// Rounds an offset up to the start of a line. Near `usize::MAX` the result saturates, still larger than any array.
pub fn align(offset: usize) -> usize {
    offset.saturating_add(LINE - 1) / LINE * LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_rounded_up_and_never_wrap_around() {
        assert_eq!([0, 1, 15, 16, 17].map(align), [0, 16, 16, 16, 32]);
        assert!(align(usize::MAX) > isize::MAX as usize);
    }
}
