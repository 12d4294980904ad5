//! Numbers as bytes, bit for bit.

/// A number that can be sent.
pub trait Word: Copy {
    /// Appends numbers to a message.
    fn put(numbers: &[Self], message: &mut Vec<u8>);

    /// Returns the numbers of a message.
    fn get(message: &[u8]) -> impl Iterator<Item = Self>;
}

macro_rules! word {
    ($number:ty) => {
        impl Word for $number {
            fn put(numbers: &[Self], message: &mut Vec<u8>) {
                let start = message.len();
                message.resize(start + size_of_val(numbers), 0);
                // All at once: a call for each number would take longer than the sum.
                let (words, _) = message[start..].as_chunks_mut();
                words.iter_mut().zip(numbers).for_each(|(word, number)| *word = number.to_le_bytes());
            }

            fn get(message: &[u8]) -> impl Iterator<Item = Self> {
                message.as_chunks().0.iter().map(|word| Self::from_le_bytes(*word))
            }
        }
    };
}

word!(f32);
word!(f64);

/// Encodes numbers as a message.
pub fn message<T: Word>(numbers: &[T]) -> Vec<u8> {
    let mut message = Vec::new();
    T::put(numbers, &mut message);
    message
}
