//! Whole numbers in the working space of an operation.

use crate::Real;

/// Whole numbers in a slice of `Real`, the only kind of memory that an operation is lent: each is the bit pattern of its slot, so it is exact up
/// to 2³² − 1 in either precision and read without a conversion. No arithmetic is ever done on the slots themselves.
pub struct Indices<'a>(&'a mut [Real]);

impl<'a> Indices<'a> {
    /// The largest number that fits: no agent and no cell has it.
    pub const NONE: usize = u32::MAX as usize;

    /// Numbers in `slots`, arbitrary until they are set.
    pub fn new(slots: &'a mut [Real]) -> Self {
        Self(slots)
    }

    /// Number `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> usize {
        self.0[i].to_bits() as usize
    }

    /// Sets number `i`.
    #[inline(always)]
    pub fn set(&mut self, i: usize, value: usize) {
        debug_assert!(value <= Self::NONE);
        self.0[i] = Real::from_bits(value as _);
    }

    /// Sets all of them.
    pub fn fill(&mut self, value: usize) {
        self.0.fill(Real::from_bits(value as _));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beyond 2²⁴ an `f32` counts in steps of two and more.
    #[test]
    fn large_numbers_are_exact() {
        let mut slots = [0.0; 4];
        let mut indices = Indices::new(&mut slots);
        for value in [0, 1, (1 << 24) + 1, u32::MAX as usize - 1, Indices::NONE] {
            indices.set(2, value);
            assert_eq!(indices.get(2), value);
        }
        indices.fill(7);
        assert!((0..4).all(|i| indices.get(i) == 7));
    }
}
