//! Random initial positions.

use crate::Real;
use crate::random::Rng;
use serde::Serialize;

/// Initial placement of the agents of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Regular positions.
    #[default]
    Lattice,
    /// Independent uniform positions in the box that agents stay in.
    Random,
    /// Regular positions contracted into a part of the domain, with jitter.
    Clustered,
}

/// Range of random positions in training, as fractions of the length of an axis.
pub const WITHIN: [f64; 2] = [0.03, 0.97];

/// Samples independent positions in a box, between two fractions of the length of each axis.
pub fn scatter(rng: &mut Rng, [low, high]: &[Vec<f64>; 2], [from, to]: [f64; 2], positions: &mut [Real]) {
    let d = low.len();
    for (i, xi) in positions.iter_mut().enumerate() {
        *xi = (low[i % d] + (high[i % d] - low[i % d]) * rng.uniform(from, to)) as Real;
    }
}

/// Contracts positions into a random part of a domain with axes of these lengths, and adds jitter.
pub fn cluster(rng: &mut Rng, lengths: &[f64], positions: &mut [Real]) {
    let d = lengths.len();
    let spread = 0.15 / ((positions.len() / d) as f64).powf(1.0 / d as f64);
    let part: Vec<[f64; 2]> = (0..d).map(|_| [rng.uniform(0.05, 0.35), 1.0 - rng.uniform(0.05, 0.35)]).collect();
    for (i, xi) in positions.iter_mut().enumerate() {
        let ([low, high], length) = (part[i % d], lengths[i % d]);
        let at = low + (high - low) * *xi as f64 / length + spread * rng.normal();
        *xi = (length * at.clamp(WITHIN[0], WITHIN[1])) as Real;
    }
}
