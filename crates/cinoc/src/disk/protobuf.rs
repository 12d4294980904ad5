//! A minimal writer of protocol buffers: numbers, bytes and nested messages.

/// A message that is written field by field.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// Returns the encoded message.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Appends a varint: seven bits per byte, lowest first; the eighth bit marks that more bytes follow.
    fn varint(&mut self, mut x: u64) {
        while x >= 0x80 {
            self.0.push(x as u8 | 0x80);
            x >>= 7;
        }
        self.0.push(x as u8);
    }

    /// Adds a whole number; negative ones take ten bytes.
    pub fn int(mut self, field: u64, x: i64) -> Self {
        self.varint(field << 3);
        self.varint(x as u64);
        self
    }

    /// Adds a number in double precision.
    pub fn double(mut self, field: u64, x: f64) -> Self {
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&x.to_le_bytes());
        self
    }

    /// Adds a number in single precision.
    pub fn float(mut self, field: u64, x: f32) -> Self {
        self.varint(field << 3 | 5);
        self.0.extend_from_slice(&x.to_le_bytes());
        self
    }

    /// Adds bytes.
    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds text.
    pub fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Adds a nested message.
    pub fn message(self, field: u64, message: Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// Adds several nested messages.
    pub fn messages(self, field: u64, all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(self, |own, message| own.message(field, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples from the specification of the encoding.
    #[test]
    fn numbers_and_text_are_encoded_as_specified() {
        assert_eq!(Message::default().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").into_bytes(), *b"\x12\x07testing");
        let inner = Message::default().int(1, 150);
        assert_eq!(Message::default().message(3, inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }

    #[test]
    fn integers_are_varints() {
        let encode = |value| Message::default().int(2, value).into_bytes();
        assert_eq!(encode(300), [0x10, 0xac, 0x02]);
        assert_eq!(encode(-1), [0x10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }
}
