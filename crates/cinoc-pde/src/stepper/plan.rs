//! Coefficients of a scheme for all modes.

use super::Scheme;
use std::collections::HashMap;

/// Coefficients of one [`super::scheme::Combination`], each a `C` over all modes; rates with zero coefficients are
/// omitted.
pub(super) struct Mix<C> {
    pub state: C,
    pub rates: Vec<Option<C>>,
}

/// A scheme with a fixed number of substeps.
pub(super) struct Plan<C> {
    pub substeps: usize,
    pub lines: Vec<Mix<C>>,
}

impl<C> Plan<C> {
    /// Creates the plan for modes with linear rates `lambda`; `store` converts one coefficient per mode into a `C`.
    pub fn new(scheme: &dyn Scheme, lambda: &[f64], tick: f64, substeps: usize, store: impl Fn(Vec<f64>) -> C) -> Self {
        // Modes of equal wavelength share a rate; its coefficients are computed once.
        let (mut known, mut distinct) = (HashMap::new(), Vec::new());
        let mut lines = |lambda: f64| {
            *known.entry(lambda.to_bits()).or_insert_with(|| {
                distinct.push(scheme.lines(lambda, tick / substeps as f64));
                distinct.len() - 1
            })
        };
        let index: Vec<usize> = lambda.iter().map(|&lambda| lines(lambda)).collect();
        let each = index.iter().map(|&i| &distinct[i]);
        let line = |l: usize| {
            let rate = |j: usize| {
                let all: Vec<f64> = each.clone().map(|lines| lines[l].rates[j]).collect();
                all.iter().any(|&a| a != 0.0).then(|| store(all))
            };
            Mix { state: store(each.clone().map(|lines| lines[l].state).collect()), rates: (0..=l).map(rate).collect() }
        };
        Self { substeps, lines: (0..distinct[0].len()).map(line).collect() }
    }
}
