//! Bring a restless field to rest.

use super::{After, Effort, FinalError, Instance, Reading, SquaredError, Status, Task};
use crate::attractor::Attractor;
use crate::random::{Rng, Use};
use crate::{Real, settings};
use cinoc_tape::Var;
use std::sync::Arc;

/// What the square of the field stands for, and when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Square {
    /// Energy; the score is its mean over the episode.
    EnergyMean,
    /// Energy; the score is that at the end.
    EnergyLast,
    /// Enstrophy; the score is that at the end.
    EnstrophyLast,
}

settings! {
    /// Weights of the cost of a field that is to come to rest.
    pub struct RestCost {
        /// Weight of the mean square of the field, over all ticks.
        track: f64 = 0.0..=1e9,
        /// Weight of the mean of u² over agents and ticks.
        effort: f64 = 0.0..=1e9,
        /// Weight of the mean square of the field after the last tick, beside its share of the mean.
        last: f64 = 0.0..=1e9,
        /// Weight of ln(e + 1e-6), e being that mean square: what makes a field that is nearly at rest worth calming further.
        #[absent = 0.0]
        last_log: f64 = 0.0..=1e9,
    }
}

/// Stabilisation: from states that the equation wanders through, to zero.
pub struct Stabilise {
    attractor: Attractor,
    terms: &'static [&'static str],
    weights: [f64; 3],
    /// What the square at the end costs beside its share of the mean.
    last: f64,
    square: Square,
    measures: [&'static str; 2],
    error: Arc<SquaredError>,
    effort: Arc<Effort>,
    final_error: Arc<FinalError>,
}

/// Without the logarithm there is no third term.
const TERMS: [&str; 3] = ["track", "effort", "final"];

/// A mean square below this is rest.
const REST: f64 = 1e-6;

impl Stabilise {
    /// From states of an attractor.
    pub fn new(attractor: Attractor, cost: &RestCost, square: Square) -> Self {
        Self {
            attractor,
            terms: if cost.last_log > 0.0 { &TERMS } else { &TERMS[..2] },
            weights: [cost.track, cost.effort, cost.last_log],
            last: cost.last,
            square,
            measures: match square {
                Square::EnergyMean => ["energy_mean", "energy_last"],
                Square::EnergyLast => ["energy_last", "energy_mean"],
                Square::EnstrophyLast => ["enstrophy_last", "enstrophy_mean"],
            },
            error: Arc::new(SquaredError),
            effort: Arc::new(Effort { weights: vec![1.0] }),
            final_error: Arc::new(FinalError { log: 1.0, floor: REST as Real, root: 0.0 }),
        }
    }
}

impl Task for Stabilise {
    fn sample(&self, rng: &mut Rng, purpose: Use) -> Instance {
        let start = self.attractor.draw(rng, purpose);
        let target = vec![0.0; start.len()];
        Instance { start, target }
    }

    fn attractor(&self) -> Option<&Attractor> {
        Some(&self.attractor)
    }

    fn reading(&self) -> Reading {
        if self.square == Square::EnstrophyLast { Reading::ENSTROPHY } else { Reading::ENERGY }
    }

    fn instances(&self) -> usize {
        50
    }

    fn terms(&self) -> &[&'static str] {
        self.terms
    }

    fn weight(&self, term: usize, tick: usize, ticks: usize) -> f64 {
        let at_end = tick == ticks;
        match term {
            2 => self.weights[2] * f64::from(u8::from(at_end)),
            _ => self.weights[term] / ticks as f64 + if term == 0 && at_end { self.last } else { 0.0 },
        }
    }

    fn cost<'t>(&self, after: &After<'t>, add: &mut dyn FnMut(Var<'t>)) {
        let square = after.z.tape().record(&self.error, [after.z, after.target]);
        add(square);
        add(after.action.apply(&self.effort));
        if self.terms.len() > 2 {
            add(square.apply(&self.final_error));
        }
    }

    fn measures(&self) -> &[&'static str] {
        &self.measures
    }

    fn square_in_score(&self, tick: usize, ticks: usize) -> Option<f64> {
        Some(match self.square {
            Square::EnergyMean => 1.0 / ticks as f64,
            Square::EnergyLast | Square::EnstrophyLast => f64::from(u8::from(tick == ticks)),
        })
    }

    fn measure(&self, status: &Status, measures: &mut [f64]) {
        let square = status.z.iter().map(|&z| z as f64 * z as f64).sum::<f64>() / status.z.len() as f64;
        for (name, value) in self.measures.iter().zip(measures) {
            if name.ends_with("_mean") {
                *value += square / status.ticks as f64;
            } else if status.tick == status.ticks {
                *value = square;
            }
        }
    }
}
