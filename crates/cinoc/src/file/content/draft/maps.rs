//! The section `maps`.

use super::super::section::{Section, as_number, as_text};
use super::names::MOST_NAMES;
use crate::Error;
use toml::Value;

/// A map with its name.
pub struct Map {
    pub name: String,
    pub text: MapText,
    pub unit: String,
}

/// A map as it is written.
pub enum MapText {
    /// A text of coordinates, constants and maps of data.
    Text(String),
    /// A vector: a text of all maps for each axis.
    Vector(Vec<String>),
    /// The colours of a picture.
    Picture { file: String, scale: Scale },
    /// An array of numbers.
    Array { file: String },
    /// Numbers of the file itself, row-major.
    Values { shape: Vec<usize>, values: Vec<f64> },
}

/// Numbers of colours.
pub enum Scale {
    /// A text of constants for each colour.
    Legend(Vec<([u8; 3], String)>),
    /// Numbers of black and white, linear between.
    Range([f64; 2]),
}

pub fn maps_of(mut section: Section) -> Result<Vec<Map>, Error> {
    const EXAMPLES: &str = "a text, a list of texts (a vector), or { file = \"plan.png\", legend = { \"#ffffff\" = 0.6 } }, \
        { file = \"height.png\", range = [0, 2] } or { file = \"k.npy\" }";
    let mut all = Vec::new();
    for (name, value) in section.names() {
        let (map, unit) = match value {
            Value::Table(table) => {
                let mut inner = section.inner(&name, table);
                let (unit, text) = (inner.unit()?, inner.take("text"));
                let map = match text {
                    Some(text) => inner.done().map(|()| text_of(&text))?,
                    None => Some(data_of(inner)?),
                };
                (map, unit)
            }
            other => (text_of(&other), String::new()),
        };
        let Some(text) = map else { return Err(section.fault(&name, format!("it must be {EXAMPLES}"))) };
        all.push(Map { name, text, unit });
    }
    if all.len() > MOST_NAMES {
        return Err(section.fault("", format!("at most {MOST_NAMES} names are possible")));
    }
    Ok(all)
}

fn text_of(value: &Value) -> Option<MapText> {
    match value {
        Value::Array(texts) => texts.iter().map(as_text).collect::<Option<_>>().map(MapText::Vector),
        other => as_text(other).map(MapText::Text),
    }
}

fn data_of(mut section: Section) -> Result<MapText, Error> {
    let (file, range) = (section.text("file")?, section.numbers("range")?);
    let (legend, values) = (section.section("legend")?, section.take("values"));
    let map = match (file, values, legend, range.as_deref()) {
        (Some(file), None, Some(legend), None) => MapText::Picture { file, scale: Scale::Legend(legend_of(legend)?) },
        (Some(file), None, None, Some(&[black, white])) => MapText::Picture { file, scale: Scale::Range([black, white]) },
        (_, _, None, Some(_)) => return Err(section.fault("range", "it must be the two numbers of black and white, like [0, 2]")),
        (Some(file), None, None, None) if file.to_ascii_lowercase().ends_with(".npy") => MapText::Array { file },
        (Some(_), None, None, None) => {
            let reason = "it must be a .npy file, or a picture with legend = { \"#ffffff\" = 0.6 } or range = [0, 2]";
            return Err(section.fault("file", reason));
        }
        (None, Some(values), None, None) => {
            let (mut shape, mut numbers) = (Vec::new(), Vec::new());
            if !flatten(&values, 0, &mut shape, &mut numbers) || numbers.is_empty() {
                return Err(section.fault("values", "it must be a list of numbers, or of such lists of one length"));
            }
            MapText::Values { shape, values: numbers }
        }
        _ => return Err(section.fault("", "it needs a file with legend or range, a .npy file, or values: one of them")),
    };
    section.done()?;
    Ok(map)
}

fn legend_of(mut section: Section) -> Result<Vec<([u8; 3], String)>, Error> {
    let mut all = Vec::new();
    for (name, value) in section.names() {
        let digits = name.strip_prefix('#').filter(|digits| digits.len() == 6);
        let bytes = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).map(u32::to_be_bytes);
        let (Some([_, red, green, blue]), Some(text)) = (bytes, as_text(&value)) else {
            return Err(
                section.fault(&crate::error::shortened(&name), "a legend gives numbers to colours, like \"#ffffff\" = 0.6")
            );
        };
        all.push(([red, green, blue], text));
    }
    if !(1..=MOST_NAMES).contains(&all.len()) {
        return Err(section.fault("", format!("a legend has 1 to {MOST_NAMES} colours, like \"#ffffff\" = 0.6")));
    }
    Ok(all)
}

/// Adds the numbers of nested lists; false if they are not lists of lists of one length.
fn flatten(value: &Value, depth: usize, shape: &mut Vec<usize>, numbers: &mut Vec<f64>) -> bool {
    match value {
        Value::Array(list) if depth < 3 => {
            let first = numbers.is_empty() && shape.len() == depth;
            if first {
                shape.push(list.len());
            }
            shape.get(depth) == Some(&list.len()) && list.iter().all(|inner| flatten(inner, depth + 1, shape, numbers))
        }
        other => as_number(other).is_some_and(|x| {
            numbers.push(x);
            depth > 0 && shape.len() == depth
        }),
    }
}
