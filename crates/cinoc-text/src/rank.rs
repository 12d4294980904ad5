//! Rules for ranks and axes.

use crate::error::Fault;
use crate::expr::{Function, Infix};
use crate::kind::{Axis, Kind, Rank};
use crate::scope::is_letter;

/// Operand of a rule: its kind and its text.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub kind: Kind,
    pub text: &'a str,
}

/// A fault of an operand, or of the whole expression if the index is `None`.
pub(crate) type Rejected = (Option<usize>, Fault);

impl Operand<'_> {
    /// Text in a sentence.
    fn name(&self) -> String {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() <= 24 { text } else { text.chars().take(23).chain(['…']).collect() }
    }

    /// Returns true for the name of a zone.
    fn is_zone(&self) -> bool {
        let name = self.text.trim_matches(['(', ')', ' ']);
        self.kind == Kind::ZONE && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
    }

    /// The operand where a number is needed: a zone is 1 in its cells, else 0.
    fn as_number(self) -> Self {
        if self.is_zone() { Self { kind: Kind::MAP, ..self } } else { self }
    }

    fn entries(&self) -> &'static str {
        match self.kind.axis {
            Axis::Instance => "one value",
            Axis::Cells => "one value per cell",
            Axis::Agents => "one value per agent",
        }
    }
}

fn reject<T>(at: impl Into<Option<usize>>, what: String, advice: impl Into<String>) -> Result<T, Rejected> {
    Err((at.into(), Fault::new(what, advice)))
}

/// Joins the kinds of operands that are combined entry by entry.
fn joined(rank: Rank, operands: &[Operand]) -> Result<Kind, Rejected> {
    let mut all = Kind { rank, ..Kind::CONSTANT };
    for (i, operand) in operands.iter().enumerate() {
        let Some(next) = all.joined(operand.kind) else {
            let other = operands[..i].iter().find(|other| other.kind.axis == all.axis).unwrap_or(operand);
            let agents = if operand.kind.axis == Axis::Agents { operand } else { other };
            return reject(
                i,
                format!("{} has {}, {} has {}", other.name(), other.entries(), operand.name(), operand.entries()),
                format!("reduce one of them first, for example mean({})", agents.name()),
            );
        };
        all = next;
    }
    Ok(all)
}

/// Requires scalars.
fn scalars(of: &str, operands: &[Operand]) -> Result<(), Rejected> {
    for (i, operand) in operands.iter().enumerate() {
        let (name, vector) = (operand.name(), operand.kind.rank == Rank::Vector);
        if vector {
            return reject(i, format!("{of} needs a scalar, but {name} is a vector"), component(operand));
        }
        condition(i, operand)?;
    }
    Ok(())
}

/// Advice where a scalar is needed.
fn component(vector: &Operand) -> String {
    let plain = vector.text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    if plain { format!("use a component, such as {}.x, or dot({0}, …)", vector.text) } else { "use dot(…, …)".into() }
}

/// Refuses conditions outside of `where`.
fn condition(i: usize, operand: &Operand) -> Result<(), Rejected> {
    match operand.kind.rank {
        Rank::Condition => reject(
            i,
            format!("{} is a condition, not a number", operand.name()),
            format!("write where({}, 1, 0), or put it first in where", operand.name()),
        ),
        _ => Ok(()),
    }
}

/// Returns the kind of `a && b` and `a || b`.
fn conditions(op: Infix, operands: &[Operand]) -> Result<Kind, Rejected> {
    for (i, operand) in operands.iter().enumerate() {
        if operand.kind.rank != Rank::Condition {
            let what = format!("{} needs conditions, but {} is {}", op.sign(), operand.name(), operand.kind.rank);
            return reject(i, what, "write a comparison, such as a < b, or a zone");
        }
    }
    joined(Rank::Condition, operands)
}

/// Returns the kind of `-a`.
pub(crate) fn minus(a: Operand) -> Result<Kind, Rejected> {
    let a = a.as_number();
    condition(0, &a)?;
    Ok(a.kind)
}

/// Returns the kind of `a op b`.
pub(crate) fn infix(op: Infix, operands: [Operand; 2]) -> Result<Kind, Rejected> {
    if matches!(op, Infix::And | Infix::Or) {
        return conditions(op, &operands);
    }
    let [a, b] = operands.map(Operand::as_number);
    condition(0, &a)?;
    condition(1, &b)?;
    let (u, v) = (a.kind.rank == Rank::Vector, b.kind.rank == Rank::Vector);
    let rank = match op {
        Infix::Add | Infix::Subtract if u != v => {
            let (vector, scalar) = if u { (&a, &b) } else { (&b, &a) };
            return reject(
                None,
                format!("{} is a vector and {} is a scalar; their sum is not defined", vector.name(), scalar.name()),
                component(vector),
            );
        }
        Infix::Multiply if u && v => {
            return reject(
                None,
                format!("{} and {} are vectors; their product is not defined", a.name(), b.name()),
                format!("write dot({}, {})", a.name(), b.name()),
            );
        }
        Infix::Add | Infix::Subtract | Infix::Multiply if u || v => Rank::Vector,
        Infix::Divide if u && !v => Rank::Vector,
        Infix::Add | Infix::Subtract | Infix::Multiply => Rank::Scalar,
        _ => {
            let word = match op {
                Infix::Divide => "division by it",
                Infix::Power => "a power",
                _ => "a comparison",
            };
            let both = [a, b];
            scalars(word, &both)?;
            let rank = if op.is_comparison() { Rank::Condition } else { Rank::Scalar };
            return joined(rank, &both);
        }
    };
    joined(rank, &[a, b])
}

