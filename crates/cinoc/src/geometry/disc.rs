//! Keep-out discs.

use crate::Real;

/// A disc in the plane. It does not affect the field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Centre.
    pub centre: [Real; 2],
    /// Radius.
    pub radius: Real,
}

/// Position of an agent relative to a disc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bearing {
    /// Distance from the edge of the disc to the agent; negative inside.
    pub gap: Real,
    /// Distance from the centre to the agent.
    pub distance: Real,
    /// Unit vector from the centre to the agent; zero at the centre.
    pub outward: [Real; 2],
}

impl Disc {
    /// Converts the discs of a configuration, `[x, y, radius]` each.
    pub fn all(obstacles: &[[f64; 3]]) -> Vec<Self> {
        obstacles.iter().map(|&[x, y, r]| Self { centre: [x as Real, y as Real], radius: r as Real }).collect()
    }

    /// Returns the bearing of an agent at `xi`.
    #[inline(always)]
    pub fn bearing(&self, xi: [Real; 2]) -> Bearing {
        let [x, y] = [xi[0] - self.centre[0], xi[1] - self.centre[1]];
        let distance = (x * x + y * y).sqrt();
        let inverse = if distance > 0.0 { 1.0 / distance } else { 0.0 };
        Bearing { gap: distance - self.radius, distance, outward: [x * inverse, y * inverse] }
    }
}

/// Discs that are fixed or move on circles.
#[derive(Clone, Debug, PartialEq)]
pub struct Discs {
    /// Discs at the centres of their orbits.
    discs: Vec<Disc>,
    /// Radius of the orbits.
    orbit: Real,
    /// Angle per tick.
    turn: Real,
}

impl Discs {
    /// Creates fixed discs.
    pub fn still(discs: Vec<Disc>) -> Self {
        Self { discs, orbit: 0.0, turn: 0.0 }
    }

    /// Creates discs that orbit their initial centres at radius `orbit`, once in `ticks` ticks, with evenly spread
    /// phases.
    pub fn circling(discs: Vec<Disc>, orbit: f64, ticks: f64) -> Self {
        Self { discs, orbit: orbit as Real, turn: (std::f64::consts::TAU / ticks) as Real }
    }

    /// Number of discs.
    pub fn count(&self) -> usize {
        self.discs.len()
    }

    /// Discs at the centres of their orbits, which are their positions if they are fixed.
    pub fn discs(&self) -> &[Disc] {
        &self.discs
    }

    /// Radius of the orbits; 0 if the discs are fixed.
    pub fn orbit(&self) -> f64 {
        self.orbit as f64
    }

    /// Returns true if the discs move.
    pub fn moving(&self) -> bool {
        self.orbit > 0.0
    }

    /// Returns disc `k` after `tick` ticks.
    #[inline(always)]
    pub fn disc(&self, k: usize, tick: Real) -> Disc {
        let disc = self.discs[k];
        if !self.moving() {
            return disc;
        }
        let step = std::f64::consts::TAU as Real * k as Real / self.count() as Real;
        let (sin, cos) = (self.turn * tick - step).sin_cos();
        Disc { centre: [disc.centre[0] + self.orbit * cos, disc.centre[1] + self.orbit * sin], ..disc }
    }

    /// Iterates over all discs after `tick` ticks.
    pub fn at(&self, tick: Real) -> impl Iterator<Item = Disc> + Clone {
        (0..self.count()).map(move |k| self.disc(k, tick))
    }
}
