//! The tape, which records operations in the order of their computation.

use crate::node::{Node, Storage, VarId};
use crate::op::{Activation, Dense, MAX_INPUTS, Recorded};
use crate::value_numbering::Expression;
use crate::{Arena, Layer, Real, Shape, Var};
use std::cell::RefCell;
use std::fmt;

/// Recorder of operations. Values go into an [`Arena`]; parameters are read from a slice that many tapes share.
///
/// ```
/// use cinoc_tape::{Arena, Tape};
///
/// let tape = Tape::new(Arena::default(), &[]);
/// let a = tape.input(&[2], &[3.0, 4.0]);
/// let b = tape.constant(&[2], &[1.0, 0.5]);
/// assert_eq!((a * b).sum().value(), [5.0]);
/// ```
pub struct Tape<'p> {
    shared: &'p [Real],
    arena: RefCell<Arena>,
    rematerialise: bool,
    primitives_only: bool,
}

impl fmt::Debug for Tape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Tape").field("arena", &self.arena).field("parameters", &self.shared.len()).finish_non_exhaustive()
    }
}

impl<'p> Tape<'p> {
    /// Starts a recording in an arena, whose previous recording is discarded. `shared` are the parameters (see
    /// [`crate::Params`]), or `&[]`.
    pub fn new(mut arena: Arena, shared: &'p [Real]) -> Self {
        arena.clear();
        Self { shared, arena: RefCell::new(arena), rematerialise: false, primitives_only: false }
    }

    /// Chooses whether operations recompute intermediate values in the backward sweep instead of saving them: less
    /// memory for more arithmetic, with bit-identical results.
    pub fn rematerialise(mut self, enabled: bool) -> Self {
        self.rematerialise = enabled;
        self
    }

    /// Returns true if operations recompute intermediate values instead of saving them.
    pub fn rematerialises(&self) -> bool {
        self.rematerialise
    }

    /// Chooses whether fused operations are recorded as the primitive ones they consist of: slower, but easy to
    /// translate into another language. Loop-invariant operations stay fused, since a translator needs only their
    /// values.
    pub fn primitives_only(mut self, enabled: bool) -> Self {
        self.primitives_only = enabled;
        self
    }

    /// Ends the recording and returns the arena, for the backward sweep or the next recording.
    pub fn into_arena(self) -> Arena {
        self.arena.into_inner()
    }

    /// Adds a variable with a cotangent.
    pub fn input<'t>(&'t self, shape: impl Into<Shape>, values: &[Real]) -> Var<'t> {
        self.leaf(shape.into(), values, false, true)
    }

    /// Adds a variable without a cotangent, whose value may change in a replay.
    pub fn placeholder<'t>(&'t self, shape: impl Into<Shape>, values: &[Real]) -> Var<'t> {
        self.leaf(shape.into(), values, false, false)
    }

    /// Adds a value that is the same in all replays. Values that depend on constants and parameters alone are computed
    /// once for all replays.
    pub fn constant<'t>(&'t self, shape: impl Into<Shape>, values: &[Real]) -> Var<'t> {
        self.leaf(shape.into(), values, true, false)
    }

    /// Adds a constant with a cotangent, which accumulates over all replays.
    pub fn fixed_input<'t>(&'t self, shape: impl Into<Shape>, values: &[Real]) -> Var<'t> {
        self.leaf(shape.into(), values, true, true)
    }

    fn leaf(&self, shape: Shape, values: &[Real], invariant: bool, differentiable: bool) -> Var<'_> {
        assert_eq!(shape.count(), values.len(), "a leaf of shape {shape:?} was given {} numbers", values.len());
        let mut arena = self.arena.borrow_mut();
        let (id, room) = arena.leaf(shape, invariant, differentiable);
        room.copy_from_slice(values);
        self.var(id)
    }

    /// Returns a constant of zeros.
    pub fn zeros<'t>(&'t self, shape: impl Into<Shape>) -> Var<'t> {
        let (shape, mut arena) = (shape.into(), self.arena.borrow_mut());
        let id = arena.own().find(&Expression::Zeros(shape)).unwrap_or_else(|| {
            let (id, room) = arena.leaf(shape, true, false);
            room.fill(0.0);
            id
        });
        self.var(id)
    }

    /// Returns a piece of the shared parameters, from `start` on. If `differentiable`, its cotangent accumulates in
    /// [`crate::Adjoints::shared`].
    pub fn parameter<'t>(&'t self, start: usize, shape: impl Into<Shape>, differentiable: bool) -> Var<'t> {
        let shape = shape.into();
        let end = start.saturating_add(shape.count());
        assert!(end <= self.shared.len(), "parameter {start}+{shape:?} of {}", self.shared.len());
        let bar = differentiable.then_some(start);
        let mut arena = self.arena.borrow_mut();
        let id = arena.own().find(&Expression::Parameter { start, shape, bar }).unwrap_or_else(|| {
            let storage = Storage::Shared { start };
            arena.push(Node { op: None, inputs: [0; MAX_INPUTS], count: 0, shape, storage, bar, scratch: 0 })
        });
        self.var(id)
    }

    /// Computes an operation and records it for the backward sweep.
    ///
    /// # Panics
    /// With a variable of another tape, or if the operation rejects the shapes. More than [`MAX_INPUTS`] inputs do not
    /// compile.
    pub fn record<'t, const N: usize>(&'t self, op: impl Into<Recorded>, inputs: [Var<'t>; N]) -> Var<'t> {
        const { assert!(N <= MAX_INPUTS) };
        let op = op.into();
        // Variables borrow their tape, so its address identifies it.
        let ours = inputs.iter().all(|x| std::ptr::addr_eq(x.tape(), self));
        assert!(ours, "{}: a variable of another tape; all inputs must be on the tape that records", op.op().name());
        self.put(op, &inputs.map(|v| v.id()))
    }

    fn put(&self, op: Recorded, ids: &[VarId]) -> Var<'_> {
        if self.primitives_only && !ids.iter().all(|id| self.is_loop_invariant(*id)) {
            let mut inputs = [self.var(ids[0]); MAX_INPUTS];
            inputs.iter_mut().zip(ids).for_each(|(input, id)| *input = self.var(*id));
            if let Some(same) = op.op().decompose(&inputs[..ids.len()]) {
                return same;
            }
        }
        self.var(self.arena.borrow_mut().record(self.shared, op, ids))
    }

    /// Computes a network layer on several inputs, as if they were joined along the last axis.
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
        self.var(self.arena.borrow_mut().detach(self.shared, id))
    }

    pub(crate) fn read<T>(&self, id: VarId, reader: impl FnOnce(&[Real]) -> T) -> T {
        if !self.is_loop_invariant(id) {
            self.arena.borrow_mut().read = true;
        }
        reader(self.arena.borrow().value(self.shared, id))
    }

    pub(crate) fn is_loop_invariant(&self, id: VarId) -> bool {
        self.arena.borrow().nodes()[id.0 as usize].is_loop_invariant()
    }

    pub(crate) fn shape(&self, id: VarId) -> Shape {
        self.arena.borrow().nodes()[id.0 as usize].shape
    }

    /// Returns the variable with an identifier of this tape.
    pub fn var(&self, id: VarId) -> Var<'_> {
        Var::new(self, id)
    }
}
