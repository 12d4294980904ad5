//! The plain evaluation of an expression in double precision: walks the tree for each value.

use super::{AGENTS, CELLS, SHAPES};
use cinoc_text::{Axis, Expr, Function, Infix, Node};

/// Value: one number, or one per cell or agent. (A vector on a line has one component.)
type Values = Vec<f64>;

/// Instance of the arrays of [`super::scope`].
pub struct Instance<'a> {
    pub arrays: &'a [Vec<f64>],
    pub number: usize,
}

fn broadcast(all: &[&Values], f: impl Fn(&[f64]) -> f64) -> Values {
    let count = all.iter().map(|values| values.len()).max().unwrap();
    (0..count).map(|i| f(&all.iter().map(|values| values[if values.len() == 1 { 0 } else { i }]).collect::<Vec<_>>())).collect()
}

fn cells(a: &Values, f: impl Fn(&dyn Fn(i64) -> f64) -> f64) -> Values {
    let a = if a.len() == 1 { &vec![a[0]; CELLS] } else { a };
    (0..CELLS as i64).map(|i| f(&|by| a[(i + by).rem_euclid(CELLS as i64) as usize])).collect()
}

impl Instance<'_> {
    fn name(&self, name: &str) -> Values {
        let known =
            [("u", 0, 0), ("v", 0, 1), ("a", 1, 0), ("b", 1, 1), ("k", 2, 0), ("m", 2, 1), ("wind", 3, 0), ("wind.x", 3, 0)];
        let more = [("heat", 4, 0), ("push", 5, 0), ("push.u", 6, 0), ("left", 7, 0)];
        let (_, array, slot) = *known.iter().chain(&more).find(|(own, ..)| *own == name).unwrap();
        let width = match array {
            1 | 4 => 1,
            6 => AGENTS,
            _ => CELLS,
        };
        let shared = SHAPES[array].len() < 2 || SHAPES[array][0] == 1;
        let stride = if shared { 0 } else { SHAPES[array][1] };
        self.arrays[array][self.number * stride + slot * width..][..width].to_vec()
    }

    /// Evaluates an expression.
    pub fn value(&self, expr: &Expr) -> Values {
        match &expr.node {
            Node::Number(value) => vec![*value],
            Node::Name(name) => self.name(name),
            Node::Minus(a) => broadcast(&[&self.value(a)], |x| -x[0]),
            Node::Infix(op, sides) => broadcast(&[&self.value(&sides[0]), &self.value(&sides[1])], |x| infix(*op, x[0], x[1])),
            Node::Call(function, arguments) => {
                let values: Vec<_> = arguments.iter().map(|argument| self.value(argument)).collect();
                self.call(*function, arguments, &values)
            }
        }
    }

    fn call(&self, function: Function, arguments: &[Expr], values: &[Values]) -> Values {
        let a = &values[0];
        match function {
            Function::Grad | Function::Dx => cells(a, |a| (a(1) - a(-1)) / 2.0),
            Function::Lap => cells(a, |a| a(1) + a(-1) - 2.0 * a(0)),
            Function::Div => self.divergence(&arguments[0], &vec![1.0]),
            Function::Mean | Function::Sum | Function::Maximum => {
                let all: Values = if arguments[0].kind.axis == Axis::Agents { a.clone() } else { cells(a, |a| a(0)) };
                let all = if values.len() == 2 { &all[..4] } else { &all[..] };
                let sum = all.iter().sum::<f64>();
                vec![match function {
                    Function::Mean => sum / all.len() as f64,
                    Function::Sum => sum,
                    _ => all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                }]
            }
            Function::Random => panic!("random fields have no values here"),
            _ => broadcast(&values.iter().collect::<Vec<_>>(), |x| pointwise(function, x)),
        }
    }

    /// `div(factor·vector)`: gradients by fluxes through the faces, term by term.
    fn divergence(&self, vector: &Expr, factor: &Values) -> Values {
        match &vector.node {
            Node::Minus(a) => broadcast(&[&self.divergence(a, factor)], |x| -x[0]),
            Node::Infix(op @ (Infix::Add | Infix::Subtract), sides) => {
                let [a, b] = [0, 1].map(|i| self.divergence(&sides[i], factor));
                broadcast(&[&a, &b], |x| infix(*op, x[0], x[1]))
            }
            Node::Infix(op, sides) => {
                let vector = if sides[0].kind.rank == cinoc_text::Rank::Vector { 0 } else { 1 };
                let scalar = self.value(&sides[1 - vector]);
                self.divergence(&sides[vector], &broadcast(&[factor, &scalar], |x| infix(*op, x[0], x[1])))
            }
            Node::Call(Function::Grad, a) => {
                let (k, a) = (cells(factor, |k| k(0)), self.value(&a[0]));
                let at = |i: usize| i % CELLS;
                let flux = |i: usize| (k[at(i)] + k[at(i + 1)]) / 2.0 * (a[at(i + 1)] - a[at(i)]);
                (0..CELLS).map(|i| flux(i) - flux(i + CELLS - 1)).collect()
            }
            _ => {
                let flux = broadcast(&[factor, &self.value(vector)], |x| x[0] * x[1]);
                cells(&flux, |f| (f(1) - f(-1)) / 2.0)
            }
        }
    }
}

fn infix(op: Infix, a: f64, b: f64) -> f64 {
    let one = |is: bool| if is { 1.0 } else { 0.0 };
    match op {
        Infix::Or => one(a + b > 0.0),
        Infix::And => a * b,
        Infix::Less => one(a < b),
        Infix::LessEqual => one(a <= b),
        Infix::Greater => one(a > b),
        Infix::GreaterEqual => one(a >= b),
        Infix::Equal => one(a == b),
        Infix::NotEqual => one(a != b),
        Infix::Add => a + b,
        Infix::Subtract => a - b,
        Infix::Multiply => a * b,
        Infix::Divide => a / b,
        Infix::Power => a.powf(b),
    }
}

fn pointwise(function: Function, x: &[f64]) -> f64 {
    match function {
        Function::Exp => x[0].exp(),
        Function::Log => x[0].ln(),
        Function::Sqrt => x[0].sqrt(),
        Function::Sin => x[0].sin(),
        Function::Cos => x[0].cos(),
        Function::Tan => x[0].tan(),
        Function::Tanh => x[0].tanh(),
        Function::Abs => x[0].abs(),
        Function::Min => x[0].min(x[1]),
        Function::Max => x[0].max(x[1]),
        Function::Clamp => x[0].max(x[1]).min(x[2]),
        Function::Where => {
            if x[0] != 0.0 {
                x[1]
            } else {
                x[2]
            }
        }
        Function::Step => {
            if x[0] > 0.0 {
                1.0
            } else {
                0.0
            }
        }
        Function::Smoothstep => {
            let t = ((x[2] - x[0]) / (x[1] - x[0])).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }
        Function::Dot => x[0] * x[1],
        other => panic!("{} is not pointwise", other.word()),
    }
}
