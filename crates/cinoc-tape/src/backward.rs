//! The backward sweep.

use crate::gathered::Gathered;
use crate::kernel::buffer::{Buffer, align};
use crate::kernel::prefetch::prefetch;
use crate::memory::{Memory, Recording};
use crate::node::{Home, Lent, Node, VarId};
use crate::op::{Cotangents, MAX_INPUTS};
use crate::{Real, profile};
use std::sync::Arc;

/// Where a cotangent lives.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Arena { node: u32, start: usize, end: usize },
    Invariant { node: u32, start: usize, end: usize },
    Shared { start: usize, end: usize },
}

/// Which nodes have received a cotangent: the first writer finds arbitrary numbers, the others add.
#[derive(Default)]
pub(crate) struct Touched(Vec<bool>);

impl Touched {
    /// Marks a node; true if this is the first time.
    pub fn mark(&mut self, node: u32) -> bool {
        !std::mem::replace(&mut self.0[node as usize], true)
    }
}

/// Cotangents: of one tape's variables, reused from tape to tape, and of the shared parameters, added up over all of them.
#[derive(Default)]
pub struct Adjoints {
    arena: Buffer,
    touched: Touched,
    /// The same for loop-invariant nodes, added up over replays.
    invariant: Buffer,
    touched_invariant: Touched,
    /// The recording whose cotangents are being added up; none between [`Memory::backward_loop_invariant`] and the next start.
    begun: Option<Arc<Recording>>,
    scratch: Buffer,
    gathered: Gathered,
    /// Cotangents of the shared parameters that want one; whole after [`Memory::backward_loop_invariant`], before which rows may still wait.
    pub shared: Buffer,
}

impl Adjoints {
    /// Prepares for the backward sweep of `memory`: its cotangents count as zero.
    ///
    /// Two kinds of cotangents are kept, to be added to. Those of loop-invariant nodes add up over all sweeps until [`Memory::backward_loop_invariant`]
    /// ends them. Those of the first `parameters` shared numbers add up until [`clear_shared`](Self::clear_shared).
    ///
    /// # Panics
    /// If sweeps over a recording with other loop-invariant nodes have begun and not been ended (see [`Memory::sweeps_with`]).
    pub fn start(&mut self, memory: &Memory, parameters: usize) {
        self.arena.grow_to(memory.cotangents_used);
        self.shared.grow_to(parameters);
        self.touched.0.clear();
        self.touched.0.resize(memory.nodes().len(), false);
        if self.begun.is_none() {
            self.touched_invariant.0.clear();
        }
        self.touched_invariant.0.resize(memory.nodes().len().max(self.touched_invariant.0.len()), false);
        if let Some(recording) = &memory.recording {
            self.invariant.grow_to(recording.cotangents_used);
            let same = self.begun.as_ref().is_none_or(|begun| begun.sweeps_with(recording));
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
        self.gathered.clear();
        self.begun = None;
    }

    /// Adds `bar` to the cotangent of a variable; nothing happens if it wants none.
    pub fn seed(&mut self, memory: &Memory, id: VarId, bar: &[Real]) {
        let node = &memory.nodes()[id.0 as usize];
        let (arena, touched) = match node.home {
            Home::Arena { .. } => (&mut self.arena, &mut self.touched),
            Home::Invariant { .. } => (&mut self.invariant, &mut self.touched_invariant),
            Home::Shared { .. } => return,
        };
        let Some(start) = node.bar else { return };
        let slot = &mut arena[start..start + node.shape.count()];
        assert_eq!(slot.len(), bar.len(), "seed of {} numbers for a variable of shape {:?}", bar.len(), node.shape);
        if touched.mark(id.0) {
            slot.copy_from_slice(bar);
        } else {
            slot.iter_mut().zip(bar).for_each(|(a, b)| *a += b);
        }
    }

    /// The cotangent of a variable after the sweep; empty if nothing depends on it or it wants none.
    pub fn of(&self, memory: &Memory, id: VarId) -> &[Real] {
        let node = &memory.nodes()[id.0 as usize];
        match (node.bar, node.home) {
            (Some(start), Home::Shared { .. }) => &self.shared[start..start + node.shape.count()],
            (Some(start), Home::Invariant { .. }) if self.touched_invariant.0[id.0 as usize] => {
                &self.invariant[start..start + node.shape.count()]
            }
            (Some(start), Home::Arena { .. }) if self.touched.0[id.0 as usize] => &self.arena[start..start + node.shape.count()],
            _ => &[],
        }
    }
}

impl Memory {
    /// Sweeps the recording backwards from the cotangents that were seeded. `shared` are the parameters the tape was made with.
    pub fn backward(&self, shared: &[Real], bars: &mut Adjoints) {
        self.backward_before(shared, bars, None);
        self.backward_loop_invariant(shared, bars);
    }

