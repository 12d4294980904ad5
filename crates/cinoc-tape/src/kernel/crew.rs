//! Threads that help inside an operation, where there are more of them than instances: one large field is worked on by all.
//!
//! An operation cuts its work into chunks and calls [`share`] (or [`each`], where nothing is written but what a chunk owns in another way). The
//! sizes of chunks follow from the sizes of arrays alone, never from who helps; each chunk writes what no other does, and what is summed over
//! chunks is summed in their order. So the bits are the same with any number of threads, and with none that help.
//!
//! Whoever has threads lends them with [`with`]. This crate has none itself.

use super::buffer::Buffer;
use crate::Real;
use std::cell::Cell;
use std::marker::PhantomData;

/// Calls `work` with every number below `count`, in any order and on any threads, and returns when all calls have.
pub type Help = fn(count: usize, work: &(dyn Fn(usize) + Sync));

thread_local! {
    /// Who helps this thread.
    static HELP: Cell<Option<Help>> = const { Cell::new(None) };
    /// Working space of this thread, while nobody uses it.
    static ROOM: Cell<Option<Buffer>> = const { Cell::new(None) };
}

/// Runs `f` while this thread has, or has not, others to help it.
fn helped<R>(help: Option<Help>, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<Help>);
    impl Drop for Restore {
        fn drop(&mut self) {
            HELP.set(self.0);
        }
    }
    let _before = Restore(HELP.replace(help));
    f()
}

/// Runs `f` with others who help inside its operations.
pub fn with<R>(help: Help, f: impl FnOnce() -> R) -> R {
    helped(Some(help), f)
}

/// Runs `f` without anybody's help: where it holds what others may wait for, as who waits for helpers may be given other work meanwhile.
pub fn alone<R>(f: impl FnOnce() -> R) -> R {
    helped(None, f)
}

/// Numbers that a chunk of plain arithmetic works on: some tens of microseconds, and what it reads and writes stays in the cache.
pub const GRAIN: usize = 1 << 15;

/// How many of `count` items make a chunk, if each takes the time of plain arithmetic on `work` numbers; all of them, where that is not worth
/// dividing. Whole multiples of `multiple`.
pub fn chunk(count: usize, work: usize, multiple: usize) -> usize {
    let size = (GRAIN / work.max(1)).max(1).next_multiple_of(multiple);
    if count < 2 * size { count.max(1) } else { size }
}

/// Calls `work` with every number below `count`.
pub fn each(count: usize, work: impl Fn(usize) + Sync) {
    match HELP.get() {
        // A chunk is small enough: inside of it nobody helps.
        Some(help) if count > 1 => alone(|| help(count, &work)),
        _ => (0..count).for_each(work),
    }
}

/// Calls `work` with the number and the part of each chunk.
pub fn share<P: Parts>(parts: P, work: impl Fn(usize, P::Part) + Sync) {
    // SAFETY: every number comes once.
    each(parts.count(), |i| work(i, unsafe { parts.part(i) }));
}

/// Calls `work` with chunks of an array of rows, each with the number of its first row; a row takes the time of plain arithmetic on `cost` numbers.
pub fn rows(all: &mut [Real], width: usize, cost: usize, work: impl Fn(usize, &mut [Real]) + Sync) {
    let size = chunk(all.len() / width.max(1), cost, 1);
    share(chunks(all, size * width), |i, rows| work(i * size, rows));
}

/// Copies numbers.
///
/// # Panics
/// When there are not equally many.
pub fn copy(from: &[Real], to: &mut [Real]) {
    assert_eq!(from.len(), to.len(), "a copy has as many numbers");
    rows(to, 1, 1, |first, to| to.copy_from_slice(&from[first..][..to.len()]));
}

/// `Σ term(chunk)` over chunks of `count` items, added in their order. With few items that is one term, the same as without chunks; beyond
/// 256 chunks these are longer.
pub fn sum(count: usize, cost: usize, term: impl Fn(std::ops::Range<usize>) -> Real + Sync) -> Real {
    let size = chunk(count, cost, 1).max(count.div_ceil(MOST));
    let mut terms = [0.0; MOST];
    let terms = &mut terms[..count.div_ceil(size)];
    share(chunks(terms, 1), |i, to| to[0] = term(i * size..count.min((i + 1) * size)));
    terms.iter().copied().reduce(|sum, term| sum + term).unwrap_or(0.0)
}

/// The most terms of a [`sum`].
const MOST: usize = 256;

/// Lends `length` numbers of working space, of arbitrary content, that belong to the thread and are kept for the next time.
pub fn room<R>(length: usize, f: impl FnOnce(&mut [Real]) -> R) -> R {
    // While it waits for others a thread may take on another chunk, which then finds no room and makes its own.
    let mut room = ROOM.take().unwrap_or_default();
    room.grow_to(length);
    let found = f(&mut room[..length]);
    ROOM.set(Some(room));
    found
}

/// Something that is cut into parts of which no two have a number in common.
pub trait Parts: Sync {
    /// A part.
    type Part;

    /// How many there are.
    fn count(&self) -> usize;

    /// Part `i`.
    ///
    /// # Safety
    /// No part is asked for while it is still in use.
    unsafe fn part(&self, i: usize) -> Self::Part;
}

/// A slice in chunks of so many numbers, the last of which may be shorter.
pub struct Chunks<'a, T = Real> {
    start: *mut T,
    length: usize,
    size: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: a part is a part of a slice that is borrowed for as long as this lives, and each is handed out once at a time.
unsafe impl<T: Send> Sync for Chunks<'_, T> {}

/// Chunks of `size` numbers.
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
        // SAFETY: inside the slice; other parts are other numbers, and the caller asks for this one once at a time.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(from), to - from) }
    }
}

