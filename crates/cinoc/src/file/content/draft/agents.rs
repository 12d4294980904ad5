//! The section `agents`.

use super::super::section::Section;
use super::also::{AlsoText, also_of};
use super::channels::{ChannelText, channels_of};
use super::points::points_of;
use crate::Error;

/// The section `agents`.
pub struct AgentsText {
    pub number: usize,
    /// Positions at the start; empty: even ones.
    pub positions: Vec<Vec<f64>>,
    /// Channels, of which settings change the first.
    pub channels: Vec<ChannelText>,
    /// Largest velocity; `None` for immobile agents.
    pub speed: Option<f64>,
    /// Corners of the box that agents stay in.
    pub within: Option<[Vec<f64>; 2]>,
    /// Observed field.
    pub error: Option<String>,
    pub window: f64,
    /// Samples of the window along each axis, if the file says so.
    pub points: Option<usize>,
    pub position: bool,
    pub gaps: Option<f64>,
    /// Texts that are observed at the agent.
    pub also: Vec<AlsoText>,
    /// Agents observe their last action.
    pub last: bool,
    /// Agents observe the used share of limits that they share.
    pub shared: bool,
}

/// Reads the section of agents in a domain of this size with these cells.
pub fn agents_of(mut section: Section, size: &[f64], cells: &[usize]) -> Result<AgentsText, Error> {
    let inside = |point: &Vec<f64>| point.iter().zip(size).all(|(x, length)| (0.0..=*length).contains(x));
    let positions = match section.take("positions") {
        Some(value) => points_of(&section, "positions", &value, size.len())?,
        None => Vec::new(),
    };
    if let Some(i) = positions.iter().position(|point| !inside(point)) {
        return Err(section.fault("positions", format!("{:?} is outside of the domain", positions[i])));
    }
    let number = section.whole_number("number", 1..=10_000_000)?.or(Some(positions.len()).filter(|count| *count > 0));
    let number = section.need("number", number, "number = 16")?;
    if !positions.is_empty() && positions.len() != number {
        return Err(section.fault("number", format!("there are {} positions; remove one of both", positions.len())));
    }
    let (mut speed, mut within) = (None, None);
    if let Some(mut motion) = section.section("move")? {
        let given = motion.number("speed", 1e-9..=1e9)?;
        speed = Some(motion.need("speed", given, "speed = 0.5")?);
        if let Some(value) = motion.take("within") {
            let corners: Result<[Vec<f64>; 2], _> = points_of(&motion, "within", &value, size.len())?.try_into();
            let ordered = |[low, high]: &[Vec<f64>; 2]| low.iter().zip(high).all(|(low, high)| low < high);
            match corners {
                Ok(corners) if ordered(&corners) && corners.iter().all(inside) => within = Some(corners),
                _ => return Err(motion.fault("within", "it must be the lower and the upper corner of a box inside the domain")),
            }
        }
        motion.done()?;
    }
    let outside = |[low, high]: &[Vec<f64>; 2]| {
        let held = |point: &Vec<f64>| point.iter().zip(low.iter().zip(high)).all(|(x, (low, high))| low <= x && x <= high);
        positions.iter().find(|point| !held(point))
    };
    if let Some(point) = within.as_ref().and_then(outside) {
        return Err(section.fault("positions", format!("{point:?} is outside of the box that agents move in")));
    }
    let (limits, see) = (section.section("limit")?, section.section("see")?);
    let channels = channels_of(&mut section, limits)?;
    let (mut error, mut points, mut position, mut gaps, mut also) = (None, None, false, None, Vec::new());
    let mut window = 4.0 * channels[0].width(size[0] / cells[0] as f64);
    let rated = channels.iter().any(|channel| channel.rate.is_some());
    let (mut last, mut shared) = (rated, false);
    if let Some(mut see) = see {
        error = see.text("error")?;
        window = see.number("window", 1e-6..=1e6)?.unwrap_or(window);
        points = see.whole_number("points", 2..=64)?;
        position = see.flag("position")?.unwrap_or(position);
        gaps = see.number("gaps", 0.0..=1e6)?;
        also = also_of(&mut see)?;
        last = see.flag("last")?.unwrap_or(last);
        if rated && !last {
            return Err(see.fault("last", "agents with a rate see their last action; remove this line"));
        }
        shared = see.flag("shared")?.unwrap_or(shared);
        if shared && channels.iter().all(|channel| channel.shared.is_none()) {
            return Err(see.fault("shared", "agents share no limit; add one to [agents], like limit = { push = 40.0 }"));
        }
        see.done()?;
    }
    section.done()?;
    Ok(AgentsText { number, positions, channels, speed, within, error, window, points, position, gaps, also, last, shared })
}
