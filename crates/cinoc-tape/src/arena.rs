//! Storage of a recording: its nodes and their values.

use crate::kernel::buffer::{Buffer, align};
use crate::node::{Node, Sources, Storage, VarId};
use crate::op::{MAX_INPUTS, Recorded};
use crate::value_numbering::Expression;
use crate::{Real, Shape};
use std::fmt;
use std::sync::Arc;

/// The part of a recording that its replays share.
#[derive(Default)]
pub(crate) struct Recording {
    pub nodes: Vec<Node>,
    /// Values of the loop-invariant nodes.
    pub invariant: Buffer,
    used: usize,
    /// Length of the cotangents of the loop-invariant nodes.
    pub cotangents_used: usize,
    /// Length of the working space that the operations need.
    pub scratch: usize,
}

impl Recording {
    fn clear(&mut self) {
        self.nodes.clear();
        (self.used, self.cotangents_used, self.scratch) = (0, 0, 0);
    }
}

/// Storage for one recording: nodes, values and saved intermediate results.
///
/// A cleared arena keeps its capacity, so a warmed-up rollout allocates nothing.
///
/// ```
/// use cinoc_tape::{Arena, Tape};
///
/// let tape = Tape::new(Arena::default(), &[]);
/// let x = tape.input(&[2], &[1.0, 2.0]);
/// let y = x.square().sum().id();
/// let mut arena = tape.into_arena();
/// assert_eq!(arena.value(&[], y), &[5.0]);
///
/// // Reuse of the capacity for another recording.
/// arena.clear();
/// let tape = Tape::new(arena, &[]);
/// assert_eq!(tape.zeros(&[3]).value(), [0.0; 3]);
/// ```
#[derive(Default)]
pub struct Arena {
    /// Shared with the arenas that replay this recording.
    pub(crate) recording: Option<Arc<Recording>>,
    pub(crate) values: Buffer,
    pub(crate) used: usize,
    pub(crate) cotangents_used: usize,
    pub(crate) scratch: Buffer,
    /// True once the caller has read a value that may change between replays: the choice of operations may then depend
    /// on it.
    pub(crate) read: bool,
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Arena").field("nodes", &self.nodes().len()).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl Arena {
    /// Discards the recording and keeps the capacity, unless another arena replays the recording.
    pub fn clear(&mut self) {
        match self.recording.as_mut().and_then(Arc::get_mut) {
            Some(recording) => recording.clear(),
            None => self.recording = Some(Arc::default()),
        }
        self.read = false;
        self.used = 0;
        self.cotangents_used = 0;
    }

    /// Recorded nodes, in order.
    pub(crate) fn nodes(&self) -> &[Node] {
        self.recording.as_deref().map_or(&[], |recording| &recording.nodes)
    }

    /// Values of the loop-invariant nodes.
    pub(crate) fn invariant(&self) -> &[Real] {
        self.recording.as_deref().map_or(&[], |recording| &recording.invariant)
    }

    /// Returns the value of a variable; `shared` are the parameters the tape was created with.
    pub fn value<'a>(&'a self, shared: &'a [Real], id: VarId) -> &'a [Real] {
        let node = &self.nodes()[id.0 as usize];
        Sources { replayed: &self.values, invariant: self.invariant(), shared }.value(node)
    }

    /// Returns the shape of a variable.
    pub fn shape(&self, id: VarId) -> Shape {
        self.nodes()[id.0 as usize].shape
    }

    /// Bytes of the recorded values and saved intermediate results, without loop-invariant ones.
    pub fn bytes(&self) -> usize {
        self.used * size_of::<Real>()
    }

    /// Bytes of the whole capacity: values, loop-invariant values and working space.
    pub fn capacity_bytes(&self) -> usize {
        (self.values.len() + self.invariant().len() + self.scratch.len()) * size_of::<Real>()
    }

    /// The recording under construction, which no other arena shares.
    pub(crate) fn own(&mut self) -> &mut Recording {
        self.recording.as_mut().and_then(Arc::get_mut).expect("a tape has its recording for itself")
    }

    pub(crate) fn push(&mut self, node: Node) -> VarId {
        let nodes = &mut self.own().nodes;
        nodes.push(node);
        VarId(nodes.len() as u32 - 1)
    }

