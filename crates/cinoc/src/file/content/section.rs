//! Sections of a problem file, read key by key.

use crate::Error;
use crate::settings::nearest;
use std::ops::RangeInclusive;
use toml::{Table, Value};

/// A section whose keys are taken one after another; what is left is not known.
pub struct Section {
    place: String,
    path: String,
    table: Table,
    known: Vec<&'static str>,
}

/// Returns an error about a key of a problem file.
pub fn fault(place: &str, key: impl Into<String>, reason: impl Into<String>) -> Error {
    Error::ProblemFile { place: crate::error::shown(place), key: key.into(), reason: reason.into() }
}

impl Section {
    /// The whole file.
    pub fn whole(table: Table, place: &str) -> Self {
        Self { place: place.into(), path: String::new(), table, known: Vec::new() }
    }

    /// Full name of a key; that of the section without one.
    pub fn path(&self, key: &str) -> String {
        match (self.path.as_str(), key) {
            ("", key) => key.into(),
            (path, "") => path.into(),
            (path, key) => format!("{path}.{key}"),
        }
    }

    /// An error about a key.
    pub fn fault(&self, key: &str, reason: impl Into<String>) -> Error {
        fault(&self.place, self.path(key), reason)
    }

    fn wrong<T>(&self, key: &str, value: &Value, expected: &str) -> Result<T, Error> {
        Err(self.fault(key, format!("it cannot be {}; it must be {expected}", crate::error::shortened(&value.to_string()))))
    }

    /// Takes a value.
    pub fn take(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.table.remove(key)
    }

    /// Returns the value of a key that must be there.
    pub fn need<T>(&self, key: &str, value: Option<T>, example: &str) -> Result<T, Error> {
        value.ok_or_else(|| self.fault(key, format!("it is missing; write for example {example}")))
    }

    /// Takes a number within a range.
    pub fn number(&mut self, key: &'static str, range: RangeInclusive<f64>) -> Result<Option<f64>, Error> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match as_number(&value) {
            Some(x) if range.contains(&x) => Ok(Some(x)),
            _ => self.wrong(key, &value, &format!("a number from {:?} to {:?}", range.start(), range.end())),
        }
    }

    /// Takes a whole number within a range.
    pub fn whole_number(&mut self, key: &'static str, range: RangeInclusive<usize>) -> Result<Option<usize>, Error> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value.as_integer().and_then(|x| usize::try_from(x).ok()) {
            Some(x) if range.contains(&x) => Ok(Some(x)),
            _ => self.wrong(key, &value, &format!("a whole number from {} to {}", range.start(), range.end())),
        }
    }

    /// Takes a list of numbers, each positive and of moderate size.
    pub fn numbers(&mut self, key: &'static str) -> Result<Option<Vec<f64>>, Error> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let all = value.as_array().and_then(|list| list.iter().map(as_number).collect::<Option<Vec<_>>>());
        match all {
            Some(all) if all.iter().all(|x| x.is_finite()) => Ok(Some(all)),
            _ => self.wrong(key, &value, "a list of numbers, like [1.0]"),
        }
    }

    /// Takes true or false.
    pub fn flag(&mut self, key: &'static str) -> Result<Option<bool>, Error> {
        let Some(value) = self.take(key) else { return Ok(None) };
        value.as_bool().map_or_else(|| self.wrong(key, &value, "true or false"), |flag| Ok(Some(flag)))
    }

    /// Takes a text of the language of equations; a number is one too.
    pub fn text(&mut self, key: &'static str) -> Result<Option<String>, Error> {
        let Some(value) = self.take(key) else { return Ok(None) };
        as_text(&value).map_or_else(|| self.wrong(key, &value, "a text or a number"), |text| Ok(Some(text)))
    }

    /// Takes the unit of a quantity, which plots and tables show; empty without one.
    pub fn unit(&mut self) -> Result<String, Error> {
        let Some(value) = self.take("unit") else { return Ok(String::new()) };
        let sign = |c: char| c.is_alphanumeric() || " %/*^()-.°·⁻".contains(c);
        match value.as_str() {
            Some(unit) if unit.trim() == unit && (1..=16).contains(&unit.chars().count()) && unit.chars().all(sign) => {
                Ok(unit.to_owned())
            }
            _ => self.wrong("unit", &value, "a unit of 1 to 16 letters, digits and signs, like \"m/s\""),
        }
    }

    /// Takes one of several words.
    pub fn word(&mut self, key: &'static str, words: &[&'static str]) -> Result<Option<&'static str>, Error> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match words.iter().find(|word| value.as_str() == Some(word)) {
            Some(word) => Ok(Some(word)),
            None => {
                let all: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
                self.wrong(key, &value, &all.join(" or "))
            }
        }
    }

    /// Takes a section.
    pub fn section(&mut self, key: &'static str) -> Result<Option<Self>, Error> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value {
            Value::Table(table) => Ok(Some(Self { place: self.place.clone(), path: self.path(key), table, known: Vec::new() })),
            other => self.wrong(key, &other, "a section"),
        }
    }

    /// Takes all that is left: names chosen in the file.
    pub fn names(&mut self) -> impl Iterator<Item = (String, Value)> + use<> {
        std::mem::take(&mut self.table).into_iter()
    }

    /// Reads one of those values as a section.
    pub fn inner(&self, name: &str, table: Table) -> Self {
        Self { place: self.place.clone(), path: self.path(name), table, known: Vec::new() }
    }

    /// Rejects keys that were not taken.
    pub fn done(self) -> Result<(), Error> {
        match self.table.keys().next() {
            Some(key) => Err(self.unknown(key)),
            None => Ok(()),
        }
    }

    /// An error about a key that is not known.
    pub fn unknown(&self, key: &str) -> Error {
        let near = nearest(key, self.known.iter().copied());
        let all = self.known.join(", ");
        let advice = if near.is_empty() { format!("known are {all}") } else { format!("did you mean {}?", near.join(" or ")) };
        self.fault(&crate::error::shortened(key), format!("it is not known; {advice}"))
    }
}

/// A number.
pub fn as_number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|i| i as f64)).filter(|x| x.is_finite())
}

/// A text, or a number as text.
pub fn as_text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| as_number(value).map(|x| format!("{x:?}")))
}
