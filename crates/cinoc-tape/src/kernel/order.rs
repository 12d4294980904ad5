//! Items sorted by cell, and rows of an array in that order.
//!
//! Access in the order of cells hits the cache, which dominates the run time with many agents at random positions.

use super::parallel::{self, Parts};
use crate::Real;
use std::marker::PhantomData;
use std::ops::Range;

/// Items sorted by cell, stably. Indices are stored in the bits of borrowed [`Real`]s, so nothing is allocated.
#[derive(Debug)]
pub struct Order<'a> {
    /// Permutation of the items; [`scatter`](Self::scatter) relies on each index occurring once.
    items: &'a [Real],
    /// Start of each cell, then the end of the last.
    first: &'a [Real],
}

/// Cost of computing a cell, in numbers of element-wise arithmetic.
const COST: usize = 16;

#[inline(always)]
fn get(slot: Real) -> usize {
    slot.to_bits() as usize
}

#[inline(always)]
fn bits(value: usize) -> Real {
    Real::from_bits(value as _)
}

impl<'a> Order<'a> {
    /// Length of `work` for these numbers of items and cells.
    pub const fn work(items: usize, cells: usize) -> usize {
        2 * items + cells + 1
    }

    /// Sorts items by their `cell`, an index below `cells`.
    ///
    /// # Panics
    /// If a cell is out of range, `work` is too short, or there are 2³² items or more.
    pub fn new(items: usize, cells: usize, cell: impl Fn(usize) -> usize + Sync, work: &'a mut [Real]) -> Self {
        assert!(items < u32::MAX as usize, "{items} items are more than can be numbered");
        let (order, rest) = work[..Self::work(items, cells)].split_at_mut(items);
        let (home, first) = rest.split_at_mut(items);
        first.fill(bits(0));
        // Each cell is computed once, so that counting and filling agree.
        parallel::rows(home, 1, COST, |from, home| {
            for (i, home) in home.iter_mut().enumerate() {
                let cell = cell(from + i);
                assert!(cell < cells, "cell {cell} of {cells}");
                *home = bits(cell);
            }
        });
        for home in home.iter() {
            let cell = get(*home);
            first[cell] = bits(get(first[cell]) + 1);
        }
        let mut end = 0;
        for slot in first.iter_mut() {
            end += get(*slot);
            *slot = bits(end);
        }
        // Filled backwards, each mark ends at the start of its cell.
        for (i, home) in home.iter().enumerate().rev() {
            let slot = &mut first[get(*home)];
            let position = get(*slot) - 1;
            *slot = bits(position);
            order[position] = bits(i);
        }
        Self { items: order, first }
    }

    /// Returns the item at a position of the order.
    #[inline(always)]
    pub fn get(&self, position: usize) -> usize {
        get(self.items[position])
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.first.len() - 1
    }

    /// Returns the first position of a cell; for the number of cells, the end of the last.
    #[inline(always)]
    pub fn first(&self, cell: usize) -> usize {
        get(self.first[cell])
    }

    /// Divides rows of `width` numbers, one per item, into parts of `cells` cells.
    ///
    /// # Panics
    /// If the number of rows differs from that of the items.
    pub fn scatter<'s>(&'s self, all: &'s mut [Real], width: usize, cells: usize) -> Scatter<'s> {
        assert_eq!(all.len(), self.items.len() * width, "a row for each item");
        Scatter { order: self, start: all.as_mut_ptr(), width, cells: cells.max(1), owner: PhantomData }
    }
}

/// Rows of an array, divided by the cells of their items.
#[derive(Debug)]
pub struct Scatter<'a> {
    order: &'a Order<'a>,
    start: *mut Real,
    width: usize,
    cells: usize,
    owner: PhantomData<&'a mut [Real]>,
}

// SAFETY: parts belong to different cells, and each item is in one cell.
unsafe impl Sync for Scatter<'_> {}

/// Rows of the items of a few cells.
#[derive(Debug)]
pub struct Scattered<'a> {
    order: &'a Order<'a>,
    start: *mut Real,
    width: usize,
    /// Positions in the order.
    positions: Range<usize>,
    owner: PhantomData<&'a mut [Real]>,
}

impl<'a> Parts for Scatter<'a> {
    type Part = Scattered<'a>;

    fn count(&self) -> usize {
        self.order.cells().div_ceil(self.cells)
    }

    unsafe fn part(&self, i: usize) -> Scattered<'a> {
        let cell = |cell: usize| self.order.first(cell.min(self.order.cells()));
        let positions = cell(i * self.cells)..cell((i + 1) * self.cells);
        Scattered { order: self.order, start: self.start, width: self.width, positions, owner: PhantomData }
    }
}

impl Scattered<'_> {
    /// Positions of the items in the order.
    pub fn positions(&self) -> Range<usize> {
        self.positions.clone()
    }

    /// Returns the row of the item at a position.
    ///
    /// # Panics
    /// If the position is not one of [`positions`](Self::positions).
    #[inline(always)]
    pub fn row(&mut self, position: usize) -> &mut [Real] {
        assert!(self.positions.contains(&position), "position {position} of {:?}", self.positions);
        let item = self.order.get(position);
        // SAFETY: each item has a row and one position, and this position belongs to this part alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(item * self.width), self.width) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_sorted_and_rows_found() {
        let cell = |i: usize| (i * 7 + 3) % 5;
        let mut work = vec![Real::NAN; Order::work(23, 6)];
        let order = Order::new(23, 6, cell, &mut work);
        let all: Vec<usize> = (0..23).map(|i| order.get(i)).collect();
        assert!(all.windows(2).all(|pair| (cell(pair[0]), pair[0]) < (cell(pair[1]), pair[1])), "{all:?}");
        for c in 0..6 {
            assert!((order.first(c)..order.first(c + 1)).all(|position| cell(order.get(position)) == c));
        }
        let mut rows = vec![0.0; 46];
        parallel::for_each_part(order.scatter(&mut rows, 2, 4), |part, mut rows| {
            for position in rows.positions() {
                let item = order.get(position);
                assert_eq!(part, cell(item) / 4);
                rows.row(position).fill(1.0 + item as Real);
            }
        });
        assert!((0..46).all(|i| rows[i] == 1.0 + (i / 2) as Real));
        let mut none = [0.0; 2];
        assert_eq!(Order::new(0, 1, |_| 0, &mut none).first(1), 0);
    }

    #[test]
    #[should_panic(expected = "cell 2 of 2")]
    fn a_cell_that_is_not_there_is_refused() {
        Order::new(3, 2, |i| i, &mut [0.0; 20]);
    }
}
