//! Where the results of a program live: in one piece of memory, which is used again once nobody needs them.

use super::program::{Program, Value, renames};
use crate::Error;
use cinoc_tape::VarId;
use std::collections::BTreeMap;

/// Where results live, and how much memory that takes.
pub struct Workspace {
    /// Of each result: whose memory it is in, and how far behind its beginning.
    places: BTreeMap<VarId, (VarId, usize)>,
    /// Where the memory of each begins.
    starts: BTreeMap<VarId, usize>,
    /// Numbers in all.
    pub size: usize,
}

impl Workspace {
    /// Finds room for each result, from the line that computes it to the last that needs it.
    pub fn new(program: &Program) -> Result<Self, Error> {
        let lines = program.lines()?;
        let mut places: BTreeMap<VarId, (VarId, usize)> = BTreeMap::new();
        let mut needed: BTreeMap<VarId, usize> = BTreeMap::new();
        let place = |places: &BTreeMap<VarId, (VarId, usize)>, id: VarId| places.get(&id).copied().unwrap_or((id, 0));
        for (i, line) in lines.iter().enumerate() {
            for input in &line.inputs {
                needed.insert(place(&places, *input).0, i);
            }
            let own = match renames(line) {
                Some(from) => {
                    let (whose, first) = place(&places, line.inputs[0]);
                    (whose, first + from)
                }
                None => (line.id, 0),
            };
            places.insert(line.id, own);
        }
        for id in [Some(program.action()), program.remembered()].into_iter().flatten() {
            needed.insert(place(&places, id).0, lines.len());
        }
        let (mut starts, mut size) = (BTreeMap::new(), 0);
        // Start, end, and the last line that needs it.
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
        Ok(Self { places, starts, size })
    }

    /// Whose numbers a variable is, and where among them it begins.
    pub fn place(&self, program: &Program, id: VarId) -> (VarId, usize) {
        match program.value(id) {
            Value::Computed => self.places[&id],
            _ => (id, 0),
        }
    }

    /// Where the memory of a result begins.
    pub fn start(&self, id: VarId) -> Option<usize> {
        self.starts.get(&id).copied()
    }
}
