//! Axis-aligned rectangles.

/// A rectangle, given by its lower and upper corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// Lowest coordinates.
    pub low: [f64; 2],
    /// Highest coordinates.
    pub high: [f64; 2],
}
