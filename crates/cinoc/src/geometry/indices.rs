//! Integers in the scratch space of an operation.

use crate::Real;

/// Integers in a slice of `Real`, the only type of scratch memory of an operation. Each is stored as the bit pattern of
/// its slot, so it is exact up to 2³² − 1 in either precision and read without a conversion. No arithmetic is done on
/// the slots.
pub struct Indices<'a>(&'a mut [Real]);

impl<'a> Indices<'a> {
    /// The largest value; no agent or cell has this index.
    pub const NONE: usize = u32::MAX as usize;

    /// Wraps `slots`; values are arbitrary until they are set.
    pub fn new(slots: &'a mut [Real]) -> Self {
        Self(slots)
    }

    /// Returns value `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> usize {
        self.0[i].to_bits() as usize
    }

    /// Sets value `i`.
    #[inline(always)]
    pub fn set(&mut self, i: usize, value: usize) {
        debug_assert!(value <= Self::NONE);
        self.0[i] = Real::from_bits(value as _);
    }

    /// Sets all values.
    pub fn fill(&mut self, value: usize) {
        self.0.fill(Real::from_bits(value as _));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An `f32` cannot represent all integers beyond 2²⁴.
    #[test]
    fn large_integers_are_exact() {
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
