//! Bytes as text, six bits per character (RFC 4648, without padding).

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Number of characters of a number of bytes.
pub const fn length(bytes: usize) -> usize {
    (bytes * 4).div_ceil(3)
}

pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(length(bytes.len()));
    for part in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | part.get(i).map_or(0, |byte| u32::from(*byte)));
        (0..=part.len()).for_each(|i| text.push(char::from(LETTERS[(bits >> (18 - 6 * i)) as usize & 63])));
    }
    text
}

/// Returns the bytes of a text; `None` if no bytes have it.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for part in text.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for i in 0..4 {
            let letter = part.get(i).copied().unwrap_or(b'A');
            bits = bits << 6 | LETTERS.iter().position(|known| *known == letter)? as u32;
        }
        let [_, rest @ ..] = bits.to_be_bytes();
        let whole = part.len().checked_sub(1).filter(|whole| *whole > 0)?;
        bytes.extend(&rest[..whole]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_unchanged() {
        for (bytes, text) in [(&b""[..], ""), (b"M", "TQ"), (b"Ma", "TWE"), (b"Man", "TWFu")] {
            assert_eq!((encode(bytes).as_str(), decode(text).as_deref()), (text, Some(bytes)));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)).as_deref(), Some(&all[..]));
        assert_eq!(encode(&all).len(), length(all.len()));
        assert!(decode("T").is_none() && decode("TWF*").is_none() && decode("TWFü").is_none());
    }
}
