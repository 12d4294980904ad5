//! Parallel loops inside an operation, for problems with more threads than instances: all threads work on one large
//! field.
//!
//! An operation divides its work into chunks and calls [`for_each_part`], or [`for_each`] if it writes no common array.
//! The chunk size depends on array sizes only, never on the number of threads; chunks write disjoint data, and sums
//! over chunks are taken in their order. Results are therefore bit-identical for any number of threads.
//!
//! This crate has no threads: the caller provides an [`Executor`] by [`with_executor`].

use super::buffer::Buffer;
use crate::Real;
use std::cell::Cell;
use std::marker::PhantomData;

/// Function that calls `work` with every number below `count`, in any order and on any threads, and returns after the
/// last call.
pub type Executor = fn(count: usize, work: &(dyn Fn(usize) + Sync));

thread_local! {
    /// Executor of this thread.
    static EXECUTOR: Cell<Option<Executor>> = const { Cell::new(None) };
    /// Working space of this thread while it is unused.
    static SCRATCH: Cell<Option<Buffer>> = const { Cell::new(None) };
}

/// Runs `f` with the executor of this thread replaced.
fn with_optional_executor<R>(executor: Option<Executor>, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<Executor>);
    impl Drop for Restore {
        fn drop(&mut self) {
            EXECUTOR.set(self.0);
        }
    }
    let _before = Restore(EXECUTOR.replace(executor));
    f()
}

/// Runs `f` with an executor for the parallel loops of its operations.
pub fn with_executor<R>(executor: Executor, f: impl FnOnce() -> R) -> R {
    with_optional_executor(Some(executor), f)
}

/// Runs `f` single-threaded. Use it while holding a lock: a thread that waits for a parallel loop may be given
/// unrelated work meanwhile.
pub fn sequential<R>(f: impl FnOnce() -> R) -> R {
    with_optional_executor(None, f)
}

/// Numbers per chunk of element-wise arithmetic: some tens of microseconds, small enough for the cache.
pub const GRAIN: usize = 1 << 15;

/// Returns the chunk size for `count` items, each as costly as element-wise arithmetic on `work` numbers: a multiple of
/// `multiple`, or all items if division does not pay off.
pub fn chunk_size(count: usize, work: usize, multiple: usize) -> usize {
    let size = (GRAIN / work.max(1)).max(1).next_multiple_of(multiple);
    if count < 2 * size { count.max(1) } else { size }
}

/// Calls `work` with every number below `count`, in parallel.
pub fn for_each(count: usize, work: impl Fn(usize) + Sync) {
    match EXECUTOR.get() {
        // Loops inside a chunk are sequential.
        Some(executor) if count > 1 => sequential(|| executor(count, &work)),
        _ => (0..count).for_each(work),
    }
}

/// Calls `work` with the index and the data of each part, in parallel.
pub fn for_each_part<P: Parts>(parts: P, work: impl Fn(usize, P::Part) + Sync) {
    // SAFETY: every index is passed once, so each part is borrowed once.
    for_each(parts.count(), |i| work(i, unsafe { parts.part(i) }));
}

/// Calls `work` with chunks of rows and the index of their first row; a row costs as much as element-wise arithmetic on
/// `cost` numbers.
pub fn rows(all: &mut [Real], width: usize, cost: usize, work: impl Fn(usize, &mut [Real]) + Sync) {
    let size = chunk_size(all.len() / width.max(1), cost, 1);
    for_each_part(chunks(all, size * width), |i, rows| work(i * size, rows));
}

/// Copies a slice in parallel.
///
/// # Panics
/// If the lengths differ.
pub fn copy(from: &[Real], to: &mut [Real]) {
    assert_eq!(from.len(), to.len(), "lengths of a copy");
    rows(to, 1, 1, |first, to| to.copy_from_slice(&from[first..][..to.len()]));
}

/// Returns `Σ term(chunk)` over chunks of `count` items, added in their order. Few items make one chunk; the number of
/// chunks is at most 256.
pub fn sum(count: usize, cost: usize, term: impl Fn(std::ops::Range<usize>) -> Real + Sync) -> Real {
    let size = chunk_size(count, cost, 1).max(count.div_ceil(MAX_TERMS));
    let mut terms = [0.0; MAX_TERMS];
    let terms = &mut terms[..count.div_ceil(size)];
    for_each_part(chunks(terms, 1), |i, to| to[0] = term(i * size..count.min((i + 1) * size)));
    terms.iter().copied().reduce(|sum, term| sum + term).unwrap_or(0.0)
}

/// Maximum number of terms of a [`sum`].
const MAX_TERMS: usize = 256;

