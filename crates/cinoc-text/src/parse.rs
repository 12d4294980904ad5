//! Parser: text to checked expressions, in time and stack space that are bounded by the length of the text.

use crate::error::{Error, Fault};
use crate::expr::{Expr, Function, Infix, MINUS, Node};
use crate::kind::{Kind, Rank};
use crate::lexer::{Spanned, Token, tokens};
use crate::rank::{self, Operand, Rejected};
use crate::scope::Scope;
use std::ops::Range;

/// Maximum length of a text, in bytes.
pub const MAX_LENGTH: usize = 10_000;
/// Maximum number of numbers, names and operations in a text.
pub const MAX_NODES: usize = 1_000;
/// Maximum number of levels of an expression.
pub const MAX_HEIGHT: usize = 100;

/// Parses a text and checks its names and ranks.
///
/// ```
/// use cinoc_text::{Kind, Scope, parse};
///
/// let mut scope = Scope::new(2);
/// scope.add(&["z"], Kind::FIELD)?;
/// scope.add(&["wind"], Kind::MAP.vector())?;
/// let expr = parse("-dot(wind, grad(z)) + (2*z)^2", &scope)?;
/// assert!(expr.kind.state);
/// assert_eq!(expr.to_string(), "-dot(wind, grad(z)) + (2*z)^2");
/// # Ok::<(), cinoc_text::Error>(())
/// ```
pub fn parse(text: &str, scope: &Scope) -> Result<Expr, Error> {
    let whole = |span: Range<usize>, fault| Error::new(text, span, fault);
    if text.len() > MAX_LENGTH {
        let start = (MAX_LENGTH..).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
        let what = format!("the text has {} bytes, more than {MAX_LENGTH}", text.len());
        return Err(whole(start..start, Fault::new(what, "shorten it, or move parts of it into maps")));
    }
    let tokens = tokens(text).map_err(|(span, fault)| whole(span, fault))?;
    let mut parser = Parser { text, scope, tokens, at: 0, depth: 0, nodes: 0 };
    let expr = parser.expression(0)?;
    match parser.peek() {
        // A zone alone is a map.
        Token::End if expr.kind == Kind::ZONE && matches!(expr.node, Node::Name(_)) => Ok(Expr { kind: Kind::MAP, ..expr }),
        Token::End if expr.kind.rank == Rank::Condition => {
            let fault = Fault::new("a comparison alone has no value", "write where(a < b, then, else)");
            Err(parser.error(expr.span, fault))
        }
        Token::End => Ok(expr),
        _ => Err(parser.unexpected()),
    }
}

