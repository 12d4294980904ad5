//! Safetensors files with metadata, a format number and a checksum: the common part of models and checkpoints.
//!
//! The metadata is one JSON object of strings under the key `cinoc` of the header. Two entries belong to every file:
//! `format` is [`FORMAT`], and `checksum` is the CRC-32 of the whole file, eight hexadecimal digits, computed with
//! zeros in place of these digits. A flipped bit anywhere in the file is thus detected.

use crate::Error;
use crate::disk::write_whole;
use crate::error::shortened;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::str::FromStr;

/// Format number. Files of any other format are refused.
pub const FORMAT: &str = "1";

/// Placeholder for the digits of the checksum while it is computed.
const BLANK: &str = "00000000";

/// Metadata by name, sorted, so that equal content gives a byte-identical file.
pub type Metadata = BTreeMap<&'static str, String>;

/// A tensor to be written: name, type, shape, bytes.
pub type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

/// Writes a file.
pub fn write(path: &Path, facts: Metadata, tensors: &[Tensor]) -> Result<(), Error> {
    write_whole(path, &seal(facts, tensors))
}

/// Returns the bytes of a file.
pub fn seal(mut facts: Metadata, tensors: &[Tensor]) -> Vec<u8> {
    facts.insert("format", FORMAT.to_owned());
    facts.insert("checksum", BLANK.to_owned());
    // A single key: a map with several would be written in an order that changes from run to run.
    let metadata = HashMap::from([("cinoc".to_owned(), serde_json::to_string(&facts).expect("text is JSON"))]);
    let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
        (name.as_str(), TensorView::new(*dtype, shape.clone(), bytes).expect("sizes are consistent"))
    });
    let mut bytes = safetensors::serialize(views, Some(metadata)).expect("plain tensors can be written");
    let at = checksum_position(&bytes, BLANK).expect("the checksum was just written");
    let sum = checksum(&bytes, at);
    bytes[at..at + BLANK.len()].copy_from_slice(sum.as_bytes());
    bytes
}

/// Returns the position of the digits of the checksum: inside JSON inside JSON, hence the backslashes. The settings are
/// part of the metadata, but their quotation marks have two more.
fn checksum_position(bytes: &[u8], digits: &str) -> Option<usize> {
    let before = br#"\"checksum\":\""#;
    let found = [before, digits.as_bytes(), br#"\""#].concat();
    (digits.len() == BLANK.len())
        .then(|| bytes.windows(found.len()).position(|window| window == found).map(|at| at + before.len()))?
}

/// Computes the checksum of a file whose digits are at `at`.
fn checksum(bytes: &[u8], at: usize) -> String {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..at]);
    hasher.update(BLANK.as_bytes());
    hasher.update(&bytes[at + BLANK.len()..]);
    format!("{:08x}", hasher.finalize())
}

/// A file that was read and whose checksum was verified.
pub struct Sealed<'a> {
    path: &'a Path,
    facts: BTreeMap<String, String>,
    /// Tensors of the file.
    pub tensors: SafeTensors<'a>,
}

impl<'a> Sealed<'a> {
    /// Reads the bytes of a file; `path` names it in errors.
    pub fn open(bytes: &'a [u8], path: &'a Path) -> Result<Self, Error> {
        let bad = |reason: String| Error::Model { path: path.to_owned(), reason: shortened(&reason) };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| bad(e.to_string()))?;
        let facts =
            header.metadata().as_ref().and_then(|m| m.get("cinoc")).ok_or_else(|| bad("it has no CINOC metadata".into()))?;
        let facts: BTreeMap<String, String> = serde_json::from_str(facts).map_err(|e| bad(e.to_string()))?;
        let found = facts.get("format").map_or("none", String::as_str);
        if found != FORMAT {
            return Err(Error::Format { path: path.to_owned(), found: shortened(found), known: FORMAT });
        }
        let sum = facts.get("checksum").map_or("", String::as_str);
        if checksum_position(bytes, sum).is_none_or(|at| checksum(bytes, at) != sum) {
            return Err(Error::Damaged { path: path.to_owned() });
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| bad(e.to_string()))?;
        Ok(Self { path, facts, tensors })
    }

    /// Returns an error about the file.
    pub fn bad(&self, reason: impl Into<String>) -> Error {
        Error::Model { path: self.path.to_owned(), reason: shortened(&reason.into()) }
    }

    /// Returns a metadata entry.
    pub fn text(&self, key: &str) -> Result<&str, Error> {
        self.facts.get(key).map(String::as_str).ok_or_else(|| self.bad(format!("it lacks {key}")))
    }

    /// Returns a metadata entry as a number.
    pub fn number<T: FromStr>(&self, key: &str) -> Result<T, Error> {
        let text = self.text(key)?;
        text.parse().map_err(|_| self.bad(format!("{key} cannot be {text:?}")))
    }

    /// Returns the bytes of a tensor of that name and type, with shape `shape` if given.
    pub fn tensor(&self, name: &str, dtype: Dtype, shape: Option<&[usize]>) -> Result<&'a [u8], Error> {
        let tensor = self.tensors.tensor(name).map_err(|_| self.bad(format!("it lacks {name}")))?;
        if tensor.dtype() != dtype {
            return Err(self.bad(format!("{name} is in {:?}, not in {dtype:?}", tensor.dtype())));
        }
        match shape {
            Some(shape) if tensor.shape() != shape => {
                Err(self.bad(format!("{name} has shape {:?}, not {shape:?}", tensor.shape())))
            }
            _ => Ok(tensor.data()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let facts = Metadata::from([("config", "a = \"checksum\":\"00000000\"\n".to_owned()), ("seed", u64::MAX.to_string())]);
        seal(facts, &[("a".into(), Dtype::F32, vec![2, 3], (0..24).collect()), ("b".into(), Dtype::I32, vec![1], vec![7; 4])])
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = file();
        let sealed = Sealed::open(&bytes, Path::new("x")).unwrap();
        assert_eq!(sealed.number::<u64>("seed").unwrap(), u64::MAX);
        assert_eq!(sealed.tensor("a", Dtype::F32, Some(&[2, 3])).unwrap(), (0..24).collect::<Vec<u8>>());
        for (name, dtype, shape) in [("a", Dtype::F32, [3, 2]), ("a", Dtype::I32, [2, 3]), ("c", Dtype::F32, [2, 3])] {
            assert!(sealed.tensor(name, dtype, Some(&shape)).is_err());
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let whole = file();
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Sealed::open(&bytes, Path::new("x")).is_err(), "bit {bit}");
        }
        assert!(Sealed::open(&whole[..whole.len() - 1], Path::new("x")).is_err());
        assert!(Sealed::open(&[&whole[..], &[0]].concat(), Path::new("x")).is_err());
        assert!(Sealed::open(&[], Path::new("x")).is_err());
    }

    #[test]
    fn other_formats_are_named() {
        let text = file();
        let at = text.windows(11).position(|w| w == br#"format\":\""#).unwrap() + 11;
        let mut bytes = text.clone();
        bytes[at] = b'7';
        let error = Sealed::open(&bytes, Path::new("x")).err().unwrap().to_string();
        assert!(error.contains("format 7") && error.contains("train"), "{error}");
    }
}