/// Passes `length` numbers of working space to `f`, of arbitrary content; the space belongs to the thread and is
/// reused.
pub fn with_scratch<R>(length: usize, f: impl FnOnce(&mut [Real]) -> R) -> R {
    // A waiting thread may take on another chunk, which finds no working space and allocates its own.
    let mut scratch = SCRATCH.take().unwrap_or_default();
    scratch.grow_to(length);
    let found = f(&mut scratch[..length]);
    SCRATCH.set(Some(scratch));
    found
}

/// Data divided into disjoint parts.
pub trait Parts: Sync {
    /// Type of a part.
    type Part;

    /// Number of parts.
    fn count(&self) -> usize;

    /// Returns part `i`.
    ///
    /// # Safety
    /// No part is requested while it is still borrowed.
    unsafe fn part(&self, i: usize) -> Self::Part;
}

/// A slice divided into chunks of equal length; the last may be shorter.
#[derive(Debug)]
pub struct Chunks<'a, T = Real> {
    start: *mut T,
    length: usize,
    size: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: parts are disjoint pieces of a slice that is borrowed for the lifetime of this value, each borrowed by one
// thread at a time.
unsafe impl<T: Send> Sync for Chunks<'_, T> {}

/// Divides a slice into chunks of `size` elements.
pub fn chunks<T: Send>(all: &mut [T], size: usize) -> Chunks<'_, T> {
    Chunks { start: all.as_mut_ptr(), length: all.len(), size: size.max(1), owner: PhantomData }
}

impl<'a, T: Send> Parts for Chunks<'a, T> {
    type Part = &'a mut [T];

    fn count(&self) -> usize {
        self.length.div_ceil(self.size)
    }

    unsafe fn part(&self, i: usize) -> &'a mut [T] {
        let from = (i * self.size).min(self.length);
        let to = (from + self.size).min(self.length);
        // SAFETY: inside the slice and disjoint from other parts; the caller borrows this part once at a time.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(from), to - from) }
    }
}

/// A matrix divided into tiles; those at the edges may be smaller.
#[derive(Debug)]
pub struct Tiles<'a> {
    start: *mut Real,
    rows: usize,
    columns: usize,
    tile: [usize; 2],
    owner: PhantomData<&'a mut [Real]>,
}

// SAFETY: as for chunks.
unsafe impl Sync for Tiles<'_> {}

/// Tile of a matrix: some columns of some rows.
#[derive(Debug)]
pub struct Panel<'a> {
    start: *mut Real,
    rows: usize,
    apart: usize,
    width: usize,
    owner: PhantomData<&'a mut [Real]>,
}

/// Divides a row-major matrix with `columns` columns into panels of `width` columns.
///
/// # Panics
/// If the length is not a multiple of `columns`.
pub fn panels(all: &mut [Real], columns: usize, width: usize) -> Tiles<'_> {
    tiles(all, columns, [all.len(), width])
}

/// Divides a row-major matrix with `columns` columns into tiles of `[rows, columns]`, numbered row by row.
///
/// # Panics
/// If the length is not a multiple of `columns`.
pub fn tiles(all: &mut [Real], columns: usize, tile: [usize; 2]) -> Tiles<'_> {
    assert!(columns > 0 && all.len().is_multiple_of(columns), "{} numbers in rows of {columns}", all.len());
    let tile = tile.map(|size| size.max(1));
    Tiles { start: all.as_mut_ptr(), rows: all.len() / columns, columns, tile, owner: PhantomData }
}

impl<'a> Parts for Tiles<'a> {
    type Part = Panel<'a>;

    fn count(&self) -> usize {
        self.rows.div_ceil(self.tile[0]) * self.columns.div_ceil(self.tile[1])
    }

    unsafe fn part(&self, i: usize) -> Panel<'a> {
        let across = self.columns.div_ceil(self.tile[1]);
        let (row, column) = (i / across * self.tile[0], i % across * self.tile[1]);
        assert!(row < self.rows, "tile {i} of {}", self.count());
        let (rows, width) = (self.tile[0].min(self.rows - row), self.tile[1].min(self.columns - column));
        // SAFETY: the first element of the tile is inside the matrix.
        let start = unsafe { self.start.add(row * self.columns + column) };
        Panel { start, rows, apart: self.columns, width, owner: PhantomData }
    }
}

impl Panel<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns row `i`.
    ///
    /// # Panics
    /// Beyond the last row.
    #[inline(always)]
    pub fn row(&mut self, i: usize) -> &mut [Real] {
        assert!(i < self.rows, "row {i} of {}", self.rows);
        // SAFETY: inside the matrix; these columns belong to this tile alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(i * self.apart), self.width) }
    }

    /// Returns two different rows.
    ///
    /// # Panics
    /// Beyond the last row, or if they are the same.
    #[inline(always)]
    pub fn two_rows(&mut self, i: usize, j: usize) -> [&mut [Real]; 2] {
        assert!(i != j && i.max(j) < self.rows, "rows {i} and {j} of {}", self.rows);
        // SAFETY: as for one row; two different rows are disjoint.
        [i, j].map(|row| unsafe { std::slice::from_raw_parts_mut(self.start.add(row * self.apart), self.width) })
    }

    /// Start, width and stride of the rows, for kernels that write into them.
    pub(super) fn place(&mut self) -> (*mut Real, usize, usize) {
        (self.start, self.width, self.apart)
    }
}

