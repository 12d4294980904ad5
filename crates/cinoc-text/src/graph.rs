//! Graphs of scalar operations without duplicates: equal operations are one node, constants are folded.

use crate::operator::Call;
use std::collections::HashMap;

/// Index of a node; operands have lower indices than their users.
pub(crate) type Id = usize;

/// Function of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Exp,
    Log,
    Sqrt,
    Sin,
    Cos,
    Tanh,
    Abs,
}

/// Function of two values. Comparisons give 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Minimum,
    Maximum,
    Power,
    Less,
    AtMost,
    Equal,
}

/// Place of a value that is given: an array and the position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Leaf {
    pub array: usize,
    pub slot: usize,
}

/// Operation of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    /// Bits of a constant.
    Number(u64),
    Leaf(Leaf),
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    /// `b` where `a` is not zero, else `c`.
    Select(Id, Id, Id),
    /// Operator on whole fields.
    Call(Call, Vec<Id>),
}

impl Operation {
    /// Nodes that it uses.
    pub fn operands(&self) -> impl Iterator<Item = Id> + '_ {
        let (few, many): ([Option<Id>; 3], &[Id]) = match self {
            Self::Number(_) | Self::Leaf(_) => ([None; 3], &[]),
            Self::Unary(_, a) => ([Some(*a), None, None], &[]),
            Self::Binary(_, a, b) => ([Some(*a), Some(*b), None], &[]),
            Self::Select(a, b, c) => ([Some(*a), Some(*b), Some(*c)], &[]),
            Self::Call(_, all) => ([None; 3], all),
        };
        few.into_iter().flatten().chain(many.iter().copied())
    }

    /// The same operation on other nodes.
    pub fn with(&self, at: impl Fn(Id) -> Id) -> Self {
        match self {
            Self::Number(_) | Self::Leaf(_) => self.clone(),
            Self::Unary(function, a) => Self::Unary(*function, at(*a)),
            Self::Binary(function, a, b) => Self::Binary(*function, at(*a), at(*b)),
            Self::Select(a, b, c) => Self::Select(at(*a), at(*b), at(*c)),
            Self::Call(call, all) => Self::Call(call.clone(), all.iter().map(|a| at(*a)).collect()),
        }
    }
}

/// Graph of operations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Operation>,
    known: HashMap<Operation, Id>,
}

impl Graph {
    /// Operations in an order in which they can be computed.
    pub fn nodes(&self) -> &[Operation] {
        &self.nodes
    }

    /// Returns the node of an operation, without simplification.
    pub fn put(&mut self, operation: Operation) -> Id {
        *self.known.entry(operation.clone()).or_insert_with(|| {
            self.nodes.push(operation);
            self.nodes.len() - 1
        })
    }

    pub fn number(&mut self, value: f64) -> Id {
        // One zero, so that equal expressions are one node.
        self.put(Operation::Number((if value == 0.0 { 0.0 } else { value }).to_bits()))
    }

    pub fn leaf(&mut self, leaf: Leaf) -> Id {
        self.put(Operation::Leaf(leaf))
    }

    /// Value of a constant.
    pub fn constant(&self, id: Id) -> Option<f64> {
        match self.nodes[id] {
            Operation::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn is(&self, id: Id, value: f64) -> bool {
        self.constant(id) == Some(value)
    }

    /// Operand of a minus.
    fn negative_of(&self, id: Id) -> Option<Id> {
        match self.nodes[id] {
            Operation::Binary(Binary::Subtract, zero, a) if self.is(zero, 0.0) => Some(a),
            _ => None,
        }
    }

    pub fn unary(&mut self, function: Unary, a: Id) -> Id {
        match self.constant(a) {
            Some(a) => self.number(function.fold(a)),
            None => self.put(Operation::Unary(function, a)),
        }
    }

    pub fn binary(&mut self, function: Binary, a: Id, b: Id) -> Id {
        if let (Some(a), Some(b)) = (self.constant(a), self.constant(b)) {
            return self.number(function.fold(a, b));
        }
        match function {
            Binary::Add => self.add(a, b),
            Binary::Subtract => self.subtract(a, b),
            Binary::Multiply => self.multiply(a, b),
            Binary::Divide => self.divide(a, b),
            Binary::Power => self.power(a, b),
            _ => self.put(Operation::Binary(function, a, b)),
        }
    }

    pub fn add(&mut self, a: Id, b: Id) -> Id {
        let (a, b) = (a.min(b), a.max(b));
        match (self.constant(a), self.constant(b)) {
            (Some(u), Some(v)) => self.number(u + v),
            (Some(0.0), _) => b,
            (_, Some(0.0)) => a,
            _ => match (self.negative_of(a), self.negative_of(b)) {
                (_, Some(b)) => self.subtract(a, b),
                (Some(a), _) => self.subtract(b, a),
                _ => self.put(Operation::Binary(Binary::Add, a, b)),
            },
        }
    }

    pub fn subtract(&mut self, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(u), Some(v)) => self.number(u - v),
            (_, Some(0.0)) => a,
            _ => match self.negative_of(b) {
                Some(b) => self.add(a, b),
                None => self.put(Operation::Binary(Binary::Subtract, a, b)),
            },
        }
    }

