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
    /// The same in the arena of the recording: it follows from constants and parameters alone, so it is computed once for all replays.
    /// Its cotangent adds up over them.
    Standing { start: usize, saved: usize },
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

/// What a recording and its replays have in common.
#[derive(Default)]
pub(crate) struct Recording {
    pub nodes: Vec<Node>,
    /// Values of the nodes that stand.
    pub standing: Buffer,
    used: usize,
    /// Room for their cotangents.
    pub bars_used: usize,
}

impl Recording {
    fn clear(&mut self) {
        self.nodes.clear();
        (self.used, self.bars_used) = (0, 0);
    }
}

/// Everything a tape has recorded. Cleared and reused, it keeps its room: a warmed-up rollout allocates nothing.
#[derive(Default)]
pub struct Memory {
    /// Shared with the memories that replay this recording.
    pub(crate) recording: Option<Arc<Recording>>,
    pub(crate) values: Buffer,
    pub(crate) used: usize,
    pub(crate) bars_used: usize,
    pub(crate) scratch: Buffer,
    /// Whether a value that may change was looked at while the recording was made, which so may depend on it.
    pub(crate) read: bool,
}

impl Memory {
    /// Forgets the recording, keeps the room (if no other memory replays it).
    pub fn clear(&mut self) {
        match self.recording.as_mut().and_then(Arc::get_mut) {
            Some(recording) => recording.clear(),
            None => self.recording = Some(Arc::default()),
        }
        self.read = false;
        self.used = 0;
        self.bars_used = 0;
    }

    /// What was recorded, in order.
    pub(crate) fn nodes(&self) -> &[Node] {
        self.recording.as_deref().map_or(&[], |recording| &recording.nodes)
    }

    /// Values of the nodes that stand.
    pub(crate) fn standing(&self) -> &[Real] {
        self.recording.as_deref().map_or(&[], |recording| &recording.standing)
    }

    /// The value of a variable; `shared` are the parameters the tape was made with.
    pub fn value<'a>(&'a self, shared: &'a [Real], id: VarId) -> &'a [Real] {
        let node = &self.nodes()[id.0 as usize];
        Lent { arena: &self.values, standing: self.standing(), shared }.value(node)
    }

    /// Bytes held by the recording (values and saved numbers).
    pub fn bytes(&self) -> usize {
        self.used * size_of::<Real>()
    }

    /// The recording while it is made.
    fn own(&mut self) -> &mut Recording {
        self.recording.as_mut().and_then(Arc::get_mut).expect("a tape has its recording for itself")
    }

    fn push(&mut self, node: Node) -> VarId {
        let nodes = &mut self.own().nodes;
        nodes.push(node);
        VarId(nodes.len() as u32 - 1)
    }

    /// Room for a value and what is saved with it.
    fn reserve(&mut self, stands: bool, count: usize, saved: usize) -> Home {
        let take = |used: &mut usize, values: &mut Buffer| {
            let start = *used;
            *used = align(start + align(count) + saved);
            values.grow_to(*used);
            start
        };
        if stands {
            let recording = self.own();
            Home::Standing { start: take(&mut recording.used, &mut recording.standing), saved }
        } else {
            Home::Arena { start: take(&mut self.used, &mut self.values), saved }
        }
    }

    fn reserve_bar(&mut self, stands: bool, count: usize) -> usize {
        let used = if stands { &mut self.own().bars_used } else { &mut self.bars_used };
        let start = *used;
        *used = align(start + count);
        start
    }

    /// A node without an operation, its value not yet set.
    fn leaf(&mut self, shape: Shape, stands: bool, wants_bar: bool) -> (VarId, &mut [Real]) {
        let home = self.reserve(stands, shape.count(), 0);
        let bar = wants_bar.then(|| self.reserve_bar(stands, shape.count()));
        let id = self.push(Node { op: None, inputs: [0; MAX_INPUTS], count: 0, shape, home, bar, scratch: 0 });
        let value = match home {
            Home::Arena { start, .. } => &mut self.values[start..start + shape.count()],
            Home::Standing { start, .. } => &mut self.own().standing[start..start + shape.count()],
            Home::Shared { .. } => unreachable!("room was reserved"),
        };
        (id, value)
    }

