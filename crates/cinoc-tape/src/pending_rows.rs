//! Pending rows of products for the cotangent of weights, accumulated until there are enough to justify a pass over the
//! weights.
//!
//! A layer on a whole field has one row per instance and megabytes of weights, whose cotangent would otherwise be read
//! and written in every tick.

use crate::kernel::buffer::Buffer;
use crate::kernel::gemm::{Left, Right, Start, gemm};
use crate::{Real, profile};
use std::ops::Range;

/// Operations with fewer rows than this postpone them.
pub(crate) const FEW_ROWS: usize = 12;

/// Number of pending rows that justifies a pass over the weights.
const FLUSH_ROWS: usize = 32;

/// `w_bar += xᵀ·h_bar`, both with `sizes` numbers per row.
pub(crate) fn add_rows([k, n]: [usize; 2], x: &[Real], h_bar: &[Real], w_bar: &mut [Real]) {
    gemm(k, n, h_bar.len() / n, Left::transposed(x, k), Right::columns(h_bar, n, 0), w_bar, Start::Add);
}

/// Pending rows of one layer: inputs `x` and cotangents `h̄` of its products.
#[derive(Debug)]
struct Rows {
    /// Range of the weights in the shared parameters.
    weights: Range<usize>,
    /// Lengths of a row of `x` and of `h̄`.
    sizes: [usize; 2],
    count: usize,
    x: Buffer,
    h_bar: Buffer,
}

impl Rows {
    fn push(&mut self, x: &[Real], h_bar: &[Real]) {
        let ([k, n], count) = (self.sizes, h_bar.len() / self.sizes[1]);
        for (buffer, size, rows) in [(&mut self.x, k, x), (&mut self.h_bar, n, h_bar)] {
            buffer.grow_to((self.count + count) * size);
            buffer[self.count * size..][..rows.len()].copy_from_slice(rows);
        }
        self.count += count;
    }

    fn add_to(&mut self, shared: &mut [Real]) {
        let ([k, n], count) = (self.sizes, std::mem::take(&mut self.count));
        if count > 0 {
            add_rows(self.sizes, &self.x[..count * k], &self.h_bar[..count * n], &mut shared[self.weights.clone()]);
        }
    }
}

/// Pending rows of all layers. Rows are added in their order of arrival: as long as nothing else is added to the same
/// weights, the sums are bit-identical to immediate addition.
#[derive(Debug, Default)]
pub(crate) struct PendingRows(Vec<Rows>);

impl PendingRows {
    /// Accepts rows whose `xᵀ·h_bar` belongs to the cotangent of these weights; adds the product to `shared` once there
    /// are enough.
    ///
    /// # Panics
    /// If the row lengths do not match the weights and the rows.
    pub fn add(&mut self, weights: Range<usize>, sizes: [usize; 2], x: &[Real], h_bar: &[Real], shared: &mut [Real]) {
        let [k, n] = sizes;
        let fits = weights.len() == k * n && x.len() * n == h_bar.len() * k;
        assert!(fits, "rows of {k} and {n} numbers: {} and {} for {} weights", x.len(), h_bar.len(), weights.len());
        let known = self.0.iter().position(|rows| (&rows.weights, rows.sizes) == (&weights, sizes));
        let known = known.unwrap_or_else(|| {
            self.0.push(Rows { weights, sizes, count: 0, x: Buffer::default(), h_bar: Buffer::default() });
            self.0.len() - 1
        });
        let rows = &mut self.0[known];
        rows.push(x, h_bar);
        if rows.count >= FLUSH_ROWS {
            rows.add_to(shared);
        }
    }

    /// Adds all pending rows.
    pub fn finish(&mut self, shared: &mut [Real]) {
        for rows in self.0.iter_mut().filter(|rows| rows.count > 0) {
            let since = profile::start();
            rows.add_to(shared);
            // Its flops were counted with the operation.
            profile::book(since, "pending rows", false, || [0, 0]);
        }
    }

    /// Discards all pending rows.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|rows| rows.count = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::noise;

    #[test]
    fn rows_that_wait_are_added_as_if_they_had_not() {
        let (sizes, rows) = ([7, 5], 97);
        let [k, n] = sizes;
        let (x, h_bar, first) = (noise(rows * k, 1), noise(rows * n, 2), noise(3 + k * n, 3));
        let mut expected = first.clone();
        add_rows(sizes, &x, &h_bar, &mut expected[3..]);
        for pieces in [&[1][..], &[2, 11, 40], &[30, 3], &[11], &[97]] {
            let (mut pending, mut shared, mut from) = (PendingRows::default(), first.clone(), 0);
            for piece in pieces.iter().cycle() {
                let to = rows.min(from + piece);
                pending.add(3..3 + k * n, sizes, &x[from * k..to * k], &h_bar[from * n..to * n], &mut shared);
                from = to;
                if from == rows {
                    break;
                }
            }
            pending.finish(&mut shared);
            assert_eq!(shared, expected, "pieces of {pieces:?}");
        }
    }

    #[test]
    fn what_is_forgotten_is_not_added() {
        let (mut pending, mut shared) = (PendingRows::default(), vec![0.0; 4]);
        pending.add(0..4, [2, 2], &[1.0, 2.0], &[3.0, 4.0], &mut shared);
        pending.clear();
        pending.finish(&mut shared);
        assert_eq!(shared, [0.0; 4]);
        pending.add(0..4, [2, 2], &[1.0, 2.0], &[3.0, 4.0], &mut shared);
        pending.finish(&mut shared);
        assert_eq!(shared, [3.0, 4.0, 6.0, 8.0]);
    }

    #[test]
    #[should_panic(expected = "rows of 2 and 2 numbers: 3 and 2 for 4 weights")]
    fn rows_that_do_not_fit_are_refused() {
        PendingRows::default().add(0..4, [2, 2], &[1.0; 3], &[1.0; 2], &mut [0.0; 4]);
    }
}
