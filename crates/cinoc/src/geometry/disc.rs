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

/// Discs that stay in place, or that each circle around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Discs {
    /// The discs, where they circle around their places.
    places: Vec<Disc>,
    /// Radius of the circles.
    orbit: Real,
    /// Angle that they turn by in a tick.
    turn: Real,
}

impl Discs {
    /// Discs that stay where they are.
    pub fn still(places: Vec<Disc>) -> Self {
        Self { places, orbit: 0.0, turn: 0.0 }
    }

    /// Discs that circle around their places on circles of radius `orbit`, once in `ticks` ticks, each a step behind the one before.
    pub fn circling(places: Vec<Disc>, orbit: f64, ticks: f64) -> Self {
        Self { places, orbit: orbit as Real, turn: (std::f64::consts::TAU / ticks) as Real }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// The discs, where they stay or where they circle around.
    pub fn places(&self) -> &[Disc] {
        &self.places
    }

    /// Radius of the circles; 0 where they stay.
    pub fn orbit(&self) -> f64 {
        self.orbit as f64
    }

    /// Whether they move.
    pub fn moving(&self) -> bool {
        self.orbit > 0.0
    }

    /// Disc `k` after so many ticks.
    #[inline(always)]
    pub fn disc(&self, k: usize, tick: Real) -> Disc {
        let place = self.places[k];
        if !self.moving() {
            return place;
        }
        let step = std::f64::consts::TAU as Real * k as Real / self.count() as Real;
        let (sin, cos) = (self.turn * tick - step).sin_cos();
        Disc { centre: [place.centre[0] + self.orbit * cos, place.centre[1] + self.orbit * sin], ..place }
    }

    /// All of them after so many ticks.
    pub fn at(&self, tick: Real) -> impl Iterator<Item = Disc> + Clone {
        (0..self.count()).map(move |k| self.disc(k, tick))
    }
}
