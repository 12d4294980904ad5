//! Processes that share work, on one machine or on many, without changing its result: who does what never decides in which order numbers
//! are added.
//!
//! Every rank holds the same parameters, does the same things in the same order, and computes its part of what is spread. How messages travel is
//! up to whoever implements [`Ranks`]; nothing else of this crate knows.

mod sum;
mod wire;

use crate::Error;
use std::ops::Range;
use wire::{Word, message};

/// All processes of a job, as one of them sees them. Every rank has to call the same methods in the same order.
///
/// A rank that fails calls nothing any more. Whoever implements this sees to it that the others do not wait for it: what they call next is an
/// [`Error::Elsewhere`], so that one error, wherever it comes up, ends all ranks.
pub trait Ranks: Send + Sync {
    /// Which of them this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn count(&self) -> usize;

    /// How many of them run on this machine, this one included, and share its memory.
    fn here(&self) -> usize;

    /// What every rank gives, in their order, on every rank.
    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, Error>;

    /// Sends a piece to each rank; what each rank sent to this one, in their order.
    fn exchange(&self, pieces: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Error>;
}

/// One process does everything.
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn here(&self) -> usize {
        1
    }

    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        Ok(vec![own.to_vec()])
    }

    fn exchange(&self, pieces: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Error> {
        Ok(pieces.to_vec())
    }
}

impl dyn Ranks + '_ {
    /// Whether this is the rank that reads and writes files and talks to the user.
    pub fn first(&self) -> bool {
        self.rank() == 0
    }

    /// Which of so many items this rank computes. Those of a higher rank are behind those of a lower one.
    pub fn own(&self, items: usize) -> Range<usize> {
        part(items, self.rank(), self.count())
    }

    /// Whether any rank says so.
    pub fn any(&self, own: bool) -> Result<bool, Error> {
        Ok(self.gather(&[u8::from(own)])?.iter().any(|said| said == &[1]))
    }

    /// What the first rank has. The others need not have anything.
    pub fn share(&self, own: Option<Vec<u8>>) -> Result<Vec<u8>, Error> {
        Ok(self.gather(own.filter(|_| self.first()).as_deref().unwrap_or_default())?.swap_remove(0))
    }

    /// The numbers of all ranks, one rank after the other.
    pub fn numbers(&self, own: &[f64]) -> Result<Vec<f64>, Error> {
        if self.count() == 1 {
            return Ok(own.to_vec());
        }
        Ok(self.gather(&message(own))?.iter().flat_map(|message| f64::get(message)).collect())
    }
}

/// One of `count` parts of so many items that are as equal as can be.
fn part(items: usize, which: usize, count: usize) -> Range<usize> {
    let before = |which: usize| (which as u128 * items as u128 / count as u128) as usize;
    before(which)..before(which + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_one_another_and_are_all() {
        for (items, count) in [(0, 3), (2, 5), (7, 3), (8, 4), (1000, 7)] {
            let parts: Vec<Range<usize>> = (0..count).map(|which| part(items, which, count)).collect();
            assert_eq!(parts.iter().cloned().flatten().collect::<Vec<usize>>(), (0..items).collect::<Vec<usize>>());
            assert!(parts.iter().all(|part| (items / count..=items.div_ceil(count)).contains(&part.len())), "{parts:?}");
        }
    }
}
