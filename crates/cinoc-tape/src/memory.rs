//! What was recorded, and its values.

use crate::kernel::buffer::{Buffer, align};
use crate::node::{Home, Lent, Node, VarId};
use crate::op::{MAX_INPUTS, Recorded};
use crate::{Real, Shape};
use std::sync::Arc;

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

    /// The shape of a variable.
    pub fn shape(&self, id: VarId) -> Shape {
        self.nodes()[id.0 as usize].shape
    }

    /// Bytes held by the recording (values and saved numbers), without what stands.
    pub fn bytes(&self) -> usize {
        self.used * size_of::<Real>()
    }

    /// The recording while it is made.
    fn own(&mut self) -> &mut Recording {
        self.recording.as_mut().and_then(Arc::get_mut).expect("a tape has its recording for itself")
    }

    pub(crate) fn push(&mut self, node: Node) -> VarId {
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
    pub(crate) fn leaf(&mut self, shape: Shape, stands: bool, wants_bar: bool) -> (VarId, &mut [Real]) {
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
    pub(crate) fn detach(&mut self, shared: &[Real], id: VarId) -> VarId {
        let Node { shape, home, .. } = self.nodes()[id.0 as usize];
        if let Some(known) = self.known(|node| node.op.is_none() && node.count == 1 && node.inputs[0] == id.0) {
            return known;
        }
        let to = self.reserve(!matches!(home, Home::Arena { .. }), shape.count(), 0);
        let mut inputs = [0; MAX_INPUTS];
        inputs[0] = id.0;
        let copy = self.push(Node { op: None, inputs, count: 1, shape, home: to, bar: None, scratch: 0 });
        self.compute(shared, copy);
        copy
    }

    pub(crate) fn record(&mut self, shared: &[Real], recorded: Recorded, ids: &[VarId]) -> VarId {
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
    pub(crate) fn known(&self, same: impl Fn(&Node) -> bool) -> Option<VarId> {
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
