//! A warm step in Fourier space or of finite volumes allocates nothing, forward or backward.

use cinoc_pde::equation::{KuramotoSivashinsky1d, KuramotoSivashinsky2d, Vorticity2d};
use cinoc_pde::stepper::Substeps;
use cinoc_pde::volume::{Mesh, Order, Side, Volume};
use cinoc_pde::{Grid, Stepper};
use cinoc_tape::check::noise;
use cinoc_tape::{Adjoints, Arena, Tape};
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
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_step_allocates_nothing() {
    let torus = || Grid::torus([32; 2], [16.0; 2]);
    let steppers = [
        KuramotoSivashinsky1d::stepper(Grid::periodic(64, 22.0), 0.05),
        KuramotoSivashinsky2d::stepper(torus(), 0.1, 3),
        Vorticity2d::stepper(torus(), 5e-4, 0.01, Substeps::Courant(0.5)),
    ];
    for stepper in &steppers {
        let shape: Vec<usize> = [3].into_iter().chain(stepper.grid().nodes.iter().copied()).collect();
        let z = noise(shape.iter().product(), 1);
        let (mut kept, mut bars) = (Some(Arena::default()), Adjoints::default());
        let mut step = || {
            let tape = Tape::new(kept.take().expect("memory"), &[]);
            let y = stepper.step(tape.input(&shape[..], &z), tape.input(&shape[..], &z)).id();
            let memory = tape.into_arena();
            bars.start(&memory, 0);
            bars.seed(&memory, y, &z);
            memory.backward(&[], &mut bars);
            kept = Some(memory);
        };
        step();
        let before = COUNT.with(Cell::get);
        step();
        assert_eq!(COUNT.with(Cell::get) - before, 0, "allocations in a warm step");
    }
}

#[test]
fn a_warm_step_of_volumes_allocates_nothing() {
    let sides = || [Side::Value, Side::exchange(2.0)];
    // The second is solved by iteration.
    for cells in [[8, 6], [110, 100]] {
        let volume = Volume::new(Mesh::new(&cells, &[1.0, 1.0], vec![sides(), sides()]));
        let (linear, shape) = (volume.linear(1e-3, Order::Second, false), volume.mesh().shape(2));
        let z = noise(shape.count(), 1);
        let k: Vec<_> = z.iter().map(|z| 1.5 + z).collect();
        let (mut kept, mut bars) = (Some(Arena::default()), Adjoints::default());
        let mut step = || {
            let tape = Tape::new(kept.take().expect("memory"), &[]);
            let (start, k, number) = (tape.input(shape, &z), tape.input(shape, &k), tape.input([1], &[0.1]));
            let y = linear.factor(k, number, number).step(start, number, |z| {
                let carried = volume.transport(z, &[k, number], number) + volume.advection(z, &[number, k], number);
                volume.diffusion(z, k, number) + volume.laplacian(z, number) * 0.1 - volume.gradient(0, z, number) - carried
            });
            let y = y.id();
            let memory = tape.into_arena();
            bars.start(&memory, 0);
            bars.seed(&memory, y, &z);
            memory.backward(&[], &mut bars);
            kept = Some(memory);
        };
        step();
        let before = COUNT.with(Cell::get);
        step();
        assert_eq!(COUNT.with(Cell::get) - before, 0, "allocations in a warm step of {cells:?} cells");
    }
}
