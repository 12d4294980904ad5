//! Results of searches, in memory and in a file of JSON lines: the request, a line per instance, the summary.

use crate::cmd::lines::Lines;
use anyhow::Result;
use cinoc::internal::ranks::Ranks;
use cinoc::rollout::InitialCondition;
use cinoc_lab::optimum::Record;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;

/// Results so far.
pub struct Results<T> {
    found: Vec<T>,
    file: Option<Lines>,
}

impl<T: Record + Clone + Serialize + DeserializeOwned> Results<T> {
    /// Opens a file, if there is one; one with another request is refused.
    pub fn open(path: Option<&Path>, header: Value) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { found: Vec::new(), file: None }) };
        let read = |value: Value| match value.get("summary") {
            Some(_) => Ok(None),
            None => serde_json::from_value::<T>(value).map(Some),
        };
        let (lines, all) = Lines::open(path, &header, "optimum", read)?;
        let (mut found, mut known) = (Vec::new(), HashSet::new());
        found.extend(all.into_iter().flatten().filter(|one| known.insert(one.instance())));
        Ok(Self { found, file: Some(lines) })
    }

    /// Shares the results of the first rank, which alone reads and writes the file.
    pub fn shared(mut self, ranks: &dyn Ranks) -> Result<Self> {
        let found = ranks.share(Some(serde_json::to_vec(&self.found)?))?;
        if !ranks.first() {
            self.found = serde_json::from_slice(&found)?;
        }
        Ok(self)
    }

    /// True if there is a result of the instance.
    pub fn has(&self, instance: usize) -> bool {
        self.found.iter().any(|found| found.instance() == instance)
    }

    /// The results of the first `count` instances, in order.
    pub fn of(&self, count: usize) -> Vec<T> {
        let mut found: Vec<T> = self.found.iter().filter(|found| found.instance() < count).cloned().collect();
        found.sort_by_key(T::instance);
        found
    }

    /// Adds a result; with its initial condition and actions, if given.
    pub fn add(&mut self, found: T, begins: Option<&InitialCondition>) -> Result<()> {
        let mut line = serde_json::to_value(&found)?;
        if let (Some(begins), Some(line)) = (begins, line.as_object_mut()) {
            let more =
                json!({"start": begins.start, "target": begins.target, "places": begins.positions, "actions": found.actions()});
            line.extend(more.as_object().cloned().unwrap_or_default());
        }
        self.found.push(found);
        self.write(&line)
    }

    /// Ends the file with a summary.
    pub fn end(&mut self, summary: &Value) -> Result<()> {
        self.write(&json!({ "summary": summary }))
    }

    fn write(&mut self, line: &Value) -> Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.write(line))
    }
}