    /// The same as far as it differs from replay to replay, while the values of the memory whose turn is `next` are fetched into the cache.
    /// After the last replay [`backward_loop_invariant`](Self::backward_loop_invariant) does the rest for all of them.
    pub fn backward_before(&self, shared: &[Real], bars: &mut Adjoints, next: Option<&Memory>) {
        let lent = Lent { arena: &self.values, invariant: self.invariant(), shared };
        let Adjoints { arena, touched, invariant, touched_invariant, scratch, gathered, shared, .. } = bars;
        for (index, node) in self.nodes().iter().enumerate().rev() {
            let (Home::Arena { start, saved }, Some(bar)) = (node.home, node.bar) else { continue };
            if node.op.is_none() || !touched.0[index] {
                continue;
            }
            let values = start..start + align(node.shape.count()) + saved;
            if let Some(values) = next.and_then(|next| next.values.get(values.clone())) {
                prefetch(values);
            }
            // Cotangents are laid out in the order of the nodes, so inputs lie below the result here too.
            let (below, y_bar) = arena.split_at_mut(bar);
            let places = self.places(node);
            let x_bar = Cotangents { arena: below, touched, invariant, touched_invariant, gathered, shared, places };
            self.pull(node, &lent, &self.values[values], y_bar, x_bar, scratch);
        }
    }

    /// The end of the backward sweeps over all replays of a recording: through its loop-invariant nodes.
    pub fn backward_loop_invariant(&self, shared: &[Real], bars: &mut Adjoints) {
        let lent = Lent { arena: &[], invariant: self.invariant(), shared };
        let Adjoints { invariant, touched_invariant, touched, scratch, gathered, shared, .. } = bars;
        gathered.finish(shared);
        for (index, node) in self.nodes().iter().enumerate().rev() {
            let (Home::Invariant { start, saved }, Some(bar)) = (node.home, node.bar) else { continue };
            if node.op.is_none() || !touched_invariant.0[index] {
                continue;
            }
            let values = start..start + align(node.shape.count()) + saved;
            let (below, y_bar) = invariant.split_at_mut(bar);
            let places = self.places(node);
            let x_bar = Cotangents { arena: &mut [], touched, invariant: below, touched_invariant, gathered, shared, places };
            self.pull(node, &lent, &lent.invariant[values], y_bar, x_bar, scratch);
        }
        gathered.finish(shared);
        bars.begun = None;
    }

    /// Where the cotangents of a node's inputs are.
    fn places(&self, node: &Node) -> [Option<Place>; MAX_INPUTS] {
        let mut places = [None; MAX_INPUTS];
        for (place, &input) in places.iter_mut().zip(&node.inputs[..node.count]) {
            let source = &self.nodes()[input as usize];
            let count = source.shape.count();
            *place = source.bar.map(|start| match source.home {
                Home::Arena { .. } => Place::Arena { node: input, start, end: start + count },
                Home::Invariant { .. } => Place::Invariant { node: input, start, end: start + count },
                Home::Shared { .. } => Place::Shared { start, end: start + count },
            });
        }
        places
    }

    /// From the cotangent of a node, at the beginning of `y_bar`, to those of its inputs. `values` are its value and what is saved behind it.
    fn pull(&self, node: &Node, lent: &Lent, values: &[Real], y_bar: &[Real], mut x_bar: Cotangents, scratch: &mut Buffer) {
        let Some(recorded) = &node.op else { return };
        let count = node.shape.count();
        let (y, saved) = values.split_at(align(count));
        scratch.grow_to(node.scratch);
        let x = lent.inputs(self.nodes(), node);
        let since = profile::start();
        recorded.op().vjp(&x, &y[..count], &y_bar[..count], saved, &mut x_bar, &mut scratch[..node.scratch]);
        profile::book(since, recorded.op().name(), false, || {
            // The gradient of a product is two products, and each cotangent is as large as what it belongs to.
            let wanted = node.inputs[..node.count].iter().map(|&input| &self.nodes()[input as usize]).filter(|x| x.bar.is_some());
            let cotangents = wanted.map(|x| x.shape.count()).sum::<usize>() + count;
            [2 * recorded.op().flops(x.shapes()), node.moved(self.nodes()) + cotangents]
        });
    }
}
