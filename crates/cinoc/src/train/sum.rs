//! Sums over shards that may be computed anywhere.

use crate::Real;
use std::ops::Range;

/// Who computes which shards of a batch, and how the results are added up: always in the order of the shards, so that any number of threads or
/// of processes on other machines gives the same bits.
pub trait Sum: Send {
    /// Which of so many shards this process computes.
    fn own(&self, shards: usize) -> Range<usize>;

    /// The sum over all shards of all processes, from the vectors of the own ones in their order.
    fn reals(&mut self, own: &[&[Real]], out: &mut [Real]);

    /// The same in double precision, for the few numbers that are reported.
    fn doubles(&mut self, own: &[&[f64]], out: &mut [f64]);
}

/// One process computes everything.
pub struct Alone;

impl Sum for Alone {
    fn own(&self, shards: usize) -> Range<usize> {
        0..shards
    }

    fn reals(&mut self, own: &[&[Real]], out: &mut [Real]) {
        out.fill(0.0);
        own.iter().for_each(|shard| out.iter_mut().zip(*shard).for_each(|(sum, x)| *sum += x));
    }

    fn doubles(&mut self, own: &[&[f64]], out: &mut [f64]) {
        out.fill(0.0);
        own.iter().for_each(|shard| out.iter_mut().zip(*shard).for_each(|(sum, x)| *sum += x));
    }
}
