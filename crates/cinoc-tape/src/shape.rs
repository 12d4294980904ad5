//! Sizes of an array, row-major, up to four axes.

use std::fmt;

/// Sizes of an array, at most four axes; `Copy`, so that a node of the tape holds it without allocating.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    sizes: [usize; Self::AXES],
    rank: u8,
}

impl Shape {
    /// The most axes an array can have.
    pub const AXES: usize = 4;

    /// # Panics
    /// With more than four axes.
    pub fn new(sizes: &[usize]) -> Self {
        assert!(sizes.len() <= Self::AXES, "an array has at most {} axes, not {}", Self::AXES, sizes.len());
        let mut shape = Self { sizes: [1; Self::AXES], rank: sizes.len() as u8 };
        shape.sizes[..sizes.len()].copy_from_slice(sizes);
        shape
    }

    /// Size of each axis.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes[..self.rank as usize]
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.sizes().iter().product()
    }

    /// Size of the last axis (1 for a scalar).
    pub fn last(&self) -> usize {
        self.sizes().last().copied().unwrap_or(1)
    }

    /// Number of rows: the elements divided by the last axis.
    pub fn rows(&self) -> usize {
        self.sizes[..self.rank.saturating_sub(1) as usize].iter().product()
    }

    /// The same shape with another last axis.
    pub fn with_last(&self, size: usize) -> Self {
        let mut shape = *self;
        if self.rank == 0 {
            return Self::new(&[size]);
        }
        shape.sizes[self.rank as usize - 1] = size;
        shape
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?}", self.sizes())
    }
}

impl From<&[usize]> for Shape {
    fn from(sizes: &[usize]) -> Self {
        Self::new(sizes)
    }
}

impl<const N: usize> From<&[usize; N]> for Shape {
    fn from(sizes: &[usize; N]) -> Self {
        Self::new(sizes)
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(sizes: [usize; N]) -> Self {
        Self::new(&sizes)
    }
}
