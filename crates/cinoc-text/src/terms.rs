//! Right-hand sides as sums of terms, and how each term can be treated in time.

use crate::expr::{Expr, Function, Infix, Node};
use crate::kind::{Axis, Kind, Rank};
use std::fmt;

/// Additive term of a right-hand side.
///
/// ```
/// use cinoc_text::{Kind, Scope, parse, terms};
///
/// let mut scope = Scope::new(1);
/// scope.add(&["u", "v"], Kind::FIELD)?;
/// scope.add(&["D", "b"], Kind::CONSTANT)?;
/// let rhs = parse("D*(lap(u) - u) + u - u^3 + b*v", &scope)?;
/// let printed: Vec<_> = terms(&rhs, "u").iter().map(ToString::to_string).collect();
/// assert_eq!(printed, [
///     "D*lap(u): implicit diffusion",
///     "-D*u: implicit decay",
///     "u: explicit growth",
///     "-u^3: explicit",
///     "b*v: explicit coupling to v",
/// ]);
/// # Ok::<(), cinoc_text::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Term {
    /// The term with its sign.
    pub expr: Expr,
    /// Form of the term.
    pub form: Form,
    /// Treatment that follows from form, sign and dependence.
    pub treatment: Treatment,
}

/// Form of a term, linear in a field with coefficients that do not depend on the state, or general. Coefficients have
/// the term's sign.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// `outside·div(inside·grad(z))`
    Diffusion {
        /// Factor of the divergence.
        outside: Expr,
        /// Conductivity; `None` for 1.
        inside: Option<Expr>,
    },
    /// `outside·lap(lap(z))`
    FourthOrder {
        /// Factor.
        outside: Expr,
    },
    /// `rate·z`
    Rate {
        /// Factor: negative for decay.
        rate: Expr,
    },
    /// `outside·dot(velocity, grad(z))`
    Advection {
        /// Factor.
        outside: Expr,
        /// Velocity.
        velocity: Velocity,
    },
    /// `outside·div(velocity·z)`
    Transport {
        /// Factor.
        outside: Expr,
        /// Velocity.
        velocity: Expr,
    },
    /// `rate·other` with another field.
    Coupling {
        /// Factor.
        rate: Expr,
        /// The other field.
        field: String,
    },
    /// Anything else.
    General,
}

/// Velocity of an advection.
#[derive(Clone, Debug, PartialEq)]
pub enum Velocity {
    /// A vector.
    Vector(Expr),
    /// 1 along a dimension: the derivative `dx`, `dy` or `dz`.
    Along(usize),
}

/// Treatment of a term in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Implicit: a linear term that damps, with coefficients that are constant in time. (Names count as positive.)
    Implicit,
    /// Explicit.
    Explicit,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let treatment = if self.treatment == Treatment::Implicit { "implicit" } else { "explicit" };
        write!(f, "{}: {treatment}", self.expr)?;
        match &self.form {
            Form::Diffusion { outside, .. } => {
                f.write_str(if sign(outside) == Some(true) { " backward diffusion" } else { " diffusion" })
            }
            Form::FourthOrder { .. } => f.write_str(" fourth order"),
            Form::Rate { rate } => f.write_str(match sign(rate) {
                Some(true) => " decay",
                Some(false) => " growth",
                None => " rate of unknown sign",
            }),
            Form::Advection { .. } | Form::Transport { .. } => f.write_str(" transport"),
            Form::Coupling { field, .. } => write!(f, " coupling to {field}"),
            Form::General => Ok(()),
        }
    }
}

/// Divides the right-hand side of the equation of `field` into terms. Factors that do not depend on the state are
/// distributed over sums, also inside of linear operators.
pub fn terms(rhs: &Expr, field: &str) -> Vec<Term> {
    split(rhs).into_iter().map(|piece| piece.into_term(field)).collect()
}

/// The sum of terms; `None` if there are none.
pub fn sum<'a>(terms: impl IntoIterator<Item = &'a Term>) -> Option<Expr> {
    terms.into_iter().map(|term| term.expr.clone()).reduce(|all, next| match next.node {
        Node::Minus(next) => Expr::infix(Infix::Subtract, all, *next),
        _ => Expr::infix(Infix::Add, all, next),
    })
}

/// A product: a sign, factors that do not depend on the state, and a core.
#[derive(Clone)]
struct Piece {
    negative: bool,
    /// Factors and divisors (true), in the order of the text; one of them may be a vector.
    factors: Vec<(Expr, bool)>,
    /// The rest; `None` if nothing depends on the state.
    core: Option<Expr>,
}

