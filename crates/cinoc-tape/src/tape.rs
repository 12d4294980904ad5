//! The tape: records operations in the order they are computed.

use crate::node::{Home, Node, VarId};
use crate::op::{Activation, Dense, MAX_INPUTS, Recorded};
use crate::value_numbering::Expression;
use crate::{Layer, Memory, Real, Shape, Var};
use std::cell::RefCell;

/// Records operations into a [`Memory`], reading parameters from a slice that is shared by many tapes.
pub struct Tape<'p> {
    shared: &'p [Real],
    memory: RefCell<Memory>,
    rematerialise: bool,
    plainly: bool,
}

impl<'p> Tape<'p> {
    /// A new recording in old memory. `shared` are the parameters (see [`crate::Params`]); `&[]` where there are none.
    pub fn new(mut memory: Memory, shared: &'p [Real]) -> Self {
        memory.clear();
        Self { shared, memory: RefCell::new(memory), rematerialise: false, plainly: false }
    }

    /// The same tape. With `yes`, operations that can rematerialise intermediate values in the backward sweep do not save them: less memory for
    /// more arithmetic, and the same results to the bit.
    pub fn rematerialise(mut self, yes: bool) -> Self {
        self.rematerialise = yes;
        self
    }

    /// Whether operations are to rematerialise values instead of saving them.
    pub fn rematerialises(&self) -> bool {
        self.rematerialise
    }

    /// The same tape. With `yes`, operations that can be written with plain ones are recorded so: slower, but a recording of a handful of
    /// operations is easily translated into another language. What is loop-invariant stays as it is; whoever translates needs its value only.
    pub fn plainly(mut self, yes: bool) -> Self {
        self.plainly = yes;
        self
    }

    /// Ends the recording; the memory goes on to the backward sweep or to the next recording.
    pub fn into_memory(self) -> Memory {
        self.memory.into_inner()
    }

    /// A variable with a cotangent.
    pub fn input<'t>(&'t self, shape: impl Into<Shape>, values: &[Real]) -> Var<'t> {
        self.leaf(shape.into(), values, false, true)
    }

    /// A variable without one, which may have another value in a replay.
    pub fn given<'t>(&'t self, shape: impl Into<Shape>, values: &[Real]) -> Var<'t> {
        self.leaf(shape.into(), values, false, false)
    }

    /// A value that is the same in all replays. What follows from constants and parameters alone is computed once for all of them.
    pub fn constant<'t>(&'t self, shape: impl Into<Shape>, values: &[Real]) -> Var<'t> {
        self.leaf(shape.into(), values, true, false)
    }

    /// A constant with a cotangent, which adds up over all replays.
    pub fn fixed_input<'t>(&'t self, shape: impl Into<Shape>, values: &[Real]) -> Var<'t> {
        self.leaf(shape.into(), values, true, true)
    }

    fn leaf(&self, shape: Shape, values: &[Real], invariant: bool, wants_bar: bool) -> Var<'_> {
        assert_eq!(shape.count(), values.len(), "a leaf of shape {shape:?} was given {} numbers", values.len());
        let mut memory = self.memory.borrow_mut();
        let (id, room) = memory.leaf(shape, invariant, wants_bar);
        room.copy_from_slice(values);
        self.var(id)
    }

    /// A constant of zeros.
    pub fn zeros<'t>(&'t self, shape: impl Into<Shape>) -> Var<'t> {
        let (shape, mut memory) = (shape.into(), self.memory.borrow_mut());
        let id = memory.own().find(&Expression::Zeros(shape)).unwrap_or_else(|| {
            let (id, room) = memory.leaf(shape, true, false);
            room.fill(0.0);
            id
        });
        self.var(id)
    }

    /// A piece of the shared parameters, from `start` on. With `wants_bar` its cotangent adds up in [`crate::Adjoints::shared`].
    pub fn parameter<'t>(&'t self, start: usize, shape: impl Into<Shape>, wants_bar: bool) -> Var<'t> {
        let shape = shape.into();
        let end = start.saturating_add(shape.count());
        assert!(end <= self.shared.len(), "parameter {start}+{shape:?} of {}", self.shared.len());
        let bar = wants_bar.then_some(start);
        let mut memory = self.memory.borrow_mut();
        let id = memory.own().find(&Expression::Parameter { start, shape, bar }).unwrap_or_else(|| {
            let home = Home::Shared { start };
            memory.push(Node { op: None, inputs: [0; MAX_INPUTS], count: 0, shape, home, bar, scratch: 0 })
        });
        self.var(id)
    }

    /// Computes an operation and remembers it for the backward sweep.
    ///
    /// # Panics
    /// With more than [`MAX_INPUTS`] inputs, with a variable of another tape, or where the operation refuses the shapes.
    pub fn record<'t, const N: usize>(&'t self, op: impl Into<Recorded>, inputs: [Var<'t>; N]) -> Var<'t> {
        const { assert!(N <= MAX_INPUTS) };
        let op = op.into();
        // Variables borrow their tape, so its address is its identity.
        let ours = inputs.iter().all(|x| std::ptr::addr_eq(x.tape(), self));
        assert!(ours, "{}: a variable of another tape; all inputs must be on the tape that records", op.op().name());
        self.put(op, &inputs.map(|v| v.id()))
    }

    fn put(&self, op: Recorded, ids: &[VarId]) -> Var<'_> {
        if self.plainly && !ids.iter().all(|id| self.is_loop_invariant(*id)) {
            let mut inputs = [self.var(ids[0]); MAX_INPUTS];
            inputs.iter_mut().zip(ids).for_each(|(input, id)| *input = self.var(*id));
            if let Some(same) = op.op().plain(&inputs[..ids.len()]) {
                return same;
            }
        }
        self.var(self.memory.borrow_mut().record(self.shared, op, ids))
    }

    /// A network layer on several inputs side by side, as if joined along the last axis.
    pub fn dense<'t, const N: usize>(&'t self, x: [Var<'t>; N], layer: Layer<'t>, activation: Activation) -> Var<'t> {
        const { assert!(N > 0 && N + 3 <= MAX_INPUTS) };
        let inputs: usize = x.iter().map(|x| x.shape().last()).sum();
        let wanted = layer.w.shape();
        assert_eq!(inputs, wanted.rows(), "dense: {N} inputs of {inputs} numbers together, weights {wanted:?}");
        let mut ids = [layer.w.id(); MAX_INPUTS];
        let all = [layer.w, layer.b, layer.w_t].into_iter().chain(x);
        ids.iter_mut().zip(all).for_each(|(id, x)| *id = x.id());
        let op = Dense { activation, first: 0 };
        self.put(op.into(), &ids[..N + 3])
    }

    pub(crate) fn detach(&self, id: VarId) -> Var<'_> {
        self.var(self.memory.borrow_mut().detach(self.shared, id))
    }

    pub(crate) fn read<T>(&self, id: VarId, reader: impl FnOnce(&[Real]) -> T) -> T {
        if !self.is_loop_invariant(id) {
            self.memory.borrow_mut().read = true;
        }
        reader(self.memory.borrow().value(self.shared, id))
    }

    pub(crate) fn is_loop_invariant(&self, id: VarId) -> bool {
        self.memory.borrow().nodes()[id.0 as usize].is_loop_invariant()
    }

    pub(crate) fn shape(&self, id: VarId) -> Shape {
        self.memory.borrow().nodes()[id.0 as usize].shape
    }

    fn var(&self, id: VarId) -> Var<'_> {
        Var::new(self, id)
    }
}
