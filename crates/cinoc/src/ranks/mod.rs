//! Processes that share work, on one machine or on many, without changing its result: the order of summation does not
//! depend on the distribution of work.
//!
//! Every rank holds the same parameters, performs the same operations in the same order, and computes its part of
//! distributed work. Message transport is up to the implementation of [`Ranks`].

mod sum;
mod wire;

use crate::Error;
use std::ops::Range;
use wire::{Word, message};

/// All processes of a job, as seen by one of them. Every rank must call the same methods in the same order.
///
/// A rank that fails makes no further calls. An implementation ensures that the others do not wait for it: their next
/// call returns [`Error::Elsewhere`], so that one error, wherever it occurs, ends all ranks.
pub trait Ranks: Send + Sync {
    /// Returns the index of this rank, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn count(&self) -> usize;

    /// Returns the number of ranks on this machine, this one included; they share its memory.
    fn here(&self) -> usize;

    /// Returns the contributions of all ranks, in rank order, on every rank.
    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, Error>;

    /// Sends one piece to each rank and returns the pieces that each rank sent to this one, in rank order.
    fn exchange(&self, pieces: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Error>;
}

/// A job of a single process.
pub struct SingleRank;

impl Ranks for SingleRank {
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
    /// Returns true on the rank that reads and writes files and talks to the user.
    pub fn first(&self) -> bool {
        self.rank() == 0
    }

    /// Returns the range of `items` that this rank computes. Ranges are ordered by rank.
    pub fn own(&self, items: usize) -> Range<usize> {
        part(items, self.rank(), self.count())
    }

    /// Returns true if `own` is true on any rank.
    pub fn any(&self, own: bool) -> Result<bool, Error> {
        Ok(self.gather(&[u8::from(own)])?.iter().any(|said| said == &[1]))
    }

    /// Broadcasts the bytes of the first rank. The other ranks may pass `None`.
    pub fn share(&self, own: Option<Vec<u8>>) -> Result<Vec<u8>, Error> {
        Ok(self.gather(own.filter(|_| self.first()).as_deref().unwrap_or_default())?.swap_remove(0))
    }

    /// Concatenates the numbers of all ranks, in rank order.
    pub fn numbers(&self, own: &[f64]) -> Result<Vec<f64>, Error> {
        if self.count() == 1 {
            return Ok(own.to_vec());
        }
        Ok(self.gather(&message(own))?.iter().flat_map(|message| f64::get(message)).collect())
    }
}

/// Returns part `which` of `count` nearly equal parts of `items` items.
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
