//! Files: written whole or not at all, and numbers kept for the next time.

pub mod cache;

use crate::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Writes a file whole or not at all: a kill in the middle leaves the old one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let partial = path.with_extension("partial");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    write().map_err(Error::file(path))
}