macro_rules! together {
    ($($name:ident $index:tt),*) => {
        /// Data divided into equally many parts, passed together.
        impl<$($name: Parts),*> Parts for ($($name,)*) {
            type Part = ($($name::Part,)*);

            fn count(&self) -> usize {
                let count = self.0.count();
                $(assert_eq!(self.$index.count(), count, "equally many parts");)*
                count
            }

            unsafe fn part(&self, i: usize) -> Self::Part {
                // SAFETY: as this function requires.
                unsafe { ($(self.$index.part(i),)*) }
            }
        }
    };
}
together!(A 0, B 1);
together!(A 0, B 1, C 2);

#[cfg(test)]
mod tests {
    use super::*;

    /// Executor that runs backwards on another thread.
    fn elsewhere(count: usize, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| drop(scope.spawn(|| (0..count).rev().for_each(work))));
    }

    #[test]
    fn each_part_is_handed_out_once() {
        for executor in [None, Some(elsewhere as Executor)] {
            let (mut all, mut few) = (vec![0.0; 10], vec![0; 4]);
            with_optional_executor(executor, || {
                for_each_part((chunks(&mut all, 3), chunks(&mut few, 1)), |i, (all, few)| {
                    all.iter_mut().for_each(|x| *x += i as Real);
                    few[0] = all.len();
                    assert!(EXECUTOR.get().is_none(), "loops inside a chunk are sequential");
                });
                assert_eq!(EXECUTOR.get().is_some(), executor.is_some());
            });
            assert_eq!((all, few), (vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0], vec![3, 3, 3, 1]));
        }
    }

    #[test]
    fn panels_are_columns() {
        let mut all = vec![0.0; 15];
        with_executor(elsewhere, || {
            for_each_part(panels(&mut all, 5, 2), |i, mut panel| {
                assert_eq!(panel.rows(), 3);
                let [first, last] = panel.two_rows(0, 2);
                first.fill(1.0 + i as Real);
                last.copy_from_slice(first);
                panel.row(1).fill(9.0);
            });
        });
        assert_eq!(all, [1.0, 1.0, 2.0, 2.0, 3.0, 9.0, 9.0, 9.0, 9.0, 9.0, 1.0, 1.0, 2.0, 2.0, 3.0]);
    }

    #[test]
    fn tiles_cover_a_matrix() {
        let mut all = vec![0.0; 15];
        for_each_part(tiles(&mut all, 5, [2, 3]), |i, mut tile| {
            (0..tile.rows()).for_each(|row| tile.row(row).fill(1.0 + i as Real))
        });
        assert_eq!(all, [1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0]);
    }

    #[test]
    fn small_work_is_not_divided() {
        assert_eq!((chunk_size(100, 1, 1), chunk_size(0, 7, 1), chunk_size(3, usize::MAX, 1)), (100, 1, 1));
        assert_eq!((chunk_size(10 * GRAIN, 1, 1), chunk_size(GRAIN, 16, 12)), (GRAIN, (GRAIN / 16).next_multiple_of(12)));
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn sums_are_those_of_chunks_in_their_order() {
        let of = |range: std::ops::Range<usize>| range.map(|i| (i as Real).sqrt()).sum::<Real>();
        assert_eq!(sum(GRAIN, 1, of), of(0..GRAIN), "few items are one chunk");
        let many = 3 * GRAIN + 5;
        let parts = (0..4).map(|i| of(i * GRAIN..many.min((i + 1) * GRAIN))).reduce(|a, b| a + b);
        assert_eq!((Some(sum(many, 1, of)), Some(with_executor(elsewhere, || sum(many, 1, of)))), (parts, parts));
        assert_eq!((sum(0, 1, of), sum(10, usize::MAX, of)), (0.0, (0..10).map(|i| of(i..i + 1)).sum()));
        assert!(sum(1000 * GRAIN, GRAIN, |range| range.len() as Real) == (1000 * GRAIN) as Real);
    }

    #[test]
    fn room_within_room_is_other_room() {
        with_scratch(40, |outer| {
            outer.fill(1.0);
            with_scratch(50, |inner| inner.fill(2.0));
            assert!(outer.iter().all(|x| *x == 1.0));
        });
    }
}
