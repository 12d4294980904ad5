//! Shapes of row-major arrays with up to four axes.

use std::fmt;

/// Shape of an array with at most four axes; `Copy`, so that nodes hold it without allocation.
///
/// ```
/// use cinoc_tape::Shape;
///
/// let shape = Shape::new(&[8, 16, 3]);
/// assert_eq!((shape.count(), shape.rows(), shape.last()), (384, 128, 3));
/// assert_eq!(shape.with_last(5).sizes(), [8, 16, 5]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    sizes: [usize; Self::AXES],
    rank: u8,
}

impl Shape {
    /// Maximum number of axes.
    pub const AXES: usize = 4;

    /// Creates a shape from the size of each axis.
    ///
    /// # Panics
    /// With more than four axes, or more elements than a `usize` counts.
    pub fn new(sizes: &[usize]) -> Self {
        assert!(sizes.len() <= Self::AXES, "an array has at most {} axes, not {}", Self::AXES, sizes.len());
        let count = sizes.iter().try_fold(1, |count: usize, &size| count.checked_mul(size));
        assert!(count.is_some(), "an array of sizes {sizes:?} has too many elements to count");
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

    /// Returns the shape with the last axis replaced.
    pub fn with_last(&self, size: usize) -> Self {
        let mut sizes = self.sizes;
        let rank = (self.rank as usize).max(1);
        sizes[rank - 1] = size;
        Self::new(&sizes[..rank])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_axis_can_be_another() {
        assert_eq!(Shape::new(&[2, 3]).with_last(5), Shape::new(&[2, 5]));
        assert_eq!(Shape::default().with_last(5), Shape::new(&[5]));
    }

    #[test]
    #[should_panic(expected = "too many elements to count")]
    fn a_number_of_elements_that_wraps_around_is_refused() {
        Shape::new(&[usize::MAX / 2 + 1, 2, 3]);
    }
}