    /// Reserves storage for a value and for what is saved with it.
    fn reserve(&mut self, invariant: bool, count: usize, saved: usize) -> Storage {
        let take = |used: &mut usize, values: &mut Buffer| {
            let start = *used;
            *used = align(start + align(count) + saved);
            values.grow_to(*used);
            start
        };
        if invariant {
            let recording = self.own();
            Storage::Invariant { start: take(&mut recording.used, &mut recording.invariant), saved }
        } else {
            Storage::Replayed { start: take(&mut self.used, &mut self.values), saved }
        }
    }

    fn reserve_bar(&mut self, invariant: bool, count: usize) -> usize {
        let used = if invariant { &mut self.own().cotangents_used } else { &mut self.cotangents_used };
        let start = *used;
        *used = align(start + count);
        start
    }

    /// Adds a node without an operation; its value is not yet set.
    pub(crate) fn leaf(&mut self, shape: Shape, invariant: bool, differentiable: bool) -> (VarId, &mut [Real]) {
        let storage = self.reserve(invariant, shape.count(), 0);
        let bar = differentiable.then(|| self.reserve_bar(invariant, shape.count()));
        let id = self.push(Node { op: None, inputs: [0; MAX_INPUTS], count: 0, shape, storage, bar, scratch: 0 });
        let value = match storage {
            Storage::Replayed { start, .. } => &mut self.values[start..start + shape.count()],
            Storage::Invariant { start, .. } => &mut self.own().invariant[start..start + shape.count()],
            Storage::Shared { .. } => unreachable!("room was reserved"),
        };
        (id, value)
    }

    /// Adds a copy of a value through which no derivative passes.
    pub(crate) fn detach(&mut self, shared: &[Real], id: VarId) -> VarId {
        let node = &self.nodes()[id.0 as usize];
        let (shape, invariant) = (node.shape, node.is_loop_invariant());
        if let Some(known) = self.own().find(&Expression::Detached(id)) {
            return known;
        }
        let to = self.reserve(invariant, shape.count(), 0);
        let mut inputs = [0; MAX_INPUTS];
        inputs[0] = id.0;
        let copy = self.push(Node { op: None, inputs, count: 1, shape, storage: to, bar: None, scratch: 0 });
        self.compute(shared, copy);
        copy
    }

    pub(crate) fn record(&mut self, shared: &[Real], recorded: Recorded, ids: &[VarId]) -> VarId {
        let mut inputs = [0; MAX_INPUTS];
        let mut shapes = [Shape::default(); MAX_INPUTS];
        let (mut differentiable, mut invariant) = (false, true);
        for (i, id) in ids.iter().enumerate() {
            let node = &self.nodes()[id.0 as usize];
            inputs[i] = id.0;
            shapes[i] = node.shape;
            differentiable |= node.bar.is_some();
            invariant &= node.is_loop_invariant();
        }
        let count = ids.len();
        if invariant && let Some(known) = self.own().find(&Expression::Applied(&recorded, &inputs[..count])) {
            return known;
        }
        let op = recorded.op();
        let shape = op.shape(&shapes[..count]);
        let saved = op.saved(&shapes[..count]);
        let scratch = op.scratch(&shapes[..count]);
        let recording = self.own();
        recording.scratch = recording.scratch.max(scratch);
        self.scratch.grow_to(scratch);
        let storage = self.reserve(invariant, shape.count(), saved);
        let bar = differentiable.then(|| self.reserve_bar(invariant, shape.count()));
        let id = self.push(Node { op: Some(recorded), inputs, count, shape, storage, bar, scratch });
        self.compute(shared, id);
        id
    }

    /// Computes the node that was recorded last.
    fn compute(&mut self, shared: &[Real], id: VarId) {
        let Self { recording, values, scratch, .. } = self;
        let recording = recording.as_mut().and_then(Arc::get_mut).expect("a tape has its recording for itself");
        let Recording { nodes, invariant, .. } = recording;
        let node = &nodes[id.0 as usize];
        match node.storage {
            // A result lies behind all of its inputs, so one split borrows inputs and output at once.
            Storage::Replayed { start, .. } => {
                let (replayed, after) = values.split_at_mut(start);
                node.compute(nodes, &Sources { replayed, invariant, shared }, after, scratch);
            }
            Storage::Invariant { start, .. } => {
                let (invariant, after) = invariant.split_at_mut(start);
                node.compute(nodes, &Sources { replayed: &[], invariant, shared }, after, scratch);
            }
            Storage::Shared { .. } => {}
        }
    }
}
