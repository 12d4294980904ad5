//! Random places.

use crate::Real;
use crate::random::Rng;
use serde::Serialize;

/// Where the agents of an instance start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Places {
    /// At their regular places.
    #[default]
    Lattice,
    /// Anywhere in the box that they stay in, each by itself.
    Random,
    /// At their regular places drawn together into a part of the domain, and shaken.
    Clustered,
}

/// Parts of the length of an axis that training keeps random places between.
pub const WITHIN: [f64; 2] = [0.03, 0.97];

/// Each agent by itself anywhere in a box, but for margins: between two parts of the length of each axis.
pub fn scatter(rng: &mut Rng, [low, high]: &[Vec<f64>; 2], [from, to]: [f64; 2], places: &mut [Real]) {
    let d = low.len();
    for (i, xi) in places.iter_mut().enumerate() {
        *xi = (low[i % d] + (high[i % d] - low[i % d]) * rng.uniform(from, to)) as Real;
    }
}

/// Draws places together into a random part of a domain with axes of these lengths, and shakes them a little.
pub fn cluster(rng: &mut Rng, lengths: &[f64], places: &mut [Real]) {
    let d = lengths.len();
    let spread = 0.15 / ((places.len() / d) as f64).powf(1.0 / d as f64);
    let part: Vec<[f64; 2]> = (0..d).map(|_| [rng.uniform(0.05, 0.35), 1.0 - rng.uniform(0.05, 0.35)]).collect();
    for (i, xi) in places.iter_mut().enumerate() {
        let ([low, high], length) = (part[i % d], lengths[i % d]);
        let at = low + (high - low) * *xi as f64 / length + spread * rng.normal();
        *xi = (length * at.clamp(WITHIN[0], WITHIN[1])) as Real;
    }
}
