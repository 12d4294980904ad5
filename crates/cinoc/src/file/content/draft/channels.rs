//! Channels of the section `agents`.

use super::super::section::{Section, as_number};
use crate::Error;
use toml::Value;

/// A channel through which agents act on the field.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelText {
    /// Its name in equations.
    pub name: String,
    pub shape: ShapeText,
    /// Lowest and highest action.
    pub range: [f64; 2],
    /// Number of evenly spaced actions, if there are only these.
    pub levels: Option<usize>,
    /// Largest change per unit of time.
    pub rate: Option<f64>,
    /// Content of an agent's tank, and what flows in per unit of time.
    pub tank: Option<[f64; 2]>,
    /// Largest sum of the magnitudes of all agents.
    pub shared: Option<f64>,
    /// Unit of its actions.
    pub unit: String,
}

/// Shape of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShapeText {
    /// A bump of this width.
    Gauss(f64),
    /// A disc of this radius.
    Disc(f64),
    /// The cell that an agent is in.
    Cell,
}

/// Largest number of channels.
const MOST: usize = 4;

/// Largest number of levels.
const MOST_LEVELS: usize = 64;

impl ChannelText {
    /// Width or radius; that of a cell for a cell.
    pub fn width(&self, cell: f64) -> f64 {
        match self.shape {
            ShapeText::Gauss(width) | ShapeText::Disc(width) => width,
            ShapeText::Cell => cell,
        }
    }

    /// In words, with this range.
    pub fn words(&self, [low, high]: [f64; 2]) -> String {
        let effect = match self.shape {
            ShapeText::Gauss(_) => "u*exp(-|x - position|^2/(2*sigma^2))".into(),
            ShapeText::Disc(radius) => format!("u in a disc of radius {radius}"),
            ShapeText::Cell => "u in the cell of the agent".into(),
        };
        let mut words = format!("a {} {effect}, u from {low} to {high}", self.name);
        if !self.unit.is_empty() {
            words += &format!(" {}", self.unit);
        }
        if let Some(levels) = self.levels {
            words += &format!(" in {levels} levels");
        }
        if let Some(rate) = self.rate {
            words += &format!(", changing by at most {rate} per unit of time");
        }
        if let Some([tank, refill]) = self.tank {
            words += &format!(", from a tank of {tank} that is refilled by {refill} per unit of time");
        }
        if let Some(shared) = self.shared {
            words += &format!(", at most {shared} in sum over all agents");
        }
        words
    }
}

/// Reads the channels: what is left of the section, with the section of their shared limits. The first is `push`, or
/// else the first of the alphabet.
pub fn channels_of(section: &mut Section, mut limits: Option<Section>) -> Result<Vec<ChannelText>, Error> {
    let mut all: Vec<ChannelText> = Vec::new();
    for (name, value) in section.names() {
        let Value::Table(table) = value else { return Err(section.unknown(&name)) };
        if !table.contains_key("range") && name != "push" {
            let reason = format!("it is not known; a channel needs a range, like {name} = {{ width = 0.05, range = [-4, 4] }}");
            return Err(section.fault(&crate::error::shortened(&name), reason));
        }
        let channel = channel_of(section.inner(&name, table), name)?;
        all.push(channel);
    }
    if !(1..=MOST).contains(&all.len()) {
        let example = "push = { width = 0.05, range = [-4, 4] }";
        return Err(section.fault("push", format!("it is missing; write one to {MOST} channels, for example {example}")));
    }
    all.sort_by_key(|channel| channel.name != "push");
    if let Some(limits) = &mut limits {
        for (name, value) in limits.names() {
            let Some(channel) = all.iter_mut().find(|channel| channel.name == name) else {
                return Err(limits.fault(&crate::error::shortened(&name), "there is no such channel"));
            };
            match as_number(&value) {
                Some(most) if (1e-9..=1e12).contains(&most) => channel.shared = Some(most),
                _ => return Err(limits.fault(&name, "it must be a number above 0, the largest sum over all agents")),
            }
        }
    }
    Ok(all)
}

fn channel_of(mut section: Section, name: String) -> Result<ChannelText, Error> {
    let shape = match section.word("shape", &["gauss", "disc", "cell"])? {
        Some("disc") => {
            let radius = section.number("radius", 1e-6..=1e6)?;
            ShapeText::Disc(section.need("radius", radius, "radius = 0.05")?)
        }
        Some("cell") => ShapeText::Cell,
        _ => {
            let width = section.number("width", 1e-6..=1e6)?;
            ShapeText::Gauss(section.need("width", width, "width = 0.05")?)
        }
    };
    let range = section.numbers("range")?;
    let range = match section.need("range", range, "range = [-4, 4]")?[..] {
        [low, high] if low <= 0.0 && high >= 0.0 && high - low > 1e-9 && high - low < 1e9 => [low, high],
        _ => {
            return Err(
                section.fault("range", "it must be two numbers with 0 between them or at one end, like [-4, 4] or [0, 4]")
            );
        }
    };
    let levels = section.whole_number("levels", 2..=MOST_LEVELS)?;
    if let Some(levels) = levels {
        let zero = -range[0] / (range[1] - range[0]) * (levels - 1) as f64;
        if (zero - zero.round()).abs() > 1e-9 {
            let reason = "0 must be one of the levels, as 2 of [0, 4] or 3 of [-4, 4]; change their number or the range";
            return Err(section.fault("levels", reason));
        }
    }
    let rate = section.number("rate", 1e-9..=1e12)?;
    if rate.is_some() && levels.is_some() {
        return Err(section.fault("rate", "a channel has levels or a rate, not both; remove one of them"));
    }
    let (tank, refill) = (section.number("tank", 1e-9..=1e12)?, section.number("refill", 0.0..=1e12)?);
    if tank.is_none() && refill.is_some() {
        return Err(section.fault("refill", "there is no tank; add one, like tank = 20.0"));
    }
    let unit = section.unit()?;
    section.done()?;
    let tank = tank.map(|tank| [tank, refill.unwrap_or(0.0)]);
    Ok(ChannelText { name, shape, range, levels, rate, tank, shared: None, unit })
}
