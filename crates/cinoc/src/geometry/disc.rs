//! Round places that agents keep out of.

use crate::Real;

/// A disc in the plane. The field does not feel it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Its centre.
    pub centre: [Real; 2],
    /// Its radius.
    pub radius: Real,
}

/// How an agent lies to a disc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bearing {
    /// From the edge of the disc to the agent; negative inside.
    pub gap: Real,
    /// From the centre to the agent.
    pub distance: Real,
    /// The direction from the centre to the agent; zero at the centre.
    pub outward: [Real; 2],
}

impl Disc {
    /// The discs of a configuration, `[x, y, radius]` each.
    pub fn all(obstacles: &[[f64; 3]]) -> Vec<Self> {
        obstacles.iter().map(|&[x, y, r]| Self { centre: [x as Real, y as Real], radius: r as Real }).collect()
    }

    /// How an agent at `xi` lies to it.
    #[inline(always)]
    pub fn bearing(&self, xi: [Real; 2]) -> Bearing {
        let [x, y] = [xi[0] - self.centre[0], xi[1] - self.centre[1]];
        let distance = (x * x + y * y).sqrt();
        let inverse = if distance > 0.0 { 1.0 / distance } else { 0.0 };
        Bearing { gap: distance - self.radius, distance, outward: [x * inverse, y * inverse] }
    }
}
