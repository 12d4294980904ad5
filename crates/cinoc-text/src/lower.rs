//! Expressions to graphs: vectors become their components, operators on fields become calls.

use crate::expr::{Expr, Function, Infix, Node};
use crate::graph::{Binary, Graph, Id, Leaf, Operation, Unary};
use crate::kind::{Axis, Kind, Rank};
use crate::operator::{Call, Operator, Reduction};
use crate::scope::{Place, Scope};

/// Graph of several expressions with the kinds of its nodes.
pub(crate) struct Lowering<'a> {
    scope: &'a Scope,
    pub graph: Graph,
    random: usize,
}

/// Components of a vector; only the first ones are used in fewer than three dimensions.
type Components = Vec<Id>;

impl<'a> Lowering<'a> {
    pub fn new(scope: &'a Scope) -> Self {
        Self { scope, graph: Graph::default(), random: 0 }
    }

    /// Adds a scalar or a condition and returns its node.
    pub fn scalar(&mut self, expr: &Expr) -> Id {
        match &expr.node {
            Node::Number(value) => self.graph.number(*value),
            Node::Name(name) => self.leaves(name)[0],
            Node::Minus(a) => {
                let a = self.scalar(a);
                self.graph.negate(a)
            }
            Node::Infix(op, sides) => {
                let [a, b] = [self.scalar(&sides[0]), self.scalar(&sides[1])];
                self.infix(*op, a, b)
            }
            Node::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    fn leaves(&mut self, name: &str) -> Components {
        let (kind, place) = self.scope.find(name).expect("names of expressions are those of their scope");
        let width = if kind.rank == Rank::Vector { self.scope.dimensions() } else { 1 };
        (0..width).map(|i| self.graph.leaf(Leaf { array: place.array, slot: place.slot + i })).collect()
    }

    fn infix(&mut self, op: Infix, a: Id, b: Id) -> Id {
        let graph = &mut self.graph;
        match op {
            Infix::Or => graph.binary(Binary::Maximum, a, b),
            Infix::And => graph.multiply(a, b),
            Infix::Add => graph.add(a, b),
            Infix::Subtract => graph.subtract(a, b),
            Infix::Multiply => graph.multiply(a, b),
            Infix::Divide => graph.divide(a, b),
            Infix::Power => graph.power(a, b),
            Infix::Less => graph.binary(Binary::Less, a, b),
            Infix::LessEqual => graph.binary(Binary::AtMost, a, b),
            Infix::Greater => graph.binary(Binary::Less, b, a),
            Infix::GreaterEqual => graph.binary(Binary::AtMost, b, a),
            Infix::Equal => graph.binary(Binary::Equal, a, b),
            Infix::NotEqual => {
                let (one, equal) = (graph.number(1.0), graph.binary(Binary::Equal, a, b));
                graph.subtract(one, equal)
            }
        }
    }

    fn call(&mut self, function: Function, arguments: &[Expr]) -> Id {
        let unary = |function| {
            move |this: &mut Self| {
                let a = this.scalar(&arguments[0]);
                this.graph.unary(function, a)
            }
        };
        match function {
            Function::Exp => unary(Unary::Exp)(self),
            Function::Log => unary(Unary::Log)(self),
            Function::Sqrt => unary(Unary::Sqrt)(self),
            Function::Sin => unary(Unary::Sin)(self),
            Function::Cos => unary(Unary::Cos)(self),
            Function::Tan => {
                let (sin, cos) = (unary(Unary::Sin)(self), unary(Unary::Cos)(self));
                self.graph.divide(sin, cos)
            }
            Function::Tanh => unary(Unary::Tanh)(self),
            Function::Abs => unary(Unary::Abs)(self),
            Function::Min | Function::Max | Function::Clamp => {
                let all: Vec<_> = arguments.iter().map(|a| self.scalar(a)).collect();
                match function {
                    Function::Min => self.graph.binary(Binary::Minimum, all[0], all[1]),
                    Function::Max => self.graph.binary(Binary::Maximum, all[0], all[1]),
                    _ => self.clamp(all[0], all[1], all[2]),
                }
            }
            Function::Where => {
                let [condition, yes, no] = [0, 1, 2].map(|i| self.scalar(&arguments[i]));
                self.graph.select(condition, yes, no)
            }
            Function::Step => {
                let (zero, a) = (self.graph.number(0.0), self.scalar(&arguments[0]));
                self.graph.binary(Binary::Less, zero, a)
            }
            Function::Smoothstep => self.smoothstep(arguments),
            Function::Lap => self.operator(Operator::Laplacian, &[], &arguments[0]),
            Function::Dx => self.operator(Operator::Derivative(0), &[], &arguments[0]),
            Function::Dy => self.operator(Operator::Derivative(1), &[], &arguments[0]),
            Function::Dz => self.operator(Operator::Derivative(2), &[], &arguments[0]),
            Function::Div => self.divergence(&arguments[0], None),
            Function::Dot => self.dot(&arguments[0], &arguments[1]),
            Function::Mean => self.reduction(Reduction::Mean, arguments),
            Function::Sum => self.reduction(Reduction::Sum, arguments),
            Function::Maximum => self.reduction(Reduction::Maximum, arguments),
            Function::Random => {
                let length = arguments[0].literal().expect("random has a number").to_bits();
                self.random += 1;
                let operator = Operator::Random { length, number: self.random - 1 };
                self.graph.put(Operation::Call(Call { operator, of: None }, Vec::new()))
            }
            Function::Grad => unreachable!("a gradient is a vector"),
        }
    }

    fn clamp(&mut self, a: Id, low: Id, high: Id) -> Id {
        let a = self.graph.binary(Binary::Maximum, a, low);
        self.graph.binary(Binary::Minimum, a, high)
    }

    /// `t²·(3 − 2t)` of `t = (a − low)/(high − low)`, clamped to 0 and 1.
    fn smoothstep(&mut self, arguments: &[Expr]) -> Id {
        let [low, high, a] = [0, 1, 2].map(|i| self.scalar(&arguments[i]));
        let graph = &mut self.graph;
        let (height, width) = (graph.subtract(a, low), graph.subtract(high, low));
        let (zero, one) = (graph.number(0.0), graph.number(1.0));
        let t = graph.divide(height, width);
        let t = self.clamp(t, zero, one);
        let graph = &mut self.graph;
        let (square, double, three) = (graph.multiply(t, t), graph.add(t, t), graph.number(3.0));
        let rest = graph.subtract(three, double);
        graph.multiply(square, rest)
    }

    /// Operator on `a`, with other inputs before it.
    fn operator(&mut self, operator: Operator, before: &[Id], a: &Expr) -> Id {
        let a = self.scalar(a);
        let of = match self.graph.nodes()[a] {
            Operation::Leaf(Leaf { array, slot }) => self.scope.name_at(Place { array, slot }),
            _ => None,
        };
        let inputs = before.iter().copied().chain([a]).collect();
        self.graph.put(Operation::Call(Call { operator, of }, inputs))
    }

    fn reduction(&mut self, reduction: Reduction, arguments: &[Expr]) -> Id {
        let zone = arguments.get(1).map(Expr::to_string);
        self.operator(Operator::Reduction { reduction, axis: arguments[0].kind.axis, zone }, &[], &arguments[0])
    }

    /// Adds a vector and returns the nodes of its components.
    fn vector(&mut self, expr: &Expr) -> Components {
        match &expr.node {
            Node::Name(name) => self.leaves(name),
            Node::Minus(a) => self.vector(a).into_iter().map(|a| self.graph.negate(a)).collect(),
            Node::Infix(op, sides) => {
                let [a, b] = [0, 1].map(|i| match sides[i].kind.rank {
                    Rank::Vector => self.vector(&sides[i]),
                    _ => vec![self.scalar(&sides[i]); self.scope.dimensions()],
                });
                a.into_iter().zip(b).map(|(a, b)| self.infix(*op, a, b)).collect()
            }
            Node::Call(Function::Grad, arguments) => {
                (0..self.scope.dimensions()).map(|i| self.operator(Operator::Derivative(i), &[], &arguments[0])).collect()
            }
            Node::Call(_, arguments) => {
                // `where` is the only other function with a vector as its result.
                let condition = self.scalar(&arguments[0]);
                let (yes, no) = (self.vector(&arguments[1]), self.vector(&arguments[2]));
                yes.into_iter().zip(no).map(|(yes, no)| self.graph.select(condition, yes, no)).collect()
            }
            Node::Number(_) => unreachable!("a number is a scalar"),
        }
    }

    /// `dot(a, b)`; with a gradient on one side and a given vector on the other, one operator.
    fn dot(&mut self, a: &Expr, b: &Expr) -> Id {
        for (velocity, gradient) in [(a, b), (b, a)] {
            if let (Some(of), false) = (gradient.argument_of(Function::Grad), velocity.kind.state) {
                let velocity = self.vector(velocity);
                return self.operator(Operator::Advection, &velocity, of);
            }
        }
        let (a, b) = (self.vector(a), self.vector(b));
        let products: Vec<_> = a.into_iter().zip(b).map(|(a, b)| self.graph.multiply(a, b)).collect();
        products.into_iter().reduce(|sum, product| self.graph.add(sum, product)).expect("a dimension")
    }

    /// `div(vector)`, term by term; `factor` multiplies the vector inside.
    fn divergence(&mut self, vector: &Expr, factor: Option<&Expr>) -> Id {
        match &vector.node {
            Node::Minus(a) => {
                let inner = self.divergence(a, factor);
                self.graph.negate(inner)
            }
            Node::Infix(op @ (Infix::Add | Infix::Subtract), sides) => {
                let [a, b] = [0, 1].map(|i| self.divergence(&sides[i], factor));
                self.infix(*op, a, b)
            }
            Node::Infix(op @ (Infix::Multiply | Infix::Divide), sides) => {
                let [a, b] = &**sides;
                let (vector, scalar) = if a.kind.rank == Rank::Vector { (a, b) } else { (b, a) };
                if scalar.kind.axis == Axis::Instance {
                    let (inner, scalar) = (self.divergence(vector, factor), self.scalar(scalar));
                    return self.infix(*op, inner, scalar);
                }
                let scalar = match (op, factor) {
                    (Infix::Divide, None) => Expr::infix(Infix::Divide, Expr::number(1.0), scalar.clone()),
                    (_, None) => scalar.clone(),
                    (op, Some(factor)) => Expr::infix(*op, factor.clone(), scalar.clone()),
                };
                self.divergence(vector, Some(&scalar))
            }
            Node::Call(Function::Grad, arguments) => match factor {
                None => self.operator(Operator::Laplacian, &[], &arguments[0]),
                Some(factor) => {
                    let factor = self.scalar(factor);
                    self.operator(Operator::Diffusion, &[factor], &arguments[0])
                }
            },
            _ => {
                let components = self.vector(vector);
                match factor {
                    Some(factor) => self.operator(Operator::Transport, &components, factor),
                    None => self.graph.put(Operation::Call(Call { operator: Operator::Divergence, of: None }, components)),
                }
            }
        }
    }

    /// Kinds of all nodes, by index.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = Vec::new();
        for operation in self.graph.nodes() {
            let joined = operation.operands().fold(Kind::CONSTANT, |all, operand| all.joined(kinds[operand]).unwrap_or(all));
            let own = match operation {
                Operation::Leaf(leaf) => self.scope.arrays()[leaf.array].kind,
                Operation::Call(Call { operator: Operator::Reduction { .. }, .. }, _) => Kind { axis: Axis::Instance, ..joined },
                Operation::Call(..) => Kind { axis: Axis::Cells, ..joined },
                _ => joined,
            };
            kinds.push(Kind { rank: Rank::Scalar, ..own });
        }
        kinds
    }
}
