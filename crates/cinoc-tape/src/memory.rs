//! What was recorded, and its values.

use crate::kernel::buffer::{Buffer, align};
use crate::node::{Home, Lent, Node, VarId};
use crate::op::{MAX_INPUTS, Recorded};
use crate::value_numbering::Expression;
use crate::{Real, Shape};
use std::sync::Arc;

/// What a recording and its replays have in common.
#[derive(Default)]
pub(crate) struct Recording {
    pub nodes: Vec<Node>,
    /// Values of the loop-invariant nodes.
    pub invariant: Buffer,
    used: usize,
    /// Room for their cotangents.
    pub cotangents_used: usize,
    /// Working space that its operations need.
    pub scratch: usize,
}

impl Recording {
    fn clear(&mut self) {
        self.nodes.clear();
        (self.used, self.cotangents_used, self.scratch) = (0, 0, 0);
    }
}

/// Everything a tape has recorded. Cleared and reused, it keeps its room: a warmed-up rollout allocates nothing.
#[derive(Default)]
pub struct Memory {
    /// Shared with the memories that replay this recording.
    pub(crate) recording: Option<Arc<Recording>>,
    pub(crate) values: Buffer,
    pub(crate) used: usize,
    pub(crate) cotangents_used: usize,
    pub(crate) scratch: Buffer,
    /// Whether the caller read a value that changes from replay to replay while recording. The choice of operations may then depend on that value.
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
        self.cotangents_used = 0;
    }

    /// What was recorded, in order.
    pub(crate) fn nodes(&self) -> &[Node] {
        self.recording.as_deref().map_or(&[], |recording| &recording.nodes)
    }

    /// Values of the loop-invariant nodes.
    pub(crate) fn invariant(&self) -> &[Real] {
        self.recording.as_deref().map_or(&[], |recording| &recording.invariant)
    }

    /// The value of a variable; `shared` are the parameters the tape was made with.
    pub fn value<'a>(&'a self, shared: &'a [Real], id: VarId) -> &'a [Real] {
        let node = &self.nodes()[id.0 as usize];
        Lent { arena: &self.values, invariant: self.invariant(), shared }.value(node)
    }

    /// The shape of a variable.
    pub fn shape(&self, id: VarId) -> Shape {
        self.nodes()[id.0 as usize].shape
    }

    /// Bytes held by the recording (values and saved numbers), without loop-invariant ones.
    pub fn bytes(&self) -> usize {
        self.used * size_of::<Real>()
    }

    /// Bytes of everything it has room for: values, loop-invariant ones, working space.
    pub fn room(&self) -> usize {
        (self.values.len() + self.invariant().len() + self.scratch.len()) * size_of::<Real>()
    }

    /// The recording while it is made.
    pub(crate) fn own(&mut self) -> &mut Recording {
        self.recording.as_mut().and_then(Arc::get_mut).expect("a tape has its recording for itself")
    }

    pub(crate) fn push(&mut self, node: Node) -> VarId {
        let nodes = &mut self.own().nodes;
        nodes.push(node);
        VarId(nodes.len() as u32 - 1)
    }

    /// Room for a value and what is saved with it.
    fn reserve(&mut self, invariant: bool, count: usize, saved: usize) -> Home {
        let take = |used: &mut usize, values: &mut Buffer| {
            let start = *used;
            *used = align(start + align(count) + saved);
            values.grow_to(*used);
            start
        };
        if invariant {
            let recording = self.own();
            Home::Invariant { start: take(&mut recording.used, &mut recording.invariant), saved }
        } else {
            Home::Arena { start: take(&mut self.used, &mut self.values), saved }
        }
    }

    fn reserve_bar(&mut self, invariant: bool, count: usize) -> usize {
        let used = if invariant { &mut self.own().cotangents_used } else { &mut self.cotangents_used };
        let start = *used;
        *used = align(start + count);
        start
    }

    /// A node without an operation, its value not yet set.
    pub(crate) fn leaf(&mut self, shape: Shape, invariant: bool, wants_bar: bool) -> (VarId, &mut [Real]) {
        let home = self.reserve(invariant, shape.count(), 0);
        let bar = wants_bar.then(|| self.reserve_bar(invariant, shape.count()));
        let id = self.push(Node { op: None, inputs: [0; MAX_INPUTS], count: 0, shape, home, bar, scratch: 0 });
        let value = match home {
            Home::Arena { start, .. } => &mut self.values[start..start + shape.count()],
            Home::Invariant { start, .. } => &mut self.own().invariant[start..start + shape.count()],
            Home::Shared { .. } => unreachable!("room was reserved"),
        };
        (id, value)
    }

    /// A copy of a value, cut from what it was computed from.
    pub(crate) fn detach(&mut self, shared: &[Real], id: VarId) -> VarId {
        let node = &self.nodes()[id.0 as usize];
        let (shape, invariant) = (node.shape, node.is_loop_invariant());
        if let Some(known) = self.own().find(&Expression::Detached(id)) {
            return known;
        }
        let to = self.reserve(invariant, shape.count(), 0);
        let mut inputs = [0; MAX_INPUTS];
        inputs[0] = id.0;
        let copy = self.push(Node { op: None, inputs, count: 1, shape, home: to, bar: None, scratch: 0 });
        self.compute(shared, copy);
        copy
    }

    pub(crate) fn record(&mut self, shared: &[Real], recorded: Recorded, ids: &[VarId]) -> VarId {
        let mut inputs = [0; MAX_INPUTS];
        let mut shapes = [Shape::default(); MAX_INPUTS];
        let (mut wants_bar, mut invariant) = (false, true);
        for (i, id) in ids.iter().enumerate() {
            let node = &self.nodes()[id.0 as usize];
            inputs[i] = id.0;
            shapes[i] = node.shape;
            wants_bar |= node.bar.is_some();
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
        let home = self.reserve(invariant, shape.count(), saved);
        let bar = wants_bar.then(|| self.reserve_bar(invariant, shape.count()));
        let id = self.push(Node { op: Some(recorded), inputs, count, shape, home, bar, scratch });
        self.compute(shared, id);
        id
    }

    /// Computes a node that was just recorded.
    fn compute(&mut self, shared: &[Real], id: VarId) {
        let Self { recording, values, scratch, .. } = self;
        let recording = recording.as_mut().and_then(Arc::get_mut).expect("a tape has its recording for itself");
        let Recording { nodes, invariant, .. } = recording;
        let node = &nodes[id.0 as usize];
        match node.home {
            // Results lie behind everything they are computed from: one split lends inputs and output at once.
            Home::Arena { start, .. } => {
                let (arena, after) = values.split_at_mut(start);
                node.compute(nodes, &Lent { arena, invariant, shared }, after, scratch);
            }
            Home::Invariant { start, .. } => {
                let (invariant, after) = invariant.split_at_mut(start);
                node.compute(nodes, &Lent { arena: &[], invariant, shared }, after, scratch);
            }
            Home::Shared { .. } => {}
        }
    }
}
