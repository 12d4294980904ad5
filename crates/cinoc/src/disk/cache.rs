//! Expensive arrays, cached in a file of the user's cache folder.

use super::{read_up_to, write_whole};
use crate::Real;
use std::path::{Path, PathBuf};

/// Version of the cache format; increased whenever the same key would mean other numbers.
const FORMAT: &str = "cinoc cache 1";

/// Returns the folder: `$CINOC_CACHE`, or `cinoc` in `$XDG_CACHE_HOME`, in `~/.cache` or in the folder of temporary
/// files.
pub fn folder() -> PathBuf {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("CINOC_CACHE").unwrap_or_else(|| {
        let general = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
        general.unwrap_or_else(std::env::temp_dir).join("cinoc")
    })
}

/// Returns `count` numbers that depend only on `key`: read if a valid cache file exists, otherwise computed and
/// written. If the folder is not writable, they are computed every time.
pub fn numbers(key: &str, count: usize, make: impl FnOnce() -> Vec<Real>) -> Vec<Real> {
    if cfg!(target_family = "wasm") {
        // A browser has no disk.
        return make();
    }
    numbers_in(&folder(), key, count, make)
}

/// Returns the cached numbers of a key, if any.
pub fn kept(key: &str, count: usize) -> Option<Vec<Real>> {
    // A browser has no disk.
    if cfg!(target_family = "wasm") { None } else { read(&path(&folder(), &full(key)), &full(key), count) }
}

/// Returns the key together with the format of the file.
fn full(key: &str) -> String {
    format!("{FORMAT}, {} bits: {key}", 8 * size_of::<Real>())
}

/// Returns the file of a full key.
fn path(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{:016x}.states", hash(key.as_bytes())))
}

fn read(path: &Path, key: &str, count: usize) -> Option<Vec<Real>> {
    let most = count.checked_mul(size_of::<Real>())?.checked_add(key.len() + size_of::<u64>())?;
    // Another user may have put a pipe there, where the folder of temporary files is the cache.
    let regular = path.symlink_metadata().is_ok_and(|about| about.is_file());
    let bytes = regular.then(|| read_up_to(path, most as u64).ok())??;
    decode(&bytes, key, count)
}

/// Implements [`numbers`] in a given folder.
pub fn numbers_in(folder: &Path, key: &str, count: usize, make: impl FnOnce() -> Vec<Real>) -> Vec<Real> {
    let key = full(key);
    let path = path(folder, &key);
    if let Some(found) = read(&path, &key, count) {
        return found;
    }
    let made = make();
    if std::fs::create_dir_all(folder).is_ok() {
        let _ = write_whole(&path, &encode(&made, &key));
    }
    made
}

/// Encodes the key, the numbers and a checksum.
fn encode(numbers: &[Real], key: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend(key.as_bytes());
    let sum = hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8], key: &str, count: usize) -> Option<Vec<Real>> {
    let (content, sum) = bytes.split_last_chunk::<8>()?;
    let sound = u64::from_le_bytes(*sum) == hash(content);
    let (numbers, named) = content.split_at_checked(count * size_of::<Real>())?;
    let (words, _) = numbers.as_chunks::<{ size_of::<Real>() }>();
    (sound && named == key.as_bytes()).then(|| words.iter().map(|&word| Real::from_le_bytes(word)).collect())
}

/// Fowler–Noll–Vo hash, variant 1a.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written_or_nothing() {
        let numbers = [1.5, -2.0, 0.1];
        let mut bytes = encode(&numbers, "three");
        assert_eq!(decode(&bytes, "three", 3).as_deref(), Some(&numbers[..]));
        assert_eq!(decode(&bytes, "other", 3), None);
        assert_eq!(decode(&bytes, "three", 2), None);
        bytes[2] ^= 1;
        assert_eq!(decode(&bytes, "three", 3), None);
        assert_eq!(decode(&[], "three", 3), None);
    }
}
