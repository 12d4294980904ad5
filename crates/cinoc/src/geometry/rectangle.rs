//! Rectangles.

/// A rectangle by its lowest and highest corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// Lowest coordinates.
    pub low: [f64; 2],
    /// Highest coordinates.
    pub high: [f64; 2],
}
