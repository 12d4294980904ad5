//! The backward sweep.

use crate::kernel::buffer::{Buffer, align};
use crate::kernel::prefetch::prefetch;
use crate::memory::Memory;
use crate::node::{Home, Lent, Node, VarId};
use crate::op::{Cotangents, MAX_INPUTS};
use crate::{Real, profile};

/// Where a cotangent lives.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Arena { node: u32, start: usize, end: usize },
    Standing { node: u32, start: usize, end: usize },
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
pub struct Bars {
    arena: Buffer,
    touched: Touched,
    /// The same for what stands, added up over replays.
    standing: Buffer,
    touched_standing: Touched,
    /// Room of the recording whose sweeps have begun; none if the last ones have ended.
    begun: Option<usize>,
    scratch: Buffer,
    /// Cotangents of the shared parameters that want one.
    pub shared: Buffer,
}

impl Bars {
    /// Prepares for the backward sweep of `memory`. Until [`Memory::backward_standing`] the cotangents of what stands are added up: over replays,
    /// or over recordings that begin alike and in which nothing else stands. The cotangents of the `parameters` first shared numbers are kept, not cleared.
    pub fn start(&mut self, memory: &Memory, parameters: usize) {
        self.arena.grow_to(memory.bars_used);
        self.shared.grow_to(parameters);
        self.touched.0.clear();
        self.touched.0.resize(memory.nodes().len(), false);
        let room = memory.recording.as_ref().map_or(0, |recording| recording.bars_used);
        self.standing.grow_to(room);
        if self.begun.is_none() {
            self.touched_standing.0.clear();
        }
        self.touched_standing.0.resize(memory.nodes().len().max(self.touched_standing.0.len()), false);
        assert_eq!(*self.begun.get_or_insert(room), room, "sweeps that are added up must go through the same standing nodes");
    }

    /// Sets the cotangents of the shared parameters to zero.
    pub fn clear_shared(&mut self) {
        self.shared.fill(0.0);
    }

    /// Adds `bar` to the cotangent of a variable; nothing happens if it wants none.
    pub fn seed(&mut self, memory: &Memory, id: VarId, bar: &[Real]) {
        let node = &memory.nodes()[id.0 as usize];
        let (arena, touched) = match node.home {
            Home::Arena { .. } => (&mut self.arena, &mut self.touched),
            Home::Standing { .. } => (&mut self.standing, &mut self.touched_standing),
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
            (Some(start), Home::Standing { .. }) if self.touched_standing.0[id.0 as usize] => {
                &self.standing[start..start + node.shape.count()]
            }
            (Some(start), Home::Arena { .. }) if self.touched.0[id.0 as usize] => &self.arena[start..start + node.shape.count()],
            _ => &[],
        }
    }
}

impl Memory {
    /// Sweeps the recording backwards from the seeds in `bars`. `shared` are the parameters the tape was made with.
    pub fn backward(&self, shared: &[Real], bars: &mut Bars) {
        self.backward_before(shared, bars, None);
        self.backward_standing(shared, bars);
    }

    /// The same as far as it differs from replay to replay, while the values of the memory whose turn is `next` are fetched into the cache.
    /// After the last replay [`backward_standing`](Self::backward_standing) does the rest for all of them.
    pub fn backward_before(&self, shared: &[Real], bars: &mut Bars, next: Option<&Memory>) {
        let lent = Lent { arena: &self.values, standing: self.standing(), shared };
        let Bars { arena, touched, standing, touched_standing, scratch, shared, .. } = bars;
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
            let x_bar = Cotangents { arena: below, touched, standing, touched_standing, shared, places: self.places(node) };
            self.pull(node, &lent, &self.values[values], y_bar, x_bar, scratch);
        }
    }

    /// The end of the backward sweeps over all replays of a recording: through what stands.
    pub fn backward_standing(&self, shared: &[Real], bars: &mut Bars) {
        let lent = Lent { arena: &[], standing: self.standing(), shared };
        let Bars { standing, touched_standing, touched, scratch, shared, .. } = bars;
        for (index, node) in self.nodes().iter().enumerate().rev() {
            let (Home::Standing { start, saved }, Some(bar)) = (node.home, node.bar) else { continue };
            if node.op.is_none() || !touched_standing.0[index] {
                continue;
            }
            let values = start..start + align(node.shape.count()) + saved;
            let (below, y_bar) = standing.split_at_mut(bar);
            let x_bar =
                Cotangents { arena: &mut [], touched, standing: below, touched_standing, shared, places: self.places(node) };
            self.pull(node, &lent, &lent.standing[values], y_bar, x_bar, scratch);
        }
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
                Home::Standing { .. } => Place::Standing { node: input, start, end: start + count },
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
        profile::book(since, recorded.op().name(), false);
    }
}
