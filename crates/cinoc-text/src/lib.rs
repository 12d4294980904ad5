//! Equations as text.
mod error;
mod expr;
mod graph;
mod kind;
mod lexer;
mod lower;
mod operator;
mod parse;
mod plan;
mod program;
mod rank;
mod scope;
mod terms;

pub use error::Error;
pub use expr::{Expr, Function, Infix, Node};
pub use kind::{Axis, Kind, Rank};
pub use operator::{Call, Operator, Operators, Reduction};
pub use parse::{MAX_HEIGHT, MAX_LENGTH, MAX_NODES, parse};
pub use plan::Plan;
pub use program::Program;
pub use scope::Scope;
pub use terms::{Form, Term, Treatment, Velocity, sum, terms};
