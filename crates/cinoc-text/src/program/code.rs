//! Register code of a graph.

use crate::graph::{Binary, Graph, Id, Leaf, Operation, Unary};
use cinoc_tape::Real;

/// Arithmetic that can be joined with another one in one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arithmetic {
    /// a + b
    Add,
    /// a − b
    Subtract,
    /// b − a
    Reverse,
    /// a · b
    Multiply,
}

/// Operand of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operand {
    Register(usize),
    /// Values of an input, by index in [`Code::lanes`].
    Lane(usize),
}

/// Place of the result of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    Register(usize),
    /// Result of the program.
    Output(usize),
}

/// Operation of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    Copy(Operand),
    Unary(Unary, Operand),
    Binary(Binary, Operand, Operand),
    /// `second(first(a, b), c)`
    Chain(Arithmetic, Arithmetic, [Operand; 3]),
    Select([Operand; 3]),
}

/// A pass over a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub work: Work,
    pub to: Target,
    /// Inputs (bits) whose derivatives need this pass.
    pub needed: u16,
}

/// A value that is the same in all lanes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Uniform {
    Number(Real),
    Leaf(Leaf),
}

/// A derivative that stays where it was computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derivative {
    pub leaf: Leaf,
    pub operand: Operand,
}

/// Register code.
#[derive(Debug)]
pub(super) struct Code {
    pub steps: Vec<Step>,
    /// Values of the first registers.
    pub uniform: Vec<Uniform>,
    /// Inputs with one value per lane.
    pub lanes: Vec<Leaf>,
    pub registers: usize,
    /// Derivatives, in code of backward passes.
    pub results: Vec<Derivative>,
}

impl Code {
    /// Code that writes the values of `roots` to the outputs.
    pub fn forward(graph: &Graph, roots: &[Id], in_lanes: impl Fn(usize) -> bool) -> Self {
        let mut writer = Writer::new(graph, roots.iter().map(|root| (*root, u16::MAX)), in_lanes);
        // A root that is used once is computed in place; others are copied at the end.
        let place = |id: Id| roots.iter().position(|root| *root == id).filter(|_| writer.uses[id] == 1);
        let places: Vec<_> = (0..graph.nodes().len()).map(place).collect();
        writer.write(|id| places[id].map(Target::Output));
        for (i, root) in roots.iter().enumerate() {
            let in_place = places[*root] == Some(i) && writer.operands[*root].is_none();
            if !in_place {
                let from = writer.operands[*root].expect("a value that was computed");
                writer.code.steps.push(Step { work: Work::Copy(from), to: Target::Output(i), needed: u16::MAX });
            }
        }
        writer.code
    }

    /// Code that leaves derivatives in registers.
    pub fn reverse(graph: &Graph, derivatives: &[(Leaf, Id)], in_lanes: impl Fn(usize) -> bool) -> Self {
        let mut writer = Writer::new(graph, derivatives.iter().map(|(leaf, id)| (*id, 1 << leaf.array)), in_lanes);
        writer.write(|_| None);
        let result = |(leaf, id): &(Leaf, Id)| Derivative {
            leaf: *leaf,
            operand: writer.operands[*id].expect("a value that was computed"),
        };
        writer.code.results = derivatives.iter().map(result).collect();
        writer.code
    }
}

/// State of a translation.
struct Writer<'a> {
    graph: &'a Graph,
    code: Code,
    /// Inputs (bits) that need a node; 0 for nodes that are not needed.
    needed: Vec<u16>,
    /// Number of uses, as operand or as result.
    uses: Vec<usize>,
    /// Places of computed values.
    operands: Vec<Option<Operand>>,
    /// Arithmetic that is computed in the pass of its only user.
    absorbed: Vec<bool>,
    free: Vec<usize>,
}

impl<'a> Writer<'a> {
    fn new(graph: &'a Graph, results: impl Iterator<Item = (Id, u16)>, in_lanes: impl Fn(usize) -> bool) -> Self {
        let nodes = graph.nodes();
        let (mut needed, mut uses) = (vec![0; nodes.len()], vec![0; nodes.len()]);
        for (id, inputs) in results {
            needed[id] |= inputs;
            uses[id] += 1;
        }
        for id in (0..nodes.len()).rev() {
            if needed[id] != 0 {
                for operand in nodes[id].operands() {
                    needed[operand] |= needed[id];
                    uses[operand] += 1;
                }
            }
        }
        let mut code = Code { steps: Vec::new(), uniform: Vec::new(), lanes: Vec::new(), registers: 0, results: Vec::new() };
        let mut operands = vec![None; nodes.len()];
        for id in (0..nodes.len()).filter(|id| needed[*id] != 0) {
            let uniform = match nodes[id] {
                Operation::Number(bits) => Uniform::Number(f64::from_bits(bits) as Real),
                Operation::Leaf(leaf) if in_lanes(leaf.array) => {
                    operands[id] = Some(Operand::Lane(code.lanes.len()));
                    code.lanes.push(leaf);
                    continue;
                }
                Operation::Leaf(leaf) => Uniform::Leaf(leaf),
                _ => continue,
            };
            operands[id] = Some(Operand::Register(code.uniform.len()));
            code.uniform.push(uniform);
        }
        code.registers = code.uniform.len();
        Self { graph, code, needed, uses, operands, absorbed: vec![false; nodes.len()], free: Vec::new() }
    }

