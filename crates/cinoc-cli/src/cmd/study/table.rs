//! The table of a study, in memory and in a file.

use crate::cmd::lines::Lines;
use anyhow::Result;
use cinoc::internal::ranks::Ranks;
use cinoc_lab::study::Row;
use serde_json::Value;
use std::path::Path;

/// Rows so far.
pub struct Table {
    /// Rows in the order they were found.
    pub rows: Vec<Row>,
    /// None on all ranks but the first.
    file: Option<Lines>,
}

impl Table {
    /// Opens a file, which the first rank alone reads and writes.
    pub fn open(path: &Path, header: &Value, ranks: &dyn Ranks) -> Result<Self> {
        let mut table = Self { rows: Vec::new(), file: None };
        if ranks.first() {
            // A case is there as a whole or not at all.
            let (lines, cases) = Lines::open(path, header, "study", serde_json::from_value::<Vec<Row>>)?;
            table.rows = cases.concat();
            table.file = Some(lines);
        }
        let shared = ranks.share(Some(serde_json::to_vec(&table.rows)?))?;
        if !ranks.first() {
            table.rows = serde_json::from_slice(&shared)?;
        }
        Ok(table)
    }

    /// True if the case was computed for the policy.
    pub fn has(&self, case: usize, policy: usize) -> bool {
        self.rows.iter().any(|row| (row.case, row.policy) == (case, policy))
    }

    /// Adds the rows of a case for a policy trained with this seed.
    pub fn add(&mut self, case: usize, policy: usize, trained: u64, mut rows: Vec<Row>) -> Result<()> {
        rows.iter_mut().for_each(|row| (row.case, row.policy, row.trained) = (case, policy, trained));
        if let Some(file) = &mut self.file {
            file.write(&serde_json::to_value(&rows)?)?;
        }
        self.rows.extend(rows);
        Ok(())
    }
}
