//! Expressions and their printed form.

use crate::kind::{Kind, Rank};
use std::fmt;
use std::ops::Range;

/// Binary operators, by increasing precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Infix {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `^`
    Power,
}

impl Infix {
    /// Operators and their signs.
    pub(crate) const ALL: [(Self, &'static str); 13] = [
        (Self::Or, "||"),
        (Self::And, "&&"),
        (Self::LessEqual, "<="),
        (Self::GreaterEqual, ">="),
        (Self::Equal, "=="),
        (Self::NotEqual, "!="),
        (Self::Less, "<"),
        (Self::Greater, ">"),
        (Self::Add, "+"),
        (Self::Subtract, "-"),
        (Self::Multiply, "*"),
        (Self::Divide, "/"),
        (Self::Power, "^"),
    ];

    /// Sign of the operator.
    pub fn sign(self) -> &'static str {
        Self::ALL[Self::ALL.iter().position(|(op, _)| *op == self).unwrap()].1
    }

    /// Binding strength: operators of higher numbers are applied first.
    pub(crate) fn strength(self) -> u8 {
        match self {
            Self::Or => 0,
            Self::And => 1,
            Self::Add | Self::Subtract => 3,
            Self::Multiply | Self::Divide => 4,
            Self::Power => 6,
            _ => 2,
        }
    }

    /// Returns true for comparisons.
    pub fn is_comparison(self) -> bool {
        self.strength() == 2
    }
}

/// Binding strength of the unary minus: `-a*b` is `(-a)*b`, `-a^b` is `-(a^b)`.
pub(crate) const MINUS: u8 = 5;

macro_rules! functions {
    ($($name:ident $word:literal $usage:literal $least:literal $most:literal,)*) => {
        /// Functions and operators that are written with parentheses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Function {
            $(#[doc = concat!("`", $usage, "`")] $name,)*
        }

        impl Function {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Name in texts.
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }

            /// Form in which it is written.
            pub fn usage(self) -> &'static str {
                match self { $(Self::$name => $usage),* }
            }

            /// Least and largest number of arguments.
            pub(crate) fn arguments(self) -> [usize; 2] {
                match self { $(Self::$name => [$least, $most]),* }
            }
        }
    };
}
functions! {
    Exp "exp" "exp(a)" 1 1,
    Log "log" "log(a)" 1 1,
    Sqrt "sqrt" "sqrt(a)" 1 1,
    Sin "sin" "sin(a)" 1 1,
    Cos "cos" "cos(a)" 1 1,
    Tan "tan" "tan(a)" 1 1,
    Tanh "tanh" "tanh(a)" 1 1,
    Abs "abs" "abs(a)" 1 1,
    Min "min" "min(a, b)" 2 2,
    Max "max" "max(a, b)" 2 2,
    Clamp "clamp" "clamp(a, low, high)" 3 3,
    Where "where" "where(a < b, then, else)" 3 3,
    Step "step" "step(a)" 1 1,
    Smoothstep "smoothstep" "smoothstep(low, high, a)" 3 3,
    Grad "grad" "grad(a)" 1 1,
    Lap "lap" "lap(a)" 1 1,
    Div "div" "div(v)" 1 1,
    Dot "dot" "dot(v, w)" 2 2,
    Dx "dx" "dx(a)" 1 1,
    Dy "dy" "dy(a)" 1 1,
    Dz "dz" "dz(a)" 1 1,
    Mean "mean" "mean(a)" 1 2,
    Sum "sum" "sum(a)" 1 2,
    Maximum "max" "max(a)" 1 2,
    Random "random" "random(length)" 1 1,
}

impl Function {
    /// The function of a name; `max` is that of two values.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|function| function.word() == word)
    }
}

/// Expression: a tree that was checked when it was parsed.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Outermost operation.
    pub node: Node,
    /// Kind of the value.
    pub kind: Kind,
    /// Bytes in the text.
    pub span: Range<usize>,
    /// Number of levels.
    pub(crate) height: usize,
}

/// Outermost operation of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A finite number, not negative.
    Number(f64),
    /// A declared name, or a component of a vector such as `wind.x`.
    Name(String),
    /// `-a`
    Minus(Box<Expr>),
    /// `a + b` and the like.
    Infix(Infix, Box<[Expr; 2]>),
    /// A function with its arguments.
    Call(Function, Vec<Expr>),
}