    pub fn negate(&mut self, a: Id) -> Id {
        let zero = self.number(0.0);
        self.subtract(zero, a)
    }

    pub fn multiply(&mut self, a: Id, b: Id) -> Id {
        let (a, b) = (a.min(b), a.max(b));
        match (self.constant(a), self.constant(b)) {
            (Some(u), Some(v)) => self.number(u * v),
            // Zero times anything is zero, even where that is not finite.
            (Some(0.0), _) | (_, Some(0.0)) => self.number(0.0),
            (Some(1.0), _) => b,
            (_, Some(1.0)) => a,
            (Some(-1.0), _) => self.negate(b),
            (_, Some(-1.0)) => self.negate(a),
            _ => match (self.negative_of(a), self.negative_of(b)) {
                (Some(a), Some(b)) => self.multiply(a, b),
                (None, None) => self.put(Operation::Binary(Binary::Multiply, a, b)),
                (negative_a, negative_b) => {
                    let product = self.multiply(negative_a.unwrap_or(a), negative_b.unwrap_or(b));
                    self.negate(product)
                }
            },
        }
    }

    pub fn divide(&mut self, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(u), Some(v)) => self.number(u / v),
            (Some(0.0), _) => a,
            // Multiplication is faster.
            (_, Some(v)) if v != 0.0 && (1.0 / v).is_finite() => {
                let inverse = self.number(1.0 / v);
                self.multiply(a, inverse)
            }
            _ => self.put(Operation::Binary(Binary::Divide, a, b)),
        }
    }

    /// `a^b`
    pub fn power(&mut self, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(u), Some(v)) => self.number(u.powf(v)),
            (_, Some(0.0)) => self.number(1.0),
            (_, Some(1.0)) => a,
            (_, Some(2.0)) => self.multiply(a, a),
            (_, Some(0.5)) => self.unary(Unary::Sqrt, a),
            _ => self.put(Operation::Binary(Binary::Power, a, b)),
        }
    }

    /// Returns the graph with integer powers up to 64 as multiplications, and the new index of each node. Derivatives
    /// are taken before, when they are shorter.
    pub fn expanded(&self) -> (Self, Vec<Id>) {
        let (mut graph, mut ids) = (Self::default(), Vec::new());
        for operation in &self.nodes {
            let id = match *operation {
                Operation::Binary(Binary::Power, a, b) => match self.constant(b) {
                    Some(n) if n.fract() == 0.0 && n.abs() <= 64.0 => {
                        let power = graph.integer_power(ids[a], n.abs() as u32);
                        let one = graph.number(1.0);
                        if n < 0.0 { graph.divide(one, power) } else { power }
                    }
                    _ => graph.put(operation.with(|operand| ids[operand])),
                },
                _ => graph.put(operation.with(|operand| ids[operand])),
            };
            ids.push(id);
        }
        (graph, ids)
    }

    fn integer_power(&mut self, a: Id, n: u32) -> Id {
        match n {
            0 => self.number(1.0),
            1 => a,
            n if n % 2 == 0 => {
                let half = self.integer_power(a, n / 2);
                self.multiply(half, half)
            }
            n => {
                let less = self.integer_power(a, n - 1);
                self.multiply(less, a)
            }
        }
    }

    pub fn select(&mut self, condition: Id, yes: Id, no: Id) -> Id {
        match self.constant(condition) {
            Some(0.0) => no,
            Some(_) => yes,
            None if yes == no => yes,
            None => self.put(Operation::Select(condition, yes, no)),
        }
    }

    /// Returns all nodes that `roots` need, in their order; `stop` has its operands left out.
    pub fn needed(&self, roots: &[Id], stop: impl Fn(Id) -> bool) -> Vec<Id> {
        let mut needed = vec![false; self.nodes.len()];
        roots.iter().for_each(|root| needed[*root] = true);
        for id in (0..self.nodes.len()).rev() {
            if needed[id] && !stop(id) {
                self.nodes[id].operands().for_each(|operand| needed[operand] = true);
            }
        }
        (0..needed.len()).filter(|id| needed[*id]).collect()
    }
}

impl Unary {
    /// Value of a constant.
    fn fold(self, x: f64) -> f64 {
        match self {
            Self::Exp => x.exp(),
            Self::Log => x.ln(),
            Self::Sqrt => x.sqrt(),
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Tanh => x.tanh(),
            Self::Abs => x.abs(),
        }
    }
}

impl Binary {
    /// Value of constants.
    fn fold(self, a: f64, b: f64) -> f64 {
        let one = |is: bool| f64::from(u8::from(is));
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Minimum => {
                if b < a {
                    b
                } else {
                    a
                }
            }
            Self::Maximum => {
                if b > a {
                    b
                } else {
                    a
                }
            }
            Self::Power => a.powf(b),
            Self::Less => one(a < b),
            Self::AtMost => one(a <= b),
            Self::Equal => one(a == b),
        }
    }
}
