//! Sums of long vectors over all ranks.

use super::wire::{Word, message};
use super::{Ranks, part};
use crate::{Error, Real};

impl dyn Ranks + '_ {
    /// Sums the vectors of all ranks, always in the same order: bit-identical to one process that holds them all.
    ///
    /// Each rank adds a slice of all vectors, and the slices are concatenated. A rank thus sends and receives about the
    /// size of its vectors plus one sum, independent of the number of ranks.
    pub fn add_up(&self, own: &[&[Real]], sum: &mut [Real]) -> Result<(), Error> {
        if self.count() == 1 {
            sum.fill(0.0);
            own.iter().for_each(|vector| add(sum, vector.iter().copied()));
            return Ok(());
        }
        let (count, length) = (self.count(), sum.len());
        let mut pieces = vec![Vec::new(); count];
        for (rank, piece) in pieces.iter_mut().enumerate() {
            own.iter().for_each(|vector| Real::put(&vector[part(length, rank, count)], piece));
        }
        let mut mine: Vec<Real> = vec![0.0; part(length, self.rank(), count).len()];
        let each = size_of_val(&*mine).max(1);
        for vector in self.exchange(&pieces)?.iter().flat_map(|piece| piece.chunks_exact(each)) {
            add(&mut mine, Real::get(vector));
        }
        for (rank, slice) in self.gather(&message(&mine))?.iter().enumerate() {
            sum[part(length, rank, count)].iter_mut().zip(Real::get(slice)).for_each(|(sum, x)| *sum = x);
        }
        Ok(())
    }
}

fn add(sum: &mut [Real], vector: impl Iterator<Item = Real>) {
    sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
}
