//! Sections of names chosen in the file: constants, maps and other texts.

use super::super::section::{Section, as_number, as_text};
use crate::Error;
use toml::Value;

/// A constant and the range that training draws it from.
pub struct Constant {
    pub name: String,
    pub value: f64,
    pub range: Option<[f64; 2]>,
    pub unit: String,
}

/// Largest number of names in a section.
pub const MOST_NAMES: usize = 64;

pub fn constants_of(mut section: Section) -> Result<Vec<Constant>, Error> {
    let mut all = Vec::new();
    for (name, value) in section.names() {
        let (value, range, unit) = match value {
            Value::Table(table) => {
                let mut inner = section.inner(&name, table);
                let value = inner.number("value", -1e12..=1e12)?;
                let value = inner.need("value", value, "value = 1.0")?;
                let range = match inner.numbers("range")?.as_deref() {
                    None => None,
                    Some(&[low, high]) if low <= value && value <= high => Some([low, high]),
                    Some(_) => return Err(inner.fault("range", "it must be two numbers around the value, like [0.5, 2.0]")),
                };
                let unit = inner.unit()?;
                inner.done()?;
                (value, range, unit)
            }
            other => match as_number(&other) {
                Some(value) if value.abs() <= 1e12 => (value, None, String::new()),
                _ => {
                    let reason = "it must be a number, or a value with a range like { value = 1.0, range = [0.5, 2.0] }";
                    return Err(section.fault(&name, reason));
                }
            },
        };
        all.push(Constant { name, value, range, unit });
    }
    if all.len() > MOST_NAMES {
        return Err(section.fault("", format!("at most {MOST_NAMES} constants are possible")));
    }
    Ok(all)
}

/// Names and texts of a section.
pub fn texts_of(mut section: Section) -> Result<(Vec<(String, String)>, Section), Error> {
    let mut all = Vec::new();
    for (name, value) in section.names() {
        let Some(text) = as_text(&value) else { return Err(section.fault(&name, "it must be a text or a number")) };
        all.push((name, text));
    }
    if all.len() > MOST_NAMES {
        return Err(section.fault("", format!("at most {MOST_NAMES} names are possible")));
    }
    Ok((all, section))
}
