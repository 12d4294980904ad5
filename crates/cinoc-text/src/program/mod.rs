//! Pointwise programs: operations of a tape that compute several expressions in one pass over cells.

mod block;
mod code;
mod layout;
mod reverse;

use crate::graph::{Graph, Id, Leaf};
use block::{Output, Registers, block_lanes, fill, fill_numbers, run};
use cinoc_tape::kernel::parallel::{self, Panel};
use cinoc_tape::kernel::{math, vectorise};
use cinoc_tape::op::{Cotangents, Inputs, MAX_INPUTS, Op};
use cinoc_tape::{Real, Shape};
use code::Code;
pub(crate) use layout::Input;
use layout::Layout;

/// Pointwise expressions of several arrays, computed in one pass over lanes (cells or agents), in blocks that stay in
/// the first-level cache.
///
/// An input is `[batch, slots·lanes]` or `[batch, slots]`; a batch of 1, or no first axis, is shared by all instances.
/// The result is `[batch, outputs·lanes]`. The backward pass computes the derivatives of all inputs in one pass as well
/// and recomputes what it needs of the forward pass.
#[derive(Debug)]
pub struct Program {
    inputs: Vec<Input>,
    outputs: usize,
    /// One result per lane; otherwise one per instance.
    lanes: bool,
    forward: Code,
    reverse: Code,
    /// Inputs whose cotangents have a term in every lane.
    complete: Vec<bool>,
}

impl Program {
    /// The program of the nodes `roots`, whose leaves are places in the inputs. With `lanes`, one input has lanes.
    pub(crate) fn new(graph: Graph, roots: &[Id], inputs: Vec<Input>, lanes: bool) -> Self {
        assert!(inputs.len() <= MAX_INPUTS && inputs.iter().any(|input| input.lanes) == lanes, "inputs of a program");
        let in_lanes = |array: usize| lanes && inputs.get(array).is_none_or(|input| input.lanes);
        let (expanded, ids) = graph.expanded();
        let forward = Code::forward(&expanded, &roots.iter().map(|root| ids[*root]).collect::<Vec<_>>(), in_lanes);
        let (graph, derivatives) = reverse::derivatives(graph, roots, inputs.len());
        let (expanded, ids) = graph.expanded();
        let mut derivatives: Vec<_> = derivatives.into_iter().map(|(leaf, id)| (leaf, ids[id])).collect();
        derivatives.sort_unstable();
        let reverse = Code::reverse(&expanded, &derivatives, in_lanes);
        let complete = |(i, input): (usize, &Input)| {
            input.lanes && derivatives.iter().filter(|(leaf, _)| leaf.array == i).count() == input.slots
        };
        let complete = inputs.iter().enumerate().map(complete).collect();
        Self { outputs: roots.len(), forward, reverse, complete, inputs, lanes }
    }

    /// Number of passes over a block, forwards and backwards.
    pub fn passes(&self) -> [usize; 2] {
        [self.forward.steps.len(), self.reverse.steps.len()]
    }

    fn layout(&self, shapes: &[Shape]) -> Layout {
        Layout::new(&self.inputs, self.outputs, self.lanes, shapes)
    }
}

/// Rows of results that belong to an instance.
struct Rows<'p, 'y> {
    panel: &'p mut Panel<'y>,
    first: usize,
    start: usize,
    length: usize,
}

impl Output for Rows<'_, '_> {
    #[inline(always)]
    fn result(&mut self, i: usize) -> &mut [Real] {
        &mut self.panel.row(self.first + i)[self.start..][..self.length]
    }
}

/// No results: those of the backward pass stay in registers.
struct NoResult;

impl Output for NoResult {
    fn result(&mut self, _: usize) -> &mut [Real] {
        &mut []
    }
}

