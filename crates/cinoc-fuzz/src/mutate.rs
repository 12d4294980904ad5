//! Changes to a valid file.

use arbitrary::{Result, Unstructured};

/// Wrong values of lengths, counts and offsets.
const LENGTHS: [u64; 14] =
    [0, 1, 2, 7, 0x7f, 0xff, 0x7fff, 0xffff, 1 << 20, 0x7fff_ffff, 0xffff_ffff, 1 << 40, i64::MAX as u64, u64::MAX];

/// Wrong values as text.
const NUMBERS: [&str; 22] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "0.5",
    "255",
    "65536",
    "1000000",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e999",
    "-1e999",
    "1e-400",
    "nan",
    "inf",
    "0x7f",
];

/// Words with a meaning in the texts we read.
pub const WORDS: [&str; 30] = [
    "true",
    "null",
    "\"\"",
    "\"heat1d\"",
    "[]",
    "{}",
    "[[",
    "]]",
    "{",
    "}",
    ",",
    ":",
    "=",
    ".",
    "\n",
    "\r\n",
    "\"",
    "'",
    "\"\"\"",
    "\\",
    "#",
    "\\u0000",
    "\0",
    "\u{feff}",
    "é",
    "\u{1F600}",
    "1979-05-27",
    "x = ",
    "problem",
    "summary",
];

/// Applies one to four changes.
pub fn changed(choice: &mut Unstructured, sound: &[u8], other: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = sound.to_vec();
    for _ in 0..choice.int_in_range(1..=4)? {
        change(choice, &mut bytes, other)?;
    }
    Ok(bytes)
}

/// Applies one change; `other` is a file to take pieces from.
pub fn change(choice: &mut Unstructured, bytes: &mut Vec<u8>, other: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        bytes.extend_from_slice(&other[..other.len().min(64)]);
        return Ok(());
    }
    let at = place(choice, bytes.len())?;
    let length = usize::from(choice.arbitrary::<u8>()?).min(bytes.len() - at);
    match choice.int_in_range(0..=12)? {
        // A bit, a byte.
        0 | 1 => bytes[at] ^= 1 << choice.int_in_range(0..=7)?,
        2 => bytes[at] = choice.arbitrary()?,
        // Truncated, torn, doubled, spliced.
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..at + length)),
        5 => {
            let piece = bytes[at..at + length].to_vec();
            splice(bytes, at, &piece);
        }
        6 if !other.is_empty() => {
            let from = place(choice, other.len())?;
            let piece = &other[from..(from + length).min(other.len())];
            splice(bytes, at, piece);
        }
        7 => bytes[at..at + length].fill(*choice.choose(&[0, 0xff, b' ', b'0', b'['])?),
        8 => {
            let piece = choice.bytes(length.min(choice.len()).min(16))?.to_vec();
            splice(bytes, at, &piece);
        }
        // A wrong length, of any width and byte order.
        9 => {
            let value = choice.choose(&LENGTHS)?.to_le_bytes();
            let width = *choice.choose(&[1, 2, 4, 8])?;
            let mut word = value[..width].to_vec();
            if choice.arbitrary()? {
                word.reverse();
            }
            let end = (at + width).min(bytes.len());
            bytes[at..end].copy_from_slice(&word[..end - at]);
        }
        // A wrong number in a text.
        10 | 11 => {
            let said = *choice.choose(&NUMBERS)?;
            if let Some(digits) = digits(bytes, at) {
                bytes.splice(digits, said.bytes());
            } else {
                splice(bytes, at, said.as_bytes());
            }
        }
        _ => {
            let word = *choice.choose(&WORDS)?;
            splice(bytes, at, word.as_bytes());
        }
    }
    Ok(())
}

/// Returns an offset in a file: anywhere, or near its beginning, where headers are.
fn place(choice: &mut Unstructured, length: usize) -> Result<usize> {
    let near = length.min(*choice.choose(&[16, 128, usize::MAX, usize::MAX])?);
    choice.choose_index(near)
}

fn splice(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}

/// Returns the first run of digits at or after an offset.
fn digits(bytes: &[u8], at: usize) -> Option<std::ops::Range<usize>> {
    let from = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
    let length = bytes[from..].iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len() - from);
    Some(from..from + length)
}

/// Returns a text of meaningful words.
pub fn soup(choice: &mut Unstructured) -> Result<String> {
    (0..choice.int_in_range(0..=40)?)
        .map(|_| Ok(if choice.arbitrary()? { *choice.choose(&WORDS)? } else { *choice.choose(&NUMBERS)? }))
        .collect()
}

/// Returns far too deep nesting: `open` repeated, and perhaps `close` equally often.
pub fn nested(choice: &mut Unstructured, pairs: &[(&str, &str)]) -> Result<String> {
    let &(open, close) = choice.choose(pairs)?;
    let depth = *choice.choose(&[3usize, 50, 127, 128, 129, 1000, 20_000])?;
    Ok(open.repeat(depth) + "1" + &close.repeat(if choice.arbitrary()? { depth } else { 0 }))
}
