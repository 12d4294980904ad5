//! Changes to a configuration, checked key by key.

use super::Config;
use crate::Error;
use toml::{Table, Value};

/// Changes: a table read from a file, or single `key=value` pairs.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    changes: Vec<(String, Value)>,
}

impl Overlay {
    /// All keys of a TOML text; `place` names it in errors.
    pub fn from_toml(text: &str, place: &str) -> Result<Self, Error> {
        let table: Table =
            text.parse().map_err(|e: toml::de::Error| Error::Toml { place: place.into(), reason: e.message().into() })?;
        let mut changes = Vec::new();
        flatten("", table, &mut changes);
        Ok(Self { changes })
    }

    /// Adds one `key=value`; a value that is not TOML is taken as text.
    pub fn set(&mut self, pair: &str) -> Result<(), Error> {
        let (key, value) = pair.split_once('=').ok_or_else(|| Error::BadValue {
            key: "--set".into(),
            value: format!("{pair:?}"),
            expected: "key=value, for example --set train.updates=200".into(),
        })?;
        let (key, value) = (key.trim(), value.trim());
        let parsed = format!("x = {value}").parse::<Table>().ok().and_then(|mut t| t.remove("x"));
        self.changes.push((key.to_owned(), parsed.unwrap_or_else(|| Value::String(value.to_owned()))));
        Ok(())
    }

    /// The text that a key is changed to, where it is.
    pub fn word(&self, key: &str) -> Option<&str> {
        self.changes.iter().rev().find(|(k, _)| k == key)?.1.as_str()
    }

    /// The number that a key is changed to, where it is.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.changes.iter().rev().find(|(k, _)| k == key)?.1.as_float()
    }

    /// Takes out the value of a key.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        let at = self.changes.iter().position(|(k, _)| k == key)?;
        Some(self.changes.remove(at).1)
    }
}

fn flatten(prefix: &str, table: Table, out: &mut Vec<(String, Value)>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => flatten(&path, inner, out),
            value => out.push((path, value)),
        }
    }
}

/// The defaults with the changes applied. A key the defaults do not have, or a value of another type, is an error.
pub fn overlay(defaults: &Config, changes: &Overlay) -> Result<Config, Error> {
    let mut tree = Table::try_from(defaults).expect("a configuration is plain data");
    let mut known = Vec::new();
    flatten("", tree.clone(), &mut known);
    for (key, value) in &changes.changes {
        let Some((_, old)) = known.iter().find(|(k, _)| k == key) else {
            return Err(Error::UnknownKey { key: key.clone(), hint: hint(key, &known) });
        };
        let value = match (old, value) {
            (Value::Float(_), Value::Integer(i)) => Value::Float(*i as f64),
            (Value::Integer(_), Value::Integer(i)) if *i < 0 => return Err(bad(key, value, old)),
            (Value::Float(_), Value::Float(x)) if !x.is_finite() => return Err(bad(key, value, old)),
            _ if old.same_type(value) => value.clone(),
            _ => return Err(bad(key, value, old)),
        };
        *at(&mut tree, key) = value;
    }
    tree.try_into().map_err(|e: toml::de::Error| Error::Toml { place: "the configuration".into(), reason: e.message().into() })
}

fn bad(key: &str, value: &Value, old: &Value) -> Error {
    let expected = match old {
        Value::Float(_) => "a number".into(),
        Value::Integer(_) => "a whole number, 0 or more".into(),
        Value::Boolean(_) => "true or false".into(),
        Value::Array(_) => format!("a list like {old}"),
        other => format!("a {} like {other}", other.type_str()),
    };
    Error::BadValue { key: key.into(), value: value.to_string(), expected }
}

fn at<'a>(tree: &'a mut Table, key: &str) -> &'a mut Value {
    match key.split_once('.') {
        None => &mut tree[key],
        Some((head, rest)) => at(tree[head].as_table_mut().expect("only tables have inner keys"), rest),
    }
}

/// The nearest known key, or all keys of the section.
fn hint(key: &str, known: &[(String, Value)]) -> String {
    let nearest = known.iter().map(|(k, _)| (distance(key, k), k)).min();
    if let Some((d, k)) = nearest
        && d <= 3
    {
        return format!("did you mean {k:?}?");
    }
    let section = key.split('.').next().unwrap_or_default();
    let same: Vec<&str> = known.iter().map(|(k, _)| k.as_str()).filter(|k| k.split('.').next() == Some(section)).collect();
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
