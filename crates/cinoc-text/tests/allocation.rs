//! A warm tick allocates nothing: recording, forward and backward pass.

mod common;

use cinoc_tape::{Adjoints, Arena, Tape, Var};
use cinoc_text::{Axis, Call, Operators, Plan, parse};
use common::{SHAPES, arrays, scope};
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

/// The last input of each operator, or its mean.
struct Last;

impl Operators for Last {
    fn record<'t>(&self, _: &'t Tape<'t>, call: &Call, inputs: &[Var<'t>]) -> Var<'t> {
        let last = *inputs.last().expect("an input");
        match call.operator {
            cinoc_text::Operator::Reduction { .. } => last.mean_keeping(1).reshape([last.shape().rows(), 1]),
            _ => last,
        }
    }
}

#[test]
fn a_warm_tick_allocates_nothing() {
    let scope = scope();
    let texts =
        ["div(k*grad(u)) + u - u^3 + push*exp(a) + heat", "tanh(v)*mean(u) - log(k)*lap(v)/(1 + v^2) + where(left, u, v)"];
    let exprs = texts.map(|text| parse(text, &scope).unwrap_or_else(|error| panic!("{error}")));
    let plan = Plan::new(&scope, &exprs.each_ref(), Axis::Cells).unwrap();
    let (values, mut kept, mut bars) = (arrays(1), Some(Arena::default()), Adjoints::default());
    let mut tick = || {
        let tape = Tape::new(kept.take().expect("memory"), &[]);
        let mut inputs = [tape.zeros([1]); SHAPES.len()];
        inputs.iter_mut().zip(SHAPES).zip(&values).for_each(|((input, shape), x)| *input = tape.input(shape, x));
        let y = plan.record(&inputs, &Last).sum().id();
        let memory = tape.into_arena();
        bars.start(&memory, 0);
        bars.seed(&memory, y, &[1.0]);
        memory.backward(&[], &mut bars);
        kept = Some(memory);
    };
    tick();
    tick();
    let before = COUNT.get();
    tick();
    assert_eq!(COUNT.get() - before, 0);
}