    /// A copy of a value, cut from what it was computed from.
    fn detach(&mut self, shared: &[Real], id: VarId) -> VarId {
        let Node { shape, home, .. } = self.nodes()[id.0 as usize];
        let to = self.reserve(!matches!(home, Home::Arena { .. }), shape.count(), 0);
        let mut inputs = [0; MAX_INPUTS];
        inputs[0] = id.0;
        let copy = self.push(Node { op: None, inputs, count: 1, shape, home: to, bar: None, scratch: 0 });
        self.compute(shared, copy);
        copy
    }

    fn record(&mut self, shared: &[Real], recorded: Recorded, ids: &[VarId]) -> VarId {
        let mut inputs = [0; MAX_INPUTS];
        let mut shapes = [Shape::default(); MAX_INPUTS];
        let (mut wants_bar, mut stands) = (false, true);
        for (i, id) in ids.iter().enumerate() {
            let node = &self.nodes()[id.0 as usize];
            inputs[i] = id.0;
            shapes[i] = node.shape;
            wants_bar |= node.bar.is_some();
            stands &= !matches!(node.home, Home::Arena { .. });
        }
        let count = ids.len();
        if stands
            && let Some(known) =
                self.known(|node| node.op.as_ref() == Some(&recorded) && node.inputs[..node.count] == inputs[..count])
        {
            return known;
        }
        let op = recorded.op();
        let shape = op.shape(&shapes[..count]);
        let saved = op.saved(&shapes[..count]);
        let scratch = op.scratch(&shapes[..count]);
        self.scratch.grow_to(scratch);
        let home = self.reserve(stands, shape.count(), saved);
        let bar = wants_bar.then(|| self.reserve_bar(stands, shape.count()));
        let id = self.push(Node { op: Some(recorded), inputs, count, shape, home, bar, scratch });
        self.compute(shared, id);
        id
    }

    /// A node of the recording that is the same already: what stands is computed once, however often it is asked for.
    fn known(&self, same: impl Fn(&Node) -> bool) -> Option<VarId> {
        let stands = |node: &Node| !matches!(node.home, Home::Arena { .. });
        self.nodes().iter().position(|node| stands(node) && same(node)).map(|index| VarId(index as u32))
    }

    /// Computes a node that was just recorded.
    fn compute(&mut self, shared: &[Real], id: VarId) {
        let Self { recording, values, scratch, .. } = self;
        let recording = recording.as_mut().and_then(Arc::get_mut).expect("a tape has its recording for itself");
        let Recording { nodes, standing, .. } = recording;
        let node = &nodes[id.0 as usize];
        match node.home {
            // Results lie behind everything they are computed from: one split lends inputs and output at once.
            Home::Arena { start, .. } => {
                let (arena, after) = values.split_at_mut(start);
                node.compute(nodes, &Lent { arena, standing, shared }, after, scratch);
            }
            Home::Standing { start, .. } => {
                let (standing, after) = standing.split_at_mut(start);
                node.compute(nodes, &Lent { arena: &[], standing, shared }, after, scratch);
            }
            Home::Shared { .. } => {}
        }
    }
}

/// Values to compute with.
pub(crate) struct Lent<'a> {
    pub arena: &'a [Real],
    pub standing: &'a [Real],
    pub shared: &'a [Real],
}

