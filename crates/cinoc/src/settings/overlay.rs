//! Changes to settings, checked key by key.

use super::{Rule, Setting};
use crate::Error;
use crate::error::{shortened, shown};
use toml::{Table, Value};

/// Changes of settings: a table read from a file, or single `key=value` pairs.
///
/// ```
/// use cinoc::settings::Overlay;
///
/// let changes = Overlay::from_pairs(["train.updates=200", "physics.ticks=60"])?;
/// assert!(!changes.is_empty());
/// # Ok::<(), cinoc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    changes: Vec<(String, Value)>,
}

impl Overlay {
    /// Reads all keys of a TOML text; `place` names it in errors.
    pub fn from_toml(text: &str, place: &str) -> Result<Self, Error> {
        let mut changes = Vec::new();
        parse(text, place)?.into_iter().for_each(|(key, value)| flatten(key, value, &mut changes));
        Ok(Self { changes })
    }

    /// Reads `key=value` pairs, in order.
    pub fn from_pairs(pairs: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, Error> {
        let mut overlay = Self::default();
        pairs.into_iter().try_for_each(|pair| overlay.set(pair.as_ref()))?;
        Ok(overlay)
    }

    /// Adds one `key=value`; a value that is not TOML is taken as text, and a table sets each of its keys.
    #[doc(hidden)]
    pub fn set(&mut self, pair: &str) -> Result<(), Error> {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(Error::bad("set", format!("{pair:?}"), "key=value, for example train.updates=200"));
        };
        let (key, value) = (key.trim(), value.trim());
        let parsed = format!("x = {value}").parse::<Table>().ok().and_then(|mut t| t.remove("x"));
        flatten(key.to_owned(), parsed.unwrap_or_else(|| Value::String(value.to_owned())), &mut self.changes);
        Ok(())
    }

    /// Adds all changes of another overlay, which take precedence.
    #[doc(hidden)]
    pub fn extend(&mut self, later: &Self) {
        self.changes.extend(later.changes.iter().cloned());
    }

    /// Removes and returns the last value of a key.
    #[doc(hidden)]
    pub fn take(&mut self, key: &str) -> Option<Value> {
        let at = self.changes.iter().rposition(|(k, _)| k == key)?;
        let value = self.changes.remove(at).1;
        self.changes.retain(|(k, _)| k != key);
        Some(value)
    }

    /// Returns true if there are no changes.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Applies the changes to settings that follow `table`. An unknown key or a value that is not allowed is an error.
    #[doc(hidden)]
    pub fn apply(&self, tree: &mut Table, table: &[Setting]) -> Result<(), Error> {
        for (key, value) in &self.changes {
            let Some(rule) = find(table, key) else {
                return Err(unknown(key, table));
            };
            let value = in_type(value, rule);
            if !rule.allows(&value) {
                return Err(Error::bad(key, value.to_string(), rule.expected()));
            }
            // An empty section changes nothing; other sections were flattened into changes of their keys.
            if !matches!(rule, Rule::Section(_)) {
                *at(tree, key) = value;
            }
        }
        Ok(())
    }
}

/// Parses a table from TOML text; errors name the line.
pub(crate) fn parse(text: &str, place: &str) -> Result<Table, Error> {
    text.parse().map_err(|e: toml::de::Error| {
        let line = e.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        let reason = shortened(&e.message().lines().collect::<Vec<_>>().join(" "));
        Error::Toml { place: shown(place), line: Some(line), reason, source: Some(Box::new(e)) }
    })
}

/// Returns an error for TOML that does not describe settings.
pub(crate) fn invalid(place: &str, reason: &str) -> Error {
    Error::Toml { place: shown(place), line: None, reason: reason.into(), source: None }
}

/// Checks a complete tree against its table: every key, no other, each with an allowed value.
pub(super) fn check(tree: &Table, table: &[Setting], prefix: &str) -> Result<(), Error> {
    for Setting { key, rule, .. } in table {
        let path = format!("{prefix}{key}");
        let Some(value) = tree.get(*key) else {
            return Err(Error::bad(&path, "missing", rule.expected()));
        };
        if !rule.allows(value) {
            return Err(Error::bad(&path, value.to_string(), rule.expected()));
        }
        if let (Rule::Section(inner), Value::Table(section)) = (rule, value) {
            check(section, inner, &format!("{path}."))?;
        }
    }
    match tree.keys().find(|key| table.iter().all(|setting| setting.key != key.as_str())) {
        Some(key) => Err(unknown(&format!("{prefix}{key}"), table)),
        None => Ok(()),
    }
}

