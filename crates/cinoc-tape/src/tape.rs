//! The tape: values and operations in the order they were computed.

use crate::kernel::buffer::{Buffer, align};
use crate::op::{Inputs, MAX_INPUTS, Recorded};
use crate::{Real, Shape, Var, profile};
use std::cell::RefCell;
use std::sync::Arc;

/// Names a variable of a [`Memory`] after its tape is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VarId(pub(crate) u32);

/// Where a node's value lives.
#[derive(Clone, Copy)]
pub(crate) enum Home {
    /// In the arena, with the numbers saved for the backward pass behind it.
    Arena { start: usize, saved: usize },
    /// In the shared parameters, which outlive the tape; their cotangents add up over all tapes.
    Shared { start: usize },
}

pub(crate) struct Node {
    /// None for leaves and for copies cut from what they were computed from, which have one input.
    pub op: Option<Recorded>,
    pub inputs: [u32; MAX_INPUTS],
    pub count: usize,
    pub shape: Shape,
    pub home: Home,
    /// Offset of the cotangent in the arena of cotangents, where the node wants one.
    pub bar: Option<usize>,
    pub scratch: usize,
}

/// Everything a tape has recorded. Cleared and reused, it keeps its room: a warmed-up rollout allocates nothing.
#[derive(Default)]
pub struct Memory {
    /// Shared with the memories that replay this recording.
    pub(crate) shared_nodes: Option<Arc<Vec<Node>>>,
    pub(crate) values: Buffer,
    pub(crate) used: usize,
    pub(crate) bars_used: usize,
    pub(crate) scratch: Buffer,
    /// Whether the recording was looked at while it was made, and so may depend on its values.
    pub(crate) read: bool,
}

impl Memory {
    /// Forgets the recording, keeps the room (if no other memory replays it).
    pub fn clear(&mut self) {
        match self.shared_nodes.as_mut().and_then(Arc::get_mut) {
            Some(nodes) => nodes.clear(),
            None => self.shared_nodes = Some(Arc::default()),
        }
        self.read = false;
        self.used = 0;
        self.bars_used = 0;
    }

    /// What was recorded, in order.
    pub(crate) fn nodes(&self) -> &[Node] {
        self.shared_nodes.as_deref().map_or(&[], Vec::as_slice)
    }

    /// The value of a variable; `shared` are the parameters the tape was made with.
    pub fn value<'a>(&'a self, shared: &'a [Real], id: VarId) -> &'a [Real] {
        let node = &self.nodes()[id.0 as usize];
        match node.home {
            Home::Arena { start, .. } => &self.values[start..start + node.shape.count()],
            Home::Shared { start } => &shared[start..start + node.shape.count()],
        }
    }

    /// Bytes held by the recording (values and saved numbers).
    pub fn bytes(&self) -> usize {
        self.used * size_of::<Real>()
    }

    fn push(&mut self, node: Node) -> VarId {
        let own = self.shared_nodes.as_mut().and_then(Arc::get_mut);
        let nodes = own.expect("a tape has its recording for itself");
        nodes.push(node);
        VarId(nodes.len() as u32 - 1)
    }

    fn reserve(&mut self, count: usize) -> usize {
        let start = self.used;
        self.used = align(start + count);
        self.values.grow_to(self.used);
        start
    }

    fn reserve_bar(&mut self, count: usize) -> usize {
        let start = self.bars_used;
        self.bars_used = align(start + count);
        start
    }

    fn leaf(&mut self, shape: Shape, values: &[Real], wants_bar: bool) -> VarId {
        assert_eq!(shape.count(), values.len(), "a leaf of shape {shape:?} was given {} numbers", values.len());
        let start = self.reserve(values.len());
        self.values[start..start + values.len()].copy_from_slice(values);
        let bar = wants_bar.then(|| self.reserve_bar(values.len()));
        let home = Home::Arena { start, saved: 0 };
        self.push(Node { op: None, inputs: [0; MAX_INPUTS], count: 0, shape, home, bar, scratch: 0 })
    }

    /// A copy of a value, cut from what it was computed from.
    fn detach(&mut self, shared: &[Real], id: VarId) -> VarId {
        let Node { shape, home, .. } = self.nodes()[id.0 as usize];
        let to = self.reserve(shape.count());
        match home {
            Home::Arena { start, .. } => self.values.copy_within(start..start + shape.count(), to),
            Home::Shared { start } => self.values[to..to + shape.count()].copy_from_slice(&shared[start..start + shape.count()]),
        }
        let home = Home::Arena { start: to, saved: 0 };
        let mut inputs = [0; MAX_INPUTS];
        inputs[0] = id.0;
        self.push(Node { op: None, inputs, count: 1, shape, home, bar: None, scratch: 0 })
    }

    fn record(&mut self, shared: &[Real], recorded: Recorded, ids: &[VarId]) -> VarId {
        let mut inputs = [0; MAX_INPUTS];
        let mut shapes = [Shape::default(); MAX_INPUTS];
        let mut wants_bar = false;
        for (i, id) in ids.iter().enumerate() {
            let node = &self.nodes()[id.0 as usize];
            inputs[i] = id.0;
            shapes[i] = node.shape;
            wants_bar |= node.bar.is_some();
        }
        let count = ids.len();
        let op = recorded.op();
        let shape = op.shape(&shapes[..count]);
        let saved = op.saved(&shapes[..count]);
        let scratch = op.scratch(&shapes[..count]);
        self.scratch.grow_to(scratch);
        let start = self.reserve(align(shape.count()) + saved);
        let bar = wants_bar.then(|| self.reserve_bar(shape.count()));
        let home = Home::Arena { start, saved };
        let id = self.push(Node { op: Some(recorded), inputs, count, shape, home, bar, scratch });
        let nodes = self.shared_nodes.as_deref().expect("just recorded into");
        compute(nodes, id, &mut self.values, shared, &mut self.scratch);
        id
    }
}