/// Divides an expression into additive pieces.
fn split(expr: &Expr) -> Vec<Piece> {
    let whole = || vec![Piece { negative: false, factors: Vec::new(), core: Some(expr.clone()) }];
    if !expr.kind.state && !matches!(expr.node, Node::Minus(_) | Node::Infix(Infix::Add | Infix::Subtract, _)) {
        return vec![Piece { negative: false, factors: vec![(expr.clone(), false)], core: None }];
    }
    match &expr.node {
        Node::Minus(a) => split(a).into_iter().map(Piece::negated).collect(),
        Node::Infix(Infix::Add, sides) => sides.iter().flat_map(split).collect(),
        Node::Infix(Infix::Subtract, sides) => {
            split(&sides[0]).into_iter().chain(split(&sides[1]).into_iter().map(Piece::negated)).collect()
        }
        Node::Infix(Infix::Multiply, sides) => match &**sides {
            [a, b] if !a.kind.state => split(b).into_iter().map(|piece| piece.times(a, false, true)).collect(),
            [a, b] if !b.kind.state => split(a).into_iter().map(|piece| piece.times(b, false, false)).collect(),
            _ => whole(),
        },
        Node::Infix(Infix::Divide, sides) if !sides[1].kind.state => {
            split(&sides[0]).into_iter().map(|piece| piece.times(&sides[1], true, false)).collect()
        }
        Node::Call(Function::Dot, sides) => match &sides[..] {
            [v, w] | [w, v] if !v.kind.state && w.kind.state => split(w).into_iter().map(|piece| piece.dotted(v)).collect(),
            _ => whole(),
        },
        Node::Call(
            function @ (Function::Lap | Function::Grad | Function::Div | Function::Dx | Function::Dy | Function::Dz),
            a,
        ) => split(&a[0]).into_iter().filter_map(|piece| piece.under(*function, expr.kind)).collect(),
        _ => whole(),
    }
}

impl Piece {
    fn negated(mut self) -> Self {
        self.negative = !self.negative;
        self
    }

    /// The product with a factor or a divisor, before or behind the others.
    fn times(mut self, factor: &Expr, divisor: bool, front: bool) -> Self {
        let at = if front { 0 } else { self.factors.len() };
        self.factors.insert(at, (factor.clone(), divisor));
        self
    }

    /// `dot(v, piece)`
    fn dotted(mut self, v: &Expr) -> Self {
        let dot = |w: Expr| {
            let kind = Kind { rank: Rank::Scalar, ..v.kind.joined(w.kind).unwrap_or(v.kind) };
            Expr::call(Function::Dot, vec![v.clone(), w], kind)
        };
        match (self.factors.iter_mut().find(|(factor, _)| factor.kind.rank == Rank::Vector), self.core.take()) {
            (Some(factor), core) => {
                factor.0 = dot(factor.0.clone());
                self.core = core;
            }
            (None, core) => self.core = core.map(dot),
        }
        self
    }

    /// A linear operator applied to the piece; `None` if that is zero. Factors that are the same in all cells stay
    /// outside.
    fn under(self, function: Function, kind: Kind) -> Option<Self> {
        let outside = |(factor, _): &(Expr, bool)| factor.kind.axis == Axis::Instance && factor.kind.rank == Rank::Scalar;
        let (outer, inner): (Vec<_>, Vec<_>) = self.factors.into_iter().partition(outside);
        let argument = product(&inner, self.core.as_ref());
        if argument.kind.axis == Axis::Instance {
            return None;
        }
        let kind = Kind { rank: kind.rank, ..argument.kind };
        let result = match (function, argument.argument_of(Function::Grad)) {
            (Function::Div, Some(of)) => Expr::call(Function::Lap, vec![of.clone()], kind),
            _ => Expr::call(function, vec![argument], kind),
        };
        let (mut factors, mut core) = (outer, None);
        if kind.state {
            core = Some(result)
        } else {
            factors.push((result, false))
        }
        Some(Self { negative: self.negative, factors, core })
    }

    fn into_term(self, field: &str) -> Term {
        let signed = |expr: Expr| if self.negative { negative(expr) } else { expr };
        let coefficient = signed(product(&self.factors, None));
        let form = match &self.core {
            Some(core) if coefficient.kind.rank == Rank::Scalar => form(core, coefficient, field),
            _ => Form::General,
        };
        Term { expr: signed(product(&self.factors, self.core.as_ref())), treatment: form.treatment(), form }
    }
}