impl<'a> Lent<'a> {
    pub fn value(&self, node: &Node) -> &'a [Real] {
        let count = node.shape.count();
        match node.home {
            Home::Arena { start, .. } => &self.arena[start..start + count],
            Home::Standing { start, .. } => &self.standing[start..start + count],
            Home::Shared { start } => &self.shared[start..start + count],
        }
    }

    /// The inputs of a node.
    pub fn inputs(&self, nodes: &[Node], node: &Node) -> Inputs<'a> {
        let mut values: [&[Real]; MAX_INPUTS] = [&[]; MAX_INPUTS];
        let mut shapes = [Shape::default(); MAX_INPUTS];
        for (i, &input) in node.inputs[..node.count].iter().enumerate() {
            let source = &nodes[input as usize];
            (values[i], shapes[i]) = (self.value(source), source.shape);
        }
        Inputs { values, shapes, count: node.count }
    }
}

impl Node {
    /// Computes the value from those of the inputs, into the beginning of `room`, and what is saved behind it. Leaves stay as they are.
    pub fn compute(&self, nodes: &[Node], lent: &Lent, room: &mut [Real], scratch: &mut [Real]) {
        let count = self.shape.count();
        match (&self.op, self.home) {
            (Some(recorded), Home::Arena { saved, .. } | Home::Standing { saved, .. }) => {
                let x = lent.inputs(nodes, self);
                let (y, kept) = room.split_at_mut(align(count));
                let (since, op) = (profile::start(), recorded.op());
                op.forward(&x, &mut y[..count], &mut kept[..saved], &mut scratch[..self.scratch]);
                profile::book(since, op.name(), true);
            }
            (None, _) if self.count == 1 => room[..count].copy_from_slice(lent.value(&nodes[self.inputs[0] as usize])),
            _ => {}
        }
    }
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

    fn leaf(&self, shape: Shape, values: &[Real], stands: bool, wants_bar: bool) -> Var<'_> {
        assert_eq!(shape.count(), values.len(), "a leaf of shape {shape:?} was given {} numbers", values.len());
        let mut memory = self.memory.borrow_mut();
        let (id, room) = memory.leaf(shape, stands, wants_bar);
        room.copy_from_slice(values);
        self.var(id)
    }

    /// A constant of zeros.
    pub fn zeros<'t>(&'t self, shape: impl Into<Shape>) -> Var<'t> {
        let (shape, mut memory) = (shape.into(), self.memory.borrow_mut());
        let lent = Lent { arena: &[], standing: memory.standing(), shared: &[] };
        let leaf = |node: &Node| matches!(node.home, Home::Standing { .. }) && node.op.is_none() && node.shape == shape;
        let id = memory.known(|node| leaf(node) && lent.value(node).iter().all(|&z| z == 0.0)).unwrap_or_else(|| {
            let (id, room) = memory.leaf(shape, true, false);
            room.fill(0.0);
            id
        });
        self.var(id)
    }

    /// A piece of the shared parameters, from `start` on. With `wants_bar` its cotangent adds up in [`crate::Bars::shared`].
    pub fn parameter<'t>(&'t self, start: usize, shape: impl Into<Shape>, wants_bar: bool) -> Var<'t> {
        let shape = shape.into();
        assert!(start + shape.count() <= self.shared.len(), "parameter {start}+{shape:?} of {}", self.shared.len());
        let bar = wants_bar.then_some(start);
        let mut memory = self.memory.borrow_mut();
        let same =
            |node: &Node| matches!(node.home, Home::Shared { start: s } if s == start) && node.shape == shape && node.bar == bar;
        let id = memory.known(same).unwrap_or_else(|| {
            let home = Home::Shared { start };
            memory.push(Node { op: None, inputs: [0; MAX_INPUTS], count: 0, shape, home, bar, scratch: 0 })
        });
        self.var(id)
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
        if !self.stands(id) {
            self.memory.borrow_mut().read = true;
        }
        reader(self.memory.borrow().value(self.shared, id))
    }

    pub(crate) fn stands(&self, id: VarId) -> bool {
        !matches!(self.memory.borrow().nodes()[id.0 as usize].home, Home::Arena { .. })
    }

    pub(crate) fn shape(&self, id: VarId) -> Shape {
        self.memory.borrow().nodes()[id.0 as usize].shape
    }

    fn var(&self, id: VarId) -> Var<'_> {
        Var::new(self, id)
    }
}