/// Computes the value of a node from those of its inputs.
pub(crate) fn compute(nodes: &[Node], id: VarId, values: &mut [Real], shared: &[Real], scratch: &mut [Real]) {
    let node = &nodes[id.0 as usize];
    let (Some(recorded), Home::Arena { start, saved }) = (&node.op, node.home) else { return };
    // Results lie behind everything they are computed from: one split lends inputs and output at once.
    let (before, after) = values.split_at_mut(start);
    let x = gather(nodes, before, shared, &node.inputs[..node.count]);
    let count = node.shape.count();
    let (y, kept) = after.split_at_mut(align(count));
    let (since, op) = (profile::start(), recorded.op());
    op.forward(&x, &mut y[..count], &mut kept[..saved], &mut scratch[..node.scratch]);
    profile::book(since, op.name(), true);
}

/// The inputs of a node, lent from the arena below it and from the shared parameters.
pub(crate) fn gather<'a>(nodes: &[Node], arena: &'a [Real], shared: &'a [Real], inputs: &[u32]) -> Inputs<'a> {
    let mut values: [&[Real]; MAX_INPUTS] = [&[]; MAX_INPUTS];
    let mut shapes = [Shape::default(); MAX_INPUTS];
    for (i, &input) in inputs.iter().enumerate() {
        let node = &nodes[input as usize];
        shapes[i] = node.shape;
        values[i] = match node.home {
            Home::Arena { start, .. } => &arena[start..start + node.shape.count()],
            Home::Shared { start } => &shared[start..start + node.shape.count()],
        };
    }
    Inputs { values, shapes, count: inputs.len() }
}

/// Records operations into a [`Memory`], reading parameters from a slice that is shared by many tapes.
pub struct Tape<'p> {
    shared: &'p [Real],
    memory: RefCell<Memory>,
    thrifty: bool,
}

impl<'p> Tape<'p> {
    /// A new recording in old memory. `shared` are the parameters (see [`crate::Params`]); `&[]` where there are none.
    pub fn new(mut memory: Memory, shared: &'p [Real]) -> Self {
        memory.clear();
        Self { shared, memory: RefCell::new(memory), thrifty: false }
    }

    /// The same tape, but with `yes` it is short of memory: what can be computed again in the backward sweep is not kept. The results are the same.
    pub fn thrifty(mut self, yes: bool) -> Self {
        self.thrifty = yes;
        self
    }

    /// Whether it is short of memory.
    pub fn is_thrifty(&self) -> bool {
        self.thrifty
    }

    /// Ends the recording; the memory goes on to the backward sweep or to the next recording.
    pub fn into_memory(self) -> Memory {
        self.memory.into_inner()
    }

    /// A variable with a cotangent.
    pub fn input<'t>(&'t self, shape: impl Into<Shape>, values: &[Real]) -> Var<'t> {
        self.var(self.memory.borrow_mut().leaf(shape.into(), values, true))
    }

    /// A variable without one.
    pub fn constant<'t>(&'t self, shape: impl Into<Shape>, values: &[Real]) -> Var<'t> {
        self.var(self.memory.borrow_mut().leaf(shape.into(), values, false))
    }

    /// A constant of zeros.
    pub fn zeros<'t>(&'t self, shape: impl Into<Shape>) -> Var<'t> {
        let shape = shape.into();
        let mut memory = self.memory.borrow_mut();
        let start = memory.reserve(shape.count());
        memory.values[start..start + shape.count()].fill(0.0);
        let home = Home::Arena { start, saved: 0 };
        let node = Node { op: None, inputs: [0; MAX_INPUTS], count: 0, shape, home, bar: None, scratch: 0 };
        Var::new(self, memory.push(node))
    }

    /// A piece of the shared parameters, from `start` on. With `wants_bar` its cotangent adds up in [`crate::Bars::shared`].
    pub fn parameter<'t>(&'t self, start: usize, shape: impl Into<Shape>, wants_bar: bool) -> Var<'t> {
        let shape = shape.into();
        assert!(start + shape.count() <= self.shared.len(), "parameter {start}+{shape:?} of {}", self.shared.len());
        let bar = wants_bar.then_some(start);
        let home = Home::Shared { start };
        let node = Node { op: None, inputs: [0; MAX_INPUTS], count: 0, shape, home, bar, scratch: 0 };
        self.var(self.memory.borrow_mut().push(node))
    }

    /// Computes an operation and remembers it for the backward sweep.
    ///
    /// # Panics
    /// With more than [`MAX_INPUTS`] inputs, or where the operation refuses their shapes.
    pub fn record<'t, const N: usize>(&'t self, op: impl Into<Recorded>, inputs: [Var<'t>; N]) -> Var<'t> {
        const { assert!(N <= MAX_INPUTS) };
        let ids = inputs.map(|v| v.id());
        self.var(self.memory.borrow_mut().record(self.shared, op.into(), &ids))
    }

    pub(crate) fn detach(&self, id: VarId) -> Var<'_> {
        self.var(self.memory.borrow_mut().detach(self.shared, id))
    }

    pub(crate) fn read<T>(&self, id: VarId, reader: impl FnOnce(&[Real]) -> T) -> T {
        self.memory.borrow_mut().read = true;
        reader(self.memory.borrow().value(self.shared, id))
    }

    pub(crate) fn shape(&self, id: VarId) -> Shape {
        self.memory.borrow().nodes()[id.0 as usize].shape
    }

    fn var(&self, id: VarId) -> Var<'_> {
        Var::new(self, id)
    }
}