/// Product of factors and a core, divided by divisors; 1 without any.
fn product(factors: &[(Expr, bool)], core: Option<&Expr>) -> Expr {
    let multiplied = factors.iter().filter(|(_, divisor)| !divisor).map(|(factor, _)| factor).chain(core).cloned();
    let all = multiplied.reduce(|a, b| Expr::infix(Infix::Multiply, a, b)).unwrap_or_else(|| Expr::number(1.0));
    let divisors = factors.iter().filter(|(_, divisor)| *divisor).map(|(factor, _)| factor.clone());
    divisors.fold(all, |all, divisor| Expr::infix(Infix::Divide, all, divisor))
}

/// `-expr`, with the minus at the first factor.
fn negative(expr: Expr) -> Expr {
    match expr.node {
        Node::Infix(op @ (Infix::Multiply | Infix::Divide), sides) => {
            let [a, b] = *sides;
            Expr::infix(op, negative(a), b)
        }
        _ => expr.negated(),
    }
}

/// Form of `coefficient·core` in the equation of `field`.
fn form(core: &Expr, coefficient: Expr, field: &str) -> Form {
    let is_field = |expr: &Expr| expr.is_name(field);
    match &core.node {
        Node::Name(_) if is_field(core) => return Form::Rate { rate: coefficient },
        Node::Name(name) => return Form::Coupling { rate: coefficient, field: name.clone() },
        Node::Call(Function::Lap, a) if is_field(&a[0]) => return Form::Diffusion { outside: coefficient, inside: None },
        Node::Call(Function::Lap, a) if a[0].argument_of(Function::Lap).is_some_and(is_field) => {
            return Form::FourthOrder { outside: coefficient };
        }
        Node::Call(Function::Div, a) => {
            if let [Piece { negative: false, factors, core: Some(inner) }] = &split(&a[0])[..] {
                let factor = product(factors, None);
                if inner.argument_of(Function::Grad).is_some_and(is_field) {
                    return Form::Diffusion { outside: coefficient, inside: Some(factor) };
                }
                if is_field(inner) && factor.kind.rank == Rank::Vector {
                    return Form::Transport { outside: coefficient, velocity: factor };
                }
            }
        }
        Node::Call(Function::Dot, sides) => {
            if let [v, w] = &sides[..]
                && !v.kind.state
                && w.argument_of(Function::Grad).is_some_and(is_field)
            {
                return Form::Advection { outside: coefficient, velocity: Velocity::Vector(v.clone()) };
            }
        }
        Node::Call(function, a) => {
            let along = [Function::Dx, Function::Dy, Function::Dz].iter().position(|derivative| derivative == function);
            if let Some(dimension) = along.filter(|_| is_field(&a[0])) {
                return Form::Advection { outside: coefficient, velocity: Velocity::Along(dimension) };
            }
        }
        _ => {}
    }
    Form::General
}

impl Form {
    fn treatment(&self) -> Treatment {
        let (constant, damps) = match self {
            Self::Diffusion { outside, inside } => {
                let inner = inside.as_ref().map_or(Some(false), sign);
                let backward = sign(outside).zip(inner).is_some_and(|(a, b)| a != b);
                (!outside.kind.time && !inside.as_ref().is_some_and(|k| k.kind.time), !backward)
            }
            Self::FourthOrder { outside } => (!outside.kind.time, sign(outside) != Some(false)),
            Self::Rate { rate } => (!rate.kind.time, sign(rate) == Some(true)),
            _ => (false, false),
        };
        if constant && damps { Treatment::Implicit } else { Treatment::Explicit }
    }
}

/// Returns true for a coefficient that is negative if all names are positive, false for a positive one, `None` if the
/// text does not tell.
fn sign(expr: &Expr) -> Option<bool> {
    let same = |all: &[Expr]| all.iter().map(sign).reduce(|a, b| if a == b { a } else { None }).flatten();
    if let Some(value) = expr.literal() {
        return Some(value < 0.0);
    }
    match &expr.node {
        Node::Number(value) => Some(*value < 0.0),
        Node::Name(_) => Some(false),
        Node::Minus(a) => sign(a).map(|negative| !negative),
        Node::Infix(op, sides) => match (op, sign(&sides[0]), sign(&sides[1])) {
            (Infix::Multiply | Infix::Divide, a, b) => Some(a? != b?),
            (Infix::Add, a, b) => a.filter(|_| a == b),
            (Infix::Subtract, a, b) => a.filter(|a| b == Some(!a)),
            (Infix::Power, a, _) => {
                let even = sides[1].literal().is_some_and(|power| power % 2.0 == 0.0);
                if even || a == Some(false) { Some(false) } else { None }
            }
            _ => None,
        },
        Node::Call(Function::Exp | Function::Sqrt | Function::Abs, _) => Some(false),
        Node::Call(Function::Min | Function::Max | Function::Clamp, all) => same(all),
        Node::Call(Function::Where, all) => same(&all[1..]),
        Node::Call(..) => None,
    }
}