struct Parser<'a> {
    text: &'a str,
    scope: &'a Scope,
    tokens: Vec<Spanned<'a>>,
    at: usize,
    depth: usize,
    nodes: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.at].0
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.at].1.clone()
    }

    /// Takes the next token; the end stays.
    fn next(&mut self) -> Spanned<'a> {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(next) if next == sign);
        if found {
            self.next();
        }
        found
    }

    fn error(&self, span: Range<usize>, fault: Fault) -> Error {
        Error::new(self.text, span, fault)
    }

    fn fail<T>(&self, span: Range<usize>, what: impl Into<String>, advice: impl Into<String>) -> Result<T, Error> {
        Err(self.error(span, Fault::new(what, advice)))
    }

    /// Error at a token that cannot follow an expression.
    fn unexpected(&self) -> Error {
        let (what, advice) = match self.peek() {
            Token::End => ("the text ends too early".to_owned(), "complete it".to_owned()),
            Token::Sign(")") => ("this parenthesis closes nothing".into(), "remove it, or open one before".into()),
            Token::Sign(",") => ("a comma is allowed between arguments only".into(), "remove it; decimals have a point".into()),
            Token::Sign("=") => ("= is not an operator".into(), "write the right-hand side only; a comparison is ==".into()),
            Token::Sign(sign) => (format!("{sign} is not expected here"), "remove it".into()),
            Token::Name("and") => ("and is not an operator".into(), "write &&".into()),
            Token::Name("or") => ("or is not an operator".into(), "write ||".into()),
            Token::Number(_) | Token::Name(_) => {
                let word = &self.text[self.span()];
                (format!("an operator is missing before {word}"), format!("for a product, write *{word}"))
            }
        };
        self.error(self.span(), Fault::new(what, advice))
    }

    fn infix(&self) -> Option<Infix> {
        let Token::Sign(sign) = self.peek() else { return None };
        Infix::ALL.iter().find(|(_, own)| *own == sign).map(|(op, _)| *op)
    }

    /// Parses operators that bind at least as strongly as `least`.
    fn expression(&mut self, least: u8) -> Result<Expr, Error> {
        self.depth += 1;
        if self.depth > MAX_HEIGHT {
            return self.too_deep(self.span());
        }
        let mut left = self.operand()?;
        while let Some(op) = self.infix().filter(|op| op.strength() >= least) {
            let (_, sign) = self.next();
            if self.infix() == Some(op) && op == Infix::Multiply {
                return self.fail(sign.start..self.span().end, "** is not an operator", "write ^ for powers");
            }
            let right = self.expression(op.strength() + u8::from(op != Infix::Power))?;
            if op.is_comparison() && self.infix().is_some_and(Infix::is_comparison) {
                return self.fail(
                    self.span(),
                    "comparisons cannot be chained",
                    "compare two values at a time, as in a < b && b < c",
                );
            }
            let spans = [left.span.clone(), right.span.clone()];
            let span = left.span.start..right.span.end;
            let operands = [self.operand_of(&left), self.operand_of(&right)];
            let kind = rank::infix(op, operands).map_err(|rejected| self.rejected(rejected, &spans, span.clone()))?;
            left = self.node(Node::Infix(op, Box::new([left, right])), kind, span)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Parses a number, a name, a call, parentheses or a minus with its operand.
    fn operand(&mut self) -> Result<Expr, Error> {
        let (token, span) = self.next();
        match token {
            Token::Number(value) => self.node(Node::Number(value), Kind::CONSTANT, span),
            Token::Name(name) if self.peek() == Token::Sign("(") => self.call(name, span),
            Token::Name(name) => self.name(name, span),
            Token::Sign("(") => {
                let inner = self.expression(0)?;
                self.close(span.clone())?;
                // Spans of operands include their parentheses.
                Ok(Expr { span: span.start..self.tokens[self.at - 1].1.end, ..inner })
            }
            Token::Sign("-") => {
                let a = self.expression(MINUS + 1)?;
                let span = span.start..a.span.end;
                let kind = rank::minus(self.operand_of(&a))
                    .map_err(|rejected| self.rejected(rejected, std::slice::from_ref(&a.span), span.clone()))?;
                self.node(Node::Minus(Box::new(a)), kind, span)
            }
            Token::Sign("+") => self.fail(span, "+ needs a value on its left", "remove it"),
            Token::End if self.tokens.len() == 1 => self.fail(span, "the text is empty", "write an expression; 0 for nothing"),
            Token::End => self.fail(span, "a value is missing at the end", "add it, or remove the operator before"),
            Token::Sign(sign) => self.fail(span, format!("a value is missing before {sign}"), "add it, or remove the sign"),
        }
    }

    fn close(&mut self, open: Range<usize>) -> Result<(), Error> {
        if self.take(")") {
            return Ok(());
        }
        match self.peek() {
            Token::End => self.fail(open, "this parenthesis is not closed", "add )"),
            _ => Err(self.unexpected()),
        }
    }

    fn name(&mut self, name: &str, span: Range<usize>) -> Result<Expr, Error> {
        if let Some((kind, _)) = self.scope.find(name) {
            return self.node(Node::Name(name.to_owned()), kind, span);
        }
        if let Some(function) = Function::named(name) {
            return self.fail(span, format!("{name} is a function and needs arguments"), format!("write {}", function.usage()));
        }
        Err(self.unknown(name, span))
    }

    fn unknown(&self, name: &str, span: Range<usize>) -> Error {
        let advice = self.scope.advice(name, self.peek() == Token::Sign("("));
        self.error(span, Fault::new(format!("{name} is not known"), advice))
    }

    fn call(&mut self, word: &str, start: Range<usize>) -> Result<Expr, Error> {
        let Some(function) = Function::named(word) else {
            if self.scope.find(word).is_some() {
                return self.fail(start, format!("{word} is not a function"), format!("for a product, write {word}*(…)"));
            }
            return Err(self.unknown(word, start));
        };
        let (_, open) = self.next();
        if function == Function::Random && !self.scope.allows_random() {
            let advice = "declare a map with random(…) as its text and use its name";
            return self.fail(start, "random is allowed in texts of start and target only", advice);
        }
        let mut arguments = Vec::new();
        if self.peek() != Token::Sign(")") {
            arguments.push(self.expression(0)?);
            while self.take(",") {
                arguments.push(self.expression(0)?);
            }
        }
        self.close(open)?;
        let span = start.start..self.tokens[self.at - 1].1.end;
        let operands: Vec<_> = arguments.iter().map(|argument| self.operand_of(argument)).collect();
        let spans: Vec<_> = arguments.iter().map(|argument| argument.span.clone()).collect();
        let (function, kind) = rank::call(function, &operands, self.scope.dimensions())
            .map_err(|rejected| self.rejected(rejected, &spans, span.clone()))?;
        // The second derivative along a line has the stencil of the Laplacian.
        if let (Function::Dx, 1, Some(inner)) = (function, self.scope.dimensions(), arguments[0].argument_of(Function::Dx)) {
            return self.node(Node::Call(Function::Lap, vec![inner.clone()]), kind, span);
        }
        self.node(Node::Call(function, arguments), kind, span)
    }

    fn operand_of(&self, expr: &Expr) -> Operand<'a> {
        Operand { kind: expr.kind, text: &self.text[expr.span.clone()] }
    }

    fn rejected(&self, (at, fault): Rejected, operands: &[Range<usize>], whole: Range<usize>) -> Error {
        self.error(at.map_or(whole, |i| operands[i].clone()), fault)
    }

    fn node(&mut self, node: Node, kind: Kind, span: Range<usize>) -> Result<Expr, Error> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return self.fail(span, format!("the text has more than {MAX_NODES} operations"), "move parts of it into maps");
        }
        let expr = Expr::new(node, kind, span);
        if expr.height > MAX_HEIGHT { self.too_deep(expr.span) } else { Ok(expr) }
    }

    fn too_deep<T>(&self, span: Range<usize>) -> Result<T, Error> {
        self.fail(
            span,
            format!("the expression has more than {MAX_HEIGHT} levels"),
            "use fewer parentheses, and put sums in groups",
        )
    }
}
