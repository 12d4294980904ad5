//! The backward sweep.

use crate::kernel::buffer::{Buffer, align};
use crate::kernel::prefetch::prefetch;
use crate::op::{Cotangents, MAX_INPUTS};
use crate::tape::{Home, Memory, VarId, gather};
use crate::{Real, profile};

/// Where a cotangent lives.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Arena { node: u32, start: usize, end: usize },
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
    scratch: Buffer,
    /// Cotangents of the shared parameters that want one.
    pub shared: Buffer,
}

impl Bars {
    /// Prepares for the backward sweep of `memory`. The cotangents of the `parameters` first shared numbers are kept, not cleared.
    pub fn start(&mut self, memory: &Memory, parameters: usize) {
        self.arena.grow_to(memory.bars_used);
        self.shared.grow_to(parameters);
        self.touched.0.clear();
        self.touched.0.resize(memory.nodes().len(), false);
    }

    /// Sets the cotangents of the shared parameters to zero.
    pub fn clear_shared(&mut self) {
        self.shared.fill(0.0);
    }

    /// Adds `bar` to the cotangent of a variable; nothing happens if it wants none.
    pub fn seed(&mut self, memory: &Memory, id: VarId, bar: &[Real]) {
        let node = &memory.nodes()[id.0 as usize];
        let (Some(start), Home::Arena { .. }) = (node.bar, node.home) else { return };
        let slot = &mut self.arena[start..start + node.shape.count()];
        assert_eq!(slot.len(), bar.len(), "seed of {} numbers for a variable of shape {:?}", bar.len(), node.shape);
        if self.touched.mark(id.0) {
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
            (Some(start), _) if self.touched.0[id.0 as usize] => &self.arena[start..start + node.shape.count()],
            _ => &[],
        }
    }
}

impl Memory {
    /// Sweeps the recording backwards from the seeds in `bars`. `shared` are the parameters the tape was made with.
    pub fn backward(&self, shared: &[Real], bars: &mut Bars) {
        self.backward_before(shared, bars, None);
    }

    /// The same, while the values of the memory whose turn is `next` are fetched into the cache.
    pub fn backward_before(&self, shared: &[Real], bars: &mut Bars, next: Option<&Memory>) {
        let nodes = self.nodes();
        for (index, node) in nodes.iter().enumerate().rev() {
            let (Some(recorded), Some(bar), Home::Arena { start, saved }) = (&node.op, node.bar, node.home) else { continue };
            if !bars.touched.0[index] {
                continue;
            }
            let mut places = [None; MAX_INPUTS];
            let inputs = &node.inputs[..node.count];
            for (i, &input) in inputs.iter().enumerate() {
                let source = &nodes[input as usize];
                let count = source.shape.count();
                places[i] = source.bar.map(|start| match source.home {
                    Home::Arena { .. } => Place::Arena { node: input, start, end: start + count },
                    Home::Shared { .. } => Place::Shared { start, end: start + count },
                });
            }
            let count = node.shape.count();
            let x = gather(nodes, &self.values[..start], shared, inputs);
            let y = &self.values[start..start + count];
            let kept = start + align(count);
            if let Some(values) = next.and_then(|next| next.values.get(start..kept + saved)) {
                prefetch(values);
            }
            // Cotangents are laid out in the order of the nodes, so inputs lie below the result here too.
            let (below, above) = bars.arena.split_at_mut(bar);
            let mut x_bar = Cotangents { arena: below, shared: &mut bars.shared, touched: &mut bars.touched, places };
            bars.scratch.grow_to(node.scratch);
            let scratch = &mut bars.scratch[..node.scratch];
            let since = profile::start();
            recorded.op().vjp(&x, y, &above[..count], &self.values[kept..kept + saved], &mut x_bar, scratch);
            profile::book(since, recorded.op().name(), false);
        }
    }
}
