//! Serialisation of numbers to JSON, which cannot represent non-finite ones: they are written as words, since a missing
//! number could be mistaken for a valid one.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Word(String),
}

fn word(x: f64) -> Number {
    match x {
        x if x.is_finite() => Number::Finite(x),
        x if x.is_nan() => Number::Word("nan".into()),
        x => Number::Word(if x > 0.0 { "inf" } else { "-inf" }.into()),
    }
}

fn value<E: serde::de::Error>(number: Number) -> Result<f64, E> {
    match number {
        Number::Finite(x) => Ok(x),
        Number::Word(word) => word.parse().map_err(|_| E::custom(format!("{word:?} is not a number"))),
    }
}

/// Writes a number, or a word if it is not finite.
pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    word(*x).serialize(serializer)
}

/// Reads a number or its word.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    value(Number::deserialize(deserializer)?)
}

/// Serialisation of optional numbers.
pub mod option {
    use super::{Number, value, word};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes a number, a word if it is not finite, or nothing.
    pub fn serialize<S: Serializer>(x: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        x.map(word).serialize(serializer)
    }

    /// Reads a number or its word, if there is one.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Option::<Number>::deserialize(deserializer)?.map(value).transpose()
    }
}
