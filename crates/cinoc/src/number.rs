//! Numbers in JSON, which has none for what is not finite: there they are words. A missing one could be taken for a good one.

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
        Number::Word(word) => word.parse().map_err(|_| E::custom(format!("{word:?} is no number"))),
    }
}

/// Writes a number, or the word for it.
pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    word(*x).serialize(serializer)
}

/// Reads a number, or the word for it.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    value(Number::deserialize(deserializer)?)
}

/// The same where there may be none.
pub mod option {
    use super::{Number, value, word};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes a number, or the word for it.
    pub fn serialize<S: Serializer>(x: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        x.map(word).serialize(serializer)
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Option::<Number>::deserialize(deserializer)?.map(value).transpose()
    }
}
