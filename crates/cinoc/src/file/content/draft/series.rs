//! The section `series`.

use super::super::section::{Section, as_number, as_text};
use super::names::MOST_NAMES;
use crate::Error;
use toml::Value;

/// A function of time as it is written.
pub enum SeriesText {
    /// A text of `t`, constants and series from tables.
    Text(String),
    /// A column of a table.
    Column(ColumnText),
}

/// A column of a table.
pub struct ColumnText {
    pub file: String,
    pub column: String,
    /// Column of the times; without it, rows are one unit apart.
    pub time: Option<String>,
    /// Unit of these times, in units of `t`.
    pub unit: f64,
    /// Time of the table at `t = 0`, in its unit: a text of constants.
    pub start: String,
    pub repeat: Repeat,
}

/// Values beyond the ends of a table.
#[derive(Clone, Copy)]
pub enum Repeat {
    /// Those at the ends.
    Never,
    /// After the last row comes the first one.
    Rows,
    /// The same again after this time, in the table's unit.
    After(f64),
}

pub fn series_of(mut section: Section) -> Result<Vec<(String, SeriesText)>, Error> {
    let mut all = Vec::new();
    for (name, value) in section.names() {
        let series = match value {
            Value::Table(table) => SeriesText::Column(column_of(section.inner(&name, table))?),
            other => SeriesText::Text(as_text(&other).ok_or_else(|| {
                let example = "{ file = \"weather.csv\", column = \"temperature\", time = \"hours\", unit = 3600 }";
                section.fault(&name, format!("it must be a text of t, or {example}"))
            })?),
        };
        all.push((name, series));
    }
    if all.len() > MOST_NAMES {
        return Err(section.fault("", format!("at most {MOST_NAMES} series are possible")));
    }
    Ok(all)
}

fn column_of(mut section: Section) -> Result<ColumnText, Error> {
    let file = section.text("file")?;
    let file = section.need("file", file, "file = \"weather.csv\"")?;
    let column = section.text("column")?;
    let column = section.need("column", column, "column = \"temperature\"")?;
    let time = section.text("time")?;
    let unit = section.number("unit", 1e-9..=1e9)?.unwrap_or(1.0);
    let start = section.text("start")?.unwrap_or_else(|| "0".into());
    let repeat = match section.take("repeat") {
        None | Some(Value::Boolean(false)) => Repeat::Never,
        Some(Value::Boolean(true)) => Repeat::Rows,
        Some(value) => match as_number(&value) {
            Some(period) if period > 0.0 => Repeat::After(period),
            _ => return Err(section.fault("repeat", "it must be true, or the time after which the table repeats, like 24")),
        },
    };
    section.done()?;
    Ok(ColumnText { file, column, time, unit, start, repeat })
}
