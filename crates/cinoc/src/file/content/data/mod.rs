//! Data files of a problem file: pictures, arrays and tables beside it.

mod base64;
mod folder;
mod raster;
mod table;

pub use raster::{Raster, Resampling};
pub use table::columns;

use super::section::fault;
use crate::Error;
use std::collections::BTreeMap;

/// Maximum number of bytes of all data files together.
const MOST_BYTES: usize = 4 << 20;

/// Maximum number of data files.
pub const MOST_FILES: usize = 64;

/// Maximum number of characters of a data file in settings.
pub const LONGEST: usize = base64::length(MOST_BYTES) + 1000;

/// The content of data files, by name.
#[derive(Default)]
pub struct Data {
    files: BTreeMap<String, Vec<u8>>,
}

impl Data {
    /// Reads files from the folder of the problem file `place` or below: keys that name them, with their names.
    pub fn read<'a>(place: &str, names: impl IntoIterator<Item = (String, &'a str)>) -> Result<Self, Error> {
        let mut files = BTreeMap::new();
        let mut left = MOST_BYTES;
        for (key, name) in names {
            if files.contains_key(name) {
                continue;
            }
            if files.len() == MOST_FILES {
                return Err(fault(place, key, format!("at most {MOST_FILES} data files are possible")));
            }
            let bytes = folder::read(place, name, left).map_err(|reason| fault(place, key, reason))?;
            left -= bytes.len();
            files.insert(name.to_owned(), bytes);
        }
        Ok(Self { files })
    }

    /// Reads what [`texts`](Self::texts) wrote; `None` if it is damaged.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut files = BTreeMap::new();
        for text in texts {
            let (name, content) = text.rsplit_once(": ")?;
            files.insert(name.to_owned(), base64::decode(content)?);
        }
        Some(Self { files })
    }

    /// The files as texts of settings.
    pub fn texts(&self) -> Vec<String> {
        self.files.iter().map(|(name, bytes)| format!("{name}: {}", base64::encode(bytes))).collect()
    }

    /// The content of a file that a key of the problem file `place` names.
    pub fn file(&self, place: &str, key: &str, name: &str) -> Result<&[u8], Error> {
        let missing = || fault(place, key, format!("{name} is not among the data that the settings hold"));
        self.files.get(name).map(Vec::as_slice).ok_or_else(missing)
    }
}
