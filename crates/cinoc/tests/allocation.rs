//! A warmed-up rollout allocates nothing, forward or backward.

mod common;

use cinoc::problem::{NAMES, Problem};
use cinoc::random::{Rng, Stream};
use common::{config, rollout};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

#[allow(unsafe_code)]
// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_tick_allocates_nothing() {
    let with_safety = ("heat2d_obstacles", &["physics.ticks=6", "swarm.safety=true", "observe.obstacles=true"][..]);
    for (name, changes) in NAMES.iter().map(|name| (*name, &["physics.ticks=6"][..])).chain([with_safety]) {
        let problem = Problem::new(config(name, changes)).unwrap();
        let policy = problem.policy().unwrap();
        let params = policy.init(&mut Rng::new(1, Stream::Init, 0));
        for keep in [true, false] {
            let mut rollout = rollout(&problem, 3, 1, keep);
            let mut update = || {
                rollout.forward(&problem, &*policy, &params, true, &mut |_| {});
                rollout.bars.clear_shared();
                rollout.backward(&problem, &*policy, &params, 1.0);
            };
            update();
            let before = COUNT.with(Cell::get);
            update();
            let after = COUNT.with(Cell::get);
            assert_eq!(after - before, 0, "{name}, kept {keep}: allocations in a warm update");
        }
    }
}
