//! Changes to settings, checked key by key.

use super::{Rule, Setting};
use crate::Error;
use crate::error::shortened;
use toml::{Table, Value};

/// Changes: a table read from a file, or single `key=value` pairs.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    changes: Vec<(String, Value)>,
}

impl Overlay {
    /// All keys of a TOML text; `place` names it in errors.
    pub fn from_toml(text: &str, place: &str) -> Result<Self, Error> {
        let mut changes = Vec::new();
        parse(text, place)?.into_iter().for_each(|(key, value)| flatten(key, value, &mut changes));
        Ok(Self { changes })
    }

    /// Some `key=value` pairs, one after the other.
    pub fn from_pairs(pairs: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, Error> {
        let mut overlay = Self::default();
        pairs.into_iter().try_for_each(|pair| overlay.set(pair.as_ref()))?;
        Ok(overlay)
    }

    /// Adds one `key=value`; a value that is not TOML is taken as text, and a table is a value for each of its keys.
    pub fn set(&mut self, pair: &str) -> Result<(), Error> {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| Error::bad("--set", format!("{pair:?}"), "key=value, for example --set train.updates=200"))?;
        let (key, value) = (key.trim(), value.trim());
        let parsed = format!("x = {value}").parse::<Table>().ok().and_then(|mut t| t.remove("x"));
        flatten(key.to_owned(), parsed.unwrap_or_else(|| Value::String(value.to_owned())), &mut self.changes);
        Ok(())
    }

    /// Takes out the last value of a key.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        let at = self.changes.iter().rposition(|(k, _)| k == key)?;
        let value = self.changes.remove(at).1;
        self.changes.retain(|(k, _)| k != key);
        Some(value)
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Changes settings that follow `table`. A key that is not there, or a value that is not allowed, is an error.
    pub fn apply(&self, tree: &mut Table, table: &[Setting]) -> Result<(), Error> {
        for (key, value) in &self.changes {
            let Some(rule) = find(table, key) else {
                return Err(Error::UnknownKey { key: shortened(key), hint: hint(key, table) });
            };
            let value = in_type(value, rule);
            if !rule.allows(&value) {
                return Err(Error::bad(key, value.to_string(), rule.expected()));
            }
            // An empty section changes nothing; the keys of others have become changes of their own.
            if !matches!(rule, Rule::Section(_)) {
                *at(tree, key) = value;
            }
        }
        Ok(())
    }
}

/// A table from TOML text; errors name the line.
pub(super) fn parse(text: &str, place: &str) -> Result<Table, Error> {
    text.parse().map_err(|e: toml::de::Error| {
        let line = e.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        let reason = shortened(&e.message().lines().collect::<Vec<_>>().join(" "));
        Error::Toml { place: format!("{place}, line {line},"), reason }
    })
}

/// Checks a complete tree against its table: every key, no other, each as it may be.
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
        Some(key) => {
            let key = format!("{prefix}{key}");
            Err(Error::UnknownKey { key: shortened(&key), hint: hint(&key, table) })
        }
        None => Ok(()),
    }
}

/// Adds what files of before could not say.
pub(crate) fn fill(tree: &mut Table, table: &[Setting]) {
    for Setting { key, rule, absent, .. } in table {
        match (tree.get_mut(*key), rule, absent) {
            (Some(Value::Table(inner)), Rule::Section(settings), _) => fill(inner, settings),
            (None, _, Some(absent)) => drop(tree.insert((*key).into(), absent.clone())),
            _ => {}
        }
    }
}

/// A value under its whole key; a section as all of its keys.
fn flatten(path: String, value: Value, out: &mut Vec<(String, Value)>) {
    match value {
        Value::Table(inner) if !inner.is_empty() => {
            inner.into_iter().for_each(|(key, value)| flatten(format!("{path}.{key}"), value, out));
        }
        value => out.push((path, value)),
    }
}

/// Whole numbers where the setting is a number with a point.
pub(super) fn in_type(value: &Value, rule: &Rule) -> Value {
    match (rule, value) {
        (Rule::Number(_) | Rule::Pair(_) | Rule::Triples { .. }, Value::Integer(i)) => Value::Float(*i as f64),
        (Rule::Pair(_) | Rule::Triples { .. }, Value::Array(list)) => {
            Value::Array(list.iter().map(|x| in_type(x, rule)).collect())
        }
        _ => value.clone(),
    }
}

/// The rule of a key like `train.updates`.
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

/// Every key of a table as a user writes it.
pub(super) fn keys(table: &[Setting], prefix: &str) -> Vec<String> {
    let each = table.iter().flat_map(|Setting { key, rule, .. }| match rule {
        Rule::Section(inner) => keys(inner, &format!("{prefix}{key}.")),
        _ => vec![format!("{prefix}{key}")],
    });
    each.collect()
}

/// The nearest known key, or all keys of the section.
fn hint(key: &str, table: &[Setting]) -> String {
    let known = keys(table, "");
    if let Some((d, k)) = known.iter().map(|k| (distance(key, k), k)).min()
        && d <= 3
    {
        return format!("did you mean {k:?}?");
    }
    let section = key.split('.').next().unwrap_or_default();
    let same: Vec<&str> = known.iter().map(String::as_str).filter(|k| k.split('.').next() == Some(section)).collect();
    if same.is_empty() { "`cinoc list PROBLEM` prints all of them".into() } else { format!("choose one of: {}", same.join(", ")) }
}

/// Edit distance.
pub fn distance(a: &str, b: &str) -> usize {
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