/// Adds the settings that older files lack.
pub(crate) fn fill(tree: &mut Table, table: &[Setting]) {
    for Setting { key, rule, absent, .. } in table {
        match (tree.get_mut(*key), rule, absent) {
            (Some(Value::Table(inner)), Rule::Section(settings), _) => fill(inner, settings),
            (None, _, Some(absent)) => drop(tree.insert((*key).into(), absent.clone())),
            _ => {}
        }
    }
}

/// Flattens a value: its full key, or all keys of a section.
fn flatten(path: String, value: Value, out: &mut Vec<(String, Value)>) {
    match value {
        Value::Table(inner) if !inner.is_empty() => {
            inner.into_iter().for_each(|(key, value)| flatten(format!("{path}.{key}"), value, out));
        }
        value => out.push((path, value)),
    }
}

/// Converts whole numbers where the setting is a floating-point number.
pub(super) fn in_type(value: &Value, rule: &Rule) -> Value {
    match (rule, value) {
        (Rule::Number(_) | Rule::Pair(_) | Rule::Triples { .. }, Value::Integer(i)) => Value::Float(*i as f64),
        (Rule::Pair(_) | Rule::Triples { .. }, Value::Array(list)) => {
            Value::Array(list.iter().map(|x| in_type(x, rule)).collect())
        }
        _ => value.clone(),
    }
}

/// Returns the rule of a key like `train.updates`.
fn find<'a>(table: &'a [Setting], key: &str) -> Option<&'a Rule> {
    let (head, rest) = key.split_once('.').map_or((key, None), |(head, rest)| (head, Some(rest)));
    let rule = &table.iter().find(|setting| setting.key == head)?.rule;
    match (rest, rule) {
        (None, rule) => Some(rule),
        (Some(rest), Rule::Section(inner)) => find(inner, rest),
        _ => None,
    }
}

fn at<'a>(tree: &'a mut Table, key: &str) -> &'a mut Value {
    match key.split_once('.') {
        None => &mut tree[key],
        Some((head, rest)) => at(tree[head].as_table_mut().expect("only tables have inner keys"), rest),
    }
}

/// Returns every key of a table as a user writes it.
pub(super) fn keys(table: &[Setting], prefix: &str) -> Vec<String> {
    let each = table.iter().flat_map(|Setting { key, rule, .. }| match rule {
        Rule::Section(inner) => keys(inner, &format!("{prefix}{key}.")),
        _ => vec![format!("{prefix}{key}")],
    });
    each.collect()
}

/// Returns the error for an unknown key: similar keys, and those of its section (or all sections).
fn unknown(key: &str, table: &[Setting]) -> Error {
    let all = keys(table, "");
    let section = key.split('.').next().unwrap_or_default();
    let mut known: Vec<String> = all.iter().filter(|k| k.split('.').next() == Some(section)).cloned().collect();
    if known.is_empty() {
        known = table.iter().map(|setting| format!("{}.…", setting.key)).collect();
    }
    let mut nearest = nearest(key, all.iter().map(String::as_str));
    if nearest.is_empty() {
        // A key without its section, or with another one.
        let name = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
        let likely = self::nearest(&name(key), all.iter().map(|k| k.rsplit('.').next().unwrap_or_default()));
        nearest = all.iter().filter(|k| likely.contains(&name(k))).cloned().collect();
    }
    Error::UnknownKey { key: shortened(key), nearest, known }
}

/// Returns the `known` words that a user may have meant: the nearest by edit distance, if they differ by less than
/// half.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let short: String = word.chars().take(80).collect();
    let mut apart: Vec<(usize, &str)> = known.map(|known| (distance(&short, known), known)).collect();
    apart.sort_unstable();
    apart.dedup();
    let Some(&(least, _)) = apart.first() else { return Vec::new() };
    let close = |known: &str| least <= 3 && 2 * least < known.chars().count();
    apart
        .iter()
        .take_while(|(d, _)| *d == least)
        .filter(|(_, known)| close(known))
        .map(|(_, known)| (*known).to_owned())
        .collect()
}

/// Returns the edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for j in 0..b.len() {
            let next = (corner + usize::from(ca != b[j])).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}