/// Expressions are equal if they print the same, wherever they are in a text.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

impl Expr {
    pub(crate) fn new(node: Node, kind: Kind, span: Range<usize>) -> Self {
        let height = 1 + match &node {
            Node::Number(_) | Node::Name(_) => 0,
            Node::Minus(a) => a.height,
            Node::Infix(_, sides) => sides.iter().map(|a| a.height).max().unwrap_or(0),
            Node::Call(_, arguments) => arguments.iter().map(|a| a.height).max().unwrap_or(0),
        };
        Self { node, kind, span, height }
    }

    /// A number, not negative.
    pub(crate) fn number(value: f64) -> Self {
        Self::new(Node::Number(value), Kind::CONSTANT, 0..0)
    }

    /// `-a`, or `a` without its minus.
    pub(crate) fn negated(self) -> Self {
        match self.node {
            Node::Minus(a) => *a,
            node => {
                let (kind, span) = (self.kind, self.span.clone());
                let whole = Self { node, ..self };
                Self::new(Node::Minus(Box::new(whole)), kind, span)
            }
        }
    }

    /// `a op b` of checked expressions.
    pub(crate) fn infix(op: Infix, a: Self, b: Self) -> Self {
        let rank = if b.kind.rank == Rank::Vector { Rank::Vector } else { a.kind.rank };
        let kind = Kind { rank, ..a.kind.joined(b.kind).unwrap_or(a.kind) };
        let span = a.span.clone();
        Self::new(Node::Infix(op, Box::new([a, b])), kind, span)
    }

    /// A function of checked arguments, with the kind of its value.
    pub(crate) fn call(function: Function, arguments: Vec<Self>, kind: Kind) -> Self {
        let span = arguments[0].span.clone();
        Self::new(Node::Call(function, arguments), kind, span)
    }

    /// Argument of a function, if the expression is that function.
    pub(crate) fn argument_of(&self, function: Function) -> Option<&Self> {
        match &self.node {
            Node::Call(found, arguments) if *found == function => arguments.first(),
            _ => None,
        }
    }

    /// Returns true if the expression is this name.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        matches!(&self.node, Node::Name(own) if own == name)
    }

    /// Value, if the expression has no names.
    pub(crate) fn literal(&self) -> Option<f64> {
        match &self.node {
            Node::Number(value) => Some(*value),
            Node::Minus(a) => a.literal().map(|a| -a),
            Node::Infix(op, sides) => {
                let (a, b) = (sides[0].literal()?, sides[1].literal()?);
                match op {
                    Infix::Add => Some(a + b),
                    Infix::Subtract => Some(a - b),
                    Infix::Multiply => Some(a * b),
                    Infix::Divide => Some(a / b),
                    Infix::Power => Some(a.powf(b)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn strength(&self) -> u8 {
        match &self.node {
            Node::Minus(_) => MINUS,
            Node::Infix(op, _) => op.strength(),
            _ => u8::MAX,
        }
    }

    /// Prints an operand, in parentheses if it binds more weakly than `least`.
    fn print(&self, least: u8, f: &mut fmt::Formatter) -> fmt::Result {
        if self.strength() < least { write!(f, "({self})") } else { write!(f, "{self}") }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.node {
            Node::Number(value) => f.write_str(format!("{value:?}").trim_end_matches(".0")),
            Node::Name(name) => f.write_str(name),
            Node::Minus(a) => {
                f.write_str("-")?;
                a.print(MINUS + 1, f)
            }
            Node::Infix(op, sides) => {
                let (strength, [a, b]) = (op.strength(), &**sides);
                // Powers associate to the right, comparisons not at all, the others to the left.
                let left = strength + u8::from(*op == Infix::Power || op.is_comparison());
                let right = strength + u8::from(*op != Infix::Power);
                a.print(left, f)?;
                match op {
                    Infix::Multiply | Infix::Divide | Infix::Power => f.write_str(op.sign())?,
                    _ => write!(f, " {} ", op.sign())?,
                }
                b.print(right, f)
            }
            Node::Call(function, arguments) => {
                write!(f, "{}(", function.word())?;
                for (i, argument) in arguments.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    write!(f, "{argument}")?;
                }
                f.write_str(")")
            }
        }
    }
}
