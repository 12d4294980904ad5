//! Tokens of a text.

use crate::error::Fault;
use crate::scope::is_letter;
use std::ops::Range;

/// Token of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    Sign(&'static str),
    End,
}

/// Token with its bytes in the text.
pub(crate) type Spanned<'a> = (Token<'a>, Range<usize>);

const SIGNS: [&str; 17] = ["&&", "||", "<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "^", "(", ")", ","];

/// Characters of other alphabets and languages, and how they are written here.
const MEANT: [(&str, &str); 13] = [
    ("−", "write -"),
    ("–", "write -"),
    ("·", "write *"),
    ("×", "write *"),
    ("²", "write ^2"),
    ("³", "write ^3"),
    ("∇", "write grad, div or lap"),
    ("Δ", "write lap"),
    ("∂", "write dx, dy or dz"),
    ("&", "write &&"),
    ("|", "write ||"),
    ("[", "use parentheses"),
    ("{", "use parentheses"),
];

/// Divides a text into tokens; the last one is the end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Spanned<'_>>, (Range<usize>, Fault)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            number(rest).map_err(|(length, fault)| (at..at + length, fault))?
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Token::Sign(sign), sign.len())
        } else if let Some((sign, advice)) = MEANT.iter().find(|(sign, _)| rest.starts_with(sign)) {
            return Err((at..at + sign.len(), Fault::new(format!("{sign} is not understood"), *advice)));
        } else if is_letter(c) {
            let length = name(rest);
            (Token::Name(&rest[..length]), length)
        } else {
            let fault =
                Fault::new(format!("{c:?} is not understood"), "use names, numbers, + - * / ^, comparisons and parentheses");
            return Err((at..at + c.len_utf8(), fault));
        };
        found.push((token, at..at + length));
        at += length;
    }
    found.push((Token::End, text.len()..text.len()));
    Ok(found)
}

/// Length of the name at the start of a text: words that are joined by points.
fn name(text: &str) -> usize {
    let word = |text: &str| text.find(|c: char| !is_letter(c) && !c.is_ascii_digit()).unwrap_or(text.len());
    let mut length = word(text);
    while text[length..].strip_prefix('.').is_some_and(|rest| rest.starts_with(is_letter)) {
        length += 1 + word(&text[length + 1..]);
    }
    length
}

/// Reads the number at the start of a text.
fn number(text: &str) -> Result<(Token<'_>, usize), (usize, Fault)> {
    let digits = |from: usize| from + text[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - from);
    let mut length = digits(0);
    if text[length..].starts_with('.') {
        length = digits(length + 1);
    }
    if let Some(exponent) = text[length..].strip_prefix(['e', 'E']) {
        let signed = 1 + usize::from(exponent.starts_with(['+', '-']));
        if digits(length + signed) > length + signed {
            length = digits(length + signed);
        }
    }
    let rest = &text[length..];
    if rest.starts_with(|c: char| is_letter(c) || c == '.') {
        let word = if rest.starts_with('.') { 1 } else { name(rest) };
        let advice = match rest.starts_with('.') {
            true => "write one point".into(),
            false => format!("for a product, write {}*{}", &text[..length], &rest[..word]),
        };
        return Err((length + word, Fault::new(format!("{} is not a number", &text[..length + word]), advice)));
    }
    match text[..length].parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number(value), length)),
        _ => Err((length, Fault::new(format!("{} is too large a number", &text[..length]), "numbers are below 1.8e308"))),
    }
}
