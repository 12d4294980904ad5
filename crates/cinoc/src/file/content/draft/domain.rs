//! The section `domain`.

use super::super::section::Section;
use crate::Error;
use toml::Value;

/// Condition at an end of an axis, with its numbers as texts.
#[derive(Clone, PartialEq)]
pub enum SideText {
    Periodic,
    Value(String),
    Flux(String),
    Exchange { coefficient: String, outside: String },
    Open(String),
}

/// Names of the sides at the lower and the upper end of each axis.
pub const SIDES: [[&str; 2]; 3] = [["left", "right"], ["bottom", "top"], ["front", "back"]];

/// The section `domain`.
pub struct DomainText {
    pub size: Vec<f64>,
    pub cells: Vec<usize>,
    pub sides: Vec<[SideText; 2]>,
    pub solid: Option<String>,
    /// Unit of length.
    pub unit: String,
}

pub fn domain_of(mut section: Section) -> Result<DomainText, Error> {
    let size = section.numbers("size")?;
    let size = section.need("size", size, "size = [1.0]")?;
    let cells = section.numbers("cells")?;
    let cells = section.need("cells", cells, "cells = [64]")?;
    let d = size.len();
    if !(1..=3).contains(&d) {
        return Err(section.fault("size", "it must be one to three lengths, like [1.0] or [1.0, 1.0]"));
    }
    if !size.iter().all(|length| (1e-6..=1e6).contains(length)) {
        return Err(section.fault("size", "lengths must be from 1e-6 to 1e6"));
    }
    if cells.len() != d || !cells.iter().all(|n| (4.0..=4096.0).contains(n) && n.fract() == 0.0) {
        return Err(section.fault("cells", format!("it must be a list of {d} whole numbers from 4 to 4096, one for each axis")));
    }
    let all = section.word("sides", &["periodic", "insulated"])?;
    let mut sides = Vec::new();
    for names in SIDES.iter().take(d) {
        let mut side = |name: &'static str| -> Result<SideText, Error> {
            let given = section.take(name);
            match (given, all) {
                (Some(_), Some("periodic")) => Err(section.fault(name, "all sides are periodic; remove one of both")),
                (Some(value), _) => side_of(&section, name, value),
                (None, Some("periodic")) => Ok(SideText::Periodic),
                (None, _) => Ok(SideText::Flux("0".into())),
            }
        };
        let ends = [side(names[0])?, side(names[1])?];
        let [first, second] = ends.each_ref().map(|end| *end == SideText::Periodic);
        if first != second {
            let (is, other) = if first { (names[0], names[1]) } else { (names[1], names[0]) };
            let reason = format!("{is} and {other} are periodic together or not at all; write {other} = \"periodic\" too");
            return Err(section.fault(is, reason));
        }
        sides.push(ends);
    }
    let (solid, unit) = (section.text("solid")?, section.unit()?);
    section.done()?;
    Ok(DomainText { size, cells: cells.iter().map(|n| *n as usize).collect(), sides, solid, unit })
}

/// The side that a value describes.
pub fn side_of(section: &Section, name: &'static str, value: Value) -> Result<SideText, Error> {
    const EXAMPLES: &str =
        "{ value = 0 }, { flux = 0 }, { exchange = 8.0, outside = 20.0 }, { open = 0 }, \"periodic\" or \"insulated\"";
    match value {
        Value::String(word) if word == "periodic" => Ok(SideText::Periodic),
        Value::String(word) if word == "insulated" => Ok(SideText::Flux("0".into())),
        Value::Table(table) => {
            let mut side = section.inner(name, table);
            let texts = [side.text("value")?, side.text("flux")?, side.text("exchange")?, side.text("open")?];
            let outside = side.text("outside")?;
            let found = match texts {
                [Some(value), None, None, None] => SideText::Value(value),
                [None, Some(flux), None, None] => SideText::Flux(flux),
                [None, None, Some(coefficient), None] => {
                    let outside = side.need("outside", outside, "outside = 20.0")?;
                    side.done()?;
                    return Ok(SideText::Exchange { coefficient, outside });
                }
                [None, None, None, Some(inflow)] => SideText::Open(inflow),
                _ => return Err(section.fault(name, format!("it must be one of {EXAMPLES}"))),
            };
            if outside.is_some() {
                return Err(side.fault("outside", "only an exchange has an outside"));
            }
            side.done()?;
            Ok(found)
        }
        _ => Err(section.fault(name, format!("it must be one of {EXAMPLES}"))),
    }
}
