//! Senses beside the error: the list `also` of the section `see`.

use super::super::section::Section;
use crate::Error;
use toml::Value;

/// A text that agents see at their position, with the unit it is divided by; `None`: its typical size.
#[derive(Clone, Debug, PartialEq)]
pub struct AlsoText {
    pub text: String,
    pub scale: Option<f64>,
    /// Time by which it looks ahead: a forecast.
    pub ahead: f64,
}

/// Reads the list `also` of the section `see`.
pub fn also_of(see: &mut Section) -> Result<Vec<AlsoText>, Error> {
    let Some(value) = see.take("also") else { return Ok(Vec::new()) };
    let wrong = "it must be a list of texts, like [\"fuel\", { text = \"k*z\", scale = 10.0 }]";
    let Value::Array(list) = value else { return Err(see.fault("also", wrong)) };
    let one = |value: Value| match value {
        Value::Table(table) => also_table(see.inner("also", table)),
        Value::String(text) => Ok(AlsoText { text, scale: None, ahead: 0.0 }),
        _ => Err(see.fault("also", wrong)),
    };
    let all = list.into_iter().map(one).collect::<Result<Vec<_>, _>>()?;
    match all.len() {
        1..=16 => Ok(all),
        _ => Err(see.fault("also", "one to sixteen texts are possible")),
    }
}

fn also_table(mut inner: Section) -> Result<AlsoText, Error> {
    let text = inner.text("text")?;
    let text = inner.need("text", text, "text = \"k*z\"")?;
    let scale = inner.number("scale", 1e-12..=1e12)?;
    let ahead = inner.number("ahead", 0.0..=1e9)?.unwrap_or(0.0);
    inner.done()?;
    Ok(AlsoText { text, scale, ahead })
}