impl Op for Program {
    fn name(&self) -> &'static str {
        "program"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let layout = self.layout(x);
        Shape::new(&[layout.batch, self.outputs * layout.lanes])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let (code, layout) = (&self.forward, self.layout(x.shapes()));
        if layout.width == 0 {
            return;
        }
        // Chunks of some instances, or of some columns of one.
        let (cost, block) = (code.steps.len() + 1, block_lanes(code.registers));
        let columns = parallel::chunk_size(layout.width, cost, block);
        let rows = if columns < layout.width { 1 } else { parallel::chunk_size(layout.rows, cost * layout.width, 1) };
        let across = layout.width.div_ceil(columns);
        let tiles = parallel::tiles(y, layout.width, [self.outputs * rows, columns]);
        parallel::for_each_part(tiles, |tile, mut panel| {
            parallel::with_scratch(code.registers * block, |scratch| {
                let registers = &mut Registers { all: scratch, lanes: block };
                let (first_row, first) = (tile / across * rows, tile % across * columns);
                let width = panel.row(0).len();
                vectorise(
                    #[inline(always)]
                    || {
                        fill_numbers(code, registers);
                        for row in 0..panel.rows() / self.outputs {
                            for start in (0..width).step_by(block) {
                                let length = block.min(width - start);
                                for (instance, lanes) in layout.instances(first_row + row, first + start, length) {
                                    fill(code, registers, lanes, |leaf| x[leaf.array][layout.uniform(leaf, instance)]);
                                }
                                let mut output = Rows { panel: &mut panel, first: row * self.outputs, start, length };
                                let lane =
                                    |leaf: Leaf| &x[leaf.array][layout.lane(leaf, first_row + row, first + start)..][..length];
                                run(code, registers, length, u16::MAX, lane, &mut output);
                            }
                        }
                    },
                );
            });
        });
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], x_bar: &mut Cotangents, _: &mut [Real]) {
        let (code, layout) = (&self.reverse, self.layout(x.shapes()));
        let block = block_lanes(code.registers);
        let wanted = (0..self.inputs.len()).filter(|i| x_bar.wanted(*i)).fold(0, |all, i| all | 1 << i);
        // A cotangent without content is overwritten by its first terms; they come in the order of the inputs, of which
        // two may be the same variable.
        let mut overwritten = 0;
        for i in (0..self.inputs.len()).filter(|i| self.complete[*i] && !layout.is_shared(*i)) {
            overwritten |= u16::from(x_bar.slot(i).is_some_and(|(_, fresh)| fresh)) << i;
        }
        let values = |array: usize| if array < self.inputs.len() { &x[array] } else { y_bar };
        parallel::with_scratch(code.registers * block, |scratch| {
            let registers = &mut Registers { all: scratch, lanes: block };
            vectorise(
                #[inline(always)]
                || {
                    fill_numbers(code, registers);
                    for row in 0..layout.rows {
                        for start in (0..layout.width).step_by(block) {
                            let length = block.min(layout.width - start);
                            for (instance, lanes) in layout.instances(row, start, length) {
                                fill(code, registers, lanes, |leaf| values(leaf.array)[layout.uniform(leaf, instance)]);
                            }
                            let lane = |leaf: Leaf| &values(leaf.array)[layout.lane(leaf, row, start)..][..length];
                            run(code, registers, length, wanted, lane, &mut NoResult);
                            for result in &code.results {
                                let leaf = result.leaf;
                                let Some(bar) = x_bar.get(leaf.array) else { continue };
                                let found = result.operand.of(registers, code, length, lane);
                                if self.inputs[leaf.array].lanes {
                                    let bar = &mut bar[layout.lane(leaf, row, start)..][..length];
                                    if overwritten & 1 << leaf.array != 0 {
                                        bar.copy_from_slice(found);
                                    } else {
                                        bar.iter_mut().zip(found).for_each(|(bar, found)| *bar += found);
                                    }
                                } else {
                                    for (instance, lanes) in layout.instances(row, start, length) {
                                        let found = &found[lanes];
                                        bar[layout.uniform(leaf, instance)] += math::sum_pairs(found, found, |found, _| found);
                                    }
                                }
                            }
                        }
                    }
                },
            );
        });
    }
}
