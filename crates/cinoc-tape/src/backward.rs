//! The backward sweep.

use crate::arena::{Arena, Recording};
use crate::kernel::buffer::{Buffer, align};
use crate::kernel::prefetch::prefetch;
use crate::node::{Node, Sources, Storage, VarId};
use crate::op::{Cotangents, MAX_INPUTS};
use crate::pending_rows::PendingRows;
use crate::{Real, profile};
use std::fmt;
use std::sync::Arc;

/// Storage of a cotangent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    Replayed { node: u32, start: usize, end: usize },
    Invariant { node: u32, start: usize, end: usize },
    Shared { start: usize, end: usize },
}

/// Nodes that have received a cotangent: the first contribution overwrites, later ones are added.
#[derive(Debug, Default)]
pub(crate) struct Written(Vec<bool>);

impl Written {
    /// Marks a node; returns true the first time.
    pub fn mark(&mut self, node: u32) -> bool {
        !std::mem::replace(&mut self.0[node as usize], true)
    }
}

/// Cotangents: of one tape's variables, reused from tape to tape, and of the shared parameters, added up over all of
/// them.
#[derive(Default)]
pub struct Adjoints {
    replayed: Buffer,
    written: Written,
    /// Cotangents of loop-invariant nodes, accumulated over replays.
    invariant: Buffer,
    written_invariant: Written,
    /// The recording whose cotangents accumulate; none between [`Arena::backward_loop_invariant`] and the next start.
    begun: Option<Arc<Recording>>,
    scratch: Buffer,
    pending: PendingRows,
    /// Cotangents of the shared parameters; complete after [`Arena::backward_loop_invariant`], before which rows may be
    /// pending.
    pub shared: Buffer,
}

impl fmt::Debug for Adjoints {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Adjoints")
            .field("shared", &self.shared.len())
            .field("sweeping", &self.begun.is_some())
            .finish_non_exhaustive()
    }
}

impl Adjoints {
    /// Prepares the backward sweep of an arena: sets its cotangents to zero.
    ///
    /// Two kinds of cotangents are kept. Those of loop-invariant nodes accumulate over all sweeps until
    /// [`Arena::backward_loop_invariant`]. Those of the first `parameters` shared numbers accumulate until
    /// [`clear_shared`](Self::clear_shared).
    ///
    /// # Panics
    /// If sweeps over a recording with other loop-invariant nodes are unfinished (see [`Arena::has_same_invariants`]).
    pub fn start(&mut self, arena: &Arena, parameters: usize) {
        self.replayed.grow_to(arena.cotangents_used);
        self.shared.grow_to(parameters);
        self.written.0.clear();
        self.written.0.resize(arena.nodes().len(), false);
        if self.begun.is_none() {
            self.written_invariant.0.clear();
        }
        self.written_invariant.0.resize(arena.nodes().len().max(self.written_invariant.0.len()), false);
        if let Some(recording) = &arena.recording {
            self.invariant.grow_to(recording.cotangents_used);
            let same = self.begun.as_ref().is_none_or(|begun| begun.has_same_invariants(recording));
            assert!(
                same,
                "sweeps that are added up must go through the same loop-invariant nodes; end the others with backward_loop_invariant"
            );
            self.begun = Some(recording.clone());
        }
    }

    /// Sets the cotangents of the shared parameters to zero.
    pub fn clear_shared(&mut self) {
        self.shared.fill(0.0);
        self.pending.clear();
        self.begun = None;
    }

    /// Adds `bar` to the cotangent of a variable, if it has one.
    pub fn seed(&mut self, arena: &Arena, id: VarId, bar: &[Real]) {
        let node = &arena.nodes()[id.0 as usize];
        let (replayed, written) = match node.storage {
            Storage::Replayed { .. } => (&mut self.replayed, &mut self.written),
            Storage::Invariant { .. } => (&mut self.invariant, &mut self.written_invariant),
            Storage::Shared { .. } => return,
        };
        let Some(start) = node.bar else { return };
        let slot = &mut replayed[start..start + node.shape.count()];
        assert_eq!(slot.len(), bar.len(), "seed of {} numbers for a variable of shape {:?}", bar.len(), node.shape);
        if written.mark(id.0) {
            slot.copy_from_slice(bar);
        } else {
            slot.iter_mut().zip(bar).for_each(|(a, b)| *a += b);
        }
    }

    /// Returns the cotangent of a variable after the sweep; empty if it has none or nothing depends on it.
    pub fn of(&self, arena: &Arena, id: VarId) -> &[Real] {
        let node = &arena.nodes()[id.0 as usize];
        match (node.bar, node.storage) {
            (Some(start), Storage::Shared { .. }) => &self.shared[start..start + node.shape.count()],
            (Some(start), Storage::Invariant { .. }) if self.written_invariant.0[id.0 as usize] => {
                &self.invariant[start..start + node.shape.count()]
            }
            (Some(start), Storage::Replayed { .. }) if self.written.0[id.0 as usize] => {
                &self.replayed[start..start + node.shape.count()]
            }
            _ => &[],
        }
    }
}

