//! Items in the order of the cells they lie in, and rows of an array in that order.
//!
//! Who reads or writes near where a neighbour just did finds it in the cache. With very many agents at random places this is most of the time.

use super::crew::{self, Parts};
use crate::Real;
use std::marker::PhantomData;
use std::ops::Range;

/// Items sorted by cell; those of a cell keep their order. Whole numbers live in the bits of lent [`Real`]s, so nothing is allocated.
pub struct Order<'a> {
    /// The items one after the other: each number below their count once, which the rows handed out by [`scatter`](Self::scatter) rely on.
    items: &'a [Real],
    /// Where each cell begins, and the end of the last.
    first: &'a [Real],
}

/// Asking for a cell takes the time of plain arithmetic on so many numbers.
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
    /// Numbers that `work` holds for so many items and cells.
    pub const fn work(items: usize, cells: usize) -> usize {
        2 * items + cells + 1
    }

    /// Sorts items by their `cell`, a number below `cells`.
    ///
    /// # Panics
    /// When there is no such cell, not enough room, or 2³² items or more.
    pub fn new(items: usize, cells: usize, cell: impl Fn(usize) -> usize + Sync, work: &'a mut [Real]) -> Self {
        assert!(items < u32::MAX as usize, "{items} items are more than can be numbered");
        let (order, rest) = work[..Self::work(items, cells)].split_at_mut(items);
        let (home, first) = rest.split_at_mut(items);
        first.fill(bits(0));
        // Cells are asked for once: a place that is counted is the place that is filled.
        crew::rows(home, 1, COST, |from, home| {
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
        // Filled from behind, each cell's mark ends where the cell begins.
        for (i, home) in home.iter().enumerate().rev() {
            let slot = &mut first[get(*home)];
            let place = get(*slot) - 1;
            *slot = bits(place);
            order[place] = bits(i);
        }
        Self { items: order, first }
    }

    /// The item at a place of the order.
    #[inline(always)]
    pub fn get(&self, place: usize) -> usize {
        get(self.items[place])
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.first.len() - 1
    }

    /// Where a cell begins; the number of cells gives the end of the last.
    #[inline(always)]
    pub fn first(&self, cell: usize) -> usize {
        get(self.first[cell])
    }

    /// Rows of `width` numbers, one for each item, in parts of `cells` cells.
    ///
    /// # Panics
    /// When there are not as many rows as items.
    pub fn scatter<'s>(&'s self, all: &'s mut [Real], width: usize, cells: usize) -> Scatter<'s> {
        assert_eq!(all.len(), self.items.len() * width, "a row for each item");
        Scatter { order: self, start: all.as_mut_ptr(), width, cells: cells.max(1), owner: PhantomData }
    }
}

/// Rows of an array by the cells of their items.
pub struct Scatter<'a> {
    order: &'a Order<'a>,
    start: *mut Real,
    width: usize,
    cells: usize,
    owner: PhantomData<&'a mut [Real]>,
}

// SAFETY: parts are of different cells, and an item is in one cell.
unsafe impl Sync for Scatter<'_> {}

/// The rows of the items of a few cells.
pub struct Scattered<'a> {
    order: &'a Order<'a>,
    start: *mut Real,
    width: usize,
    /// Places in the order.
    places: Range<usize>,
    owner: PhantomData<&'a mut [Real]>,
}

impl<'a> Parts for Scatter<'a> {
    type Part = Scattered<'a>;

    fn count(&self) -> usize {
        self.order.cells().div_ceil(self.cells)
    }

    unsafe fn part(&self, i: usize) -> Scattered<'a> {
        let cell = |cell: usize| self.order.first(cell.min(self.order.cells()));
        let places = cell(i * self.cells)..cell((i + 1) * self.cells);
        Scattered { order: self.order, start: self.start, width: self.width, places, owner: PhantomData }
    }
}

impl Scattered<'_> {
    /// The places of its items in the order.
    pub fn places(&self) -> Range<usize> {
        self.places.clone()
    }

    /// The row of the item at a place.
    ///
    /// # Panics
    /// When the place is not one of [`places`](Self::places).
    #[inline(always)]
    pub fn row(&mut self, place: usize) -> &mut [Real] {
        assert!(self.places.contains(&place), "place {place} of {:?}", self.places);
        let item = self.order.get(place);
        // SAFETY: there is a row for each item, every item has one place, and this place belongs to this part alone.
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
            assert!((order.first(c)..order.first(c + 1)).all(|place| cell(order.get(place)) == c));
        }
        let mut rows = vec![0.0; 46];
        crew::share(order.scatter(&mut rows, 2, 4), |part, mut rows| {
            for place in rows.places() {
                let item = order.get(place);
                assert_eq!(part, cell(item) / 4);
                rows.row(place).fill(1.0 + item as Real);
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