/// A matrix in tiles of so many rows and columns, of which the last may be smaller.
pub struct Tiles<'a> {
    start: *mut Real,
    rows: usize,
    columns: usize,
    tile: [usize; 2],
    owner: PhantomData<&'a mut [Real]>,
}

// SAFETY: as of chunks.
unsafe impl Sync for Tiles<'_> {}

/// Some columns of some rows of a matrix.
pub struct Panel<'a> {
    start: *mut Real,
    rows: usize,
    apart: usize,
    width: usize,
    owner: PhantomData<&'a mut [Real]>,
}

/// Panels of `width` columns of a matrix with so many columns, row by row in `all`.
///
/// # Panics
/// When there is no whole number of rows.
pub fn panels(all: &mut [Real], columns: usize, width: usize) -> Tiles<'_> {
    tiles(all, columns, [all.len(), width])
}

/// Tiles of so many rows and columns of a matrix, row by row in `all`; those of the same rows follow one another.
///
/// # Panics
/// When there is no whole number of rows.
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
        // SAFETY: the first number of the tile is inside the matrix.
        let start = unsafe { self.start.add(row * self.columns + column) };
        Panel { start, rows, apart: self.columns, width, owner: PhantomData }
    }
}

impl Panel<'_> {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Row `i` of these columns.
    ///
    /// # Panics
    /// Beyond the last.
    #[inline(always)]
    pub fn row(&mut self, i: usize) -> &mut [Real] {
        assert!(i < self.rows, "row {i} of {}", self.rows);
        // SAFETY: inside the matrix; these columns of it are nobody else's.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(i * self.apart), self.width) }
    }

    /// Two different rows.
    ///
    /// # Panics
    /// Beyond the last row, and for one and the same.
    #[inline(always)]
    pub fn two_rows(&mut self, i: usize, j: usize) -> [&mut [Real]; 2] {
        assert!(i != j && i.max(j) < self.rows, "rows {i} and {j} of {}", self.rows);
        // SAFETY: as of one row; two rows have no number in common.
        [i, j].map(|row| unsafe { std::slice::from_raw_parts_mut(self.start.add(row * self.apart), self.width) })
    }

    /// Where it begins, the width of its rows and how far apart they are: for kernels that write into it.
    pub(super) fn place(&mut self) -> (*mut Real, usize, usize) {
        (self.start, self.width, self.apart)
    }
}

macro_rules! together {
    ($($name:ident $index:tt),*) => {
        /// Several things cut into equally many parts.
        impl<$($name: Parts),*> Parts for ($($name,)*) {
            type Part = ($($name::Part,)*);

            fn count(&self) -> usize {
                let count = self.0.count();
                $(assert_eq!(self.$index.count(), count, "equally many parts");)*
                count
            }

            unsafe fn part(&self, i: usize) -> Self::Part {
                // SAFETY: as the caller promises.
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

    /// Backwards, and on another thread.
    fn elsewhere(count: usize, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| drop(scope.spawn(|| (0..count).rev().for_each(work))));
    }

    #[test]
    fn each_part_is_handed_out_once() {
        for help in [None, Some(elsewhere as Help)] {
            let (mut all, mut few) = (vec![0.0; 10], vec![0; 4]);
            helped(help, || {
                share((chunks(&mut all, 3), chunks(&mut few, 1)), |i, (all, few)| {
                    all.iter_mut().for_each(|x| *x += i as Real);
                    few[0] = all.len();
                    assert!(HELP.get().is_none(), "inside of a chunk nobody helps");
                });
                assert_eq!(HELP.get().is_some(), help.is_some());
            });
            assert_eq!((all, few), (vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0], vec![3, 3, 3, 1]));
        }
    }

    #[test]
    fn panels_are_columns() {
        let mut all = vec![0.0; 15];
        with(elsewhere, || {
            share(panels(&mut all, 5, 2), |i, mut panel| {
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
        share(tiles(&mut all, 5, [2, 3]), |i, mut tile| (0..tile.rows()).for_each(|row| tile.row(row).fill(1.0 + i as Real)));
        assert_eq!(all, [1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0]);
    }

    #[test]
    fn small_work_is_not_divided() {
        assert_eq!((chunk(100, 1, 1), chunk(0, 7, 1), chunk(3, usize::MAX, 1)), (100, 1, 1));
        assert_eq!((chunk(10 * GRAIN, 1, 1), chunk(GRAIN, 16, 12)), (GRAIN, (GRAIN / 16).next_multiple_of(12)));
    }

    #[test]
    fn sums_are_those_of_chunks_in_their_order() {
        let of = |range: std::ops::Range<usize>| range.map(|i| (i as Real).sqrt()).sum::<Real>();
        assert_eq!(sum(GRAIN, 1, of), of(0..GRAIN), "few items are one chunk");
        let many = 3 * GRAIN + 5;
        let parts = (0..4).map(|i| of(i * GRAIN..many.min((i + 1) * GRAIN))).reduce(|a, b| a + b);
        assert_eq!((Some(sum(many, 1, of)), Some(with(elsewhere, || sum(many, 1, of)))), (parts, parts));
        assert_eq!((sum(0, 1, of), sum(10, usize::MAX, of)), (0.0, (0..10).map(|i| of(i..i + 1)).sum()));
        assert!(sum(1000 * GRAIN, GRAIN, |range| range.len() as Real) == (1000 * GRAIN) as Real);
    }

    #[test]
    fn room_within_room_is_other_room() {
        room(40, |outer| {
            outer.fill(1.0);
            room(50, |inner| inner.fill(2.0));
            assert!(outer.iter().all(|x| *x == 1.0));
        });
    }
}