    /// Writes a pass for every node that needs one.
    fn write(&mut self, place: impl Fn(Id) -> Option<Target>) {
        let mut works = vec![None; self.graph.nodes().len()];
        for id in (0..works.len()).rev() {
            if self.needed[id] != 0 && !self.absorbed[id] && self.operands[id].is_none() {
                works[id] = Some(self.join(id));
            }
        }
        // Remaining uses of each value: its register is free after the last one.
        let mut uses = vec![0; works.len()];
        works.iter().flatten().for_each(|ids: &Joined| ids.operands().for_each(|id| uses[id] += 1));
        let kept: Vec<_> = (0..works.len()).map(|id| self.uses[id] > uses[id] && !self.absorbed[id]).collect();
        for (id, joined) in works.iter().enumerate() {
            let Some(joined) = joined else { continue };
            let to = place(id).unwrap_or_else(|| {
                let register = self.free.pop().unwrap_or_else(|| {
                    self.code.registers += 1;
                    self.code.registers - 1
                });
                self.operands[id] = Some(Operand::Register(register));
                Target::Register(register)
            });
            let work = joined.work(|id| self.operands[id].expect("operands are computed before"));
            self.code.steps.push(Step { work, to, needed: self.needed[id] });
            for operand in joined.operands() {
                uses[operand] -= 1;
                if let (0, false, Some(Operand::Register(register))) = (uses[operand], kept[operand], self.operands[operand])
                    && register >= self.code.uniform.len()
                {
                    self.free.push(register);
                }
            }
        }
    }

    /// Work of a node, joined with that of an operand that no other node uses.
    fn join(&mut self, id: Id) -> Joined {
        let operation = &self.graph.nodes()[id];
        if let Some((second, a, b)) = arithmetic(operation) {
            for (inner, other, swapped) in [(b, a, true), (a, b, false)] {
                let alone = self.uses[inner] == 1 && self.operands[inner].is_none();
                if let (true, Some((first, a, b))) = (alone, arithmetic(&self.graph.nodes()[inner])) {
                    self.absorbed[inner] = true;
                    let second = if swapped && second == Arithmetic::Subtract { Arithmetic::Reverse } else { second };
                    return Joined::Two(first, second, [a, b, other]);
                }
            }
        }
        Joined::One(operation.clone())
    }
}

/// Work on nodes.
#[derive(Clone)]
enum Joined {
    One(Operation),
    Two(Arithmetic, Arithmetic, [Id; 3]),
}

impl Joined {
    fn operands(&self) -> impl Iterator<Item = Id> + '_ {
        let (one, two) = match self {
            Self::One(operation) => (Some(operation.operands()), &[][..]),
            Self::Two(_, _, operands) => (None, &operands[..]),
        };
        one.into_iter().flatten().chain(two.iter().copied())
    }

    fn work(&self, at: impl Fn(Id) -> Operand) -> Work {
        match self {
            Self::Two(first, second, operands) => Work::Chain(*first, *second, operands.map(at)),
            Self::One(Operation::Unary(function, a)) => Work::Unary(*function, at(*a)),
            Self::One(Operation::Binary(function, a, b)) => Work::Binary(*function, at(*a), at(*b)),
            Self::One(Operation::Select(a, b, c)) => Work::Select([at(*a), at(*b), at(*c)]),
            Self::One(other) => unreachable!("{other:?} is given"),
        }
    }
}

/// Arithmetic of a node that can be joined.
fn arithmetic(operation: &Operation) -> Option<(Arithmetic, Id, Id)> {
    let Operation::Binary(function, a, b) = *operation else { return None };
    let joined = match function {
        Binary::Add => Arithmetic::Add,
        Binary::Subtract => Arithmetic::Subtract,
        Binary::Multiply => Arithmetic::Multiply,
        _ => return None,
    };
    Some((joined, a, b))
}
