//! Errors with the place in the text.

use std::fmt;
use std::ops::Range;

/// Longest part of a line that is shown, in characters.
const SHOWN: usize = 100;

/// A mistake in a text: what is wrong, the place, and what to do.
///
/// ```
/// use cinoc_text::{Kind, Scope, parse};
///
/// let mut scope = Scope::new(1);
/// scope.add(&["z"], Kind::FIELD).unwrap();
/// scope.add(&["epsilon"], Kind::CONSTANT).unwrap();
/// let error = parse("epsilom*lap(z)", &scope).unwrap_err();
/// assert_eq!(error.to_string(), "\
/// epsilom is not known
///   epsilom*lap(z)
///   ^^^^^^^
/// write epsilon, or declare epsilom");
/// ```
///
/// ```
/// use cinoc_text::{Kind, Scope, parse};
///
/// let mut scope = Scope::new(2);
/// scope.add(&["z"], Kind::FIELD)?;
/// scope.add(&["wind"], Kind::MAP.vector())?;
/// let error = parse("lap(z) - lap(wind)", &scope).unwrap_err();
/// assert_eq!(error.to_string(), "\
/// lap needs a scalar, but wind is a vector
///   lap(z) - lap(wind)
///                ^^^^
/// use a component, such as wind.x, or dot(wind, …)");
/// # Ok::<(), cinoc_text::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    text: String,
    span: Range<usize>,
    what: String,
    advice: String,
}

impl Error {
    pub(crate) fn new(text: &str, span: Range<usize>, fault: Fault) -> Self {
        Self { text: text.to_owned(), span, what: fault.what, advice: fault.advice }
    }

    /// Bytes of the text that are wrong; empty at its end if something is missing.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Sentence that says what is wrong.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Sentence that says what to do.
    pub fn advice(&self) -> &str {
        &self.advice
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (before, after) = (&self.text[..self.span.start], &self.text[self.span.start..]);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let end = self.span.start + after.find('\n').unwrap_or(after.len());
        let count = |range: Range<usize>| self.text[range].chars().count();
        let column = count(start..self.span.start);
        let marked = count(self.span.start..self.span.end.min(end).max(self.span.start)).max(1);
        // A long line is cut before the place and behind it.
        let skipped = column.saturating_sub(SHOWN / 2);
        let line: String =
            self.text[start..end].chars().skip(skipped).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let cut = |is: bool| if is { "…" } else { "" };
        let (left, right) = (cut(skipped > 0), cut(count(start..end) > skipped + SHOWN));
        let place = match self.text.trim_end().contains('\n') {
            true => format!("line {}: ", before.matches('\n').count() + 1),
            false => "  ".into(),
        };
        let indent = place.chars().count() + left.chars().count() + column - skipped;
        writeln!(f, "{}", self.what)?;
        writeln!(f, "{place}{left}{line}{right}")?;
        writeln!(f, "{:indent$}{}", "", "^".repeat(marked.min(SHOWN - (column - skipped).min(SHOWN - 1))))?;
        f.write_str(&self.advice)
    }
}

impl std::error::Error for Error {}

/// An [`Error`] without its place.
#[derive(Debug)]
pub(crate) struct Fault {
    pub what: String,
    pub advice: String,
}

impl Fault {
    pub fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }
}

/// Returns the candidate that differs from `name` by the fewest insertions, deletions, replacements and swaps of
/// neighbours, the first one of equals; `None` if that is more than a third of its letters.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    let limit = (letters / 3).max(1).min(letters.saturating_sub(1));
    let close = candidates.filter_map(|other| Some((distance(name, other, limit)?, other)));
    close.min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// Edit distance of two names, if it is at most `limit`.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    Some(rows[a.len()][b.len()]).filter(|found| *found <= limit)
}
