//! Counting allocator: peak memory of a computation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Bytes held by this thread now, and the peak. Negative where it frees memory of others.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn change(bytes: isize) {
    // A thread that is ending has no counters any more.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

#[allow(unsafe_code)]
// SAFETY: passes everything on to the system's allocator; the counters are cells that allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        change(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        change(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A larger block may be a new one: for a moment there are two.
        change(size as isize);
        change(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs a computation; also returns the peak of bytes held by this thread, relative to the start.
pub fn most<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let done = work();
    (done, (PEAK.get() - before).max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_what_was_there_at_once() {
        let ((), most) = most(|| {
            (0..3).for_each(|_| drop(std::hint::black_box(vec![1u8; 1000])));
            let both = [vec![0u8; 500], vec![0; 700]];
            drop(std::hint::black_box(both));
        });
        assert_eq!(most, 1200);
    }
}