/// Returns the function that is meant and the kind of its value.
pub(crate) fn call(function: Function, operands: &[Operand], dimensions: usize) -> Result<(Function, Kind), Rejected> {
    use Function::*;
    let zone = operands.get(1).is_some_and(|b| b.kind.rank == Rank::Condition);
    let function = if function == Max && (operands.len() == 1 || zone) { Maximum } else { function };
    let (word, [least, most]) = (function.word(), function.arguments());
    if !(least..=most).contains(&operands.len()) {
        let usage = function.usage();
        return reject(
            None,
            format!("{word} has {} but was given {}", count(least, most), operands.len()),
            format!("write {usage}"),
        );
    }
    // The first argument of where and the second of reductions may be a zone as it is.
    let zone = match function {
        Where => Some(0),
        Mean | Sum | Maximum => Some(1),
        _ => None,
    };
    let numbers = operands.iter().enumerate().map(|(i, operand)| if Some(i) == zone { *operand } else { operand.as_number() });
    let operands = &numbers.collect::<Vec<_>>()[..];
    let kind = match function {
        Where => {
            if operands[0].kind.rank != Rank::Condition {
                return reject(
                    0,
                    format!("where needs a condition first, but {} is {}", operands[0].name(), operands[0].kind.rank),
                    "write a comparison, such as where(a < b, then, else), or a zone",
                );
            }
            condition(1, &operands[1])?;
            condition(2, &operands[2])?;
            let [yes, no] = [&operands[1], &operands[2]];
            if yes.kind.rank != no.kind.rank {
                let what = format!("{} is {}, but {} is {}", yes.name(), yes.kind.rank, no.name(), no.kind.rank);
                return reject(None, what, "both results of where have the same rank");
            }
            joined(yes.kind.rank, operands)?
        }
        Grad | Lap | Dx | Dy | Dz => {
            scalars(word, operands)?;
            in_cells(word, &operands[0])?;
            let needed = 1 + [Dx, Dy, Dz].iter().position(|f| *f == function).unwrap_or(0);
            if needed > dimensions {
                return reject(None, format!("{word} needs {needed} dimensions, the domain has {dimensions}"), "use dx, or lap");
            }
            Kind { rank: if function == Grad { Rank::Vector } else { Rank::Scalar }, ..operands[0].kind }
        }
        Div => {
            condition(0, &operands[0])?;
            if operands[0].kind.rank != Rank::Vector {
                let name = operands[0].name();
                let advice = format!("write div(grad({name})), which is lap({name}), or div(v*{name}) with a vector v");
                return reject(0, format!("div needs a vector, but {name} is a scalar"), advice);
            }
            in_cells(word, &operands[0])?;
            Kind { rank: Rank::Scalar, ..operands[0].kind }
        }
        Dot => {
            for (i, operand) in operands.iter().enumerate() {
                condition(i, operand)?;
                if operand.kind.rank != Rank::Vector {
                    let advice = "write * for a product with a scalar";
                    return reject(i, format!("dot needs vectors, but {} is a scalar", operand.name()), advice);
                }
            }
            joined(Rank::Scalar, operands)?
        }
        Mean | Sum | Maximum => reduction(word, operands)?,
        Random => {
            let literal = operands[0].text.trim().parse().is_ok_and(|length: f64| length > 0.0 && length.is_finite());
            if !literal {
                return reject(
                    0,
                    "random needs its correlation length as a positive number".into(),
                    "write, for example, random(0.2)",
                );
            }
            Kind::MAP
        }
        _ => {
            scalars(word, operands)?;
            joined(Rank::Scalar, operands)?
        }
    };
    Ok((function, kind))
}

/// Requires one value per cell.
fn in_cells(word: &str, a: &Operand) -> Result<(), Rejected> {
    match a.kind.axis {
        Axis::Cells => Ok(()),
        Axis::Instance => {
            let what = format!("{} is the same in all cells, so its {word} is zero", a.name());
            reject(0, what, "remove the term, or use a field or a map")
        }
        Axis::Agents => {
            let what = format!("{word} needs one value per cell, but {} has {}", a.name(), a.entries());
            reject(0, what, "use the field of the channel instead of the agents' values")
        }
    }
}

/// Kind of `mean(a)`, `mean(a, zone)` and the like.
fn reduction(word: &str, operands: &[Operand]) -> Result<Kind, Rejected> {
    let a = &operands[0];
    scalars(word, &operands[..1])?;
    if a.kind.axis == Axis::Instance {
        let what = format!("{} is one value, so {word} has nothing to reduce", a.name());
        return reject(0, what, format!("write {} without {word}", a.name()));
    }
    if let Some(zone) = operands.get(1) {
        if !zone.is_zone() {
            let what = format!("{} is not a zone", zone.name());
            return reject(1, what, format!("name a zone of the file, or write {word}({}) over all cells", a.name()));
        }
        if a.kind.axis == Axis::Agents {
            let what = format!("{} has one value per agent, and a zone consists of cells", a.name());
            return reject(0, what, format!("write {word}({}) over all agents", a.name()));
        }
    }
    Ok(Kind { axis: Axis::Instance, rank: Rank::Scalar, ..a.kind })
}

fn count(least: usize, most: usize) -> String {
    match (least, most) {
        (1, 1) => "1 argument".into(),
        (a, b) if a == b => format!("{a} arguments"),
        (a, b) => format!("{a} or {b} arguments"),
    }
}