impl Arena {
    /// Sweeps the recording backwards from the seeded cotangents. `shared` are the parameters the tape was created
    /// with.
    pub fn backward(&self, shared: &[Real], bars: &mut Adjoints) {
        self.backward_prefetching(shared, bars, None);
        self.backward_loop_invariant(shared, bars);
    }

    /// Sweeps backwards through the nodes that differ between replays, while prefetching the values of the arena
    /// `next`. After the last replay, [`backward_loop_invariant`](Self::backward_loop_invariant) finishes the sweep for
    /// all of them.
    pub fn backward_prefetching(&self, shared: &[Real], bars: &mut Adjoints, next: Option<&Arena>) {
        let sources = Sources { replayed: &self.values, invariant: self.invariant(), shared };
        let Adjoints { replayed, written, invariant, written_invariant, scratch, pending, shared, .. } = bars;
        for (index, node) in self.nodes().iter().enumerate().rev() {
            let (Storage::Replayed { start, saved }, Some(bar)) = (node.storage, node.bar) else { continue };
            if node.op.is_none() || !written.0[index] {
                continue;
            }
            let values = start..start + align(node.shape.count()) + saved;
            if let Some(values) = next.and_then(|next| next.values.get(values.clone())) {
                prefetch(values);
            }
            // Cotangents are laid out in the order of the nodes, so those of inputs lie below that of the result.
            let (below, y_bar) = replayed.split_at_mut(bar);
            let slots = self.slots(node);
            let x_bar = Cotangents { replayed: below, written, invariant, written_invariant, pending, shared, slots };
            self.pull(node, &sources, &self.values[values], y_bar, x_bar, scratch);
        }
    }

    /// Finishes the backward sweeps over all replays of a recording: sweeps through its loop-invariant nodes.
    pub fn backward_loop_invariant(&self, shared: &[Real], bars: &mut Adjoints) {
        let sources = Sources { replayed: &[], invariant: self.invariant(), shared };
        let Adjoints { invariant, written_invariant, written, scratch, pending, shared, .. } = bars;
        pending.finish(shared);
        for (index, node) in self.nodes().iter().enumerate().rev() {
            let (Storage::Invariant { start, saved }, Some(bar)) = (node.storage, node.bar) else { continue };
            if node.op.is_none() || !written_invariant.0[index] {
                continue;
            }
            let values = start..start + align(node.shape.count()) + saved;
            let (below, y_bar) = invariant.split_at_mut(bar);
            let slots = self.slots(node);
            let x_bar = Cotangents { replayed: &mut [], written, invariant: below, written_invariant, pending, shared, slots };
            self.pull(node, &sources, &sources.invariant[values], y_bar, x_bar, scratch);
        }
        pending.finish(shared);
        bars.begun = None;
    }

    /// Storage of the cotangents of a node's inputs.
    fn slots(&self, node: &Node) -> [Option<Slot>; MAX_INPUTS] {
        let mut slots = [None; MAX_INPUTS];
        for (slot, &input) in slots.iter_mut().zip(&node.inputs[..node.count]) {
            let source = &self.nodes()[input as usize];
            let count = source.shape.count();
            *slot = source.bar.map(|start| match source.storage {
                Storage::Replayed { .. } => Slot::Replayed { node: input, start, end: start + count },
                Storage::Invariant { .. } => Slot::Invariant { node: input, start, end: start + count },
                Storage::Shared { .. } => Slot::Shared { start, end: start + count },
            });
        }
        slots
    }

    /// Propagates the cotangent of a node, at the beginning of `y_bar`, to its inputs. `values` holds its value,
    /// followed by what it saved.
    fn pull(&self, node: &Node, sources: &Sources, values: &[Real], y_bar: &[Real], mut x_bar: Cotangents, scratch: &mut Buffer) {
        let Some(recorded) = &node.op else { return };
        let count = node.shape.count();
        let (y, saved) = values.split_at(align(count));
        scratch.grow_to(node.scratch);
        let x = sources.inputs(self.nodes(), node);
        let since = profile::start();
        recorded.op().vjp(&x, &y[..count], &y_bar[..count], saved, &mut x_bar, &mut scratch[..node.scratch]);
        profile::book(since, recorded.op().name(), false, || {
            // The gradient of a product is two products; a cotangent has the size of its variable.
            let wanted = node.inputs[..node.count].iter().map(|&input| &self.nodes()[input as usize]).filter(|x| x.bar.is_some());
            let cotangents = wanted.map(|x| x.shape.count()).sum::<usize>() + count;
            [2 * recorded.op().flops(x.shapes()), node.moved(self.nodes()) + cotangents]
        });
    }
}
