//! Storage of a program's results: one array, whose parts are reused once a result is no longer needed.

use super::program::{Program, Value, renames};
use crate::Error;
use cinoc_tape::VarId;
use std::collections::BTreeMap;

/// Offsets of results in one array, and its size.
pub struct Workspace {
    /// For each result: the variable whose storage it is in, and its offset there.
    offsets: BTreeMap<VarId, (VarId, usize)>,
    /// The start of each variable's storage.
    starts: BTreeMap<VarId, usize>,
    /// The number of values in the array.
    pub size: usize,
}

impl Workspace {
    /// Allocates storage for each result, from the instruction that computes it to the last that uses it.
    pub fn new(program: &Program) -> Result<Self, Error> {
        let lines = program.instructions()?;
        let mut offsets: BTreeMap<VarId, (VarId, usize)> = BTreeMap::new();
        let mut needed: BTreeMap<VarId, usize> = BTreeMap::new();
        let place = |offsets: &BTreeMap<VarId, (VarId, usize)>, id: VarId| offsets.get(&id).copied().unwrap_or((id, 0));
        for (i, line) in lines.iter().enumerate() {
            for input in &line.inputs {
                needed.insert(place(&offsets, *input).0, i);
            }
            let own = match renames(line) {
                Some(from) => {
                    let (whose, first) = place(&offsets, line.inputs[0]);
                    (whose, first + from)
                }
                None => (line.id, 0),
            };
            offsets.insert(line.id, own);
        }
        for id in [Some(program.action()), program.next_memory()].into_iter().flatten() {
            needed.insert(place(&offsets, id).0, lines.len());
        }
        let (mut starts, mut size) = (BTreeMap::new(), 0);
        // Start, end, and the last instruction that uses it.
        let mut taken: Vec<(usize, usize, usize)> = Vec::new();
        for (i, line) in lines.iter().enumerate().filter(|(_, line)| renames(line).is_none()) {
            taken.retain(|(_, _, last)| *last >= i);
            taken.sort_unstable();
            let count = line.shape.count();
            let start = taken.iter().fold(0, |start, &(from, to, _)| if start + count <= from { start } else { start.max(to) });
            taken.push((start, start + count, needed.get(&line.id).copied().unwrap_or(i)));
            starts.insert(line.id, start);
            size = size.max(start + count);
        }
        Ok(Self { offsets, starts, size })
    }

    /// Returns the variable in whose storage another one lies, and its offset there.
    pub fn place(&self, program: &Program, id: VarId) -> (VarId, usize) {
        match program.value(id) {
            Value::Computed => self.offsets[&id],
            _ => (id, 0),
        }
    }

    /// Returns the start of a result's storage.
    pub fn start(&self, id: VarId) -> Option<usize> {
        self.starts.get(&id).copied()
    }
}
