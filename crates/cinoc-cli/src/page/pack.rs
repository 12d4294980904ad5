//! Bytes as text inside of a page: gzip, which browsers can unpack, and base64.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Packs bytes; those that are gzip already stay as they are.
pub fn packed(bytes: &[u8]) -> String {
    if bytes.is_empty() || bytes.starts_with(&[0x1f, 0x8b]) {
        return base64(bytes);
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let packed = gzip.write_all(bytes).and_then(|()| gzip.finish()).expect("memory can be written to");
    base64(&packed)
}

/// Six bits a letter; `=` for what is missing of the last four.
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, i| word << 8 | u32::from(three.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= three.len() { letter as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        let examples = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (plain, text) in examples {
            assert_eq!(base64(plain.as_bytes()), text);
        }
    }
}
