//! A small writer of TensorBoard event files: scalars only, no dependency.
//!
//! An event file is a sequence of TFRecord frames, each holding one protobuf `Event`. Both formats are simple enough to
//! write by hand, which avoids a dependency on TensorFlow or protobuf for a few curves.

use crate::disk::protobuf::Message;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const PREFIX: &str = "events.out.tfevents.";
const SUFFIX: &str = ".cinoc";

/// Returns the name of an event file that is started `wall_seconds` after 1970. Ten digits, so that names sort by time;
/// TensorBoard reads the files of a folder in this order.
pub fn file_name(wall_seconds: f64) -> String {
    format!("{PREFIX}{:010}{SUFFIX}", wall_seconds as u64)
}

/// Returns true if a name has the form that [`file_name`] gives.
pub fn is_file_name(name: &str) -> bool {
    let digits = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    digits.is_some_and(|digits| digits.len() >= 10 && digits.bytes().all(|c| c.is_ascii_digit()))
}

/// Returns the time that an event file is named after; none if the name has another form or no clock gives that time.
pub fn seconds(name: &str) -> Option<f64> {
    let digits = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    digits.parse::<f64>().ok().filter(|seconds| is_file_name(name) && *seconds < 1e12)
}

/// Appends scalars to one TensorBoard event file. Writes are buffered: call [`flush`](Self::flush) before a checkpoint
/// records [`len`](Self::len), so that a resumed run can truncate the file to exactly that point.
#[derive(Debug)]
pub struct EventWriter {
    path: PathBuf,
    file: BufWriter<File>,
    length: u64,
}

impl EventWriter {
    /// Creates the file `events.out.tfevents.<seconds>.cinoc` in `dir` (created if missing). `wall_seconds` is the time
    /// since 1970. Refuses to overwrite an existing file.
    pub fn create(dir: &Path, wall_seconds: f64) -> io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        let path = dir.join(file_name(wall_seconds));
        let mut writer = Self { file: BufWriter::new(File::create_new(&path)?), path, length: 0 };
        writer.record(&Message::default().double(1, wall_seconds).text(3, "brain.Event:2").into_bytes())?;
        Ok(writer)
    }

    /// Continues the file at `path` after its first `length` bytes; anything that a killed run wrote beyond them is cut
    /// off, so that no step appears twice. `length` must be a value that [`len`](Self::len) returned; a longer one than
    /// the file is an error.
    pub fn open_at(path: &Path, length: u64) -> io::Result<Self> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        let found = file.metadata()?.len();
        if found < length {
            let message = format!("{} has {found} bytes, fewer than the {length} to keep", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), length })
    }

    /// Adds one point of the curve `tag`, at training step `step` and time `wall` (seconds since 1970).
    pub fn scalar(&mut self, wall: f64, step: i64, tag: &str, value: f32) -> io::Result<()> {
        let point = Message::default().text(1, tag).float(2, value); // Summary.Value
        let event = Message::default().double(1, wall).int(2, step).message(5, Message::default().message(1, point));
        self.record(&event.into_bytes())
    }

    /// Flushes everything written so far to the operating system.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    /// Returns the number of bytes written so far, buffered ones included.
    #[allow(clippy::len_without_is_empty, reason = "a file is never empty: it starts with its version")]
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one TFRecord frame: length, its checksum, payload, its checksum; all little-endian.
    fn record(&mut self, payload: &[u8]) -> io::Result<()> {
        let size = (payload.len() as u64).to_le_bytes();
        let mut frame = Vec::with_capacity(payload.len() + 16);
        frame.extend_from_slice(&size);
        frame.extend_from_slice(&masked_crc(&size).to_le_bytes());
        frame.extend_from_slice(payload);
        frame.extend_from_slice(&masked_crc(payload).to_le_bytes());
        self.file.write_all(&frame)?;
        self.length += frame.len() as u64;
        Ok(())
    }
}

/// CRC-32C of each single byte (Castagnoli polynomial, bit-reversed).
const CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// Computes the CRC-32C (Castagnoli).
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| crc >> 8 ^ CRC_TABLE[(crc as u8 ^ byte) as usize])
}

/// Masks a checksum as TFRecord does: rotated by 15 bits plus a constant, since a checksum of data that contains
/// checksums is weak.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates an empty, separate folder for each test.
    fn scratch(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("cinoc-tensorboard-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        dir
    }

    /// Returns the payloads of all frames; checks every checksum and that the file ends with a frame.
    fn payloads(path: &Path) -> Vec<Vec<u8>> {
        let file = std::fs::read(path).unwrap();
        let mut rest = &file[..];
        let mut found = Vec::new();
        while !rest.is_empty() {
            let (size, tail) = rest.split_at(8);
            let (size_crc, tail) = tail.split_at(4);
            let (payload, tail) = tail.split_at(u64::from_le_bytes(size.try_into().unwrap()) as usize);
            let (payload_crc, tail) = tail.split_at(4);
            assert_eq!(size_crc, masked_crc(size).to_le_bytes());
            assert_eq!(payload_crc, masked_crc(payload).to_le_bytes());
            found.push(payload.to_vec());
            rest = tail;
        }
        found
    }

    /// Returns the bytes of a scalar event with a one-byte step and short tag, field by field.
    fn expected(wall: f64, step: u8, tag: &str, value: f32) -> Vec<u8> {
        let n = tag.len() as u8;
        let (wall, value) = (wall.to_le_bytes(), value.to_le_bytes());
        [&[0x09][..], &wall, &[0x10, step, 0x2a, n + 9, 0x0a, n + 7, 0x0a, n], tag.as_bytes(), &[0x15], &value].concat()
    }

    #[test]
    fn crc_known_answers() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283); // the check value of the CRC catalogue
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa); // RFC 3720, B.4
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn reads_back_what_it_wrote() {
        let dir = scratch("reads-back");
        let mut writer = EventWriter::create(&dir, 12.5).unwrap();
        writer.scalar(13.0, 7, "loss", 0.25).unwrap();
        writer.flush().unwrap();
        assert_eq!(writer.path(), dir.join("events.out.tfevents.0000000012.cinoc"));
        assert_eq!(std::fs::metadata(writer.path()).unwrap().len(), writer.len());
        let version = [&[0x09][..], &12.5f64.to_le_bytes(), &[0x1a, 13], b"brain.Event:2"].concat();
        assert_eq!(payloads(writer.path()), [version, expected(13.0, 7, "loss", 0.25)]);
        assert!(EventWriter::create(&dir, 12.9).is_err(), "must not overwrite");
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn continues_after_a_cut() {
        let dir = scratch("continues");
        let mut writer = EventWriter::create(&dir, 1.0).unwrap();
        writer.scalar(2.0, 1, "loss", 3.0).unwrap();
        let (path, kept) = (writer.path().to_owned(), writer.len());
        writer.scalar(3.0, 2, "loss", 2.0).unwrap(); // lost by the crash
        drop(writer);
        let mut writer = EventWriter::open_at(&path, kept).unwrap();
        writer.scalar(4.0, 2, "loss", 1.0).unwrap();
        let length = writer.len();
        drop(writer);
        let found = payloads(&path);
        assert_eq!(found[1..], [expected(2.0, 1, "loss", 3.0), expected(4.0, 2, "loss", 1.0)]);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), length);
        assert!(EventWriter::open_at(&path, length + 1).is_err(), "must not pad a short file");
        std::fs::remove_dir_all(dir).unwrap();
    }
}
