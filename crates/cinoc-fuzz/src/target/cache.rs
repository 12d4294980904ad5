//! Cached states.

use super::scratch;
use crate::{Allowance, Answer, Target, mutate};
use arbitrary::{Result, Unstructured};
use cinoc::Real;
use cinoc::internal::disk::cache;
use std::path::PathBuf;
use tempfile::TempDir;

const KEY: &str = "forty numbers";
const COUNT: usize = 40;

/// The file of forty numbers.
pub struct Cache {
    folder: TempDir,
    sound: Vec<u8>,
}

fn numbers() -> Vec<Real> {
    (0..COUNT).map(|i| i as Real).collect()
}

impl Cache {
    pub fn new() -> Self {
        let folder = scratch();
        cache::numbers_in(folder.path(), KEY, COUNT, numbers);
        let own = Self { folder, sound: Vec::new() };
        let sound = std::fs::read(own.file()).expect("a file");
        Self { sound, ..own }
    }

    fn file(&self) -> PathBuf {
        let mut names = std::fs::read_dir(self.folder.path()).expect("a folder").map(|entry| entry.expect("an entry").path());
        names.next().expect("a file")
    }
}

/// Returns the bytes with a valid checksum: the Fowler–Noll–Vo hash in the last eight bytes.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len().saturating_sub(8);
    let sum =
        bytes[..end].iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let tail = bytes.len() - end;
    bytes[end..].copy_from_slice(&sum.to_le_bytes()[..tail]);
    bytes
}

impl Target for Cache {
    fn name(&self) -> &'static str {
        "caches"
    }

    /// The file, its content, and the replacement where it is not valid.
    fn allowance(&self) -> Allowance {
        Allowance { fixed: 1 << 14, per_byte: 4 }
    }

    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>> {
        let changed = match choice.int_in_range(0..=3)? {
            0 => self.sound.clone(),
            _ => mutate::changed(choice, &self.sound, &self.sound)?,
        };
        Ok(if choice.arbitrary()? { sealed(changed) } else { changed })
    }

    /// Numbers are those of the file if it is complete and matches the key; otherwise they are computed again.
    fn read(&self, input: &[u8]) -> Result<Answer, String> {
        let path = self.file();
        std::fs::write(&path, input).map_err(|error| error.to_string())?;
        let mut made = false;
        let found = cache::numbers_in(self.folder.path(), KEY, COUNT, || {
            made = true;
            numbers()
        });
        let now = std::fs::read(&path).map_err(|error| error.to_string())?;
        if found.len() != COUNT {
            return Err(format!("{} numbers", found.len()));
        }
        match made {
            false if now == input => Ok(Answer::Accepted),
            false => Err("a file that was taken was changed".into()),
            true if now == self.sound => Ok(Answer::Refused("made again; written again".into())),
            true => Err("a file that was not taken was left".into()),
        }
    }
}
