//! Into how many substeps a step is divided.

use crate::Real;

/// Into how many substeps a step is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Substeps {
    /// Always as many, at least one.
    Fixed(usize),
    /// At the start of each step, and for each field on its own, the smallest power of two from 2 on with which nothing crosses more than this
    /// share of a cell per substep; the share is positive. Beyond 64 the field is given up: it becomes NaN, which a rollout reports as diverged.
    /// The derivative takes the number as given.
    Courant(f64),
}

/// The most substeps that [`Substeps::Courant`] chooses.
pub(super) const MOST_SUBSTEPS: usize = 64;

impl Substeps {
    /// The numbers to choose from.
    ///
    /// # Panics
    /// If there is nothing to choose.
    pub(super) fn counts(self) -> impl Iterator<Item = usize> {
        let (first, last) = match self {
            Self::Fixed(n) => {
                assert!(n > 0, "a step needs at least one substep; with none, time would stand still");
                (n, n)
            }
            Self::Courant(limit) => {
                assert!(limit > 0.0, "a Courant number must be positive, not {limit}");
                (2, MOST_SUBSTEPS)
            }
        };
        std::iter::successors(Some(first), |n| n.checked_mul(2)).take_while(move |&n| n <= last)
    }

    pub(super) fn limit(self) -> Option<f64> {
        if let Self::Courant(limit) = self { Some(limit) } else { None }
    }

    /// Whether `n` substeps are enough; with a speed of NaN no number is.
    pub(super) fn fits(self, speed: Real, tick: f64, n: usize) -> bool {
        self.limit().is_none_or(|limit| speed as f64 * tick / n as f64 <= limit)
    }
}
