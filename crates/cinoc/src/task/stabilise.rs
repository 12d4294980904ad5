//! Stabilisation of a chaotic field at zero.

use super::{Effort, FinalError, Instance, PlotLabels, SquaredError, Status, Task, Transition};
use crate::attractor::Attractor;
use crate::random::{Rng, Split};
use crate::{Real, settings};
use cinoc_tape::Var;
use std::sync::Arc;

/// Meaning of the mean square of the field, and the time of the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Square {
    /// Energy; the score is its mean over the episode.
    EnergyMean,
    /// Energy; the score is its final value.
    EnergyLast,
    /// Enstrophy; the score is its final value.
    EnstrophyLast,
}

settings! {
    /// Weights of the cost of stabilisation.
    pub struct RestCost {
        /// Weight of the mean square of the field, over all ticks.
        track: f64 = 0.0..=1e9,
        /// Weight of the mean of u² over agents and ticks.
        effort: f64 = 0.0..=1e9,
        /// Weight of the mean square of the field after the last tick, in addition to its part of the mean.
        last: f64 = 0.0..=1e9,
        /// Weight of ln(e + 1e-6), e being that mean square; it rewards reducing small energies further.
        #[absent = 0.0]
        last_log: f64 = 0.0..=1e9,
    }
}

/// Stabilisation: from states on the attractor of the equation to zero.
pub struct Stabilise {
    attractor: Attractor,
    terms: &'static [&'static str],
    weights: [f64; 3],
    /// Weight of the final mean square, in addition to its part of the mean.
    last: f64,
    square: Square,
    measures: [&'static str; 2],
    error: Arc<SquaredError>,
    effort: Arc<Effort>,
    final_error: Arc<FinalError>,
}

/// Cost terms; the third exists only with the logarithm.
const TERMS: [&str; 3] = ["track", "effort", "final"];

/// Mean square below which there is little further reward.
const REST: f64 = 1e-6;

impl Stabilise {
    /// Creates the task from states of an attractor.
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
    fn sample(&self, rng: &mut Rng, purpose: Split) -> Instance {
        let start = self.attractor.draw(rng, purpose);
        let target = vec![0.0; start.len()];
        Instance { start, target }
    }

    fn attractor(&self) -> Option<&Attractor> {
        Some(&self.attractor)
    }

    fn plot_labels(&self) -> PlotLabels {
        if self.square == Square::EnstrophyLast { PlotLabels::ENSTROPHY } else { PlotLabels::ENERGY }
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

    fn cost<'t>(&self, after: &Transition<'t>, add: &mut dyn FnMut(Var<'t>)) {
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
