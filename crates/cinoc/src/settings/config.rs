//! All settings of a run.

use super::{Setting, overlay};
use crate::Error;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// All settings of a training run except its seed: the name of a problem, its sections, `policy` and `train`. Always
/// complete and checked: only a [`Registry`](crate::Registry) creates one.
///
/// ```
/// let heat = cinoc::problem("heat1d")?;
/// let config = heat.config();
/// assert_eq!(config.get("swarm.agents").and_then(|value| value.as_integer()), Some(8));
/// assert!(config.to_toml().contains("[train]"));
/// # Ok::<(), cinoc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    problem: String,
    tree: Table,
}

impl Config {
    /// Creates a configuration from a tree that follows `table`.
    pub(crate) fn new(problem: &str, tree: Table, table: &[Setting]) -> Result<Self, Error> {
        overlay::check(&tree, table, "")?;
        Ok(Self { problem: problem.into(), tree })
    }

    /// Reads the text of [`to_toml`](Self::to_toml): the name of the problem, and the rest of the tree.
    pub(crate) fn parse(text: &str, place: &str) -> Result<(String, Table), Error> {
        let mut tree = overlay::parse(text, place)?;
        match tree.remove("problem") {
            Some(Value::String(name)) => Ok((name, tree)),
            _ => Err(overlay::invalid(place, "it names no problem")),
        }
    }

    /// Returns the name of the problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// Returns all sections.
    #[doc(hidden)]
    pub fn tree(&self) -> &Table {
        &self.tree
    }

    /// Returns the value of a key like `train.updates`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        key.split('.').try_fold(None, |at: Option<&Value>, part| match at {
            None => self.tree.get(part).map(Some),
            Some(value) => value.as_table()?.get(part).map(Some),
        })?
    }

    /// Converts a section to its type.
    ///
    /// # Panics
    /// If there is no such section of that type: its table is not the one of the registry.
    #[doc(hidden)]
    pub fn section<T: DeserializeOwned>(&self, name: &str) -> T {
        let section = self.tree.get(name).unwrap_or_else(|| panic!("the settings have no section {name:?}"));
        section.clone().try_into().unwrap_or_else(|e| panic!("section {name:?}: {e}"))
    }

    /// Formats the configuration as TOML.
    pub fn to_toml(&self) -> String {
        let mut tree = Table::from_iter([("problem".to_owned(), Value::String(self.problem.clone()))]);
        tree.extend(self.tree.clone());
        toml::to_string(&tree).expect("settings are plain data")
    }

    /// Returns the first key whose value differs from that of `other`.
    #[doc(hidden)]
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.problem != other.problem {
            return Some("problem".into());
        }
        first_difference(&self.tree, &other.tree, "")
    }
}

fn first_difference(a: &Table, b: &Table, prefix: &str) -> Option<String> {
    let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
    keys.into_iter().find_map(|key| match (a.get(key), b.get(key)) {
        (Some(Value::Table(a)), Some(Value::Table(b))) => first_difference(a, b, &format!("{prefix}{key}.")),
        (a, b) => (a != b).then(|| format!("{prefix}{key}")),
    })
}
