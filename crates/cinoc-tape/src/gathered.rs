//! Products for the cotangent of weights, gathered until there are enough rows to be worth going through the weights.

use crate::Real;
use crate::kernel::buffer::Buffer;
use crate::kernel::gemm::{Left, Right, Start, gemm};

/// Fewer rows than this wait for more: a layer on a whole field has as few as one row per instance and megabytes of weights, whose cotangent would
/// be fetched and written back for each.
const FEW: usize = 12;

/// Rows after which those that wait are worth it.
const ENOUGH: usize = 32;

/// Rows of `x` and `h̄` whose product `xᵀ·h̄` belongs to the cotangent of the same weights.
struct Rows {
    /// Where the weights begin among the shared parameters.
    start: usize,
    /// Numbers of a row of `x` and of `h̄`.
    sizes: [usize; 2],
    count: usize,
    x: Buffer,
    h_bar: Buffer,
}

impl Rows {
    fn add_to(&mut self, shared: &mut [Real]) {
        let [k, n] = self.sizes;
        let w_bar = &mut shared[self.start..][..k * n];
        gemm(k, n, self.count, Left::transposed(&self.x, k), Right::columns(&self.h_bar, n, 0), w_bar, Start::Add);
        self.count = 0;
    }
}

/// All that waits. Rows are added in the order in which they came, so the sums are the same to the last bit as if none had waited.
#[derive(Default)]
pub(crate) struct Gathered(Vec<Rows>);

impl Gathered {
    /// Adds `xᵀ·h_bar` to the cotangent of the weights at `start`, now or when there are more rows; both have `sizes` numbers per row.
    pub fn add(&mut self, start: usize, sizes: [usize; 2], x: &[Real], h_bar: &[Real], shared: &mut [Real]) {
        let ([k, n], count) = (sizes, h_bar.len() / sizes[1]);
        let known = self.0.iter().position(|rows| (rows.start, rows.sizes) == (start, sizes));
        if count >= FEW {
            if let Some(known) = known {
                self.0[known].add_to(shared);
            }
            return gemm(
                k,
                n,
                count,
                Left::transposed(x, k),
                Right::columns(h_bar, n, 0),
                &mut shared[start..][..k * n],
                Start::Add,
            );
        }
        let known = known.unwrap_or_else(|| {
            let [x, h_bar] = sizes.map(|size| Buffer::zeros((ENOUGH + FEW) * size));
            self.0.push(Rows { start, sizes, count: 0, x, h_bar });
            self.0.len() - 1
        });
        let rows = &mut self.0[known];
        rows.x[rows.count * k..][..x.len()].copy_from_slice(x);
        rows.h_bar[rows.count * n..][..h_bar.len()].copy_from_slice(h_bar);
        rows.count += count;
        if rows.count >= ENOUGH {
            rows.add_to(shared);
        }
    }

    /// Adds what still waits.
    pub fn finish(&mut self, shared: &mut [Real]) {
        self.0.iter_mut().filter(|rows| rows.count > 0).for_each(|rows| rows.add_to(shared));
    }

    /// Forgets what still waits.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|rows| rows.count = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::noise;

    /// However rows are cut into pieces, some of which wait and some do not, the sum has the same bits.
    #[test]
    fn rows_that_wait_are_added_as_if_they_had_not() {
        let ([k, n], rows) = ([7, 5], 97);
        let (x, h_bar, first) = (noise(rows * k, 1), noise(rows * n, 2), noise(3 + k * n, 3));
        let mut expected = first.clone();
        gemm(k, n, rows, Left::transposed(&x, k), Right::columns(&h_bar, n, 0), &mut expected[3..], Start::Add);
        for sizes in [&[1][..], &[2, 11, 12], &[30, 3], &[11], &[97]] {
            let (mut gathered, mut shared, mut from) = (Gathered::default(), first.clone(), 0);
            for piece in sizes.iter().cycle() {
                let to = rows.min(from + piece);
                gathered.add(3, [k, n], &x[from * k..to * k], &h_bar[from * n..to * n], &mut shared);
                from = to;
                if from == rows {
                    break;
                }
            }
            gathered.finish(&mut shared);
            assert_eq!(shared, expected, "pieces of {sizes:?}");
        }
    }
}
