//! Division of a step into substeps.

use crate::Real;

/// Number of substeps per step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Substeps {
    /// A fixed number, at least one.
    Fixed(usize),
    /// The smallest power of two from 2 on that keeps the Courant number (cells crossed per substep) below this
    /// positive limit, chosen at the start of each step for each field. Beyond 64 the field becomes NaN, which a
    /// rollout reports as diverged. The derivative treats the number as constant.
    Courant(f64),
}

/// Maximum number of substeps for [`Substeps::Courant`].
pub(super) const MAX_SUBSTEPS: usize = 64;

impl Substeps {
    /// Possible numbers of substeps.
    ///
    /// # Panics
    /// With zero substeps, or a Courant number that is not positive.
    pub(super) fn counts(self) -> impl Iterator<Item = usize> {
        let (first, last) = match self {
            Self::Fixed(n) => {
                assert!(n > 0, "a step needs at least one substep; zero would not advance time");
                (n, n)
            }
            Self::Courant(limit) => {
                assert!(limit > 0.0, "a Courant number must be positive, not {limit}");
                (2, MAX_SUBSTEPS)
            }
        };
        std::iter::successors(Some(first), |n| n.checked_mul(2)).take_while(move |&n| n <= last)
    }

    pub(super) fn limit(self) -> Option<f64> {
        if let Self::Courant(limit) = self { Some(limit) } else { None }
    }

    /// Returns true if `n` substeps suffice; false for a speed of NaN.
    pub(super) fn fits(self, speed: Real, tick: f64, n: usize) -> bool {
        self.limit().is_none_or(|limit| speed as f64 * tick / n as f64 <= limit)
    }
}
